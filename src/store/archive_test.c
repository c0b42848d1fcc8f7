/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive.h"

#include "store/archive_testing.h"

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

/* GM-007, GM-014: no decimals that say nothing; unknown is an empty cell; no rows, no file. */
TEST(values_are_short_and_unknown_is_an_empty_cell)
{
    struct box box;
    char name[64];
    char text[2048];
    const double ratios[] = {0, 1, 0.075, 0.123456, 0.29, NAN};
    const char *const wanted[] = {",0\n", ",100\n", ",7.5\n", ",12.3456\n", ",29\n", ",\n"};
    box_open(&box, "UTC");
    for (size_t i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        (void)sample(&box, snapshot_of("2026-03-22T07:21:00Z", ratios[i], "A100"), name);
        read_back(&box, name, text, sizeof text);
        CHECK(text_ends(text, wanted[i]));
    }
    CHECK_INT(sample(&box, snapshot_new(at("2026-03-22T07:22:00Z") * NS_PER_S), name), 0);
    CHECK_TEXT(name, "");
    box_close(&box);
}

TEST(an_instance_without_a_figure_of_its_own_is_left_out)
{
    struct box box;
    char name[64];
    box_open(&box, "UTC");
    struct snapshot *snapshot = snapshot_of("2026-03-22T07:21:00Z", NAN, "A100");
    for (int i = 0; i < 2; i++) {
        struct gpu *instance = snapshot_add_gpu(snapshot);
        instance->parent = 0;
        instance->index = 0;
        (void)snprintf(instance->uuid, sizeof instance->uuid, "MIG-%d", i);
        instance->value[METRIC_UTILIZATION] = i == 0 ? NAN : 0.5;
    }
    CHECK_INT(sample(&box, snapshot, name), 2);
    box_close(&box);
}

/* Case TM15, Part C 4: both passes of the repeated hour survive and are told apart. */
TEST(the_repeated_autumn_hour_keeps_both_samples)
{
    struct box box;
    char name[64];
    box_open(&box, "Europe/Berlin");
    (void)sample(&box, snapshot_of("2026-10-25T00:30:00Z", 0.4, "T4"), name);
    CHECK_TEXT(name, "2026-10-25T02-30-00.csv");
    (void)sample(&box, snapshot_of("2026-10-25T01:30:00Z", 0.6, "T4"), name);
    CHECK_TEXT(name, "2026-10-25T02-30-00-2.csv");
    struct archive_result two = look(&box, "2026-10-24T23:31:00Z", "2026-10-25T01:31:00Z");
    struct archive_result one = look(&box, "2026-10-25T01:01:00Z", "2026-10-25T01:31:00Z");
    REQUIRE(two.gpu_count == 1 && one.gpu_count == 1);
    CHECK_NEAR(mean(&two.gpu[0]), 50, 0);
    CHECK_NEAR(mean(&one.gpu[0]), 60, 0);
    archive_result_fini(&two);
    archive_result_fini(&one);
    box_close(&box);
}

/* Case ST04 */
TEST(files_of_other_tools_are_read_and_foreign_ones_named)
{
    struct box box;
    box_open(&box, "Asia/Seoul");
    put(&box, "2026-03-22T16-01-00.csv",
        HEADER "\n2026-03-22T16:01:00+09:00,0," UUID_A ",NVIDIA A100,10\n");
    put(&box, "2026-03-22T16-02-00.csv",
        HEADER "\r\n2026-03-22T16:02:00+09:00,0," UUID_A ",NVIDIA A100,20.0\r\n");
    put(&box, "2026-03-22T16-03-00.csv",
        "\xef\xbb\xbf" HEADER "\r\n2026-03-22T16:03:00+09:00,0," UUID_A ",NVIDIA A100,30\r\n");
    put(&box, "2026-03-22T16-04-00.csv",
        "\"timestamp\",\"gpu_index\",\"gpu_uuid\",\"gpu_name\",\"util_gpu\"\n"
        "\"2026-03-22T16:04:00+09:00\",\"0\",\"" UUID_A "\",\"NVIDIA A100\",\"40\"\n");
    put(&box, "2026-03-22T16-05-00.csv",
        "timestamp;gpu_index;gpu_uuid;gpu_name;util_gpu\n"
        "2026-03-22T16:05:00+09:00;0;" UUID_A ";NVIDIA A100;99\n");
    put(&box, "2026-03-22T16-06-00.csv",
        HEADER "\r2026-03-22T16:06:00+09:00,0," UUID_A ",NVIDIA A100,98\r");
    put(&box, "notes.txt", "not looked at");
    struct archive_result result =
        look(&box, "2026-03-22T15:30:00+09:00", "2026-03-22T16:30:00+09:00");
    REQUIRE(result.gpu_count == 1 && result.unreadable_count == 2);
    CHECK_NEAR(mean(&result.gpu[0]), 25, 0);
    CHECK_TEXT(result.unreadable[0], "2026-03-22T16-05-00.csv");
    CHECK_TEXT(result.unreadable[1], "2026-03-22T16-06-00.csv");
    CHECK_INT(result.skipped_lines, 0);
    archive_result_fini(&result);
    box_close(&box);
}

