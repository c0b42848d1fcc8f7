/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/own.h"
#include "report/words.h"

#include <math.h>
#include <string.h>

void words_header(const struct report *report, struct buf *out)
{
    bool has_server = report->server_name != NULL && report->server_name[0] != '\0';
    buf_format(out, "[%s", has_server ? report->server_name : "gpumanager");
    if (strcmp(report->report_name, "default") != 0) {
        buf_format(out, "/%s", report->report_name);
    }
    buf_char(out, ']');
}

void words_time(const struct report *report, struct buf *out)
{
    char text[64];
    zone_format(report->zone, report->now_s, "%Y.%m.%d %H:%M:%S %Z", text, sizeof text);
    buf_text(out, text);
}

void words_percent(double percent, struct buf *out)
{
    if (isnan(percent)) {
        buf_text(out, "n/a");
        return;
    }
    buf_format(out, "%.2f%%", percent);
}

void report_text(const struct report *report, struct buf *out)
{
    words_header(report, out);
    buf_char(out, ' ');
    words_time(report, out);
    buf_format(out, "\nWindow: %s", report->window.label);
    const struct archive_result *result = report->result;
    if (result->gpu_count == 0) {
        buf_text(out, "\n" WORDS_NO_SAMPLES);
        return;
    }
    int64_t expected = usage_expected(&report->window, report->sample_interval_s);
    for (size_t i = 0; i < result->gpu_count; i++) {
        const struct archive_gpu *gpu = &result->gpu[i];
        buf_format(out, "\nGPU %d: ", gpu->index);
        words_percent(usage_average(gpu), out);
        if (report->has_coverage) {
            /* Both ends of a window count, so there can be one more than expected. */
            int64_t found = gpu->sample_count < expected ? gpu->sample_count : expected;
            buf_format(out, " (%lld of %lld samples)", (long long)found, (long long)expected);
        }
    }
}
