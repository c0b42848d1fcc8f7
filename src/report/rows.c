/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The forms for programs: JSON and CSV. */
#include "base/csv.h"
#include "base/jsonout.h"
#include "report/words.h"

#include <math.h>

static void json_time(struct jsonout *json, const char *key, const struct report *report,
                      int64_t at_s)
{
    char text[32];
    zone_format_iso(report->zone, at_s, text);
    jsonout_key(json, key);
    jsonout_string(json, text);
}

static void json_number(struct jsonout *json, const char *key, double value, int decimals)
{
    jsonout_key(json, key);
    jsonout_number(json, value, decimals);
}

static void json_int(struct jsonout *json, const char *key, int64_t value)
{
    jsonout_key(json, key);
    jsonout_int(json, value);
}

static void json_gpu(struct jsonout *json, const struct report *report,
                     const struct archive_gpu *gpu, int64_t expected)
{
    jsonout_begin_object(json);
    json_int(json, "gpu_index", gpu->index);
    jsonout_key(json, "gpu_uuid");
    jsonout_string(json, gpu->uuid);
    jsonout_key(json, "gpu_name");
    jsonout_string(json, gpu->name);
    json_number(json, "average_percent", usage_average(gpu), 2);
    json_number(json, "least_percent", usage_least(gpu), 2);
    json_number(json, "most_percent", usage_most(gpu), 2);
    json_int(json, "sample_count", gpu->sample_count);
    json_int(json, "valid_count", gpu->count);
    json_int(json, "expected_count", expected);
    json_number(json, "coverage", usage_coverage(gpu, expected), 4);
    json_time(json, "first_sample", report, gpu->first_s);
    json_time(json, "last_sample", report, gpu->last_s);
    jsonout_end_object(json);
}

void report_json(const struct report *report, struct buf *out)
{
    const struct archive_result *result = report->result;
    int64_t expected = usage_expected(&report->window, report->sample_interval_s);
    struct jsonout json = {.out = out, .indent = 2};
    jsonout_begin_object(&json);
    jsonout_key(&json, "server_name");
    jsonout_string(&json, report->server_name);
    jsonout_key(&json, "report");
    jsonout_string(&json, report->report_name);
    json_time(&json, "time", report, report->now_s);
    jsonout_key(&json, "window");
    jsonout_string(&json, report->window.label);
    json_time(&json, "from", report, report->window.from_s);
    json_time(&json, "to", report, report->window.to_s);
    json_int(&json, "sample_interval_seconds", report->sample_interval_s);
    json_int(&json, "file_count", result->file_count);
    json_int(&json, "skipped_lines", result->skipped_lines);
    json_int(&json, "unreadable_files", result->unreadable_count);
    json_number(&json, "average_percent", usage_average_of_all(result), 2);
    jsonout_key(&json, "gpus");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < result->gpu_count; i++) {
        json_gpu(&json, report, &result->gpu[i], expected);
    }
    jsonout_end_array(&json);
    jsonout_end_object(&json);
    buf_char(out, '\n');
}

static void csv_number(struct buf *out, double value, int decimals)
{
    if (!isnan(value)) {
        buf_format(out, "%.*f", decimals, value);
    }
    buf_char(out, ',');
}

void report_csv(const struct report *report, struct buf *out)
{
    int64_t expected = usage_expected(&report->window, report->sample_interval_s);
    char from[32];
    char to[32];
    zone_format_iso(report->zone, report->window.from_s, from);
    zone_format_iso(report->zone, report->window.to_s, to);
    if (out->length == 0) {
        buf_text(out, "report,from,to,gpu_index,gpu_uuid,gpu_name,average_percent,least_percent,"
                      "most_percent,coverage,sample_count,valid_count,expected_count\n");
    }
    for (size_t i = 0; i < report->result->gpu_count; i++) {
        const struct archive_gpu *gpu = &report->result->gpu[i];
        buf_format(out, "%s,%s,%s,%d,", report->report_name, from, to, gpu->index);
        csv_field(out, gpu->uuid);
        buf_char(out, ',');
        csv_field(out, gpu->name);
        buf_char(out, ',');
        csv_number(out, usage_average(gpu), 2);
        csv_number(out, usage_least(gpu), 2);
        csv_number(out, usage_most(gpu), 2);
        csv_number(out, usage_coverage(gpu, expected), 4);
        buf_format(out, "%lld,%lld,%lld\n", (long long)gpu->sample_count, (long long)gpu->count,
                   (long long)expected);
    }
}