TEST(columns_are_found_by_their_names)
{
    struct box box;
    box_open(&box, "UTC");
    put(&box, "2026-03-22T16-01-00.csv",
        "util_gpu,memory,timestamp,gpu_name,gpu_uuid,gpu_index\n"
        "12.5,7,2026-03-22T16:01:00Z,\"A100, 80GB\",gpu-00000000-0000-4000-8000-00000000000A,3\n"
        "1,2,3\n");
    put_sample(&box, "2026-03-22T16:00:00+00:00", UUID_A, "37.5");
    struct archive_result result = look(&box, "2026-03-22T15:30:00Z", "2026-03-22T16:30:00Z");
    REQUIRE(result.gpu_count == 1);
    CHECK_NEAR(mean(&result.gpu[0]), 25, 0);
    CHECK_INT(result.gpu[0].index, 3);
    CHECK_TEXT(result.gpu[0].name, "A100, 80GB");
    CHECK_INT(result.skipped_lines, 1);
    archive_result_fini(&result);
    box_close(&box);
}

/* Case NV27, GM-061 */
TEST(impossible_and_missing_values_are_samples_without_a_value)
{
    struct box box;
    const char *const utils[] = {"40", "", "[N/A]", "101", "-1", "4294967295", "N/A", "abc", "40"};
    box_open(&box, "UTC");
    for (int i = 0; i < 9; i++) {
        char iso[40];
        (void)snprintf(iso, sizeof iso, "2026-03-22T16:0%d:00+00:00", i);
        put_sample(&box, iso, UUID_A, utils[i]);
    }
    struct archive_result result = look(&box, "2026-03-22T15:30:00Z", "2026-03-22T16:30:00Z");
    REQUIRE(result.gpu_count == 1);
    CHECK_NEAR(mean(&result.gpu[0]), 40, 0);
    CHECK_INT(result.gpu[0].count, 2);
    CHECK_INT(result.gpu[0].sample_count, 8);
    CHECK_INT(result.skipped_lines, 1); /* "abc" */
    archive_result_fini(&result);
    box_close(&box);
}

/* Case NS30, Part C 11 */
TEST(a_gpu_is_its_uuid_and_shows_its_latest_index)
{
    struct box box;
    box_open(&box, "UTC");
    put(&box, "2026-03-22T16-01-00.csv",
        HEADER "\n2026-03-22T16:01:00Z,0," UUID_A ",A,10\n2026-03-22T16:01:00Z,1," UUID_B
               ",B,20\n2026-03-22T16:01:00Z,2," UUID_C ",C,30\n");
    put(&box, "2026-03-22T16-02-00.csv",
        HEADER "\n2026-03-22T16:02:00Z,0," UUID_A ",A,10\n2026-03-22T16:02:00Z,1," UUID_C
               ",C,30\n");
    put(&box, "2026-03-22T16-03-00.csv",
        HEADER "\n2026-03-22T16:03:00Z,0," UUID_B ",B,20\n2026-03-22T16:03:00Z,1," UUID_C
               ",C,30\n2026-03-22T16:03:00Z,2," UUID_A ",A2,10\n");
    struct archive_result result = look(&box, "2026-03-22T15:30:00Z", "2026-03-22T16:30:00Z");
    REQUIRE(result.gpu_count == 3);
    CHECK_TEXT(result.gpu[0].uuid, UUID_B);
    CHECK_TEXT(result.gpu[1].uuid, UUID_C);
    CHECK_TEXT(result.gpu[2].uuid, UUID_A);
    CHECK_TEXT(result.gpu[2].name, "A2");
    CHECK_NEAR(mean(&result.gpu[0]), 20, 0);
    CHECK_NEAR(mean(&result.gpu[1]), 30, 0);
    CHECK_NEAR(mean(&result.gpu[2]), 10, 0);
    CHECK_INT(result.gpu[0].sample_count, 2);
    archive_result_fini(&result);
    box_close(&box);
}

