/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/health.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_set(const struct gpu *gpu, enum metric_id id)
{
    return gpu->value[id] > 0;
}

static void say(struct health *out, enum health_level level, const char *word)
{
    out->level = level;
    out->word = word;
}

static void add_detail(struct health *out, const char *text)
{
    size_t length = strlen(out->detail);
    (void)snprintf(out->detail + length, sizeof out->detail - length, "%s%s",
                   length > 0 ? ", " : "", text);
}

/* Memory that the driver itself calls broken. */
static bool judge_memory(const struct gpu *gpu, struct health *out)
{
    char text[64];
    double uncorrected = gpu->value[METRIC_ECC_UNCORRECTED_VOLATILE];
    if (uncorrected > 0) {
        (void)snprintf(text, sizeof text, "%.0f uncorrected memory errors since driver load",
                       uncorrected);
        add_detail(out, text);
    }
    if (is_set(gpu, METRIC_REMAPPED_ROWS_FAILED)) {
        add_detail(out, "a faulty row of memory could not be replaced");
    }
    if (is_set(gpu, METRIC_REMAPPED_ROWS_PENDING)) {
        add_detail(out, "a row of memory is replaced at the next reset");
    }
    if (is_set(gpu, METRIC_RETIRED_PAGES_PENDING)) {
        add_detail(out, "a page of memory is retired at the next reset");
    }
    if (out->detail[0] == '\0') {
        return false;
    }
    bool is_bad = uncorrected > 0 || is_set(gpu, METRIC_REMAPPED_ROWS_FAILED);
    say(out, is_bad ? HEALTH_BAD : HEALTH_WARN, "ECC trouble");
    return true;
}

static void judge_clocks(const struct gpu *gpu, struct health *out)
{
    static const struct {
        enum metric_id metric;
        const char *text;
    } reasons[] = {
        {METRIC_CLOCK_EVENT_HW_THERMAL, "thermal slowdown by the hardware"},
        {METRIC_CLOCK_EVENT_SW_THERMAL, "thermal slowdown by the driver"},
        {METRIC_CLOCK_EVENT_HW_POWER_BRAKE, "power brake by the system"},
        {METRIC_CLOCK_EVENT_HW_SLOWDOWN, "slowdown by the hardware"},
    };
    bool has_reason = false;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        /* The last one is set beside those that say why. */
        bool is_summary = reasons[i].metric == METRIC_CLOCK_EVENT_HW_SLOWDOWN;
        if (is_set(gpu, reasons[i].metric) && !(is_summary && has_reason)) {
            add_detail(out, reasons[i].text);
            has_reason = true;
        }
    }
    if (has_reason) {
        say(out, HEALTH_WARN, "throttled");
    }
}

void health_judge(const struct gpu *gpu, int64_t silent_ns, struct health *out)
{
    *out = (struct health){.level = HEALTH_OK, .word = "ok"};
    if (gpu->state == GPU_STATE_LOST) {
        say(out, HEALTH_BAD, "lost");
        text_copy(out->detail, sizeof out->detail,
                  gpu->note[0] != '\0' ? gpu->note : "the driver does not reach it");
        return;
    }
    if (gpu->state == GPU_STATE_NEEDS_RESET) {
        say(out, HEALTH_BAD, "needs reset");
        text_copy(out->detail, sizeof out->detail, gpu->note);
        return;
    }
    if (gpu->state == GPU_STATE_SILENT || silent_ns > 0) {
        say(out, HEALTH_BAD, "not answering");
        text_copy(out->detail, sizeof out->detail, gpu->note);
        return;
    }
    if (!judge_memory(gpu, out)) {
        judge_clocks(gpu, out);
    }
    if (gpu->note[0] != '\0') {
        add_detail(out, gpu->note);
    }
}

enum health_use health_use_of(const struct gpu *gpu, size_t holders, int64_t idle_since_ns,
                              int64_t now_ns)
{
    double load = gpu->value[METRIC_UTILIZATION];
    if (gpu->state == GPU_STATE_LOST || (isnan(load) && holders == 0)) {
        return USE_UNKNOWN;
    }
    if (load > USE_BUSY_RATIO || (isnan(load) && holders > 0)) {
        return USE_BUSY;
    }
    if (holders == 0) {
        return USE_FREE;
    }
    bool is_long = idle_since_ns != 0 && now_ns - idle_since_ns >= USE_HELD_AFTER_NS;
    return is_long ? USE_HELD_IDLE : USE_BUSY;
}

const char *health_use_name(enum health_use use)
{
    switch (use) {
    case USE_FREE:
        return "free";
    case USE_BUSY:
        return "busy";
    case USE_HELD_IDLE:
        return "held idle";
    case USE_UNKNOWN:
        break;
    }
    return "unknown";
}
