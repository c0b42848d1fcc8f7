/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The parser on literal bytes, and the source against the fake nvidia-smi of tests/fake. */
#include "source/nvidia_smi_parse.h"
#include "source/source.h"
#include "source/unified.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"

#include "tests/check.h"
#include "tests/play.h"

#include <errno.h>

static struct snapshot *read_full(enum source_depth depth, struct err *err, int *code)
{
    struct source *source = NULL;
    struct snapshot *snapshot = NULL;
    struct source_options options = {.depth = depth, .deadline_ns = 5 * NS_PER_S};
    play_smi(1);
    *code = source_nvidia_smi.open(&source, &options, err);
    if (*code == 0) {
        *code = source_nvidia_smi.read(source, 1000, &snapshot, err);
    }
    source_nvidia_smi.close(source);
    return snapshot != NULL ? snapshot : snapshot_new(0);
}

static struct snapshot *read_case(const char *name, enum source_depth depth)
{
    struct err err = {0};
    int code = 0;
    play_case(name);
    struct snapshot *snapshot = read_full(depth, &err, &code);
    if (!CHECK(code == 0)) {
        printf("# %s\n", err.text);
    }
    return snapshot;
}

static double value(const struct snapshot *snapshot, size_t gpu, enum metric_id id)
{
    return gpu < snapshot->gpu_count ? snapshot->gpu[gpu].value[id] : NAN;
}

/* Case NS01, Part C gpumanager 3 */
TEST(one_missing_figure_costs_only_itself)
{
    struct snapshot *snapshot = read_case("NS01.smi", SOURCE_UTILIZATION);
    REQUIRE(snapshot->gpu_count == 3);
    CHECK_NEAR(value(snapshot, 0, METRIC_UTILIZATION), 0.35, 1e-9);
    CHECK(isnan(value(snapshot, 1, METRIC_UTILIZATION)));
    CHECK_NEAR(value(snapshot, 2, METRIC_UTILIZATION), 0.02, 1e-9);
    snapshot_unref(snapshot);
}

