/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The JSON of gpu-hot, for its clients, hubs and health checks (GH-001 … GH-149): same keys, types
 * and units. What the driver does not give is absent, a zero is present. MIG instances are not in
 * it; their processes count for the GPU. Pure. */
#ifndef OUTPUT_GPU_HOT_H
#define OUTPUT_GPU_HOT_H

#include "base/buf.h"
#include "base/zone.h"
#include "model/host.h"
#include "model/snapshot.h"

struct gpu_hot_input {
    const struct snapshot *snapshot; /* NULL: nothing was read yet */
    const struct snapshot *previous; /* the one before, for rates; may be NULL */
    const struct host *host;
    const struct process_detail *details; /* one a process of the snapshot; NULL = none */
    const char *node_name;
    const struct zone *zone; /* of timestamps */
    bool is_name_hidden;     /* the viewer may not see names of processes */
};

/* {"gpus":{…},"timestamp":"async"} (GH-003) */
void gpu_hot_data(const struct gpu_hot_input *input, struct buf *out);

/* One WebSocket message: mode, node_name, gpus, processes and system: GH-040, GH-041. */
void gpu_hot_message(const struct gpu_hot_input *input, struct buf *out);

/* {"current":…,"latest":null,…} (GH-005); asks nobody. */
void gpu_hot_version(const char *version, struct buf *out);

#endif
