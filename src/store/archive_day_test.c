/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The day cache: figures equal those of the files to the last digit, whatever is done to either. */
#include "store/archive_day.h"

#include "store/archive_testing.h"

#define FROM "2026-03-01T00:00:00Z"
#define TO "2026-03-09T12:00:00Z"
#define BUCKETS 37

static struct archive_result ask(const struct box *box, bool is_cache_off)
{
    struct archive_request request = {.csv_dir = box->dir,
                                      .zone = &box->zone,
                                      .from_s = at(FROM),
                                      .to_s = at(TO),
                                      .bucket_count = BUCKETS,
                                      .is_cache_off = is_cache_off};
    struct archive_result result = {0};
    CHECK_INT(archive_read(&request, &result, NULL), 0);
    return result;
}

/* Eight days, a sample every three hours of two GPUs, then a moment for the stamps to settle. */
static void fill(struct box *box)
{
    box_open(box, "UTC");
    for (int i = 0; i < 68; i++) {
        char iso[32];
        char util[16];
        zone_format_iso(&box->zone, at(FROM) + 10800 * i + i, iso);
        (void)snprintf(util, sizeof util, "%d.%d", i % 100, i % 10);
        put_sample(box, iso, i % 2 == 0 ? UUID_A : UUID_B, util);
    }
    clock_sleep_ns(80 * NS_PER_MS);
}

/* Cached and read answers are the same now; how many files the cached one opened. */
static int64_t compare(const struct box *box)
{
    struct archive_result cached = ask(box, false);
    struct archive_result read = ask(box, true);
    int64_t opened = cached.opened_count;
    check_same(&cached, &read, BUCKETS);
    CHECK_INT(cached.file_count, read.file_count);
    archive_result_fini(&cached);
    archive_result_fini(&read);
    return opened;
}

static void path_of(const struct box *box, const char *name, char out[160])
{
    (void)snprintf(out, 160, "%s/%s", box->dir, name);
}

TEST(finished_days_are_not_opened_again)
{
    struct box box;
    fill(&box);
    CHECK_INT(compare(&box), 68);
    CHECK_INT(compare(&box), 4); /* the newest day may still grow */
    box_close(&box);
}

TEST(a_day_at_the_edge_of_the_window_is_read)
{
    struct box box;
    fill(&box);
    CHECK_INT(compare(&box), 68);
    struct archive_request request = {.csv_dir = box.dir,
                                      .zone = &box.zone,
                                      .from_s = at("2026-03-03T10:00:00Z"),
                                      .to_s = at(TO),
                                      .bucket_count = BUCKETS};
    struct archive_result cached = {0};
    struct archive_result read = {0};
    CHECK_INT(archive_read(&request, &cached, NULL), 0);
    request.is_cache_off = true;
    CHECK_INT(archive_read(&request, &read, NULL), 0);
    check_same(&cached, &read, BUCKETS);
    CHECK(cached.opened_count < 20);
    archive_result_fini(&cached);
    archive_result_fini(&read);
    box_close(&box);
}

/* Each of these changes one day only, and must be seen at once. */
TEST(whatever_is_done_to_a_day_is_seen)
{
    struct box box;
    char path[160];
    char other[160];
    fill(&box);
    CHECK_INT(compare(&box), 68);
    const char *name = "2026-03-03T00-00-16.csv";
    path_of(&box, name, path);
    CHECK_INT(access(path, F_OK), 0);

    /* edited in place, same size */
    OWN_FD int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat status;
    REQUIRE(fd >= 0 && fstat(fd, &status) == 0);
    CHECK_INT(pwrite(fd, "99", 2, status.st_size - 5), 2);
    CHECK_INT(compare(&box), 12);
    clock_sleep_ns(80 * NS_PER_MS);
    CHECK_INT(compare(&box), 12); /* it was too fresh to be kept */
    CHECK_INT(compare(&box), 4);

    /* replaced by a file of the same name */
    put(&box, name, HEADER "\n2026-03-03T00:00:16+00:00,0," UUID_A ",NVIDIA A100,55\n");
    CHECK_INT(compare(&box), 12);

    /* renamed, added, removed */
    path_of(&box, "2026-03-03T00-00-17.csv", other);
    CHECK_INT(rename(path, other), 0);
    CHECK_INT(compare(&box), 12);
    put_sample(&box, "2026-03-05T01:00:00+00:00", UUID_C, "1");
    CHECK_INT(compare(&box), 21);
    CHECK_INT(unlink(other), 0);
    (void)compare(&box);

    /* touched only */
    clock_sleep_ns(80 * NS_PER_MS);
    (void)compare(&box);
    CHECK_INT(compare(&box), 4);
    path_of(&box, "2026-03-05T01-00-00.csv", path);
    CHECK_INT(utimensat(AT_FDCWD, path, NULL, 0), 0);
    CHECK_INT(compare(&box), 13);
    box_close(&box);
}

