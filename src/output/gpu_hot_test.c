/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/gpu_hot.h"

#include "base/own.h"
#include "base/text.h"
#include "tests/check.h"

#include <jansson.h>

#define NOW_NS INT64_C(1774164600250000000) /* 2026-03-22T16:30:00.25+09:00 */

struct stage {
    struct zone zone;
    struct snapshot *snapshot, *previous;
    struct host host;
    struct process_detail details[2];
    struct gpu_hot_input input;
};

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){0};
    CHECK_INT(zone_open(&stage->zone, "Asia/Seoul", NULL), 0);
    stage->snapshot = snapshot_new(NOW_NS);
    stage->previous = snapshot_new(NOW_NS - 500000000);
    text_copy(stage->snapshot->driver_version, sizeof stage->snapshot->driver_version, "580.1");
    struct gpu *before = snapshot_add_gpu(stage->previous);
    text_copy(before->uuid, sizeof before->uuid, "GPU-0");
    before->value[METRIC_MEMORY_USED] = 1024.0 * 1024 * 100;
    struct gpu *gpu = snapshot_add_gpu(stage->snapshot);
    gpu->index = 0;
    gpu->parent = -1;
    text_copy(gpu->uuid, sizeof gpu->uuid, "GPU-0");
    text_copy(gpu->name, sizeof gpu->name, "NVIDIA H100");
    text_copy(gpu->source, sizeof gpu->source, "nvml");
    text_copy(gpu->text[GPU_TEXT_ARCHITECTURE], GPU_WORD_SIZE, "Hopper");
    stage->host = (struct host){.cpu_count = 4, .cpu_ratio = 0.125, .memory_total_bytes = 8e9};
    stage->input = (struct gpu_hot_input){.snapshot = stage->snapshot,
                                          .previous = stage->previous,
                                          .host = &stage->host,
                                          .details = stage->details,
                                          .node_name = "box",
                                          .zone = &stage->zone};
}

static void stage_fini(struct stage *stage)
{
    snapshot_unref(stage->snapshot);
    snapshot_unref(stage->previous);
}

static json_t *message(const struct stage *stage)
{
    OWN_BUF struct buf out = {0};
    gpu_hot_message(&stage->input, &out);
    json_t *json = json_loadb(out.data, out.length, 0, NULL);
    CHECK(json != NULL);
    return json;
}

static const json_t *gpu_zero(const json_t *json)
{
    return json_object_get(json_object_get(json, "gpus"), "0");
}

static void check_member(const json_t *object, const char *key, const char *wanted)
{
    char *text = json_dumps(json_object_get(object, key),
                            JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
    if (!CHECK_TEXT(text != NULL ? text : "(absent)", wanted)) {
        printf("# key %s\n", key);
    }
    free(text);
}

TEST(values_have_the_units_and_types_of_gpu_hot) /* GH-100 … GH-148 */
{
    static const struct {
        enum metric_id metric;
        double value;
        const char *key, *wanted;
    } rows[] = {
        {METRIC_UTILIZATION, 0.95, "utilization", "95.0"},
        {METRIC_MEMORY_USED, 1048576.0 * 150, "memory_used", "150.0"},
        {METRIC_TEMPERATURE, 61, "temperature", "61.0"},
        {METRIC_POWER_DRAW, 645.321, "power_draw", "645.321"},
        {METRIC_POWER_LIMIT_MIN, 200, "power_limit_min", "200.0"},
        {METRIC_POWER_LIMIT_MAX, 700, "power_limit_max", "700.0"},
        {METRIC_ENERGY, 7200, "energy_consumption", "7200.0"},
        {METRIC_FAN_SPEED, 0.3, "fan_speed", "30.0"},
        {METRIC_CLOCK_SM, 1.98e9, "clock_sm", "1980.0"},
        {METRIC_PERFORMANCE_STATE, 2, "performance_state", "\"P2\""},
        {METRIC_COMPUTE_MODE, 3, "compute_mode", "\"Exclusive Process\""},
        {METRIC_PERSISTENCE_MODE, 1, "persistence_mode", "\"Enabled\""},
        {METRIC_DISPLAY_ACTIVE, 1, "display_active", "true"},
        {METRIC_PCIE_GEN, 5, "pcie_gen", "\"5\""},
        {METRIC_PCIE_WIDTH_MAX, 16, "pcie_width_max", "\"16\""},
        {METRIC_PCIE_TX, 2500000, "pcie_tx_throughput", "2500.0"},
        {METRIC_ENCODER_SESSIONS, 2, "encoder_sessions", "2"},
        {METRIC_MIG_MODE, 1, "mig_mode_current", "\"Enabled\""},
        {METRIC_NVLINK_ACTIVE_COUNT, 18, "nvlink_active_count", "18"},
        {METRIC_GRAPHICS_PROCESSES, 3, "graphics_processes_count", "3"},
    };
    struct stage stage;
    stage_init(&stage);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        stage.snapshot->gpu[0].value[rows[i].metric] = rows[i].value;
    }
    json_t *json = message(&stage);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_member(gpu_zero(json), rows[i].key, rows[i].wanted);
    }
    check_member(gpu_zero(json), "index", "\"0\"");
    check_member(gpu_zero(json), "timestamp", "\"2026-03-22T16:30:00.250000\"");
    check_member(gpu_zero(json), "driver_version", "\"580.1\"");
    check_member(gpu_zero(json), "architecture", "\"Hopper\"");
    check_member(gpu_zero(json), "energy_consumption_wh", "2.0");
    check_member(gpu_zero(json), "memory_change_rate", "100.0");
    check_member(gpu_zero(json), "_fallback_mode", "(absent)");
    json_decref(json);
    stage_fini(&stage);
}

