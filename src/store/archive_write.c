/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/csv.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/archive.h"
#include "store/archive_name.h"
#include "store/archive_row.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* "35", "35.25": four decimals at most, none when there are none; nothing for an unknown value. */
static void add_percent(struct buf *out, double ratio)
{
    if (!isfinite(ratio) || ratio < 0 || ratio > 1) {
        return;
    }
    long long parts = llround(ratio * 1e6);
    char text[32];
    int length = snprintf(text, sizeof text, "%lld.%04lld", parts / 10000, parts % 10000);
    while (length > 0 && text[length - 1] == '0') {
        length--;
    }
    length -= length > 0 && text[length - 1] == '.' ? 1 : 0;
    buf_add(out, text, (size_t)length);
}

static bool is_row(const struct gpu *gpu)
{
    bool is_silent_instance = gpu->parent >= 0 && isnan(gpu->value[METRIC_UTILIZATION]);
    return gpu->uuid[0] != '\0' && !is_silent_instance;
}

static void add_row(struct buf *out, const char *timestamp, const struct gpu *gpu)
{
    buf_format(out, "%s,%d,", timestamp, gpu->index < 0 ? 0 : gpu->index);
    csv_field(out, gpu->uuid);
    buf_char(out, ',');
    csv_field(out, gpu->name);
    buf_char(out, ',');
    add_percent(out, gpu->value[METRIC_UTILIZATION]);
    buf_char(out, '\n');
}

/* The next repeat with a free name. When several writers met at the same name, they scatter over
 * as many names as they have met, or two hundred of them would write each file two hundred times.
 */
static uint32_t next_repeat(uint32_t repeat, unsigned meetings)
{
    unsigned spread = meetings < 9 ? 1U << meetings : 512U;
    uint32_t random = 0;
    if (meetings > 0 && getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
        random = (uint32_t)getpid();
    }
    uint32_t next = repeat == 0 ? 2 : repeat + 1;
    return next + (meetings > 0 ? random % spread : 0);
}

static int write_new(const char *csv_dir, const struct buf *text, struct archive_name name,
                     char **out_path, struct err *err)
{
    uint32_t repeat = 0;
    unsigned meetings = 0;
    while (repeat <= ARCHIVE_NAME_REPEAT_MAX) {
        char file[ARCHIVE_NAME_SIZE];
        archive_name_format(name.day, name.key | repeat, file);
        OWN_FREE char *path = mem_format("%s/%s", csv_dir, file);
        /* Asked first, because writing costs an fsync. A name that is taken after all is news
         * that comes with -EEXIST. */
        if (access(path, F_OK) == 0) {
            repeat = next_repeat(repeat, 0);
            continue;
        }
        int code = file_write(path, text->data, text->length, 0644, FILE_NEW_ONLY, err);
        if (code == 0) {
            *out_path = MOVE(path);
        }
        if (code != -EEXIST) {
            return code;
        }
        repeat = next_repeat(repeat, ++meetings);
    }
    return err_set(err, -EEXIST,
                   "cannot write a sample into %s: every name of this second is taken", csv_dir);
}

int archive_write(const char *csv_dir, const struct snapshot *snapshot, const struct zone *zone,
                  char **out_path, size_t *out_rows, struct err *err)
{
    OWN_BUF struct buf text = {0};
    int64_t time_s = snapshot->time_ns / NS_PER_S;
    char timestamp[32];
    size_t rows = 0;
    zone_format_iso(zone, time_s, timestamp);
    buf_text(&text, ARCHIVE_HEADER "\n");
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        if (is_row(&snapshot->gpu[i])) {
            add_row(&text, timestamp, &snapshot->gpu[i]);
            rows++;
        }
    }
    char *path = NULL;
    if (rows > 0) {
        int code = file_make_folders(csv_dir, 0755, err);
        code =
            code == 0 ? write_new(csv_dir, &text, archive_name_at(zone, time_s), &path, err) : code;
        if (code != 0) {
            return code;
        }
    }
    *out_path = path;
    *out_rows = rows;
    return 0;
}
