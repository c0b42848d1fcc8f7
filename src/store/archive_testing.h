/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What the tests of the archive share: a folder of their own, files in it, and a look at it. */
#ifndef STORE_ARCHIVE_TESTING_H
#define STORE_ARCHIVE_TESTING_H

#include "store/archive.h"
#include "store/archive_name.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include "tests/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEADER "timestamp,gpu_index,gpu_uuid,gpu_name,util_gpu"
#define UUID_A "GPU-00000000-0000-4000-8000-00000000000a"
#define UUID_B "GPU-00000000-0000-4000-8000-00000000000b"
#define UUID_C "GPU-00000000-0000-4000-8000-00000000000c"

struct box {
    char dir[64];
    struct zone zone;
};

static inline void box_open(struct box *box, const char *zone)
{
    (void)snprintf(box->dir, sizeof box->dir, "/tmp/gpumanager-archive-XXXXXX");
    CHECK(mkdtemp(box->dir) != NULL);
    CHECK_INT(zone_open(&box->zone, zone, NULL), 0);
}

static inline void remove_tree(const char *path)
{
    OWN_DIR DIR *dir = opendir(path);
    struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        OWN_FREE char *inner = mem_format("%s/%s", path, entry->d_name);
        if (unlink(inner) != 0) {
            remove_tree(inner);
        }
    }
    (void)rmdir(path);
}

static inline void box_close(struct box *box)
{
    remove_tree(box->dir);
}

static inline void put(const struct box *box, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", box->dir, name);
    CHECK_INT(file_write(path, text, strlen(text), 0644, FILE_REPLACE, NULL), 0);
}

static inline int64_t at(const char *iso)
{
    int64_t seconds = 0;
    int offset_s = 0;
    CHECK(clock_parse_iso(iso, (int64_t)strlen(iso), &seconds, &offset_s));
    return seconds;
}

static inline struct archive_result look(const struct box *box, const char *from, const char *to)
{
    struct archive_request request = {
        .csv_dir = box->dir, .zone = &box->zone, .from_s = at(from), .to_s = at(to)};
    struct archive_result result = {0};
    struct err err = {0};
    if (!CHECK_INT(archive_read(&request, &result, &err), 0)) {
        printf("# %s\n", err.text);
    }
    return result;
}

static inline double mean(const struct archive_gpu *gpu)
{
    return gpu->count > 0 ? (double)gpu->sum_micro / 1e6 / (double)gpu->count : -1;
}

static inline struct snapshot *snapshot_of(const char *iso, double ratio, const char *name)
{
    struct snapshot *snapshot = snapshot_new(at(iso) * NS_PER_S);
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    gpu->index = 0;
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, UUID_A);
    (void)snprintf(gpu->name, sizeof gpu->name, "%s", name);
    gpu->value[METRIC_UTILIZATION] = ratio;
    return snapshot;
}

/* Writes one sample; the base name of its file goes to `name`. */
static inline size_t sample(const struct box *box, struct snapshot *snapshot, char name[64])
{
    char *path = NULL;
    size_t rows = 0;
    CHECK_INT(archive_write(box->dir, snapshot, &box->zone, &path, &rows, NULL), 0);
    (void)snprintf(name, 64, "%s", path != NULL ? strrchr(path, '/') + 1 : "");
    free(path);
    snapshot_unref(snapshot);
    return rows;
}

static inline void read_back(const struct box *box, const char *name, char *out, size_t size)
{
    char path[256];
    OWN_BUF struct buf text = {0};
    (void)snprintf(path, sizeof path, "%s/%s", box->dir, name);
    CHECK_INT(file_read(path, size, &text, NULL), 0);
    (void)snprintf(out, size, "%s", buf_string(&text));
}

/* Fails the test when two answers differ in any figure. */
static inline void check_same(const struct archive_result *a, const struct archive_result *b,
                              size_t buckets)
{
    CHECK_INT(a->skipped_lines, b->skipped_lines);
    CHECK_INT(a->unreadable_count, b->unreadable_count);
    if (!CHECK_INT(a->gpu_count, b->gpu_count)) {
        return;
    }
    for (size_t i = 0; i < a->gpu_count; i++) {
        struct archive_gpu first = a->gpu[i];
        struct archive_gpu second = b->gpu[i];
        for (size_t j = 0; j < buckets; j++) {
            CHECK_INT(first.bucket[j].sum_micro, second.bucket[j].sum_micro);
            CHECK_INT(first.bucket[j].count, second.bucket[j].count);
        }
        CHECK_TEXT(first.uuid, second.uuid);
        CHECK_TEXT(first.name, second.name);
        CHECK_INT(first.index, second.index);
        CHECK_INT(first.first_s, second.first_s);
        CHECK_INT(first.last_s, second.last_s);
        CHECK_INT(first.sum_micro, second.sum_micro);
        CHECK_INT(first.count, second.count);
        CHECK_INT(first.sample_count, second.sample_count);
        CHECK_INT(first.min_micro, second.min_micro);
        CHECK_INT(first.max_micro, second.max_micro);
    }
}

/* One row of one GPU under the name of its time (UTC names). */
static inline void put_sample(const struct box *box, const char *iso, const char *uuid,
                              const char *util)
{
    char name[ARCHIVE_NAME_SIZE];
    char text[512];
    struct archive_name parts = archive_name_at(&box->zone, at(iso));
    archive_name_format(parts.day, parts.key, name);
    (void)snprintf(text, sizeof text, HEADER "\n%s,0,%s,NVIDIA A100,%s\n", iso, uuid, util);
    put(box, name, text);
}

#endif