/* GM-059 */
TEST(both_ends_of_a_window_belong_to_it)
{
    struct box box;
    box_open(&box, "Asia/Seoul");
    put_sample(&box, "2026-03-22T15:59:59+09:00", UUID_A, "1");
    put_sample(&box, "2026-03-22T16:00:00+09:00", UUID_A, "10");
    put_sample(&box, "2026-03-22T17:00:00+09:00", UUID_A, "20");
    put_sample(&box, "2026-03-22T17:00:01+09:00", UUID_A, "90");
    struct archive_result result =
        look(&box, "2026-03-22T16:00:00+09:00", "2026-03-22T17:00:00+09:00");
    REQUIRE(result.gpu_count == 1);
    CHECK_NEAR(mean(&result.gpu[0]), 15, 0);
    CHECK_INT(result.gpu[0].min_micro, 10000000);
    CHECK_INT(result.gpu[0].max_micro, 20000000);
    archive_result_fini(&result);
    box_close(&box);
}

/* Part C 4: a change of general.timezone moves no window. */
TEST(names_made_in_another_zone_are_still_found)
{
    struct box box;
    box_open(&box, "Asia/Seoul");
    for (int minute = 0; minute < 60; minute++) {
        char iso[40];
        (void)snprintf(iso, sizeof iso, "2026-03-22T16:%02d:00+09:00", minute);
        put_sample(&box, iso, UUID_A, "20");
    }
    const char *const zones[] = {"Asia/Seoul", "Pacific/Kiritimati", "Pacific/Niue", "UTC"};
    for (int i = 0; i < 4; i++) {
        CHECK_INT(zone_open(&box.zone, zones[i], NULL), 0);
        struct archive_result result =
            look(&box, "2026-03-22T16:30:00+09:00", "2026-03-22T17:00:00+09:00");
        if (CHECK_INT(result.gpu_count, 1)) {
            CHECK_INT(result.gpu[0].count, 30);
        }
        archive_result_fini(&result);
    }
    box_close(&box);
}

/* Case ST06 */
TEST(files_outside_the_window_are_not_opened)
{
    struct box box;
    box_open(&box, "Asia/Seoul");
    int64_t end_s = at("2026-03-22T16:30:00+09:00");
    for (int i = 0; i < 3000; i++) {
        char iso[32];
        zone_format_iso(&box.zone, end_s - 60 * i, iso);
        put_sample(&box, iso, UUID_A, "50");
    }
    struct archive_result result =
        look(&box, "2026-03-22T15:30:00+09:00", "2026-03-22T16:30:00+09:00");
    REQUIRE(result.gpu_count == 1);
    CHECK_INT(result.gpu[0].count, 61);
    CHECK(result.opened_count <= 70);
    archive_result_fini(&result);
    box_close(&box);
}

