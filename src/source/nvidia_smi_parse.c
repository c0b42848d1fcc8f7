/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/nvidia_smi_parse.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MIB 1048576.0
#define PERCENT 0.01
#define MHZ 1e6

/* clang-format off */
const struct smi_field smi_fields[] = {
    {"index", NULL, SMI_INDEX, 0, 0},
    {"uuid", "gpu_uuid", SMI_UUID, 0, 0},
    {"name", "gpu_name", SMI_NAME, 0, 0},
    {"utilization.gpu", NULL, SMI_NUMBER, METRIC_UTILIZATION, PERCENT},
    {"utilization.memory", NULL, SMI_NUMBER, METRIC_MEMORY_UTILIZATION, PERCENT},
    {"temperature.gpu", NULL, SMI_NUMBER, METRIC_TEMPERATURE, 1},
    {"memory.used", NULL, SMI_NUMBER, METRIC_MEMORY_USED, MIB},
    {"memory.total", NULL, SMI_NUMBER, METRIC_MEMORY_TOTAL, MIB},
    /* What averages, then what is instant, counts where power.draw has no number. */
    {"power.draw", NULL, SMI_NUMBER, METRIC_POWER_DRAW, 1},
    {"power.draw.average", NULL, SMI_NUMBER, METRIC_POWER_AVERAGE, 1},
    {"power.draw.instant", NULL, SMI_NUMBER, METRIC_POWER_INSTANT, 1},
    {"driver_version", NULL, SMI_DRIVER, 0, 0},
    {"pci.bus_id", "gpu_bus_id", SMI_WORD, GPU_TEXT_PCI_BUS_ID, 0},
    {"serial", "gpu_serial", SMI_WORD, GPU_TEXT_SERIAL, 0},
    {"vbios_version", NULL, SMI_WORD, GPU_TEXT_VBIOS_VERSION, 0},
    {"compute_cap", NULL, SMI_WORD, GPU_TEXT_COMPUTE_CAPABILITY, 0},
    {"utilization.encoder", NULL, SMI_NUMBER, METRIC_ENCODER_UTILIZATION, PERCENT},
    {"utilization.decoder", NULL, SMI_NUMBER, METRIC_DECODER_UTILIZATION, PERCENT},
    {"utilization.jpeg", NULL, SMI_NUMBER, METRIC_JPEG_UTILIZATION, PERCENT},
    {"utilization.ofa", NULL, SMI_NUMBER, METRIC_OFA_UTILIZATION, PERCENT},
    {"memory.free", NULL, SMI_NUMBER, METRIC_MEMORY_FREE, MIB},
    {"memory.reserved", NULL, SMI_NUMBER, METRIC_MEMORY_RESERVED, MIB},
    {"temperature.memory", NULL, SMI_NUMBER, METRIC_TEMPERATURE_MEMORY, 1},
    {"power.limit", NULL, SMI_NUMBER, METRIC_POWER_LIMIT, 1},
    {"enforced.power.limit", NULL, SMI_NUMBER, METRIC_POWER_LIMIT_ENFORCED, 1},
    {"power.default_limit", NULL, SMI_NUMBER, METRIC_POWER_LIMIT_DEFAULT, 1},
    {"power.min_limit", NULL, SMI_NUMBER, METRIC_POWER_LIMIT_MIN, 1},
    {"power.max_limit", NULL, SMI_NUMBER, METRIC_POWER_LIMIT_MAX, 1},
    {"fan.speed", NULL, SMI_NUMBER, METRIC_FAN_SPEED, PERCENT},
    {"pstate", NULL, SMI_PSTATE, METRIC_PERFORMANCE_STATE, 0},
    {"clocks.gr", "clocks.current.graphics", SMI_NUMBER, METRIC_CLOCK_GRAPHICS, MHZ},
    {"clocks.sm", "clocks.current.sm", SMI_NUMBER, METRIC_CLOCK_SM, MHZ},
    {"clocks.mem", "clocks.current.memory", SMI_NUMBER, METRIC_CLOCK_MEMORY, MHZ},
    {"clocks.video", "clocks.current.video", SMI_NUMBER, METRIC_CLOCK_VIDEO, MHZ},
    {"clocks.max.gr", "clocks.max.graphics", SMI_NUMBER, METRIC_CLOCK_GRAPHICS_MAX, MHZ},
    {"clocks.max.sm", NULL, SMI_NUMBER, METRIC_CLOCK_SM_MAX, MHZ},
    {"clocks.max.mem", "clocks.max.memory", SMI_NUMBER, METRIC_CLOCK_MEMORY_MAX, MHZ},
    {"clocks.applications.gr", "clocks.applications.graphics", SMI_NUMBER, METRIC_CLOCK_GRAPHICS_APP, MHZ},
    {"clocks.applications.mem", "clocks.applications.memory", SMI_NUMBER, METRIC_CLOCK_MEMORY_APP, MHZ},
    {"clocks.default_applications.gr", "clocks.default_applications.graphics", SMI_NUMBER, METRIC_CLOCK_GRAPHICS_DEFAULT, MHZ},
    {"clocks.default_applications.mem", "clocks.default_applications.memory", SMI_NUMBER, METRIC_CLOCK_MEMORY_DEFAULT, MHZ},
    {"clocks_event_reasons.gpu_idle", "clocks_throttle_reasons.gpu_idle", SMI_SWITCH, METRIC_CLOCK_EVENT_IDLE, 0},
    {"clocks_event_reasons.applications_clocks_setting", "clocks_throttle_reasons.applications_clocks_setting", SMI_SWITCH, METRIC_CLOCK_EVENT_APP_CLOCKS, 0},
    {"clocks_event_reasons.sw_power_cap", "clocks_throttle_reasons.sw_power_cap", SMI_SWITCH, METRIC_CLOCK_EVENT_SW_POWER_CAP, 0},
    {"clocks_event_reasons.hw_slowdown", "clocks_throttle_reasons.hw_slowdown", SMI_SWITCH, METRIC_CLOCK_EVENT_HW_SLOWDOWN, 0},
    {"clocks_event_reasons.hw_thermal_slowdown", "clocks_throttle_reasons.hw_thermal_slowdown", SMI_SWITCH, METRIC_CLOCK_EVENT_HW_THERMAL, 0},
    {"clocks_event_reasons.hw_power_brake_slowdown", "clocks_throttle_reasons.hw_power_brake_slowdown", SMI_SWITCH, METRIC_CLOCK_EVENT_HW_POWER_BRAKE, 0},
    {"clocks_event_reasons.sw_thermal_slowdown", "clocks_throttle_reasons.sw_thermal_slowdown", SMI_SWITCH, METRIC_CLOCK_EVENT_SW_THERMAL, 0},
    {"clocks_event_reasons.sync_boost", "clocks_throttle_reasons.sync_boost", SMI_SWITCH, METRIC_CLOCK_EVENT_SYNC_BOOST, 0},
    {"pcie.link.gen.current", "pcie.link.gen.gpucurrent", SMI_NUMBER, METRIC_PCIE_GEN, 1},
    {"pcie.link.gen.max", NULL, SMI_NUMBER, METRIC_PCIE_GEN_MAX, 1},
    {"pcie.link.width.current", NULL, SMI_NUMBER, METRIC_PCIE_WIDTH, 1},
    {"pcie.link.width.max", NULL, SMI_NUMBER, METRIC_PCIE_WIDTH_MAX, 1},
    {"compute_mode", NULL, SMI_COMPUTE_MODE, METRIC_COMPUTE_MODE, 0},
    {"persistence_mode", NULL, SMI_SWITCH, METRIC_PERSISTENCE_MODE, 0},
    {"display_active", NULL, SMI_SWITCH, METRIC_DISPLAY_ACTIVE, 0},
    {"encoder.stats.sessionCount", NULL, SMI_NUMBER, METRIC_ENCODER_SESSIONS, 1},
    {"encoder.stats.averageFps", NULL, SMI_NUMBER, METRIC_ENCODER_FPS, 1},
    {"encoder.stats.averageLatency", NULL, SMI_NUMBER, METRIC_ENCODER_LATENCY, 1e-6},
    {"ecc.mode.current", NULL, SMI_SWITCH, METRIC_ECC_ENABLED, 0},
    {"ecc.mode.pending", NULL, SMI_SWITCH, METRIC_ECC_ENABLED_PENDING, 0},
    {"ecc.errors.corrected.volatile.total", NULL, SMI_NUMBER, METRIC_ECC_CORRECTED_VOLATILE, 1},
    {"ecc.errors.uncorrected.volatile.total", NULL, SMI_NUMBER, METRIC_ECC_UNCORRECTED_VOLATILE, 1},
    {"ecc.errors.corrected.aggregate.total", NULL, SMI_NUMBER, METRIC_ECC_CORRECTED_AGGREGATE, 1},
    {"ecc.errors.uncorrected.aggregate.total", NULL, SMI_NUMBER, METRIC_ECC_UNCORRECTED_AGGREGATE, 1},
    {"retired_pages.single_bit_ecc.count", "retired_pages.sbe", SMI_NUMBER, METRIC_RETIRED_PAGES_SINGLE_BIT, 1},
    {"retired_pages.double_bit.count", "retired_pages.dbe", SMI_NUMBER, METRIC_RETIRED_PAGES_DOUBLE_BIT, 1},
    {"retired_pages.pending", NULL, SMI_SWITCH, METRIC_RETIRED_PAGES_PENDING, 0},
    {"mig.mode.current", NULL, SMI_SWITCH, METRIC_MIG_MODE, 0},
    {"mig.mode.pending", NULL, SMI_SWITCH, METRIC_MIG_MODE_PENDING, 0},
};
/* clang-format on */
const size_t smi_field_count = sizeof smi_fields / sizeof smi_fields[0];
_Static_assert(sizeof smi_fields / sizeof smi_fields[0] <= SMI_FIELDS_MAX, "too many fields");

