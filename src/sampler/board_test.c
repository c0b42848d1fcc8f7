/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/board.h"

#include "base/clock.h"

#include "tests/check.h"

#include <errno.h>

#define START (INT64_C(1774164600) * NS_PER_S)

enum { NVML, SMI, AMD, FEEDS };

static struct board *make_board(void)
{
    static const struct board_feed feeds[FEEDS] = {{"NVML", -1}, {"nvidia-smi", NVML}, {"amd", -1}};
    return board_new(feeds, FEEDS);
}

static struct gpu *add_gpu(struct snapshot *snapshot, const char *uuid, double utilization)
{
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "%s", uuid);
    (void)snprintf(gpu->name, sizeof gpu->name, "name of %s", uuid);
    gpu->index = (int)snapshot->gpu_count - 1;
    gpu->value[METRIC_UTILIZATION] = utilization;
    gpu->value[METRIC_POWER_LIMIT_MAX] = 700;
    gpu->read_ns[PACE_FAST] = snapshot->time_ns;
    snapshot->gpu_expected = snapshot->gpu_count;
    return gpu;
}

/* A machine of two, with a process and an event on the second. */
static struct snapshot *two(int64_t at_s, double first, double second)
{
    struct snapshot *snapshot = snapshot_new(START + at_s * NS_PER_S);
    (void)add_gpu(snapshot, "GPU-a", first);
    (void)add_gpu(snapshot, "GPU-b", second);
    struct process *process = snapshot_add_process(snapshot);
    process->gpu = 1;
    process->pid = 77;
    *snapshot_add_event(snapshot) = (struct event){EVENT_XID, snapshot->time_ns, 1, 79};
    return snapshot;
}

static struct snapshot *one(int64_t at_s, const char *uuid, double utilization)
{
    struct snapshot *snapshot = snapshot_new(START + at_s * NS_PER_S);
    (void)add_gpu(snapshot, uuid, utilization);
    return snapshot;
}

TEST(before_anything_was_said_there_is_an_empty_snapshot)
{
    struct board *board = make_board();
    CHECK_INT(board_snapshot(board)->gpu_count, 0);
    CHECK_INT(board_version(board), 0);
    CHECK(board_is_wanted(board, NVML) && board_is_wanted(board, AMD));
    CHECK(!board_is_wanted(board, SMI));
    struct err err = {0};
    board_say_nothing_found(board, &err);
    CHECK_TEXT(err.text, "no GPU could be read");
    board_trouble(board, NVML, -ENODEV, "NVML: no library");
    CHECK(board_is_wanted(board, SMI));
    board_trouble(board, SMI, -ENODEV, "nvidia-smi was not found");
    board_say_nothing_found(board, &err);
    CHECK_TEXT(err.text, "no GPU could be read: NVML: no library; nvidia-smi was not found");
    CHECK_INT(board_feed_code(board, SMI), -ENODEV);
    board_free(board);
    board_free(NULL);
}

TEST(a_complete_snapshot_is_published_as_it_is)
{
    struct board *board = make_board();
    struct snapshot *given = two(0, 0.1, 0.2);
    board_put(board, NVML, given);
    CHECK(board_snapshot(board) == given);
    CHECK_INT(board_version(board), 1);
    CHECK(!board_is_wanted(board, SMI));
    board_free(board);
}

TEST(several_feeds_make_one_machine_and_an_event_comes_once)
{
    struct board *board = make_board();
    board_put(board, AMD, two(1, 0.5, 0.6));
    board_put(board, NVML, two(0, 0.1, 0.2));
    const struct snapshot *all = board_snapshot(board);
    REQUIRE(all->gpu_count == 4);
    CHECK_INT(all->gpu_expected, 4);
    CHECK_INT(all->time_ns, START + NS_PER_S);
    CHECK_NEAR(all->gpu[0].value[METRIC_UTILIZATION], 0.1, 0);
    CHECK_NEAR(all->gpu[3].value[METRIC_UTILIZATION], 0.6, 0);
    REQUIRE(all->process_count == 2);
    CHECK_INT(all->process[1].gpu, 3);
    /* That of the first feed was published before. */
    REQUIRE(all->event_count == 1);
    CHECK_INT(all->event[0].gpu, 1);
    board_free(board);
}

/* A reader's reference outlives what is published next. */
TEST(what_was_published_does_not_change)
{
    struct board *board = make_board();
    board_put(board, NVML, two(0, 0.1, 0.2));
    struct snapshot *kept = snapshot_ref(board_snapshot(board));
    board_trouble(board, NVML, -ETIMEDOUT, "late");
    board_put(board, AMD, one(1, "GPU-c", 0.3));
    CHECK_INT(kept->gpu_count, 2);
    CHECK_INT(kept->gpu[0].state, GPU_STATE_OK);
    CHECK_INT(kept->event_count, 1);
    board_free(board);
    CHECK_NEAR(kept->gpu[1].value[METRIC_UTILIZATION], 0.2, 0);
    snapshot_unref(kept);
}

