/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/source.h"

#include "tests/check.h"

static struct snapshot *four_gpus(void)
{
    struct snapshot *snapshot = snapshot_new(0);
    for (int i = 0; i < 4; i++) {
        struct gpu *gpu = snapshot_add_gpu(snapshot);
        gpu->index = i;
        (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-0000000%d-aa", i + 1);
    }
    struct gpu *instance = snapshot_add_gpu(snapshot);
    instance->index = 3;
    instance->parent = 3;
    (void)snprintf(instance->uuid, sizeof instance->uuid, "MIG-11111111-bb");
    snapshot->gpu_expected = 4;
    struct process *process = snapshot_add_process(snapshot);
    process->gpu = 2;
    process->pid = 77;
    return snapshot;
}

static size_t left(const char *visible)
{
    struct snapshot *snapshot = four_gpus();
    source_filter_visible(snapshot, visible);
    size_t count = snapshot->gpu_count;
    snapshot_unref(snapshot);
    return count;
}

/* GH-026 */
TEST(indices_uuids_prefixes_all_and_none_are_understood)
{
    CHECK_INT(left(NULL), 5);
    CHECK_INT(left("all"), 5);
    CHECK_INT(left("none"), 0);
    CHECK_INT(left("void"), 0);
    CHECK_INT(left(""), 0);
    CHECK_INT(left("0"), 1);
    CHECK_INT(left("0, 2"), 2);
    CHECK_INT(left("GPU-00000002-aa"), 1);
    CHECK_INT(left("gpu-00000002"), 1);
    CHECK_INT(left("GPU-"), 0);
    CHECK_INT(left("nonsense,7"), 0);
}

TEST(an_instance_is_visible_with_its_parent_and_by_its_own_name)
{
    CHECK_INT(left("3"), 2);
    CHECK_INT(left("MIG-11111111-bb"), 2);
    CHECK_INT(left("3:0"), 2);
    CHECK_INT(left("3:1"), 0);
}

TEST(what_belongs_to_a_kept_gpu_moves_with_it)
{
    struct snapshot *snapshot = four_gpus();
    source_filter_visible(snapshot, "2,3");
    CHECK_INT(snapshot->gpu_count, 3);
    CHECK_INT(snapshot->gpu_expected, 2);
    CHECK_INT(snapshot->process_count, 1);
    CHECK_INT(snapshot->process[0].gpu, 0);
    CHECK_INT(snapshot->gpu[2].parent, 1);
    snapshot_unref(snapshot);
    snapshot = four_gpus();
    source_filter_visible(snapshot, "0");
    CHECK_INT(snapshot->process_count, 0);
    snapshot_unref(snapshot);
}

MAIN(RUN(indices_uuids_prefixes_all_and_none_are_understood),
     RUN(an_instance_is_visible_with_its_parent_and_by_its_own_name),
     RUN(what_belongs_to_a_kept_gpu_moves_with_it))