bool smi_number(const char *text, size_t length, double *out)
{
    struct span rest = span_trim((struct span){text, length});
    struct span number;
    return span_cut(&rest, ' ', &number) && text_to_double(number, out);
}

static bool is_word(struct span token, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (token.length == strlen(*words) && strncasecmp(token.data, *words, token.length) == 0) {
            return true;
        }
    }
    return false;
}

/* "[N/A]", "N/A", "[Not Supported]", "ERR!", … : every bracketed token is no value. */
static bool is_no_value(struct span token)
{
    static const char *const words[] = {
        "", "N/A", "ERR!", "Not Supported", "Not Available", "Unknown Error", "Unknown", NULL};
    return (token.length > 0 && token.data[0] == '[') || is_word(token, words);
}

/* "Enabled" … as 1, "Disabled" … as 0; NAN otherwise. */
static double parse_switch(struct span token)
{
    static const char *const on[] = {"Enabled", "Active", "Yes", "On", "Pending", "1", NULL};
    static const char *const off[] = {"Disabled", "Not Active", "No", "Off", "0", NULL};
    return is_word(token, on) ? 1 : is_word(token, off) ? 0 : NAN;
}

static double parse_pstate(struct span token)
{
    int64_t state = 0;
    bool is_state = token.length >= 2 && token.data[0] == 'P' &&
                    text_to_int64((struct span){token.data + 1, token.length - 1}, &state);
    return is_state ? (double)state : NAN;
}

