/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/metric.h"

const char *metric_unit_name(enum metric_unit unit)
{
    static const char *const names[] = {"ratio", "bytes",   "bytes/s", "watts", "joules",
                                        "hertz", "celsius", "seconds", "count", "state"};
    return names[unit];
}

const char *metric_kind_name(enum metric_kind kind)
{
    static const char *const names[] = {"gauge", "counter", "state"};
    return names[kind];
}

const char *metric_pace_name(enum metric_pace pace)
{
    static const char *const names[] = {"fast", "slow", "once"};
    return names[pace];
}

const struct metric metrics[METRIC_COUNT] = {
#define METRIC(id, key, unit, kind, pace, decimals, highest, gh_key, help)                         \
    [METRIC_##id] = {key, UNIT_##unit, KIND_##kind, PACE_##pace, decimals, highest, gh_key, help},
#include "model/metrics.def"
};

const struct gpu_text_row gpu_texts[GPU_TEXT_COUNT] = {
#define GPU_TEXT(id, key, gh_key, help) [GPU_TEXT_##id] = {key, gh_key, help},
#include "model/metrics.def"
};

const struct link_metric link_metrics[LINK_METRIC_COUNT] = {
#define LINK_METRIC(id, key, unit, kind, pace, help)                                               \
    [LINK_##id] = {key, UNIT_##unit, KIND_##kind, PACE_##pace, help},
#include "model/metrics.def"
};
