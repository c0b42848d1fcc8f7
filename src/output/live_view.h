/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Inside of a view, for live*.c. */
#ifndef OUTPUT_LIVE_VIEW_H
#define OUTPUT_LIVE_VIEW_H

#include "model/health.h"
#include "output/live.h"

struct live_gpu {
    struct health health;
    int64_t health_since_ns;
    enum health_use use;
    int64_t use_since_ns;
    int64_t age_s[2]; /* of fast and slow values; 0 while they are as fresh as their pace */
};

struct live_view {
    struct snapshot *snapshot;
    struct host host;
    bool has_host;
    struct process_detail *detail; /* snapshot->process_count of them */
    struct live_gpu *gpu;          /* snapshot->gpu_count of them */
    struct live_trouble trouble[LIVE_TROUBLES_MAX];
    size_t trouble_count;
    int64_t now_ns;
    int64_t pace_ns[2];
};

#endif
