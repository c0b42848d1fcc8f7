/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/gpu_hot.h"

#include "base/jsonout.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MIB (1024.0 * 1024)
#define GIB (1024.0 * 1024 * 1024)
#define NS_PER_US 1000

static void key_text(struct jsonout *json, const char *key, const char *text)
{
    jsonout_key(json, key);
    jsonout_string(json, text);
}

/* Floats that are whole keep their ".0", as Python writes them. */
static void key_float(struct jsonout *json, const char *key, double value)
{
    if (!isnan(value)) {
        jsonout_key(json, key);
        /* Three decimals are what a driver gives; what multiplying adds behind them is noise. */
        jsonout_float(json, round(value * 1000) / 1000);
    }
}

static void key_int(struct jsonout *json, const char *key, double value)
{
    if (!isnan(value)) {
        jsonout_key(json, key);
        jsonout_int(json, (int64_t)value);
    }
}

static void key_bool(struct jsonout *json, const char *key, bool value)
{
    jsonout_key(json, key);
    jsonout_bool(json, value);
}

/* Local time without a zone, with microseconds unless they are 0. */
static void key_time(struct jsonout *json, const char *key, int64_t time_ns,
                     const struct zone *zone)
{
    char text[40];
    int64_t second = time_ns / 1000000000;
    long micros = (long)(time_ns % 1000000000 / NS_PER_US);
    zone_format(zone, second, "%Y-%m-%dT%H:%M:%S", text, sizeof text);
    if (micros != 0) {
        size_t length = strlen(text);
        (void)snprintf(text + length, sizeof text - length, ".%06ld", micros);
    }
    key_text(json, key, text);
}

/* --- states that are words --- */

static const char *compute_mode(double value)
{
    static const char *const names[] = {"Default", "Exclusive Thread", "Prohibited",
                                        "Exclusive Process"};
    int at = (int)value;
    return at >= 0 && at < 4 ? names[at] : "Unknown";
}

static void write_throttle(struct jsonout *json, const struct gpu *gpu)
{
    static const struct {
        enum metric_id metric;
        const char *name;
    } reasons[] = {
        {METRIC_CLOCK_EVENT_HW_SLOWDOWN, "HW Slowdown"},
        {METRIC_CLOCK_EVENT_SW_THERMAL, "SW Thermal"},
        {METRIC_CLOCK_EVENT_HW_THERMAL, "HW Thermal"},
        {METRIC_CLOCK_EVENT_HW_POWER_BRAKE, "Power Brake"},
    };
    char text[128] = "";
    bool is_known = false;
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        double value = gpu->value[reasons[i].metric];
        is_known = is_known || !isnan(value);
        if (value > 0) {
            size_t length = strlen(text);
            (void)snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? ", " : "",
                           reasons[i].name);
        }
    }
    if (is_known) {
        key_text(json, "throttle_reasons", text[0] != '\0' ? text : "None");
    }
}

/* True when the metric is written as a word or in a form of its own. */
static bool write_state(struct jsonout *json, enum metric_id id, double value)
{
    char text[24];
    const char *key = metrics[id].gh_key;
    switch ((int)id) {
    case METRIC_PERFORMANCE_STATE:
        (void)snprintf(text, sizeof text, "P%d", (int)value);
        key_text(json, key, text);
        return true;
    case METRIC_COMPUTE_MODE:
        key_text(json, key, compute_mode(value));
        return true;
    case METRIC_PERSISTENCE_MODE:
    case METRIC_MIG_MODE:
    case METRIC_MIG_MODE_PENDING:
        key_text(json, key, value > 0 ? "Enabled" : "Disabled");
        return true;
    case METRIC_DISPLAY_ACTIVE:
    case METRIC_MULTI_GPU_BOARD:
    case METRIC_ECC_ENABLED:
        key_bool(json, key, value > 0);
        return true;
    case METRIC_PCIE_GEN:
    case METRIC_PCIE_GEN_MAX:
    case METRIC_PCIE_WIDTH:
    case METRIC_PCIE_WIDTH_MAX:
        (void)snprintf(text, sizeof text, "%d", (int)value);
        key_text(json, key, text);
        return true;
    case METRIC_ENCODER_FPS:
        key_float(json, key, value);
        return true;
    case METRIC_ENCODER_LATENCY: /* microseconds there */
        key_float(json, key, value * 1e6);
        return true;
    default:
        return false;
    }
}