/* Case NS03 */
TEST(not_supported_is_no_value)
{
    struct snapshot *snapshot = read_case("NS03.smi", SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK(isnan(value(snapshot, 0, METRIC_UTILIZATION)));
    CHECK(value(snapshot, 0, METRIC_TEMPERATURE) == 38);
    CHECK_INT(snapshot->dropped, 0);
    snapshot_unref(snapshot);
}

/* Case NS05 */
TEST(a_gpu_that_requires_a_reset_is_not_believed)
{
    struct snapshot *snapshot = read_case("NS05.smi", SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_INT(snapshot->gpu[0].state, GPU_STATE_NEEDS_RESET);
    CHECK(isnan(value(snapshot, 0, METRIC_UTILIZATION)));
    CHECK(isnan(value(snapshot, 0, METRIC_MEMORY_USED)));
    CHECK_INT(snapshot->gpu[1].state, GPU_STATE_OK);
    CHECK(value(snapshot, 1, METRIC_UTILIZATION) == 1);
    snapshot_unref(snapshot);
}

/* Case NS08 */
TEST(a_driver_that_is_not_there_yet_is_told_and_comes_later)
{
    char scenario[512];
    char flag[64];
    (void)snprintf(flag, sizeof flag, "/tmp/gpumanager-flag-%d", (int)getpid());
    (void)snprintf(scenario, sizeof scenario,
                   "rc 0\nneeds_file %s\ngpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu 12\n"
                   " default [N/A]\nend\n",
                   flag);
    struct err err = {0};
    int code = 0;
    (void)unlink(flag);
    play_text(scenario);
    snapshot_unref(read_full(SOURCE_UTILIZATION, &err, &code));
    CHECK_INT(code, -EIO);
    CHECK(strstr(err.text, "couldn't communicate with the NVIDIA driver") != NULL);
    FILE *file = fopen(flag, "w");
    REQUIRE(file != NULL);
    (void)fclose(file);
    struct snapshot *snapshot = read_full(SOURCE_UTILIZATION, &err, &code);
    CHECK_INT(code, 0);
    CHECK_INT(snapshot->gpu_count, 1);
    snapshot_unref(snapshot);
    (void)unlink(flag);
}

/* Case NS11 */
TEST(a_warning_behind_good_rows_becomes_a_note)
{
    struct snapshot *snapshot = read_case("NS11.smi", SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_TEXT(snapshot->gpu[0].note, "infoROM is corrupted");
    CHECK_TEXT(snapshot->gpu[1].note, "");
    CHECK_NEAR(value(snapshot, 1, METRIC_UTILIZATION), 0.64, 1e-9);
    snapshot_unref(snapshot);
}

/* Case NS13, Part C gpumanager 13 */
TEST(an_nvidia_smi_that_hangs_is_killed_at_the_deadline)
{
    struct source *source = NULL;
    struct snapshot *snapshot = NULL;
    struct err err = {0};
    struct source_options options = {.deadline_ns = NS_PER_S};
    play_case("NS13.smi");
    play_smi(1);
    REQUIRE(source_nvidia_smi.open(&source, &options, &err) == 0);
    int64_t start = clock_mono_ns();
    CHECK_INT(source_nvidia_smi.read(source, 1, &snapshot, &err), -ETIMEDOUT);
    CHECK(clock_mono_ns() - start < 4 * NS_PER_S);
    CHECK(strstr(err.text, "did not answer") != NULL);
    source_nvidia_smi.close(source);
}

/* Case NS15 */
TEST(a_chip_without_memory_of_its_own_shows_the_systems)
{
    struct snapshot *snapshot = read_case("NS15.smi", SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK(value(snapshot, 0, METRIC_UTILIZATION) == 0);
    CHECK(snapshot->gpu[0].is_unified);
    CHECK(value(snapshot, 0, METRIC_MEMORY_TOTAL) > 0);
    snapshot_unref(snapshot);
    static const char text[] = "MemTotal:       127600748 kB\nMemFree:  1 kB\n"
                               "MemAvailable:   118566368 kB\n";
    double total = 0;
    double available = 0;
    CHECK(unified_parse(text, strlen(text), &total, &available));
    CHECK(total == 127600748.0 * 1024);
    CHECK(available == 118566368.0 * 1024);
}

static double xml_power(const char *name)
{
    char path[512];
    const char *root = getenv("SOURCE_ROOT");
    (void)snprintf(path, sizeof path, "%s/tests/cases/%s", root != NULL ? root : ".", name);
    OWN_BUF struct buf text = {0};
    struct snapshot *snapshot = snapshot_new(0);
    CHECK_INT(file_read(path, 65536, &text, NULL), 0);
    CHECK_INT(smi_parse_xml(buf_string(&text), text.length, snapshot), 1);
    double watts = value(snapshot, 0, METRIC_POWER_DRAW);
    snapshot_unref(snapshot);
    return watts;
}

/* Case NS24 */
TEST(power_is_found_under_each_of_its_names)
{
    struct snapshot *a = read_case("NS24a.smi", SOURCE_FULL);
    struct snapshot *b = read_case("NS24b.smi", SOURCE_FULL);
    CHECK_NEAR(value(a, 0, METRIC_POWER_DRAW), 26.84, 1e-9);
    CHECK_NEAR(value(b, 0, METRIC_POWER_DRAW), 66.84, 1e-9);
    CHECK_NEAR(xml_power("NS24a.xml"), 26.84, 1e-9);
    CHECK_NEAR(xml_power("NS24b.xml"), 66.84, 1e-9);
    snapshot_unref(a);
    snapshot_unref(b);
}

/* Case NV27 b */
TEST(impossible_figures_are_dropped_and_counted)
{
    struct snapshot *snapshot = read_case("NV27b.smi", SOURCE_UTILIZATION);
    REQUIRE(snapshot->gpu_count == 3);
    CHECK(isnan(value(snapshot, 0, METRIC_UTILIZATION)));
    CHECK(isnan(value(snapshot, 1, METRIC_UTILIZATION)));
    CHECK_NEAR(value(snapshot, 2, METRIC_UTILIZATION), 0.4, 1e-9);
    CHECK_INT(snapshot->dropped, 2);
    snapshot_unref(snapshot);
}

/* Case WB14 */
TEST(nan_and_inf_are_no_values)
{
    struct snapshot *snapshot = read_case("WB14.smi", SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK(isnan(value(snapshot, 0, METRIC_POWER_DRAW)));
    CHECK(isnan(value(snapshot, 0, METRIC_POWER_LIMIT)));
    CHECK(isnan(value(snapshot, 0, METRIC_TEMPERATURE)));
    CHECK(value(snapshot, 0, METRIC_UTILIZATION) == 0);
    CHECK_INT(snapshot->dropped, 3);
    snapshot_unref(snapshot);
}

/* Case EX01 */
TEST(names_with_bad_bytes_are_made_valid)
{
    struct snapshot *snapshot = read_case("EX01.smi", SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 4 && snapshot->gpu != NULL);
    CHECK_TEXT(snapshot->gpu[0].name, "Quote \" card");
    CHECK_TEXT(snapshot->gpu[1].name, "Back\\slash");
    CHECK(strstr(snapshot->gpu[2].name, "Bad ?") != NULL);
    snapshot_unref(snapshot);
}

/* Part C gpumanager 3 */
TEST(a_comma_in_a_name_is_part_of_the_name)
{
    static const char text[] = "0, GPU-aa, Cards, Inc. GPU, big, 35\n1, GPU-bb, plain, [N/A]\n";
    struct smi_query query = {{0, 1, 2, 3}, 4};
    struct snapshot *snapshot = snapshot_new(0);
    struct smi_answer answer;
    smi_parse_gpus(text, strlen(text), &query, true, snapshot, &answer);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_TEXT(snapshot->gpu[0].name, "Cards, Inc. GPU, big");
    CHECK_NEAR(value(snapshot, 0, METRIC_UTILIZATION), 0.35, 1e-9);
    snapshot_unref(snapshot);
}

TEST(a_row_that_was_cut_is_left_out)
{
    static const char text[] = "0, GPU-aa, A, 35\n1, GPU-bb, B, 6";
    struct smi_query query = {{0, 1, 2, 3}, 4};
    struct snapshot *snapshot = snapshot_new(0);
    struct smi_answer answer;
    smi_parse_gpus(text, strlen(text), &query, false, snapshot, &answer);
    CHECK_INT(snapshot->gpu_count, 1);
    snapshot_unref(snapshot);
}

/* GM-014 */
TEST(no_devices_is_an_answer)
{
    struct err err = {0};
    int code = 0;
    play_text("rc 6\nraw\nNo devices were found\nendraw\n");
    struct snapshot *snapshot = read_full(SOURCE_UTILIZATION, &err, &code);
    CHECK_INT(code, 0);
    CHECK_INT(snapshot->gpu_count, 0);
    snapshot_unref(snapshot);
}

/* GH-031, better: the refused field goes, the rest stays. */
TEST(a_refused_field_is_replaced_by_its_alias_or_left_out)
{
    struct err err = {0};
    int code = 0;
    play_text("rc 0\nbad_field clocks_event_reasons.gpu_idle\nbad_field utilization.jpeg\n"
              "gpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu 12\n temperature.gpu 50\n"
              " clocks_throttle_reasons.gpu_idle Active\n default [N/A]\nend\n");
    struct snapshot *snapshot = read_full(SOURCE_FULL, &err, &code);
    CHECK_INT(code, 0);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK(value(snapshot, 0, METRIC_TEMPERATURE) == 50);
    CHECK(value(snapshot, 0, METRIC_CLOCK_EVENT_IDLE) == 1);
    snapshot_unref(snapshot);
}

/* GH-040, Part C gpu-hot 5 */
TEST(processes_without_a_memory_figure_stay_in_the_list)
{
    static const char text[] = "GPU-aa, 79, [N/A], [N/A]\nGPU-aa, 80, a, b program, 512\n"
                               "GPU-zz, 81, x, 1\nGPU-aa, x, y, 1\n";
    struct snapshot *snapshot = snapshot_new(0);
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-aa");
    smi_parse_processes(text, strlen(text), true, snapshot);
    REQUIRE(snapshot->process_count == 2);
    CHECK(isnan(snapshot->process[0].memory_bytes));
    CHECK_TEXT(snapshot->process[1].name, "a, b program");
    CHECK(snapshot->process[1].memory_bytes == 512 * 1048576.0);
    snapshot_unref(snapshot);
}

/* Case NS32 */
TEST(the_error_names_every_place_that_was_searched)
{
    struct source *source = NULL;
    struct err err = {0};
    struct source_options options = {0};
    play_smi(0);
    int code = source_nvidia_smi.open(&source, &options, &err);
    if (code == 0) {
        source_nvidia_smi.close(source); /* this machine has a real one */
    } else {
        CHECK_INT(code, -ENODEV);
        CHECK(strstr(err.text, "nvidia-smi not found in PATH") != NULL);
        CHECK(strstr(err.text, "/usr/lib/wsl/lib") != NULL);
    }
    char path[512];
    (void)snprintf(path, sizeof path, "%s/nvidia-smi", getenv("FAKE_DIR"));
    options.arg = path;
    CHECK_INT(source_nvidia_smi.open(&source, &options, &err), 0);
    source_nvidia_smi.close(source);
    options.arg = "/nonexistent/nvidia-smi";
    CHECK_INT(source_nvidia_smi.open(&source, &options, &err), -ENODEV);
    CHECK(strstr(err.text, "/nonexistent/nvidia-smi") != NULL);
    play_end();
}

MAIN(RUN(one_missing_figure_costs_only_itself), RUN(not_supported_is_no_value),
     RUN(a_gpu_that_requires_a_reset_is_not_believed),
     RUN(a_driver_that_is_not_there_yet_is_told_and_comes_later),
     RUN(a_warning_behind_good_rows_becomes_a_note),
     RUN(an_nvidia_smi_that_hangs_is_killed_at_the_deadline),
     RUN(a_chip_without_memory_of_its_own_shows_the_systems),
     RUN(power_is_found_under_each_of_its_names), RUN(impossible_figures_are_dropped_and_counted),
     RUN(nan_and_inf_are_no_values), RUN(names_with_bad_bytes_are_made_valid),
     RUN(a_comma_in_a_name_is_part_of_the_name), RUN(a_row_that_was_cut_is_left_out),
     RUN(no_devices_is_an_answer), RUN(a_refused_field_is_replaced_by_its_alias_or_left_out),
     RUN(processes_without_a_memory_figure_stay_in_the_list),
     RUN(the_error_names_every_place_that_was_searched))
