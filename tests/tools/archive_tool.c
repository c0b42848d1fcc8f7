/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The archive alone, for tests and measurements in other languages:
 *   write DIR ZONE TIME UUID RATIO   read DIR ZONE FROM TO [nocache]
 *   compact DIR ZONE BEFORE          delete DIR ZONE FROM TO          (times in seconds UTC) */
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "store/archive.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int64_t number(const char *text)
{
    int64_t value = 0;
    (void)text_to_int64(span_of(text != NULL ? text : ""), &value);
    return value;
}

static int write_one(const char *dir, const struct zone *zone, char **argument, struct err *err)
{
    struct snapshot *snapshot = snapshot_new(number(argument[0]) * NS_PER_S);
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    OWN_FREE char *path = NULL;
    size_t rows = 0;
    double ratio = 0;
    gpu->index = 0;
    text_copy(gpu->uuid, sizeof gpu->uuid, argument[1]);
    text_copy(gpu->name, sizeof gpu->name, "NVIDIA \"A100\", 80GB");
    if (text_to_double(span_of(argument[2]), &ratio)) {
        gpu->value[METRIC_UTILIZATION] = ratio;
    }
    int code = archive_write(dir, snapshot, zone, &path, &rows, err);
    snapshot_unref(snapshot);
    if (code == 0) {
        (void)printf("%s\n", path != NULL ? path : "");
    }
    return code;
}

static int read_all(const struct archive_request *request, struct err *err)
{
    struct archive_result result;
    int code = archive_read(request, &result, err);
    if (code != 0) {
        return code;
    }
    for (size_t i = 0; i < result.gpu_count; i++) {
        const struct archive_gpu *gpu = &result.gpu[i];
        (void)printf("GPU %d: %.2f%% %s sum %lld count %lld samples %lld\n", gpu->index,
                     gpu->count > 0 ? (double)gpu->sum_micro / 1e6 / (double)gpu->count : 0.0,
                     gpu->uuid, (long long)gpu->sum_micro, (long long)gpu->count,
                     (long long)gpu->sample_count);
    }
    (void)printf("files %lld opened %lld skipped %lld unreadable %lld\n",
                 (long long)result.file_count, (long long)result.opened_count,
                 (long long)result.skipped_lines, (long long)result.unreadable_count);
    archive_result_fini(&result);
    return 0;
}

static int act(const char *verb, struct archive_request *request, char **argument, struct err *err)
{
    if (strcmp(verb, "write") == 0) {
        return write_one(request->csv_dir, request->zone, argument, err);
    }
    request->from_s = number(argument[0]);
    if (strcmp(verb, "compact") == 0) {
        struct archive_compacted done;
        int code = archive_compact(request, request->from_s, &done, err);
        if (code == 0) {
            (void)printf("days %lld files %lld left %lld\n", (long long)done.days,
                         (long long)done.files_before, (long long)done.left_files);
        }
        return code;
    }
    request->to_s = number(argument[1]);
    if (strcmp(verb, "read") == 0) {
        request->bucket_count = 96;
        request->is_cache_off = argument[2] != NULL;
        return read_all(request, err);
    }
    int64_t files = 0;
    int code = strcmp(verb, "delete") == 0
                   ? archive_delete(request, &files, err)
                   : err_set(err, -EINVAL, "'%s': expected write, read, compact or delete", verb);
    if (code == 0) {
        (void)printf("files %lld\n", (long long)files);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct zone zone;
    bool is_short = argc < 5 || (strcmp(argv[1], "compact") != 0 && argc < 6) ||
                    (strcmp(argv[1], "write") == 0 && argc < 7);
    if (is_short || zone_open(&zone, argv[3], &err) != 0) {
        (void)fprintf(stderr, "Error: %s\n", is_short ? "too few arguments" : err.text);
        return 2;
    }
    struct archive_request request = {.csv_dir = argv[2], .zone = &zone};
    if (act(argv[1], &request, argv + 4, &err) != 0) {
        (void)fprintf(stderr, "Error: %s\n", err.text);
        return 1;
    }
    return 0;
}
