/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/own.h"

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

static void box_open(struct box *box, const char *zone)
{
    (void)snprintf(box->dir, sizeof box->dir, "/tmp/gpumanager-archive-XXXXXX");
    CHECK(mkdtemp(box->dir) != NULL);
    CHECK_INT(zone_open(&box->zone, zone, NULL), 0);
}

static void remove_tree(const char *path)
{
    OWN_DIR DIR *dir = opendir(path);
    struct dirent *entry = NULL;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        char inner[512];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) {
            continue;
        }
        (void)snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (unlink(inner) != 0) {
            remove_tree(inner);
        }
    }
    (void)rmdir(path);
}

static void box_close(struct box *box)
{
    remove_tree(box->dir);
}

static void put(const struct box *box, const char *name, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", box->dir, name);
    CHECK_INT(file_write(path, text, strlen(text), 0644, FILE_REPLACE, NULL), 0);
}

static int64_t at(const char *iso)
{
    int64_t seconds = 0;
    int offset_s = 0;
    CHECK(clock_parse_iso(iso, (int64_t)strlen(iso), &seconds, &offset_s));
    return seconds;
}

static struct archive_result look(const struct box *box, const char *from, const char *to)
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

static double mean(const struct archive_gpu *gpu)
{
    return gpu->count > 0 ? (double)gpu->sum_micro / 1e6 / (double)gpu->count : -1;
}

static struct snapshot *snapshot_of(const char *iso, double ratio, const char *name)
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
static size_t sample(const struct box *box, struct snapshot *snapshot, char name[64])
{
    char *path = NULL;
    size_t rows = 0;
    CHECK_INT(archive_write(box->dir, snapshot, &box->zone, &path, &rows, NULL), 0);
    (void)snprintf(name, 64, "%s", path != NULL ? strrchr(path, '/') + 1 : "");
    free(path);
    snapshot_unref(snapshot);
    return rows;
}

static void read_back(const struct box *box, const char *name, char *out, size_t size)
{
    char path[256];
    OWN_BUF struct buf text = {0};
    (void)snprintf(path, sizeof path, "%s/%s", box->dir, name);
    CHECK_INT(file_read(path, size, &text, NULL), 0);
    (void)snprintf(out, size, "%s", buf_string(&text));
}

/* GM-003 … GM-008 */
TEST(a_sample_is_one_file_of_local_name_with_offsets_inside)
{
    struct box box;
    char name[64];
    char text[1024];
    box_open(&box, "Asia/Seoul");
    CHECK_INT(sample(&box, snapshot_of("2026-03-22T07:21:00Z", 0.35, "NVIDIA \"X\", 80GB"), name),
              1);
    CHECK_TEXT(name, "2026-03-22T16-21-00.csv");
    read_back(&box, name, text, sizeof text);
    CHECK_TEXT(text,
               HEADER "\n2026-03-22T16:21:00+09:00,0," UUID_A ",\"NVIDIA \"\"X\"\", 80GB\",35\n");
    box_close(&box);
}

/* Case ST01 */
TEST(a_line_without_its_end_is_ignored_and_counted)
{
    struct box box;
    box_open(&box, "Asia/Seoul");
    put(&box, "2026-03-22T16-10-00.csv",
        HEADER "\r\n2026-03-22T16:10:00+09:00,0," UUID_A ",NVIDIA A100,40\r\n");
    put(&box, "2026-03-22T16-11-00.csv",
        HEADER "\r\n2026-03-22T16:11:00+09:00,0," UUID_A ",NVIDIA A100,6");
    put(&box, "2026-03-22T16-12-00.csv", HEADER "\r\n2026-03-22T16:12:00+09:00,0,GPU-0000");
    struct archive_result result =
        look(&box, "2026-03-22T15:30:00+09:00", "2026-03-22T16:30:00+09:00");
    REQUIRE(result.gpu_count == 1);
    CHECK_NEAR(mean(&result.gpu[0]), 40, 0);
    CHECK_INT(result.skipped_lines, 2);
    CHECK_INT(result.file_count, 1);
    CHECK_INT(result.unreadable_count, 0);
    archive_result_fini(&result);
    box_close(&box);
}

MAIN(RUN(a_sample_is_one_file_of_local_name_with_offsets_inside),
     RUN(a_line_without_its_end_is_ignored_and_counted))
