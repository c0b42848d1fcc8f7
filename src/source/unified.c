/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/unified.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/own.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

#define MEMINFO_LIMIT 65536

/* "MemTotal:  127600748 kB" */
static bool read_line(struct span line, const char *key, double *out)
{
    if (!span_starts(line, key)) {
        return false;
    }
    size_t skip = strlen(key);
    struct span rest = span_trim((struct span){line.data + skip, line.length - skip});
    struct span number;
    int64_t kilobytes = 0;
    if (!span_cut(&rest, ' ', &number) || !text_to_int64(number, &kilobytes) || kilobytes < 0) {
        return false;
    }
    *out = (double)kilobytes * 1024;
    return true;
}

bool unified_parse(const char *text, size_t length, double *total_bytes, double *available_bytes)
{
    struct span rest = {text, length};
    struct span line;
    double total = NAN;
    double available = NAN;
    while (span_cut(&rest, '\n', &line)) {
        (void)read_line(line, "MemTotal:", &total);
        (void)read_line(line, "MemAvailable:", &available);
    }
    *total_bytes = total;
    *available_bytes = available;
    return !isnan(total);
}

/* Chips without memory of their own, by what their names hold. */
static bool is_unified_chip(const char *name)
{
    static const char *const words[] = {"GB10",  "Orin",   "Xavier", "Thor",
                                        "Tegra", "Jetson", "nvgpu"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const char *at = strstr(name, words[i]);
        /* "GB100" is another chip than "GB10". */
        if (at != NULL && (at[strlen(words[i])] < '0' || at[strlen(words[i])] > '9')) {
            return true;
        }
    }
    return false;
}

void unified_fill(struct snapshot *snapshot, struct gpu *gpu, const struct source_tap *tap)
{
    if (!isnan(gpu->value[METRIC_MEMORY_TOTAL]) || gpu->state != GPU_STATE_OK || gpu->parent >= 0 ||
        !is_unified_chip(gpu->name)) {
        return;
    }
    OWN_BUF struct buf text = {0};
    OWN_FREE char *path = file_rooted("/proc/meminfo");
    double total = NAN;
    double available = NAN;
    if (file_read(path, MEMINFO_LIMIT, &text, NULL) != 0 ||
        !unified_parse(text.data, text.length, &total, &available)) {
        return;
    }
    if (tap != NULL) {
        tap->text(tap->arg, "/proc/meminfo", text.data, text.length);
    }
    gpu->is_unified = true;
    snapshot_set(snapshot, gpu, METRIC_MEMORY_TOTAL, total);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_FREE, available);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_USED, total - available);
}