static double parse_compute_mode(struct span token)
{
    static const char *const modes[] = {"Default", "Exclusive_Thread", "Prohibited",
                                        "Exclusive_Process"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (span_equals(token, modes[i])) {
            return (double)i;
        }
    }
    return NAN;
}

/* A token can say more of the GPU than that a value is missing. */
static void read_state(struct span token, struct gpu *gpu)
{
    static const char *const reset[] = {"[GPU requires reset]", "[Reset Required]",
                                        "GPU requires reset", NULL};
    static const char *const lost[] = {"[GPU is lost]", "GPU is lost", "[GPU Lost]", NULL};
    if (is_word(token, reset)) {
        gpu->state = GPU_STATE_NEEDS_RESET;
    } else if (is_word(token, lost)) {
        gpu->state = GPU_STATE_LOST;
    }
}

static double parse_number(struct span token, struct snapshot *snapshot, double scale)
{
    double number = NAN;
    if (smi_number(token.data, token.length, &number)) {
        return number * scale;
    }
    /* "nan" and "inf" are numbers the driver did not have: as impossible as 4294967295 %. */
    snapshot->dropped++;
    return NAN;
}

static void set_value(struct snapshot *snapshot, struct gpu *gpu, const struct smi_field *field,
                      struct span token)
{
    double value = NAN;
    switch (field->kind) {
    case SMI_INDEX:
    case SMI_UUID:
    case SMI_NAME:
    case SMI_DRIVER:
    case SMI_WORD:
        return;
    case SMI_NUMBER:
        value = parse_number(token, snapshot, field->scale);
        break;
    case SMI_SWITCH:
        value = parse_switch(token);
        break;
    case SMI_PSTATE:
        value = parse_pstate(token);
        break;
    case SMI_COMPUTE_MODE:
        value = parse_compute_mode(token);
        break;
    }
    snapshot_set(snapshot, gpu, (enum metric_id)field->id, value);
}