TEST(a_zero_is_present_and_the_unknown_is_absent) /* Part C gpu-hot 1, 3, 17 */
{
    static const struct {
        enum metric_id metric;
        const char *key, *wanted;
    } rows[] = {
        {METRIC_PERFORMANCE_STATE, "performance_state", "\"P0\""},
        {METRIC_FAN_SPEED, "fan_speed", "0.0"},
        {METRIC_COMPUTE_MODE, "compute_mode", "\"Default\""},
        {METRIC_PCIE_RX, "pcie_rx_throughput", "0.0"},
        {METRIC_PERSISTENCE_MODE, "persistence_mode", "\"Disabled\""},
        {METRIC_CLOCK_EVENT_HW_SLOWDOWN, "throttle_reasons", "\"None\""},
        {METRIC_GRAPHICS_PROCESSES, "graphics_processes_count", "0"},
        {METRIC_ECC_ENABLED, "ecc_enabled", "false"},
        {METRIC_ECC_CORRECTED_VOLATILE, "ecc_errors_corrected", "0"},
    };
    struct stage stage;
    stage_init(&stage);
    json_t *json = message(&stage);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_member(gpu_zero(json), rows[i].key, "(absent)");
        stage.snapshot->gpu[0].value[rows[i].metric] = 0;
    }
    json_decref(json);
    json = message(&stage);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_member(gpu_zero(json), rows[i].key, rows[i].wanted);
    }
    json_decref(json);
    stage_fini(&stage);
}

TEST(every_link_is_listed_also_behind_one_that_is_down) /* GH-147, Part C gpu-hot 4 */
{
    struct stage stage;
    stage_init(&stage);
    struct gpu *gpu = &stage.snapshot->gpu[0];
    gpu->link_count = 18;
    for (int i = 0; i < 18; i++) {
        gpu->link[i][LINK_ACTIVE] = i != 1;
    }
    json_t *json = message(&stage);
    const json_t *links = json_object_get(gpu_zero(json), "nvlink_links");
    CHECK_INT(json_array_size(links), 18);
    check_member(json_array_get(links, 1), "active", "false");
    check_member(json_array_get(links, 17), "active", "true");
    json_decref(json);
    stage_fini(&stage);
}

TEST(a_process_without_figures_costs_only_itself) /* GH-040, Part C gpu-hot 5 */
{
    struct stage stage;
    stage_init(&stage);
    for (int i = 0; i < 2; i++) {
        struct process *process = snapshot_add_process(stage.snapshot);
        process->gpu = 0;
        process->pid = (uint32_t)(41 + i);
        text_copy(stage.details[i].name, PROCESS_NAME_SIZE, i == 0 ? "train.py" : "<img src=x>");
    }
    stage.snapshot->process[0].memory_bytes = 1048576.0 * 512;
    json_t *json = message(&stage);
    const json_t *processes = json_object_get(json, "processes");
    CHECK_INT(json_array_size(processes), 2);
    check_member(json_array_get(processes, 0), "pid", "\"41\"");
    check_member(json_array_get(processes, 0), "gpu_id", "\"0\"");
    check_member(json_array_get(processes, 0), "memory", "512.0");
    check_member(json_array_get(processes, 1), "memory", "0.0");
    check_member(json_array_get(processes, 1), "name", "\"<img src=x>\"");
    json_decref(json);
    stage.input.is_name_hidden = true;
    json = message(&stage);
    check_member(json_array_get(json_object_get(json, "processes"), 0), "name", "\"PID:41\"");
    json_decref(json);
    stage_fini(&stage);
}

TEST(without_a_snapshot_the_answers_are_empty) /* GH-003, GH-005 */
{
    struct gpu_hot_input input = {.node_name = "x"};
    OWN_BUF struct buf out = {0};
    gpu_hot_data(&input, &out);
    CHECK_TEXT(out.data, "{\"gpus\":{},\"timestamp\":\"async\"}");
    buf_clear(&out);
    gpu_hot_version("1.2.3", &out);
    CHECK_TEXT(out.data, "{\"current\":\"1.2.3\",\"latest\":null,\"update_available\":false,"
                         "\"release_url\":null}");
}

MAIN(RUN(values_have_the_units_and_types_of_gpu_hot),
     RUN(a_zero_is_present_and_the_unknown_is_absent),
     RUN(every_link_is_listed_also_behind_one_that_is_down),
     RUN(a_process_without_figures_costs_only_itself),
     RUN(without_a_snapshot_the_answers_are_empty))
