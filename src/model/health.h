/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* How a GPU is, in words, only from facts that the driver gives; and whether it is in use. Pure. */
#ifndef MODEL_HEALTH_H
#define MODEL_HEALTH_H

#include "model/snapshot.h"

enum health_level { HEALTH_OK, HEALTH_WARN, HEALTH_BAD };

struct health {
    enum health_level level;
    const char *word; /* "ok", "throttled", "ECC trouble", "needs reset", "lost", "not answering" */
    char detail[160]; /* why, "" when there is nothing to add */
};

/* `silent_ns`: how long ago the fast values were read, when that is too long for the pace; else
 * 0. Power capping is no trouble: it is what the limit is for. */
void health_judge(const struct gpu *gpu, int64_t silent_ns, struct health *out);

enum health_use { USE_UNKNOWN, USE_FREE, USE_BUSY, USE_HELD_IDLE };

#define USE_BUSY_RATIO 0.01
#define USE_HELD_AFTER_NS (INT64_C(600) * 1000000000)

/* Whether somebody works on it: `holders` processes have memory on it (those on its MIG instances
 * count), and it has been idle since `idle_since_ns` (0 = it is not idle). */
enum health_use health_use_of(const struct gpu *gpu, size_t holders, int64_t idle_since_ns,
                              int64_t now_ns);
const char *health_use_name(enum health_use use); /* "free", "busy", "held idle", "unknown" */

#endif