static void set_field(struct snapshot *snapshot, struct gpu *gpu, const struct smi_field *field,
                      struct span token)
{
    int64_t index = 0;
    read_state(token, gpu);
    if (is_no_value(token)) {
        return;
    }
    if (field->kind == SMI_INDEX) {
        gpu->index = text_to_int64(token, &index) && index >= 0 && index < 65536 ? (int)index : -1;
    } else if (field->kind == SMI_UUID) {
        text_clean(gpu->uuid, sizeof gpu->uuid, token.data, token.length);
    } else if (field->kind == SMI_NAME) {
        text_clean(gpu->name, sizeof gpu->name, token.data, token.length);
    } else if (field->kind == SMI_DRIVER) {
        text_clean(snapshot->driver_version, sizeof snapshot->driver_version, token.data,
                   token.length);
    } else if (field->kind == SMI_WORD) {
        text_clean(gpu->text[field->id], GPU_WORD_SIZE, token.data, token.length);
    } else {
        set_value(snapshot, gpu, field, token);
    }
}

/* Cuts a row into exactly `count` tokens: the column `wide` (a name) takes the commas that are too
 * many. False when there are too few. */
static bool cut_row(struct span row, size_t count, size_t wide, struct span *token)
{
    struct span rest = row;
    for (size_t i = 0; i < wide; i++) {
        if (!span_cut(&rest, ',', &token[i])) {
            return false;
        }
        token[i] = span_trim(token[i]);
    }
    if (rest.data == NULL) {
        return false;
    }
    for (size_t i = count - 1; i > wide; i--) {
        const char *comma = memrchr(rest.data, ',', rest.length);
        if (comma == NULL) {
            return false;
        }
        size_t left = (size_t)(comma - rest.data);
        token[i] = span_trim((struct span){comma + 1, rest.length - left - 1});
        rest.length = left;
    }
    token[wide] = span_trim(rest);
    return true;
}

/* A row begins with a number and has something like a UUID where it is asked for. */
static bool is_row(const struct smi_query *query, const struct span *token)
{
    int64_t index = 0;
    for (size_t i = 0; i < query->count; i++) {
        enum smi_kind kind = smi_fields[query->column[i]].kind;
        if (kind == SMI_INDEX && !text_to_int64(token[i], &index)) {
            return false;
        }
        if (kind == SMI_UUID && !span_starts(token[i], "GPU-") && !span_starts(token[i], "MIG-") &&
            !is_no_value(token[i])) {
            return false;
        }
    }
    return true;
}

static void choose_power(struct gpu *gpu)
{
    if (isnan(gpu->value[METRIC_POWER_DRAW])) {
        gpu->value[METRIC_POWER_DRAW] = isnan(gpu->value[METRIC_POWER_AVERAGE])
                                            ? gpu->value[METRIC_POWER_INSTANT]
                                            : gpu->value[METRIC_POWER_AVERAGE];
    }
}

/* What a faulted GPU still reports is not to be believed: 0 MiB of 80 GiB, 0 °C (case NS05). */
static void doubt_values(struct gpu *gpu)
{
    if (gpu->state == GPU_STATE_OK) {
        return;
    }
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        if (metrics[i].pace != PACE_ONCE && i != METRIC_MEMORY_TOTAL) {
            gpu->value[i] = NAN;
        }
    }
}

static void add_gpu(struct snapshot *snapshot, const struct smi_query *query,
                    const struct span *token)
{
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    if (gpu == NULL) {
        return;
    }
    (void)snprintf(gpu->source, sizeof gpu->source, "nvidia-smi");
    for (size_t i = 0; i < PACE_COUNT; i++) {
        gpu->read_ns[i] = snapshot->time_ns;
    }
    for (size_t i = 0; i < query->count; i++) {
        set_field(snapshot, gpu, &smi_fields[query->column[i]], token[i]);
    }
    choose_power(gpu);
    doubt_values(gpu);
}

/* `Field "x" is not a valid field to query.` */
static bool read_refusal(struct span line, struct smi_answer *answer)
{
    if (!span_starts(line, "Field \"")) {
        return false;
    }
    struct span rest = {line.data + 7, line.length - 7};
    struct span name;
    if (span_cut(&rest, '"', &name)) {
        text_clean(answer->refused, sizeof answer->refused, name.data, name.length);
    }
    return true;
}