TEST(the_gpus_of_a_silent_feed_stay_without_values_and_the_others_go_on)
{
    struct board *board = make_board();
    board_put(board, NVML, two(0, 0.1, 0.2));
    board_put(board, AMD, one(0, "GPU-c", 0.3));
    board_trouble(board, NVML, -ETIMEDOUT, "NVML did not answer");
    board_put(board, AMD, one(20, "GPU-c", 0.4));
    const struct snapshot *all = board_snapshot(board);
    REQUIRE(all->gpu_count == 3);
    CHECK_INT(all->gpu[0].state, GPU_STATE_SILENT);
    CHECK(isnan(all->gpu[0].value[METRIC_UTILIZATION]));
    CHECK_NEAR(all->gpu[0].value[METRIC_POWER_LIMIT_MAX], 700, 0);
    CHECK_TEXT(all->gpu[0].name, "name of GPU-a");
    CHECK_INT(all->gpu[0].read_ns[PACE_FAST], START);
    CHECK_INT(all->gpu[2].state, GPU_STATE_OK);
    CHECK_NEAR(all->gpu[2].value[METRIC_UTILIZATION], 0.4, 0);
    CHECK_INT(all->process_count, 0);
    CHECK_INT(all->event_count, 0);
    CHECK_TEXT(board_feed_sentence(board, NVML), "NVML did not answer");
    board_put(board, NVML, two(21, 0.7, 0.8));
    CHECK_INT(board_snapshot(board)->gpu[0].state, GPU_STATE_OK);
    CHECK_TEXT(board_feed_sentence(board, NVML), "");
    board_free(board);
}

TEST(what_nvml_lacks_comes_from_nvidia_smi_while_that_is_fresh)
{
    struct board *board = make_board();
    board_put(board, NVML, two(0, NAN, 0.2));
    CHECK(isnan(board_snapshot(board)->gpu[0].value[METRIC_UTILIZATION]));
    CHECK_INT(board_snapshot(board)->event_count, 1);
    CHECK(board_is_wanted(board, SMI));
    board_put(board, SMI, one(1, "GPU-a", 0.9));
    CHECK_NEAR(board_snapshot(board)->gpu[0].value[METRIC_UTILIZATION], 0.9, 0);
    CHECK_TEXT(board_snapshot(board)->gpu[0].source, "nvml+smi");
    CHECK_INT(board_snapshot(board)->gpu_count, 2);
    CHECK_INT(board_snapshot(board)->event_count, 0);
    board_put(board, NVML, two(10, NAN, 0.3));
    CHECK_NEAR(board_snapshot(board)->gpu[0].value[METRIC_UTILIZATION], 0.9, 0);
    CHECK(board_is_wanted(board, SMI));
    board_put(board, NVML, two(40, NAN, 0.3));
    CHECK(isnan(board_snapshot(board)->gpu[0].value[METRIC_UTILIZATION]));
    board_free(board);
}

TEST(a_gpu_that_neither_knows_is_not_asked_about_every_time)
{
    struct board *board = make_board();
    board_put(board, NVML, two(0, NAN, 0.2));
    CHECK(board_is_wanted(board, SMI));
    board_put(board, SMI, one(1, "GPU-a", NAN));
    board_put(board, NVML, two(2, NAN, 0.2));
    CHECK(!board_is_wanted(board, SMI));
    board_put(board, NVML, two(400, NAN, 0.2));
    CHECK(board_is_wanted(board, SMI));
    /* The same when nvidia-smi fails. */
    board_trouble(board, SMI, -ENODEV, "not found");
    board_put(board, NVML, two(401, NAN, 0.2));
    CHECK(!board_is_wanted(board, SMI));
    board_free(board);
}

TEST(nvidia_smi_stands_in_while_nvml_is_silent)
{
    struct board *board = make_board();
    board_put(board, NVML, two(0, 0.1, 0.2));
    board_trouble(board, NVML, -ETIMEDOUT, "late");
    CHECK(board_is_wanted(board, SMI));
    struct snapshot *smi = one(10, "GPU-b", 0.5);
    snapshot_add_process(smi)->gpu = 0;
    board_put(board, SMI, smi);
    const struct snapshot *all = board_snapshot(board);
    REQUIRE(all->gpu_count == 2);
    CHECK_INT(all->gpu[0].state, GPU_STATE_SILENT);
    CHECK_INT(all->gpu[0].read_ns[PACE_FAST], START);
    CHECK_INT(all->gpu[1].state, GPU_STATE_OK);
    CHECK_NEAR(all->gpu[1].value[METRIC_UTILIZATION], 0.5, 0);
    CHECK_INT(all->gpu[1].read_ns[PACE_FAST], START + 10 * NS_PER_S);
    REQUIRE(all->process_count == 1);
    CHECK_INT(all->process[0].gpu, 1);
    board_trouble(board, SMI, -ETIMEDOUT, "late, too");
    CHECK_INT(board_snapshot(board)->gpu[1].state, GPU_STATE_SILENT);
    board_free(board);
}

TEST(nvidia_smi_is_enough_where_nvml_never_was)
{
    struct board *board = make_board();
    board_trouble(board, NVML, -ENODEV, "no library");
    board_put(board, SMI, one(10, "GPU-b", 0.5));
    CHECK_INT(board_snapshot(board)->gpu_count, 1);
    board_trouble(board, SMI, -ETIMEDOUT, "late");
    REQUIRE(board_snapshot(board)->gpu_count == 1);
    CHECK_INT(board_snapshot(board)->gpu[0].state, GPU_STATE_SILENT);
    board_free(board);
}

MAIN(RUN(before_anything_was_said_there_is_an_empty_snapshot),
     RUN(a_complete_snapshot_is_published_as_it_is),
     RUN(several_feeds_make_one_machine_and_an_event_comes_once),
     RUN(what_was_published_does_not_change),
     RUN(the_gpus_of_a_silent_feed_stay_without_values_and_the_others_go_on),
     RUN(what_nvml_lacks_comes_from_nvidia_smi_while_that_is_fresh),
     RUN(a_gpu_that_neither_knows_is_not_asked_about_every_time),
     RUN(nvidia_smi_stands_in_while_nvml_is_silent), RUN(nvidia_smi_is_enough_where_nvml_never_was))
