/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Merging and deleting: nothing lost, nothing counted twice, wherever it stops. */
#include "store/archive.h"

#include "store/archive_testing.h"

#define FROM "2026-03-01T00:00:00Z"
#define TO "2026-03-05T00:00:00Z"
#define BUCKETS 16

static struct archive_request request_of(const struct box *box)
{
    return (struct archive_request){.csv_dir = box->dir,
                                    .zone = &box->zone,
                                    .from_s = at(FROM),
                                    .to_s = at(TO),
                                    .bucket_count = BUCKETS};
}

static struct archive_result ask(const struct box *box)
{
    struct archive_request request = request_of(box);
    struct archive_result result = {0};
    struct archive_result plain = {0};
    CHECK_INT(archive_read(&request, &result, NULL), 0);
    request.is_cache_off = true;
    CHECK_INT(archive_read(&request, &plain, NULL), 0);
    check_same(&result, &plain, BUCKETS);
    archive_result_fini(&plain);
    return result;
}

static int compact(const struct box *box, struct archive_compacted *out, struct err *err)
{
    struct archive_request request = request_of(box);
    return archive_compact(&request, at("2026-03-04T00:00:00Z"), out, err);
}

/* Three days and a half, six samples a day, and two samples of one second. */
static void fill(struct box *box)
{
    box_open(box, "UTC");
    for (int i = 0; i < 21; i++) {
        char iso[32];
        char util[16];
        zone_format_iso(&box->zone, at(FROM) + 14400 * i, iso);
        (void)snprintf(util, sizeof util, "%d.5", i);
        put_sample(box, iso, i % 2 == 0 ? UUID_A : UUID_B, util);
    }
    put(box, "2026-03-02T00-00-00-2.csv",
        HEADER "\r\n2026-03-02T00:00:00+00:00,0," UUID_A ",\"NVIDIA A100, 80GB\",35.0\r\n"
               "2026-03-02T00:00:00+00:00,1," UUID_C ",\"NVIDIA A100, 80GB\",\r\n");
}

static int count_files(const struct box *box)
{
    OWN_DIR DIR *dir = opendir(box->dir);
    struct dirent *entry = NULL;
    int count = 0;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        count += text_ends(entry->d_name, ".csv") ? 1 : 0;
    }
    return count;
}

/* Part C 5 */
TEST(merged_days_give_the_same_figures)
{
    struct box box;
    struct archive_compacted done = {0};
    char text[4096];
    fill(&box);
    struct archive_result before = ask(&box);
    CHECK_INT(compact(&box, &done, NULL), 0);
    CHECK_INT(done.days, 3);
    CHECK_INT(done.files_before, 19);
    CHECK_INT(done.left_files, 0);
    CHECK(done.bytes_after > 0 && done.bytes_after < done.bytes_before);
    CHECK_INT(count_files(&box), 6);
    struct archive_result after = ask(&box);
    check_same(&before, &after, BUCKETS);
    read_back(&box, "2026-03-02.csv", text, sizeof text);
    CHECK(text_starts(text, HEADER "\n2026-03-02T00:00:00+00:00,0," UUID_A ",NVIDIA A100,6.5\n"
                                   "2026-03-02T00:00:00+00:00,0," UUID_A
                                   ",\"NVIDIA A100, 80GB\",35.0\n2026-03-02T00:00:00+00:00,1,"));
    CHECK_INT(compact(&box, &done, NULL), 0); /* again: nothing to do */
    CHECK_INT(done.days, 0);
    archive_result_fini(&before);
    archive_result_fini(&after);
    box_close(&box);
}

TEST(a_late_sample_joins_the_merged_day)
{
    struct box box;
    struct archive_compacted done = {0};
    fill(&box);
    CHECK_INT(compact(&box, &done, NULL), 0);
    put_sample(&box, "2026-03-02T05:00:00+00:00", UUID_B, "77");
    struct archive_result before = ask(&box);
    CHECK_INT(compact(&box, &done, NULL), 0);
    CHECK_INT(done.days, 1);
    struct archive_result after = ask(&box);
    check_same(&before, &after, BUCKETS);
    CHECK_INT(count_files(&box), 6);
    archive_result_fini(&before);
    archive_result_fini(&after);
    box_close(&box);
}

TEST(files_that_are_not_wholly_understood_are_left_and_named)
{
    struct box box;
    struct archive_compacted done = {0};
    fill(&box);
    put(&box, "2026-03-01T01-00-00.csv", HEADER "\n2026-03-01T01:00:00Z,0,GPU-0");
    put(&box, "2026-03-01T02-00-00.csv", "milk,eggs\n");
    put(&box, "2026-03-01T03-00-00.csv",
        "timestamp,gpu_index,gpu_uuid,gpu_name,util_gpu,watts\n"
        "2026-03-01T03:00:00Z,0," UUID_A ",A,10,250\n");
    struct archive_result before = ask(&box);
    CHECK_INT(compact(&box, &done, NULL), 0);
    CHECK_INT(done.left_files, 3);
    CHECK_TEXT(done.left_name, "2026-03-01T01-00-00.csv");
    CHECK_INT(count_files(&box), 9);
    struct archive_result after = ask(&box);
    check_same(&before, &after, BUCKETS);
    archive_result_fini(&before);
    archive_result_fini(&after);
    box_close(&box);
}