/* "00000000:0B:00.0" and "0000:0B:00.0" are one address: compared from the right. */
static bool is_same_bus(const char *bus, struct span text)
{
    size_t length = strlen(bus);
    size_t least = length < text.length ? length : text.length;
    return least >= 10 &&
           strncasecmp(bus + length - least, text.data + text.length - least, least) == 0;
}

/* "WARNING: infoROM is corrupted at gpu 0000:0B:00.0" becomes a note on that GPU. */
static void read_warning(struct span line, struct snapshot *snapshot)
{
    struct span text = span_trim((struct span){line.data + 8, line.length - 8});
    const char *blank = text.length > 0 ? memrchr(text.data, ' ', text.length) : NULL;
    if (blank == NULL) {
        return;
    }
    size_t left = (size_t)(blank - text.data);
    struct span bus = {blank + 1, text.length - left - 1};
    static const char at_gpu[] = " at gpu";
    if (left > strlen(at_gpu) &&
        strncmp(text.data + left - strlen(at_gpu), at_gpu, strlen(at_gpu)) == 0) {
        left -= strlen(at_gpu);
    }
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        if (is_same_bus(snapshot->gpu[i].text[GPU_TEXT_PCI_BUS_ID], bus)) {
            text_clean(snapshot->gpu[i].note, sizeof snapshot->gpu[i].note, text.data, left);
        }
    }
}

static void read_line(struct span line, const struct smi_query *query, size_t wide,
                      struct snapshot *snapshot, struct smi_answer *answer)
{
    struct span token[SMI_FIELDS_MAX];
    if (line.length == 0 || read_refusal(line, answer)) {
        return;
    }
    if (span_starts(line, "WARNING:")) {
        read_warning(line, snapshot);
        return;
    }
    if (span_starts(line, "No devices were found")) {
        answer->has_no_devices = true;
        return;
    }
    if (cut_row(line, query->count, wide, token) && is_row(query, token)) {
        add_gpu(snapshot, query, token);
        answer->rows++;
        return;
    }
    if (answer->message[0] == '\0') {
        text_clean(answer->message, sizeof answer->message, line.data, line.length);
    }
}

/* The lines of an answer; a last one without its end counts only when the program ended itself. */
static bool next_line(struct span *rest, bool is_whole, struct span *line)
{
    if (!span_cut(rest, '\n', line) || (rest->data == NULL && !is_whole)) {
        return false;
    }
    *line = span_trim(*line);
    return true;
}

void smi_parse_gpus(const char *text, size_t length, const struct smi_query *query, bool is_whole,
                    struct snapshot *snapshot, struct smi_answer *answer)
{
    *answer = (struct smi_answer){0};
    size_t wide = query->count - 1;
    for (size_t i = 0; i < query->count; i++) {
        wide = smi_fields[query->column[i]].kind == SMI_NAME ? i : wide;
    }
    struct span rest = {text, length};
    struct span line;
    while (next_line(&rest, is_whole, &line)) {
        read_line(line, query, wide, snapshot, answer);
    }
    snapshot->gpu_expected = snapshot->gpu_count;
}

void smi_parse_processes(const char *text, size_t length, bool is_whole, struct snapshot *snapshot)
{
    struct span rest = {text, length};
    struct span line;
    while (next_line(&rest, is_whole, &line)) {
        struct span token[4];
        int64_t pid = 0;
        char uuid[GPU_UUID_SIZE];
        if (!cut_row(line, 4, 2, token) || !text_to_int64(token[1], &pid) || pid <= 0 ||
            pid > UINT32_MAX) {
            continue;
        }
        text_clean(uuid, sizeof uuid, token[0].data, token[0].length);
        int gpu = snapshot_find(snapshot, uuid);
        struct process *process = gpu >= 0 ? snapshot_add_process(snapshot) : NULL;
        if (process == NULL) {
            continue;
        }
        double mebibytes = NAN;
        process->gpu = gpu;
        process->pid = (uint32_t)pid;
        process->kinds = PROCESS_COMPUTE;
        text_clean(process->name, sizeof process->name, token[2].data, token[2].length);
        (void)smi_number(token[3].data, token[3].length, &mebibytes);
        process->memory_bytes = snapshot_check(snapshot, mebibytes * MIB, 1e15);
    }
}
