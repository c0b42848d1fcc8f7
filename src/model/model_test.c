/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "model/snapshot.h"

#include "tests/check.h"

#include <ctype.h>
#include <math.h>

TEST(a_new_gpu_knows_nothing)
{
    struct snapshot *snapshot = snapshot_new(5);
    const struct gpu *gpu = snapshot_add_gpu(snapshot);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        CHECK(isnan(gpu->value[i]));
    }
    CHECK_INT(gpu->parent, -1);
    snapshot_unref(snapshot);
}

/* Case NV27: a value above 100 % is no value, neither 100 nor 0, and is counted. */
TEST(impossible_values_are_dropped_and_counted)
{
    struct snapshot *snapshot = snapshot_new(0);
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    const double bad[] = {42949672.95, 26.19, 1.01, -0.01, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snapshot_set(snapshot, gpu, METRIC_UTILIZATION, bad[i]);
        CHECK(isnan(gpu->value[METRIC_UTILIZATION]));
    }
    CHECK_INT(snapshot->dropped, 6);
    snapshot_set(snapshot, gpu, METRIC_UTILIZATION, NAN);
    CHECK_INT(snapshot->dropped, 6);
    snapshot_set(snapshot, gpu, METRIC_UTILIZATION, 1);
    CHECK(gpu->value[METRIC_UTILIZATION] == 1);
    snapshot_set(snapshot, gpu, METRIC_TEMPERATURE, -12);
    CHECK(gpu->value[METRIC_TEMPERATURE] == -12);
    snapshot_unref(snapshot);
}

TEST(a_copy_is_apart_from_its_original)
{
    struct snapshot *snapshot = snapshot_new(0);
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-aa");
    struct snapshot *copy = snapshot_copy(snapshot);
    (void)snapshot_add_gpu(copy);
    copy->gpu[0].index = 7;
    CHECK_INT(snapshot->gpu_count, 1);
    CHECK_INT(snapshot->gpu[0].index, -1);
    CHECK_INT(snapshot_find(copy, "gpu-AA"), 0);
    CHECK_INT(snapshot_find(copy, "GPU-bb"), -1);
    snapshot_unref(copy);
    snapshot_unref(snapshot);
}

TEST(the_number_of_gpus_has_a_limit)
{
    struct snapshot *snapshot = snapshot_new(0);
    for (int i = 0; i < SNAPSHOT_GPUS_MAX; i++) {
        REQUIRE(snapshot_add_gpu(snapshot) != NULL);
    }
    CHECK(snapshot_add_gpu(snapshot) == NULL);
    snapshot_unref(snapshot);
}

TEST(every_row_has_a_snake_case_key_of_its_own_and_a_help)
{
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        for (const char *at = metrics[i].key; *at != '\0'; at++) {
            CHECK(islower(*at) || isdigit(*at) || *at == '_');
        }
        CHECK(strlen(metrics[i].help) > 5);
        CHECK(metrics[i].highest > 0);
        for (size_t j = 0; j < i; j++) {
            CHECK(strcmp(metrics[i].key, metrics[j].key) != 0);
        }
    }
}

MAIN(RUN(a_new_gpu_knows_nothing), RUN(impossible_values_are_dropped_and_counted),
     RUN(a_copy_is_apart_from_its_original), RUN(the_number_of_gpus_has_a_limit),
     RUN(every_row_has_a_snake_case_key_of_its_own_and_a_help))