/* Runs a compaction in a child with this fault; its wait status. */
static int compact_with_fault(const struct box *box, const char *kind, int number)
{
    pid_t child = fork();
    if (child == 0) {
        struct archive_compacted done = {0};
        char fault[32];
        (void)snprintf(fault, sizeof fault, "%s:%d", kind, number);
        (void)setenv("GPUMANAGER_FAULT", fault, 1);
        _exit(compact(box, &done, NULL) == 0 ? 0 : 7);
    }
    int status = -1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

/* Killed, or failing as on a full disk, at every step there is: the same figures each time. */
static void stop_everywhere(const char *kind)
{
    int stopped = 0;
    for (int number = 1; number < 200; number++) {
        struct box box;
        fill(&box);
        struct archive_result before = ask(&box);
        int status = compact_with_fault(&box, kind, number);
        struct archive_result between = ask(&box);
        check_same(&before, &between, BUCKETS);
        CHECK_INT(compact_with_fault(&box, "kill", 10000), 0);
        struct archive_result after = ask(&box);
        check_same(&before, &after, BUCKETS);
        CHECK_INT(count_files(&box), 6);
        archive_result_fini(&before);
        archive_result_fini(&between);
        archive_result_fini(&after);
        box_close(&box);
        if (status == 0 && number > 30) {
            break;
        }
        stopped += status != 0 ? 1 : 0;
    }
    CHECK(stopped >= 19 + 3 * 4 - 3);
}

TEST(killed_at_any_step_it_loses_nothing_and_counts_nothing_twice)
{
    stop_everywhere("kill");
}

TEST(failing_at_any_step_it_loses_nothing_and_counts_nothing_twice)
{
    stop_everywhere("fail");
}

static int64_t wipe(const struct box *box, const char *from, const char *to)
{
    struct archive_request request = {
        .csv_dir = box->dir, .zone = &box->zone, .from_s = at(from), .to_s = at(to)};
    int64_t counted = -1;
    int64_t deleted = -2;
    CHECK_INT(archive_count(&request, &counted, NULL), 0);
    CHECK_INT(archive_delete(&request, &deleted, NULL), 0);
    CHECK_INT(counted, deleted);
    return deleted;
}

/* GM-081 */
TEST(deleting_takes_both_ends_and_nothing_beside_them)
{
    struct box box;
    fill(&box);
    CHECK_INT(wipe(&box, "2026-03-02T00:00:00Z", "2026-03-02T08:00:00Z"), 4);
    CHECK_INT(count_files(&box), 18);
    struct archive_result result = ask(&box);
    CHECK_INT(result.gpu_count, 2); /* C had a sample there only */
    archive_result_fini(&result);
    CHECK_INT(wipe(&box, "2025-03-02T00:00:00Z", "2027-03-02T08:00:00Z"), 18);
    CHECK_INT(count_files(&box), 0);
    box_close(&box);
}

TEST(deleting_from_a_merged_day_leaves_its_other_rows)
{
    struct box box;
    struct archive_compacted done = {0};
    struct box twin;
    fill(&box);
    fill(&twin);
    CHECK_INT(compact(&box, &done, NULL), 0);
    CHECK_INT(wipe(&box, "2026-03-01T20:00:00Z", "2026-03-02T08:00:00Z"), 2);
    CHECK_INT(wipe(&twin, "2026-03-01T20:00:00Z", "2026-03-02T08:00:00Z"), 5);
    struct archive_result merged = ask(&box);
    struct archive_result single = ask(&twin);
    check_same(&merged, &single, BUCKETS);
    CHECK_INT(wipe(&box, "2026-03-02T00:00:00Z", "2026-03-02T23:59:59Z"), 1);
    CHECK_INT(count_files(&box), 5);
    archive_result_fini(&merged);
    archive_result_fini(&single);
    box_close(&box);
    box_close(&twin);
}

MAIN(RUN(merged_days_give_the_same_figures), RUN(a_late_sample_joins_the_merged_day),
     RUN(files_that_are_not_wholly_understood_are_left_and_named),
     RUN(killed_at_any_step_it_loses_nothing_and_counts_nothing_twice),
     RUN(failing_at_any_step_it_loses_nothing_and_counts_nothing_twice),
     RUN(deleting_takes_both_ends_and_nothing_beside_them),
     RUN(deleting_from_a_merged_day_leaves_its_other_rows))
