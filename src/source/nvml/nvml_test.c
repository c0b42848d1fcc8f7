/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The real source against the fake library of tests/fake. */
#include "source/source.h"

#include "tests/check.h"
#include "tests/play.h"

#include <errno.h>

#define SECOND INT64_C(1000000000)

static struct source *opened(enum source_depth depth)
{
    struct source *source = NULL;
    struct err err = {0};
    struct source_options options = {.depth = depth};
    if (!CHECK(source_nvml.open(&source, &options, &err) == 0)) {
        printf("# %s\n", err.text);
    }
    return source;
}

static struct snapshot *read_at(struct source *source, int64_t second)
{
    struct snapshot *snapshot = NULL;
    CHECK_INT(source_nvml.read(source, second * SECOND, &snapshot, NULL), 0);
    return snapshot != NULL ? snapshot : snapshot_new(0);
}

static struct snapshot *read_once(enum source_depth depth)
{
    struct source *source = opened(depth);
    if (source == NULL) {
        return snapshot_new(0);
    }
    struct snapshot *snapshot = read_at(source, 100);
    source_nvml.close(source);
    return snapshot;
}

static double value(const struct snapshot *snapshot, size_t gpu, enum metric_id id)
{
    return gpu < snapshot->gpu_count ? snapshot->gpu[gpu].value[id] : NAN;
}

#define MIB 1048576.0

/* Case NV01 */
TEST(a_process_without_a_memory_figure_does_not_hide_the_others)
{
    play_case("NV01.nvml");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->process_count == 2);
    CHECK(isnan(snapshot->process[0].memory_bytes));
    CHECK_INT(snapshot->process[0].pid, 79);
    CHECK(snapshot->process[1].memory_bytes == 512 * MIB);
    CHECK(value(snapshot, 0, METRIC_COMPUTE_PROCESSES) == 2);
    snapshot_unref(snapshot);
}

/* Case NV04 a */
TEST(reserved_memory_is_not_used_memory)
{
    play_case("NV04a.nvml");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK(value(snapshot, 0, METRIC_MEMORY_USED) == 8 * MIB);
    CHECK(value(snapshot, 0, METRIC_MEMORY_RESERVED) == 904 * MIB);
    CHECK(!snapshot->gpu[0].is_used_with_reserved);
    CHECK(value(snapshot, 0, METRIC_MEMORY_USED) + value(snapshot, 0, METRIC_MEMORY_FREE) +
              value(snapshot, 0, METRIC_MEMORY_RESERVED) ==
          value(snapshot, 0, METRIC_MEMORY_TOTAL));
    snapshot_unref(snapshot);
}

/* Case NV06 a and b */
TEST(a_lost_gpu_costs_only_itself)
{
    const char *cases[] = {"NV06a.nvml", "NV06b.nvml"};
    for (size_t c = 0; c < 2; c++) {
        play_case(cases[c]);
        struct source *source = opened(SOURCE_FULL);
        for (int second = 100; second < 120; second++) {
            struct snapshot *snapshot = read_at(source, second);
            REQUIRE(snapshot->gpu_count == 4);
            CHECK_INT(snapshot->gpu_expected, 4);
            CHECK_NEAR(value(snapshot, 0, METRIC_UTILIZATION), 0.10, 1e-9);
            CHECK_NEAR(value(snapshot, 1, METRIC_UTILIZATION), 0.11, 1e-9);
            CHECK_NEAR(value(snapshot, 3, METRIC_UTILIZATION), 0.13, 1e-9);
            CHECK(isnan(value(snapshot, 2, METRIC_UTILIZATION)));
            CHECK(isnan(value(snapshot, 2, METRIC_MEMORY_USED)));
            CHECK_INT(snapshot->gpu[2].state, GPU_STATE_LOST);
            CHECK_INT(snapshot->gpu[2].index, 2);
            snapshot_unref(snapshot);
        }
        source_nvml.close(source);
    }
}