static void write_metric(struct jsonout *json, enum metric_id id, double value)
{
    const struct metric *metric = &metrics[id];
    if (metric->gh_key[0] == '\0' || isnan(value) || write_state(json, id, value)) {
        return;
    }
    switch (metric->unit) {
    case UNIT_RATIO:
        key_float(json, metric->gh_key, value * 100);
        return;
    case UNIT_BYTES:
        key_float(json, metric->gh_key, value / MIB);
        return;
    case UNIT_BYTES_PER_S: /* KB/s, as NVML counts it: 1000 bytes */
        key_float(json, metric->gh_key, value / 1000);
        return;
    case UNIT_HERTZ:
        key_float(json, metric->gh_key, value / 1e6);
        return;
    case UNIT_WATTS:
    case UNIT_JOULES:
    case UNIT_CELSIUS:
    case UNIT_SECONDS:
        key_float(json, metric->gh_key, value);
        return;
    case UNIT_COUNT:
    case UNIT_STATE:
        key_int(json, metric->gh_key, value);
        return;
    }
}

static void write_links(struct jsonout *json, const struct gpu *gpu)
{
    if (gpu->link_count == 0) {
        return;
    }
    jsonout_key(json, "nvlink_links");
    jsonout_begin_array(json);
    for (int i = 0; i < gpu->link_count; i++) {
        jsonout_begin_object(json);
        key_int(json, "id", i);
        key_bool(json, "active", gpu->link[i][LINK_ACTIVE] > 0);
        key_bool(json, "p2p_supported", gpu->link[i][LINK_P2P_SUPPORTED] > 0);
        jsonout_end_object(json);
    }
    jsonout_end_array(json);
}

static void write_lists(struct jsonout *json, const struct gpu *gpu)
{
    if (gpu->fan_count > 0) {
        jsonout_key(json, "fan_speeds");
        jsonout_begin_array(json);
        for (int i = 0; i < gpu->fan_count; i++) {
            if (!isnan(gpu->fan_ratio[i])) {
                jsonout_float(json, gpu->fan_ratio[i] * 100);
            }
        }
        jsonout_end_array(json);
    }
    if (gpu->memory_clock_count > 0) {
        jsonout_key(json, "supported_memory_clocks");
        jsonout_begin_array(json);
        for (int i = 0; i < gpu->memory_clock_count; i++) {
            jsonout_float(json, gpu->memory_clock_hz[i] / 1e6);
        }
        jsonout_end_array(json);
    }
    write_links(json, gpu);
}

/* MiB a second since the snapshot before, 0 with none, as gpu-hot begins. */
static double change_rate(const struct gpu_hot_input *input, const struct gpu *gpu)
{
    const struct snapshot *previous = input->previous;
    int at = previous != NULL ? snapshot_find(previous, gpu->uuid) : -1;
    double passed_s = at >= 0 ? (double)(input->snapshot->time_ns - previous->time_ns) / 1e9 : 0;
    if (previous == NULL || passed_s <= 0) {
        return 0;
    }
    double before = previous->gpu[at].value[METRIC_MEMORY_USED];
    double change = (gpu->value[METRIC_MEMORY_USED] - before) / MIB / passed_s;
    return isnan(change) ? 0 : change;
}

static void write_gpu(struct jsonout *json, const struct gpu_hot_input *input,
                      const struct gpu *gpu)
{
    char index[16];
    (void)snprintf(index, sizeof index, "%d", gpu->index);
    jsonout_key(json, index);
    jsonout_begin_object(json);
    key_text(json, "index", index);
    key_time(json, "timestamp", input->snapshot->time_ns, input->zone);
    key_text(json, "name", gpu->name);
    key_text(json, "uuid", gpu->uuid);
    key_text(json, "driver_version", input->snapshot->driver_version);
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        if (gpu->text[i][0] != '\0' && gpu_texts[i].gh_key[0] != '\0') {
            key_text(json, gpu_texts[i].gh_key, gpu->text[i]);
        }
    }
    for (int i = 0; i < METRIC_COUNT; i++) {
        write_metric(json, (enum metric_id)i, gpu->value[i]);
    }
    key_float(json, "energy_consumption_wh", gpu->value[METRIC_ENERGY] / 3600);
    if (!isnan(gpu->value[METRIC_MEMORY_USED])) {
        key_float(json, "memory_change_rate", change_rate(input, gpu));
    }
    write_throttle(json, gpu);
    write_lists(json, gpu);
    if (strcmp(gpu->source, "nvidia-smi") == 0) {
        key_bool(json, "_fallback_mode", true);
    }
    jsonout_end_object(json);
}