static void cache_path(const struct box *box, char out[160])
{
    path_of(box, ".gpumanager/days/2026-03", out);
}

/* Every byte of the cache may be anything: figures stay those of the files. */
TEST(a_damaged_cache_changes_no_figure)
{
    struct box box;
    char path[160];
    OWN_BUF struct buf good = {0};
    fill(&box);
    (void)compare(&box);
    cache_path(&box, path);
    REQUIRE(file_read(path, 1 << 20, &good, NULL) == 0);
    for (size_t i = 0; i < good.length; i += good.length / 60 + 1) {
        good.data[i] ^= 0x41;
        CHECK_INT(file_write(path, good.data, good.length, 0644, FILE_REPLACE, NULL), 0);
        CHECK_INT(compare(&box), 68);
        good.data[i] ^= 0x41;
    }
    for (size_t length = 0; length < good.length; length += good.length / 20 + 1) {
        CHECK_INT(file_write(path, good.data, length, 0644, FILE_REPLACE, NULL), 0);
        CHECK_INT(compare(&box), 68);
    }
    good.data[8] = 99; /* another version */
    CHECK_INT(file_write(path, good.data, good.length, 0644, FILE_REPLACE, NULL), 0);
    CHECK_INT(compare(&box), 68);
    CHECK_INT(compare(&box), 4);
    box_close(&box);
}

TEST(a_cache_that_cannot_be_written_is_no_error)
{
    struct box box;
    fill(&box);
    put(&box, ".gpumanager", "a file in the way");
    CHECK_INT(compare(&box), 68);
    CHECK_INT(compare(&box), 68);
    box_close(&box);
}

TEST(a_symbolic_link_in_the_way_of_the_cache_is_not_followed)
{
    struct box box;
    char path[160];
    char elsewhere[] = "/tmp/gpumanager-elsewhere-XXXXXX";
    fill(&box);
    REQUIRE(mkdtemp(elsewhere) != NULL);
    path_of(&box, ".gpumanager", path);
    CHECK_INT(symlink(elsewhere, path), 0);
    CHECK_INT(compare(&box), 68);
    CHECK_INT(rmdir(elsewhere), 0); /* nothing was written there */
    box_close(&box);
}

/* A torn line of a cached day is still counted; a foreign file is still named. */
TEST(what_was_wrong_with_a_day_is_told_each_time)
{
    struct box box;
    fill(&box);
    put(&box, "2026-03-04T23-00-00.csv", HEADER "\n2026-03-04T23:00:00Z,0,GPU-0");
    put(&box, "2026-03-06T23-00-00.csv", "milk,eggs\n");
    clock_sleep_ns(80 * NS_PER_MS);
    (void)compare(&box);
    struct archive_result result = ask(&box, false);
    CHECK_INT(result.skipped_lines, 1);
    CHECK_INT(result.unreadable_count, 1);
    CHECK(result.opened_count < 20);
    archive_result_fini(&result);
    box_close(&box);
}

TEST(a_short_window_leaves_no_cache_behind)
{
    struct box box;
    char path[160];
    fill(&box);
    struct archive_result result = look(&box, "2026-03-07T12:00:00Z", "2026-03-09T11:59:59Z");
    CHECK(result.gpu_count == 2);
    archive_result_fini(&result);
    path_of(&box, ".gpumanager", path);
    CHECK(access(path, F_OK) != 0);
    box_close(&box);
}

MAIN(RUN(finished_days_are_not_opened_again), RUN(a_day_at_the_edge_of_the_window_is_read),
     RUN(whatever_is_done_to_a_day_is_seen), RUN(a_damaged_cache_changes_no_figure),
     RUN(a_cache_that_cannot_be_written_is_no_error),
     RUN(a_symbolic_link_in_the_way_of_the_cache_is_not_followed),
     RUN(what_was_wrong_with_a_day_is_told_each_time), RUN(a_short_window_leaves_no_cache_behind))