TEST(a_lost_gpu_comes_back_under_its_own_name)
{
    play_text("gpu\n index 0\n uuid GPU-aa\n name A\n utilization.gpu 7\nend\n"
              "0 nvmlDeviceGetUtilizationRates@2 -> 15\n"
              "0 nvmlDeviceGetUtilizationRates@3 -> 15\n");
    struct source *source = opened(SOURCE_UTILIZATION);
    int states[5] = {0};
    for (int i = 0; i < 5; i++) {
        struct snapshot *snapshot = read_at(source, 100 + i);
        REQUIRE(snapshot->gpu_count == 1);
        CHECK_TEXT(snapshot->gpu[0].uuid, "GPU-aa");
        states[i] = (int)snapshot->gpu[0].state;
        snapshot_unref(snapshot);
    }
    source_nvml.close(source);
    CHECK_INT(states[0], GPU_STATE_OK);
    CHECK_INT(states[1], GPU_STATE_LOST);
    CHECK_INT(states[4], GPU_STATE_OK);
}

TEST(a_gpu_that_needs_a_reset_says_so)
{
    play_text("* nvmlDeviceGetCount_v2 -> 0 count=2\n0 nvmlDeviceGetUtilizationRates -> 16\n"
              "1 nvmlDeviceGetUtilizationRates -> 0 gpu=5\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_INT(snapshot->gpu[0].state, GPU_STATE_NEEDS_RESET);
    CHECK_INT(snapshot->gpu[1].state, GPU_STATE_OK);
    snapshot_unref(snapshot);
}

/* Case NV08 */
TEST(no_samples_means_no_activity)
{
    play_text("0 nvmlDeviceGetUtilizationRates -> 0 gpu=0 memory=0\n"
              "0 nvmlDeviceGetProcessUtilization -> 6\n"
              "0 nvmlDeviceGetComputeRunningProcesses_v3 -> 0 pid=7,used=1048576\n");
    struct source *source = opened(SOURCE_FULL);
    for (int i = 0; i < 20; i++) {
        struct snapshot *snapshot = read_at(source, 100 + i);
        CHECK(value(snapshot, 0, METRIC_UTILIZATION) == 0);
        REQUIRE(snapshot->process_count == 1);
        CHECK(snapshot->process[0].sm_ratio == 0);
        snapshot_unref(snapshot);
    }
    source_nvml.close(source);
}

/* Case NV12 */
TEST(a_driver_that_comes_later_is_found_by_a_later_open)
{
    play_case("NV12.nvml");
    struct source_options options = {.depth = SOURCE_FULL};
    /* The library stays loaded between the tries, as it does when something else uses it. */
    struct source *source = NULL;
    int failures = 0;
    while (failures < 10 && source_nvml.open(&source, &options, NULL) == -ENODEV) {
        failures++;
    }
    /* Each open loads the fake anew, so its count of calls may start again. */
    if (source == NULL) {
        play_text("* nvmlInit_v2 -> 0\n0 nvmlDeviceGetUtilizationRates -> 0 gpu=21\n");
        REQUIRE(source_nvml.open(&source, &options, NULL) == 0);
    }
    CHECK(failures >= 3);
    struct snapshot *snapshot = read_at(source, 100);
    CHECK_NEAR(value(snapshot, 0, METRIC_UTILIZATION), 0.21, 1e-9);
    snapshot_unref(snapshot);
    source_nvml.close(source);
}

/* Case NV17: passed through as the counter says; whoever subtracts sees the restart. */
TEST(the_energy_counter_is_passed_on_in_joules)
{
    play_case("NV17.nvml");
    struct source *source = opened(SOURCE_FULL);
    const double joules[] = {5000, 5300, 200, 500};
    for (int i = 0; i < 4; i++) {
        struct snapshot *snapshot = read_at(source, 100 + i);
        CHECK_NEAR(value(snapshot, 0, METRIC_ENERGY), joules[i], 1e-6);
        snapshot_unref(snapshot);
    }
    source_nvml.close(source);
}

/* Case NV27 a */
TEST(utilization_over_a_hundred_is_no_utilization)
{
    play_case("NV27a.nvml");
    struct source *source = opened(SOURCE_FULL);
    uint64_t dropped = 0;
    for (int poll = 1; poll <= 10; poll++) {
        struct snapshot *snapshot = read_at(source, 100 + poll);
        bool is_bad = poll == 3 || poll == 4 || poll == 6;
        double got = value(snapshot, 0, METRIC_UTILIZATION);
        CHECK(is_bad ? isnan(got) : fabs(got - 0.4) < 1e-9);
        dropped = snapshot->dropped;
        snapshot_unref(snapshot);
    }
    CHECK_INT(dropped, 3);
    source_nvml.close(source);
}

/* GH-107, GH-106, Part C gpu-hot 2 */
TEST(architecture_and_brand_have_their_right_names)
{
    play_text("0 nvmlDeviceGetArchitecture -> 0 9\n0 nvmlDeviceGetBrand -> 0 14\n"
              "1 nvmlDeviceGetArchitecture -> 0 7\n1 nvmlDeviceGetBrand -> 0 5\n"
              "2 nvmlDeviceGetArchitecture -> 0 4711\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 3);
    CHECK_TEXT(snapshot->gpu[0].text[GPU_TEXT_ARCHITECTURE], "Hopper");
    CHECK_TEXT(snapshot->gpu[0].text[GPU_TEXT_BRAND], "NVIDIA");
    CHECK_TEXT(snapshot->gpu[1].text[GPU_TEXT_ARCHITECTURE], "Ampere");
    CHECK_TEXT(snapshot->gpu[1].text[GPU_TEXT_BRAND], "GeForce");
    CHECK_TEXT(snapshot->gpu[2].text[GPU_TEXT_ARCHITECTURE], "");
    snapshot_unref(snapshot);
}

/* Part C gpu-hot 1: zeros are values. GH-112, GH-113, GH-124, GH-133, GH-142 */
TEST(zeros_are_values)
{
    play_text("0 nvmlDeviceGetPerformanceState -> 0 0\n0 nvmlDeviceGetFanSpeed -> 0 0\n"
              "0 nvmlDeviceGetComputeMode -> 0 0\n0 nvmlDeviceGetPersistenceMode -> 0 0\n"
              "0 nvmlDeviceGetPcieThroughput -> 0 0\n"
              "0 nvmlDeviceGetCurrentClocksEventReasons -> 0 0\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    const enum metric_id ids[] = {
        METRIC_PERFORMANCE_STATE,     METRIC_FAN_SPEED, METRIC_COMPUTE_MODE,
        METRIC_PERSISTENCE_MODE,      METRIC_PCIE_TX,   METRIC_PCIE_RX,
        METRIC_CLOCK_EVENT_HW_THERMAL};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        CHECK(value(snapshot, 0, ids[i]) == 0);
    }
    snapshot_unref(snapshot);
}

TEST(every_kind_of_call_becomes_its_metric_in_base_units)
{
    play_text(
        "0 nvmlDeviceGetPowerUsage -> 0 250000\n0 nvmlDeviceGetTemperature -> 0 45\n"
        "0 nvmlDeviceGetClockInfo:2 -> 0 2619\n"
        "0 nvmlDeviceGetTemperatureThreshold:1 -> 0 87\n"
        "0 nvmlDeviceGetPowerManagementLimitConstraints -> 0 min=200000 max=700000\n"
        "0 nvmlDeviceGetPcieThroughput:0 -> 0 1500\n"
        "0 nvmlDeviceGetEccMode -> 0 current=1 pending=1\n"
        "0 nvmlDeviceGetTotalEccErrors:2 -> 0 n=3\n"
        "0 nvmlDeviceGetRemappedRows -> 0 cor=1 unc=2 pending=1 failed=0\n"
        "0 nvmlDeviceGetRetiredPages:1 -> 0 n=4\n"
        "0 nvmlDeviceGetViolationStatus:1 -> 0 ns=2500000000\n"
        "0 nvmlDeviceGetFieldValues:82 -> 0 v=60\n0 nvmlDeviceGetFieldValues:186 -> 0 v=251000\n"
        "0 nvmlDeviceGetFieldValues:138 -> 0 v=10 type=3\n"
        "0 nvmlDeviceGetCurrentClocksEventReasons -> 0 reasons=68\n"
        "0 nvmlDeviceGetEncoderStats -> 0 sessions=2 fps=60 latency=1500\n"
        "0 nvmlDeviceGetSupportedMemoryClocks -> 0 2619;1593\n"
        "0 nvmlDeviceGetCudaComputeCapability -> 0 major=9 minor=0\n"
        "0 nvmlDeviceGetJpgUtilization -> 0 util=3\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    const struct {
        enum metric_id id;
        double wanted;
    } rows[] = {
        {METRIC_POWER_DRAW, 250},
        {METRIC_TEMPERATURE, 45},
        {METRIC_CLOCK_MEMORY, 2619e6},
        {METRIC_TEMPERATURE_SLOWDOWN, 87},
        {METRIC_POWER_LIMIT_MIN, 200},
        {METRIC_POWER_LIMIT_MAX, 700},
        {METRIC_PCIE_TX, 1.5e6},
        {METRIC_ECC_ENABLED, 1},
        {METRIC_ECC_UNCORRECTED_VOLATILE, 3},
        {METRIC_REMAPPED_ROWS_UNCORRECTABLE, 2},
        {METRIC_REMAPPED_ROWS_PENDING, 1},
        {METRIC_RETIRED_PAGES_DOUBLE_BIT, 4},
        {METRIC_VIOLATION_THERMAL, 2.5},
        {METRIC_TEMPERATURE_MEMORY, 60},
        {METRIC_POWER_INSTANT, 251},
        {METRIC_NVLINK_TX, 10240},
        {METRIC_CLOCK_EVENT_SW_POWER_CAP, 1},
        {METRIC_CLOCK_EVENT_HW_THERMAL, 1},
        {METRIC_CLOCK_EVENT_IDLE, 0},
        {METRIC_ENCODER_LATENCY, 0.0015},
        {METRIC_JPEG_UTILIZATION, 0.03},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double got = value(snapshot, 0, rows[i].id);
        if (!CHECK(fabs(got - rows[i].wanted) <= 1e-9 * (1 + rows[i].wanted))) {
            printf("#   %s is %g, wanted %g\n", metrics[rows[i].id].key, got, rows[i].wanted);
        }
    }
    CHECK_INT(snapshot->gpu[0].memory_clock_count, 2);
    CHECK_TEXT(snapshot->gpu[0].text[GPU_TEXT_COMPUTE_CAPABILITY], "9.0");
    snapshot_unref(snapshot);
}

/* Part C gpu-hot 4, GH-147: eighteen links, some of them down. */
TEST(every_link_is_reported_also_behind_one_that_is_down)
{
    play_text(
        "0 nvmlDeviceGetNvLinkState:0 -> 0 0\n0 nvmlDeviceGetNvLinkState:18 -> 2\n"
        "0 nvmlDeviceGetNvLinkState:19 -> 2\n0 nvmlDeviceGetNvLinkState:20 -> 2\n"
        "0 nvmlDeviceGetNvLinkState:17 -> 0 1\n0 nvmlDeviceGetNvLinkState:5 -> 0 1\n"
        "0 nvmlDeviceGetNvLinkVersion -> 0 4\n0 nvmlDeviceGetNvLinkErrorCounter:17 -> 0 n=9\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK_INT(snapshot->gpu[0].link_count, 18);
    CHECK(value(snapshot, 0, METRIC_NVLINK_ACTIVE_COUNT) == 2);
    CHECK(snapshot->gpu[0].link[0][LINK_ACTIVE] == 0);
    CHECK(snapshot->gpu[0].link[17][LINK_ACTIVE] == 1);
    CHECK(snapshot->gpu[0].link[17][LINK_VERSION] == 4);
    CHECK(snapshot->gpu[0].link[17][LINK_REPLAY_ERRORS] == 9);
    snapshot_unref(snapshot);
}

TEST(mig_instances_are_gpus_with_a_parent)
{
    play_text(
        "* nvmlDeviceGetCount_v2 -> 0 count=2\n0 nvmlDeviceGetMigMode -> 0 current=1 pending=1\n"
        "0 nvmlDeviceGetMigDeviceHandleByIndex:0 -> 0\n"
        "0 nvmlDeviceGetMigDeviceHandleByIndex:3 -> 0\n"
        "0 nvmlDeviceGetGpuInstanceId -> 0 5\n0 nvmlDeviceGetComputeInstanceId -> 0 0\n"
        "0 nvmlDeviceGetComputeRunningProcesses_v3 -> 0 pid=9,used=1048576,gi=5,ci=0\n"
        "1 nvmlDeviceGetUtilizationRates -> 0 gpu=50\n"
        "* nvmlDeviceGetMemoryInfo* -> 0 total=1000 free=900 used=100\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 4);
    CHECK(value(snapshot, 0, METRIC_MIG_MODE) == 1);
    CHECK_INT(snapshot->gpu[1].parent, 0);
    CHECK_INT(snapshot->gpu[1].gpu_instance, 5);
    CHECK(strncmp(snapshot->gpu[1].uuid, "MIG-", 4) == 0);
    CHECK(value(snapshot, 1, METRIC_MEMORY_USED) == 100);
    CHECK_INT(snapshot->gpu[3].parent, -1);
    CHECK_INT(snapshot->gpu_expected, 2);
    REQUIRE(snapshot->process_count == 1);
    CHECK_INT(snapshot->process[0].gpu, 1);
    snapshot_unref(snapshot);
}

TEST(an_xid_becomes_an_event)
{
    play_text("* nvmlDeviceGetCount_v2 -> 0 count=2\n* nvmlEventSetWait_v2@1 -> 0 dev=1 xid=79\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->event_count == 1);
    CHECK_INT(snapshot->event[0].code, 79);
    CHECK_INT(snapshot->event[0].gpu, 1);
    CHECK(value(snapshot, 1, METRIC_XID_LAST) == 79);
    snapshot_unref(snapshot);
}

TEST(a_driver_replaced_underneath_is_opened_anew)
{
    play_text("* nvmlDeviceGetCount_v2 -> 0 count=1\n0 nvmlDeviceGetUtilizationRates@2 -> 18\n"
              "0 nvmlDeviceGetUtilizationRates -> 0 gpu=33\n");
    struct source *source = opened(SOURCE_UTILIZATION);
    struct snapshot *first = read_at(source, 100);
    struct snapshot *second = read_at(source, 101);
    struct snapshot *third = read_at(source, 102);
    CHECK_NEAR(value(first, 0, METRIC_UTILIZATION), 0.33, 1e-9);
    CHECK_INT(second->gpu_count, 1);
    CHECK_INT(second->gpu[0].state, GPU_STATE_LOST);
    CHECK_INT(third->gpu_count, 1);
    CHECK_NEAR(value(third, 0, METRIC_UTILIZATION), 0.33, 1e-9);
    snapshot_unref(first);
    snapshot_unref(second);
    snapshot_unref(third);
    source_nvml.close(source);
}

TEST(garbage_counts_and_sentinels_are_no_values)
{
    play_text("0 nvmlDeviceGetComputeRunningProcesses_v3 -> 7 count=4294967295\n"
              "0 nvmlDeviceGetPowerUsage -> 0 4294967295\n"
              "0 nvmlDeviceGetTotalEnergyConsumption -> 0 mJ=18446744073709551615\n"
              "0 nvmlDeviceGetNumFans -> 0 4000000000\n0 nvmlDeviceGetFanSpeed_v2 -> 0 30\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK_INT(snapshot->process_count, 0);
    CHECK(isnan(value(snapshot, 0, METRIC_COMPUTE_PROCESSES)));
    CHECK(isnan(value(snapshot, 0, METRIC_POWER_DRAW)));
    CHECK(isnan(value(snapshot, 0, METRIC_ENERGY)));
    CHECK_INT(snapshot->gpu[0].fan_count, GPU_FANS_MAX);
    snapshot_unref(snapshot);
}

static int count_lines(const char *path, const char *word)
{
    FILE *file = fopen(path, "r");
    char line[256];
    int count = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count += word == NULL || strstr(line, word) != NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return count;
}

TEST(a_sample_costs_at_most_six_calls_a_gpu_and_static_values_are_read_once)
{
    char log[64];
    (void)snprintf(log, sizeof log, "/tmp/gpumanager-calls-%d", (int)getpid());
    (void)unlink(log);
    (void)setenv("FAKE_NVML_LOG", log, 1);
    play_text(
        "* nvmlDeviceGetCount_v2 -> 0 count=16\n* nvmlDeviceGetUtilizationRates -> 0 gpu=5\n");
    struct snapshot *snapshot = read_once(SOURCE_UTILIZATION);
    CHECK_INT(snapshot->gpu_count, 16);
    snapshot_unref(snapshot);
    int calls = count_lines(log, NULL);
    printf("# %d calls for 16 GPUs\n", calls);
    CHECK(calls <= 6 * 16);
    (void)unlink(log);
    struct source *source = opened(SOURCE_FULL);
    for (int second = 100; second < 105; second++) {
        snapshot_unref(read_at(source, second));
    }
    source_nvml.close(source);
    CHECK_INT(count_lines(log, "nvmlDeviceGetMaxClockInfo 0 "), 16);
    CHECK_INT(count_lines(log, "nvmlDeviceGetPcieThroughput 0 "), 16);
    (void)unsetenv("FAKE_NVML_LOG");
    (void)unlink(log);
}

/* GB10 and Jetson: the system's memory, said to be that. */
TEST(unified_memory_is_the_systems)
{
    play_text("gpu\n index 0\n uuid GPU-gb\n name NVIDIA GB10\n utilization.gpu 3\nend\n");
    struct snapshot *snapshot = read_once(SOURCE_FULL);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK(snapshot->gpu[0].is_unified);
    CHECK(value(snapshot, 0, METRIC_MEMORY_TOTAL) > 0);
    snapshot_unref(snapshot);
    play_text("gpu\n index 0\n uuid GPU-gb\n name NVIDIA GB100\n utilization.gpu 3\nend\n");
    snapshot = read_once(SOURCE_FULL);
    CHECK(!snapshot->gpu[0].is_unified);
    CHECK(isnan(value(snapshot, 0, METRIC_MEMORY_TOTAL)));
    snapshot_unref(snapshot);
    play_end();
}

MAIN(RUN(a_process_without_a_memory_figure_does_not_hide_the_others),
     RUN(reserved_memory_is_not_used_memory), RUN(a_lost_gpu_costs_only_itself),
     RUN(a_lost_gpu_comes_back_under_its_own_name), RUN(a_gpu_that_needs_a_reset_says_so),
     RUN(no_samples_means_no_activity), RUN(a_driver_that_comes_later_is_found_by_a_later_open),
     RUN(the_energy_counter_is_passed_on_in_joules),
     RUN(utilization_over_a_hundred_is_no_utilization),
     RUN(architecture_and_brand_have_their_right_names), RUN(zeros_are_values),
     RUN(every_kind_of_call_becomes_its_metric_in_base_units),
     RUN(every_link_is_reported_also_behind_one_that_is_down),
     RUN(mig_instances_are_gpus_with_a_parent), RUN(an_xid_becomes_an_event),
     RUN(a_driver_replaced_underneath_is_opened_anew),
     RUN(garbage_counts_and_sentinels_are_no_values),
     RUN(a_sample_costs_at_most_six_calls_a_gpu_and_static_values_are_read_once),
     RUN(unified_memory_is_the_systems))