static void write_gpus(struct jsonout *json, const struct gpu_hot_input *input)
{
    jsonout_key(json, "gpus");
    jsonout_begin_object(json);
    const struct snapshot *snapshot = input->snapshot;
    for (size_t i = 0; snapshot != NULL && i < snapshot->gpu_count; i++) {
        const struct gpu *gpu = &snapshot->gpu[i];
        /* A lost GPU has nothing to say there: gpu-hot leaves it out. */
        if (gpu->parent < 0 && gpu->state != GPU_STATE_LOST) {
            write_gpu(json, input, gpu);
        }
    }
    jsonout_end_object(json);
}

static const char *process_name(const struct gpu_hot_input *input, size_t i, char *buffer,
                                size_t size)
{
    const struct process *process = &input->snapshot->process[i];
    if (!input->is_name_hidden && input->details != NULL) {
        return input->details[i].name;
    }
    if (!input->is_name_hidden && process->name[0] != '\0') {
        return process->name;
    }
    (void)snprintf(buffer, size, "PID:%u", process->pid);
    return buffer;
}

static void write_processes(struct jsonout *json, const struct gpu_hot_input *input)
{
    jsonout_key(json, "processes");
    jsonout_begin_array(json);
    const struct snapshot *snapshot = input->snapshot;
    for (size_t i = 0; snapshot != NULL && i < snapshot->process_count; i++) {
        const struct process *process = &snapshot->process[i];
        const struct gpu *gpu = &snapshot->gpu[process->gpu];
        gpu = gpu->parent >= 0 ? &snapshot->gpu[gpu->parent] : gpu;
        char text[64];
        jsonout_begin_object(json);
        (void)snprintf(text, sizeof text, "%u", process->pid);
        key_text(json, "pid", text);
        key_text(json, "name", process_name(input, i, text, sizeof text));
        key_text(json, "gpu_uuid", gpu->uuid);
        (void)snprintf(text, sizeof text, "%d", gpu->index);
        key_text(json, "gpu_id", text);
        double memory = process->memory_bytes / MIB;
        key_float(json, "memory", isnan(memory) ? 0 : memory);
        jsonout_end_object(json);
    }
    jsonout_end_array(json);
}

static double two_decimals(double value)
{
    return round(value * 100) / 100;
}

static void write_system(struct jsonout *json, const struct gpu_hot_input *input)
{
    jsonout_key(json, "system");
    jsonout_begin_object(json);
    const struct host *host = input->host;
    if (host != NULL) {
        double used = host->memory_used_bytes;
        double total = host->memory_total_bytes;
        key_float(json, "cpu_percent",
                  isnan(host->cpu_ratio) ? 0 : round(host->cpu_ratio * 1000) / 10);
        key_float(json, "memory_percent", round(used / total * 1000) / 10);
        key_float(json, "memory_total_gb", two_decimals(total / GIB));
        key_float(json, "memory_used_gb", two_decimals(used / GIB));
        key_float(json, "memory_available_gb", two_decimals(host->memory_available_bytes / GIB));
        key_int(json, "cpu_count", host->cpu_count);
        double swap =
            host->swap_total_bytes > 0 ? host->swap_used_bytes / host->swap_total_bytes * 100 : 0;
        key_float(json, "swap_percent", round(swap * 10) / 10);
        key_float(json, "cpu_freq_current", host->cpu_hz / 1e6);
        key_float(json, "cpu_freq_max", host->cpu_max_hz / 1e6);
        key_float(json, "load_avg_1", host->load[0]);
        key_float(json, "load_avg_5", host->load[1]);
        key_float(json, "load_avg_15", host->load[2]);
        key_int(json, "net_bytes_sent", host->network_sent_bytes);
        key_int(json, "net_bytes_recv", host->network_received_bytes);
        key_int(json, "disk_read_bytes", host->disk_read_bytes);
        key_int(json, "disk_write_bytes", host->disk_written_bytes);
        key_time(json, "timestamp", host->time_ns, input->zone);
    }
    jsonout_end_object(json);
}

void gpu_hot_data(const struct gpu_hot_input *input, struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    write_gpus(&json, input);
    key_text(&json, "timestamp", "async");
    jsonout_end_object(&json);
}

void gpu_hot_message(const struct gpu_hot_input *input, struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    key_text(&json, "mode", "default");
    key_text(&json, "node_name", input->node_name);
    write_gpus(&json, input);
    write_processes(&json, input);
    write_system(&json, input);
    jsonout_end_object(&json);
}

void gpu_hot_version(const char *version, struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    key_text(&json, "current", version);
    key_text(&json, "latest", NULL);
    key_bool(&json, "update_available", false);
    key_text(&json, "release_url", NULL);
    jsonout_end_object(&json);
}
