/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The registry of metrics, made from metrics.def: ids for the program, rows for everything that
 * lists metrics. Constant data; any thread. */
#ifndef MODEL_METRIC_H
#define MODEL_METRIC_H

enum metric_unit {
    UNIT_RATIO, /* 0-1 */
    UNIT_BYTES,
    UNIT_BYTES_PER_S,
    UNIT_WATTS,
    UNIT_JOULES,
    UNIT_HERTZ,
    UNIT_CELSIUS, /* may be negative */
    UNIT_SECONDS,
    UNIT_COUNT, /* of things */
    UNIT_STATE, /* a number that stands for a word */
};

enum metric_kind { KIND_GAUGE, KIND_COUNTER, KIND_STATE };

/* How often a value is worth its cost of reading. */
enum metric_pace { PACE_FAST, PACE_SLOW, PACE_ONCE, PACE_COUNT };

enum metric_id {
#define METRIC(id, ...) METRIC_##id,
#include "model/metrics.def"
    METRIC_COUNT
};

enum gpu_text_id {
#define GPU_TEXT(id, ...) GPU_TEXT_##id,
#include "model/metrics.def"
    GPU_TEXT_COUNT
};

enum link_metric_id {
#define LINK_METRIC(id, ...) LINK_##id,
#include "model/metrics.def"
    LINK_METRIC_COUNT
};

struct metric {
    const char *key; /* native name: snake_case, no unit */
    enum metric_unit unit;
    enum metric_kind kind;
    enum metric_pace pace;
    int decimals;
    double highest; /* larger is no value */
    const char *gh_key;
    const char *help;
};

struct gpu_text_row {
    const char *key;
    const char *gh_key;
    const char *help;
};

struct link_metric {
    const char *key;
    enum metric_unit unit;
    enum metric_kind kind;
    enum metric_pace pace;
    const char *help;
};

extern const struct metric metrics[METRIC_COUNT];
extern const struct gpu_text_row gpu_texts[GPU_TEXT_COUNT];
extern const struct link_metric link_metrics[LINK_METRIC_COUNT];

const char *metric_unit_name(enum metric_unit unit); /* "ratio", "bytes", … */
const char *metric_kind_name(enum metric_kind kind);
const char *metric_pace_name(enum metric_pace pace);

#endif