TEST(what_is_no_file_is_named_and_never_waited_for)
{
    struct box box;
    char path[128];
    box_open(&box, "UTC");
    put_sample(&box, "2026-03-22T16:00:00+00:00", UUID_A, "50");
    (void)snprintf(path, sizeof path, "%s/2026-03-22T16-01-00.csv", box.dir);
    CHECK_INT(mkfifo(path, 0600), 0);
    (void)snprintf(path, sizeof path, "%s/2026-03-22T16-02-00.csv", box.dir);
    CHECK_INT(mkdir(path, 0700), 0);
    (void)snprintf(path, sizeof path, "%s/2026-03-22T16-03-00.csv", box.dir);
    CHECK_INT(symlink("2026-03-22T16-03-00.csv", path), 0);
    (void)snprintf(path, sizeof path, "%s/2026-03-22T16-04-00.csv", box.dir);
    CHECK_INT(symlink("/dev/zero", path), 0);
    (void)snprintf(path, sizeof path, "%s/2026-03-22T16-05-00.csv", box.dir);
    put(&box, "2026-03-22T16-05-00.csv", HEADER "\n");
    CHECK_INT(truncate(path, (off_t)5 << 20), 0);
    put(&box, "shopping.csv", "milk,eggs\n");
    put(&box, "2026-02-30T16-05-00.csv", "no such date\n");
    struct archive_result result = look(&box, "2026-03-22T15:30:00Z", "2026-03-22T16:30:00Z");
    REQUIRE(result.gpu_count == 1);
    CHECK_INT(result.gpu[0].count, 1);
    CHECK_INT(result.unreadable_count, 7);
    archive_result_fini(&result);
    box_close(&box);
}

TEST(an_archive_that_is_not_there_is_empty)
{
    struct box box;
    box_open(&box, "UTC");
    box_close(&box);
    struct archive_result result = look(&box, "2026-03-22T15:30:00Z", "2026-03-22T16:30:00Z");
    CHECK_INT(result.gpu_count, 0);
    CHECK_INT(result.file_count, 0);
    archive_result_fini(&result);
}

/* Two hundred writers in one second: every sample keeps a name of its own. */
TEST(samples_of_one_second_all_survive)
{
    struct box box;
    pid_t child[40];
    box_open(&box, "UTC");
    for (int i = 0; i < 40; i++) {
        child[i] = fork();
        if (child[i] == 0) {
            char name[64];
            for (int j = 0; j < 5; j++) {
                (void)sample(&box, snapshot_of("2026-03-22T16:00:00Z", 0.5, "A"), name);
            }
            _exit(name[0] == '\0' ? 1 : 0);
        }
    }
    for (int i = 0; i < 40; i++) {
        int status = 0;
        CHECK(waitpid(child[i], &status, 0) == child[i] && status == 0);
    }
    struct archive_result result = look(&box, "2026-03-22T15:30:00Z", "2026-03-22T16:30:00Z");
    REQUIRE(result.gpu_count == 1);
    CHECK_INT(result.gpu[0].sample_count, 200);
    archive_result_fini(&result);
    box_close(&box);
}

TEST(a_sample_that_cannot_be_written_leaves_nothing)
{
    struct box box;
    char *path = NULL;
    size_t rows = 0;
    struct err err = {0};
    box_open(&box, "UTC");
    struct snapshot *snapshot = snapshot_of("2026-03-22T16:00:00Z", 0.5, "A");
    CHECK(archive_write("/proc/nowhere", snapshot, &box.zone, &path, &rows, &err) < 0);
    CHECK(strstr(err.text, "/proc/nowhere") != NULL);
    CHECK(path == NULL);
    snapshot_unref(snapshot);
    box_close(&box);
}

MAIN(RUN(a_sample_is_one_file_of_local_name_with_offsets_inside),
     RUN(a_line_without_its_end_is_ignored_and_counted),
     RUN(values_are_short_and_unknown_is_an_empty_cell),
     RUN(an_instance_without_a_figure_of_its_own_is_left_out),
     RUN(the_repeated_autumn_hour_keeps_both_samples),
     RUN(files_of_other_tools_are_read_and_foreign_ones_named),
     RUN(columns_are_found_by_their_names),
     RUN(impossible_and_missing_values_are_samples_without_a_value),
     RUN(a_gpu_is_its_uuid_and_shows_its_latest_index), RUN(both_ends_of_a_window_belong_to_it),
     RUN(names_made_in_another_zone_are_still_found), RUN(files_outside_the_window_are_not_opened),
     RUN(what_is_no_file_is_named_and_never_waited_for), RUN(an_archive_that_is_not_there_is_empty),
     RUN(samples_of_one_second_all_survive), RUN(a_sample_that_cannot_be_written_leaves_nothing))
