/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/nvml/device.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MHZ 1e6
#define MILLI 1e-3
#define PERCENT 0.01

double nvml_u32(uint32_t value, double scale)
{
    return value == NVML_NOT_AVAILABLE_U32 ? NAN : value * scale;
}

double nvml_u64(uint64_t value, double scale)
{
    return value == NVML_NOT_AVAILABLE_U64 ? NAN : (double)value * scale;
}

/* The calls that one card has and another has not. The tables below use the first ones by row. */
enum call {
    CALL_TABLE, /* one for each row of the two tables */
    CALL_UTILIZATION = 64,
    CALL_ENGINES, /* four */
    CALL_MEMORY_V2 = CALL_ENGINES + 4,
    CALL_MEMORY_V1,
    CALL_BAR1,
    CALL_POWER_LIMITS,
    CALL_ENERGY,
    CALL_CLOCK_EVENTS,
    CALL_VIOLATION, /* six */
    CALL_ENCODER_STATS = CALL_VIOLATION + 6,
    CALL_ECC_MODE,
    CALL_ECC_ERRORS, /* four */
    CALL_REMAPPED = CALL_ECC_ERRORS + 4,
    CALL_RETIRED, /* two */
    CALL_FIELDS = CALL_RETIRED + 2,
    CALL_MIG,
    CALL_FANS,
    CALL_MEMORY_CLOCKS,
    CALL_COUNT,
};
_Static_assert(CALL_COUNT <= NVML_CALLS_MAX, "too many calls");

bool nvml_may_call(const struct nvml_pass *pass, int call, bool is_there)
{
    int64_t refused_ns = pass->state->unsupported_ns[call];
    return is_there && pass->trouble == 0 &&
           (refused_ns == 0 || pass->now_ns - refused_ns >= NVML_RETRY_NS ||
            pass->now_ns < refused_ns);
}

bool nvml_accept(struct nvml_pass *pass, int call, int32_t result)
{
    if (result == NVML_SUCCESS) {
        pass->state->unsupported_ns[call] = 0;
        return true;
    }
    bool is_refused = result == NVML_NOT_SUPPORTED || result == NVML_NO_PERMISSION ||
                      result == NVML_FUNCTION_NOT_FOUND || result == NVML_INVALID_ARGUMENT;
    if (is_refused) {
        pass->state->unsupported_ns[call] = pass->now_ns;
    }
    bool is_whole_gpu = result == NVML_GPU_IS_LOST || result == NVML_RESET_REQUIRED ||
                        result == NVML_LIB_RM_VERSION_MISMATCH || result == NVML_UNINITIALIZED ||
                        result == NVML_DRIVER_NOT_LOADED;
    if (is_whole_gpu && pass->trouble == 0) {
        pass->trouble = result;
    }
    return false;
}

/* Calls of the form (device, out) that give one metric. */
/* The order is that in which a row reads best; there are few. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct plain_row {
    enum metric_id metric;
    size_t member;
    double scale;
    enum metric_pace pace;
};

/* Calls of the form (device, which, out). */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): as above */
struct indexed_row {
    enum metric_id metric;
    size_t member;
    uint32_t which;
    double scale;
    enum metric_pace pace;
};

typedef int32_t plain_call(nvml_device device, uint32_t *out);
typedef int32_t indexed_call(nvml_device device, uint32_t which, uint32_t *out);

#define AT(member) offsetof(struct nvml_library, member)

/* clang-format off */
static const struct plain_row plain_rows[] = {
    {METRIC_POWER_DRAW, AT(power), MILLI, PACE_FAST},
    {METRIC_FAN_SPEED, AT(fan), PERCENT, PACE_FAST},
    {METRIC_PERFORMANCE_STATE, AT(performance_state), 1, PACE_FAST},
    {METRIC_PCIE_GEN, AT(pcie_gen), 1, PACE_FAST},
    {METRIC_PCIE_WIDTH, AT(pcie_width), 1, PACE_FAST},
    {METRIC_POWER_LIMIT, AT(power_limit), MILLI, PACE_SLOW},
    {METRIC_POWER_LIMIT_ENFORCED, AT(power_limit_enforced), MILLI, PACE_SLOW},
    {METRIC_COMPUTE_MODE, AT(compute_mode), 1, PACE_SLOW},
    {METRIC_PERSISTENCE_MODE, AT(persistence_mode), 1, PACE_SLOW},
    {METRIC_DISPLAY_ACTIVE, AT(display_active), 1, PACE_SLOW},
    {METRIC_PCIE_REPLAY, AT(pcie_replay), 1, PACE_SLOW},
    {METRIC_RETIRED_PAGES_PENDING, AT(retired_pending), 1, PACE_SLOW},
    {METRIC_POWER_LIMIT_DEFAULT, AT(power_limit_default), MILLI, PACE_ONCE},
    {METRIC_MULTI_GPU_BOARD, AT(multi_gpu_board), 1, PACE_ONCE},
    {METRIC_PCIE_GEN_MAX, AT(pcie_gen_max), 1, PACE_ONCE},
    {METRIC_PCIE_WIDTH_MAX, AT(pcie_width_max), 1, PACE_ONCE},
    {METRIC_MIG_COUNT_MAX, AT(mig_count_max), 1, PACE_ONCE},
};

static const struct indexed_row indexed_rows[] = {
    {METRIC_TEMPERATURE, AT(temperature), 0, 1, PACE_FAST},
    {METRIC_CLOCK_GRAPHICS, AT(clock), 0, MHZ, PACE_FAST},
    {METRIC_CLOCK_SM, AT(clock), 1, MHZ, PACE_FAST},
    {METRIC_CLOCK_MEMORY, AT(clock), 2, MHZ, PACE_FAST},
    {METRIC_CLOCK_VIDEO, AT(clock), 3, MHZ, PACE_FAST},
    {METRIC_CLOCK_GRAPHICS_APP, AT(clock_app), 0, MHZ, PACE_SLOW},
    {METRIC_CLOCK_SM_APP, AT(clock_app), 1, MHZ, PACE_SLOW},
    {METRIC_CLOCK_MEMORY_APP, AT(clock_app), 2, MHZ, PACE_SLOW},
    {METRIC_CLOCK_VIDEO_APP, AT(clock_app), 3, MHZ, PACE_SLOW},
    {METRIC_PCIE_TX, AT(pcie_throughput), 0, 1000, PACE_SLOW},
    {METRIC_PCIE_RX, AT(pcie_throughput), 1, 1000, PACE_SLOW},
    {METRIC_TEMPERATURE_SHUTDOWN, AT(temperature_threshold), 0, 1, PACE_ONCE},
    {METRIC_TEMPERATURE_SLOWDOWN, AT(temperature_threshold), 1, 1, PACE_ONCE},
    {METRIC_TEMPERATURE_MEMORY_MAX, AT(temperature_threshold), 2, 1, PACE_ONCE},
    {METRIC_TEMPERATURE_MAX, AT(temperature_threshold), 3, 1, PACE_ONCE},
    {METRIC_CLOCK_GRAPHICS_MAX, AT(clock_max), 0, MHZ, PACE_ONCE},
    {METRIC_CLOCK_SM_MAX, AT(clock_max), 1, MHZ, PACE_ONCE},
    {METRIC_CLOCK_MEMORY_MAX, AT(clock_max), 2, MHZ, PACE_ONCE},
    {METRIC_CLOCK_VIDEO_MAX, AT(clock_max), 3, MHZ, PACE_ONCE},
    {METRIC_CLOCK_GRAPHICS_DEFAULT, AT(clock_default), 0, MHZ, PACE_ONCE},
    {METRIC_CLOCK_SM_DEFAULT, AT(clock_default), 1, MHZ, PACE_ONCE},
    {METRIC_CLOCK_MEMORY_DEFAULT, AT(clock_default), 2, MHZ, PACE_ONCE},
    {METRIC_CLOCK_VIDEO_DEFAULT, AT(clock_default), 3, MHZ, PACE_ONCE},
};
/* clang-format on */

#define PLAIN_COUNT (sizeof plain_rows / sizeof plain_rows[0])
#define INDEXED_COUNT (sizeof indexed_rows / sizeof indexed_rows[0])
_Static_assert(PLAIN_COUNT + INDEXED_COUNT <= CALL_UTILIZATION, "tables outgrow their numbers");

static void read_tables(struct nvml_pass *pass, struct gpu *gpu, enum metric_pace pace)
{
    const char *base = (const char *)pass->library;
    for (size_t i = 0; i < PLAIN_COUNT; i++) {
        const struct plain_row *row = &plain_rows[i];
        plain_call *call = NULL;
        uint32_t value = NVML_NOT_AVAILABLE_U32;
        memcpy(&call, base + row->member, sizeof call);
        if (row->pace == pace && nvml_may_call(pass, (int)i, call != NULL) &&
            nvml_accept(pass, (int)i, call(pass->state->device, &value))) {
            snapshot_set(pass->snapshot, gpu, row->metric, nvml_u32(value, row->scale));
        }
    }
    for (size_t i = 0; i < INDEXED_COUNT; i++) {
        const struct indexed_row *row = &indexed_rows[i];
        int number = (int)(PLAIN_COUNT + i);
        indexed_call *call = NULL;
        uint32_t value = NVML_NOT_AVAILABLE_U32;
        memcpy(&call, base + row->member, sizeof call);
        if (row->pace == pace && nvml_may_call(pass, number, call != NULL) &&
            nvml_accept(pass, number, call(pass->state->device, row->which, &value))) {
            snapshot_set(pass->snapshot, gpu, row->metric, nvml_u32(value, row->scale));
        }
    }
}

void nvml_read_identity(struct nvml_pass *pass, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    char text[GPU_NAME_SIZE] = "";
    if (library->uuid != NULL) {
        int32_t result = library->uuid(pass->state->device, text, sizeof text - 1);
        if (result == NVML_SUCCESS) {
            text_clean(gpu->uuid, sizeof gpu->uuid, text, strnlen(text, sizeof text));
        }
        pass->trouble = result == NVML_GPU_IS_LOST || result == NVML_RESET_REQUIRED ||
                                result == NVML_LIB_RM_VERSION_MISMATCH
                            ? result
                            : pass->trouble;
    }
    memset(text, 0, sizeof text);
    if (library->name != NULL &&
        library->name(pass->state->device, text, sizeof text - 1) == NVML_SUCCESS) {
        text_clean(gpu->name, sizeof gpu->name, text, strnlen(text, sizeof text));
    }
}

void nvml_read_utilization(struct nvml_pass *pass, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    struct nvml_utilization rates = {NVML_NOT_AVAILABLE_U32, NVML_NOT_AVAILABLE_U32};
    if (nvml_may_call(pass, CALL_UTILIZATION, library->utilization != NULL)) {
        int32_t result = library->utilization(pass->state->device, &rates);
        if (nvml_accept(pass, CALL_UTILIZATION, result)) {
            /* An all-ones percentage is as impossible as 2619: both are refused and counted. */
            snapshot_set(pass->snapshot, gpu, METRIC_UTILIZATION, rates.gpu * PERCENT);
            snapshot_set(pass->snapshot, gpu, METRIC_MEMORY_UTILIZATION, rates.memory * PERCENT);
        }
    }
    uint32_t current = 0;
    uint32_t pending = 0;
    if (isnan(gpu->value[METRIC_UTILIZATION]) &&
        nvml_may_call(pass, CALL_MIG, library->mig_mode != NULL) &&
        nvml_accept(pass, CALL_MIG, library->mig_mode(pass->state->device, &current, &pending))) {
        snapshot_set(pass->snapshot, gpu, METRIC_MIG_MODE, current);
        snapshot_set(pass->snapshot, gpu, METRIC_MIG_MODE_PENDING, pending);
    }
}

void nvml_read_memory(struct nvml_pass *pass, nvml_device device, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    struct nvml_memory_v2 two = {.version = NVML_MEMORY_V2};
    struct nvml_memory_v1 one = {0};
    struct snapshot *snapshot = pass->snapshot;
    if (nvml_may_call(pass, CALL_MEMORY_V2, library->memory_v2 != NULL) &&
        nvml_accept(pass, CALL_MEMORY_V2, library->memory_v2(device, &two))) {
        snapshot_set(snapshot, gpu, METRIC_MEMORY_TOTAL, nvml_u64(two.total, 1));
        snapshot_set(snapshot, gpu, METRIC_MEMORY_USED, nvml_u64(two.used, 1));
        snapshot_set(snapshot, gpu, METRIC_MEMORY_FREE, nvml_u64(two.free, 1));
        snapshot_set(snapshot, gpu, METRIC_MEMORY_RESERVED, nvml_u64(two.reserved, 1));
        gpu->is_used_with_reserved = false;
        return;
    }
    if (nvml_may_call(pass, CALL_MEMORY_V1, library->memory_v1 != NULL) &&
        nvml_accept(pass, CALL_MEMORY_V1, library->memory_v1(device, &one))) {
        snapshot_set(snapshot, gpu, METRIC_MEMORY_TOTAL, nvml_u64(one.total, 1));
        snapshot_set(snapshot, gpu, METRIC_MEMORY_USED, nvml_u64(one.used, 1));
        snapshot_set(snapshot, gpu, METRIC_MEMORY_FREE, nvml_u64(one.free, 1));
        gpu->is_used_with_reserved = true;
    }
}

static void read_engines(struct nvml_pass *pass, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    const struct {
        enum metric_id metric;
        int32_t (*call)(nvml_device, uint32_t *, uint32_t *);
    } engines[] = {
        {METRIC_ENCODER_UTILIZATION, library->encoder_utilization},
        {METRIC_DECODER_UTILIZATION, library->decoder_utilization},
        {METRIC_JPEG_UTILIZATION, library->jpeg_utilization},
        {METRIC_OFA_UTILIZATION, library->ofa_utilization},
    };
    for (int i = 0; i < 4; i++) {
        uint32_t value = NVML_NOT_AVAILABLE_U32;
        uint32_t period = 0;
        if (nvml_may_call(pass, CALL_ENGINES + i, engines[i].call != NULL) &&
            nvml_accept(pass, CALL_ENGINES + i,
                        engines[i].call(pass->state->device, &value, &period))) {
            snapshot_set(pass->snapshot, gpu, engines[i].metric, nvml_u32(value, PERCENT));
        }
    }
}

static void read_clock_events(struct nvml_pass *pass, struct gpu *gpu)
{
    static const enum metric_id bits[] = {
        METRIC_CLOCK_EVENT_IDLE,         METRIC_CLOCK_EVENT_APP_CLOCKS,
        METRIC_CLOCK_EVENT_SW_POWER_CAP, METRIC_CLOCK_EVENT_HW_SLOWDOWN,
        METRIC_CLOCK_EVENT_SYNC_BOOST,   METRIC_CLOCK_EVENT_SW_THERMAL,
        METRIC_CLOCK_EVENT_HW_THERMAL,   METRIC_CLOCK_EVENT_HW_POWER_BRAKE,
        METRIC_CLOCK_EVENT_DISPLAY,
    };
    uint64_t reasons = 0;
    if (nvml_may_call(pass, CALL_CLOCK_EVENTS, pass->library->clock_events != NULL) &&
        nvml_accept(pass, CALL_CLOCK_EVENTS,
                    pass->library->clock_events(pass->state->device, &reasons))) {
        for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
            snapshot_set(pass->snapshot, gpu, bits[i], (double)(reasons >> i & 1));
        }
    }
}

/* A field's own result counts besides the call's; 0 is a double, and so on as abi.h says. */
static double field_value(const struct nvml_field *field, double scale)
{
    if (field->result != NVML_SUCCESS) {
        return NAN;
    }
    switch (field->type) {
    case 0:
        return field->value.real * scale;
    case 1:
        return nvml_u32(field->value.u32, scale);
    case 2:
    case 3:
        return nvml_u64(field->value.u64, scale);
    case 4:
        return (double)field->value.i64 * scale;
    case 5:
        return (double)field->value.i32 * scale;
    default:
        return NAN;
    }
}

#define ALL_LINKS UINT32_MAX

struct field_row {
    uint32_t id, scope;
    enum metric_id metric;
    double scale;
};

static void read_fields(struct nvml_pass *pass, struct gpu *gpu, const struct field_row *rows,
                        int count)
{
    struct nvml_field fields[8] = {0};
    for (int i = 0; i < count; i++) {
        fields[i].id = rows[i].id;
        fields[i].scope = rows[i].scope;
        fields[i].result = NVML_NOT_SUPPORTED;
    }
    if (!nvml_may_call(pass, CALL_FIELDS, pass->library->fields != NULL) ||
        !nvml_accept(pass, CALL_FIELDS,
                     pass->library->fields(pass->state->device, count, fields))) {
        return;
    }
    for (int i = 0; i < count; i++) {
        double value = field_value(&fields[i], rows[i].scale);
        if (!isnan(value)) {
            snapshot_set(pass->snapshot, gpu, rows[i].metric, value);
        }
    }
}

static void read_fans(struct nvml_pass *pass, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    uint32_t count = 0;
    gpu->fan_count = 0;
    if (library->fan_one == NULL || !nvml_may_call(pass, CALL_FANS, library->fan_count != NULL) ||
        !nvml_accept(pass, CALL_FANS, library->fan_count(pass->state->device, &count))) {
        return;
    }
    for (uint32_t i = 0; i < count && i < GPU_FANS_MAX; i++) {
        uint32_t speed = NVML_NOT_AVAILABLE_U32;
        int32_t result = library->fan_one(pass->state->device, i, &speed);
        double ratio = result == NVML_SUCCESS ? nvml_u32(speed, PERCENT) : NAN;
        gpu->fan_ratio[gpu->fan_count++] = snapshot_check(pass->snapshot, ratio, 2);
    }
}

void nvml_read_fast(struct nvml_pass *pass, struct gpu *gpu)
{
    static const struct field_row rows[] = {
        {82, 0, METRIC_TEMPERATURE_MEMORY, 1},
        {185, 0, METRIC_POWER_AVERAGE, MILLI},
        {186, 0, METRIC_POWER_INSTANT, MILLI},
    };
    const struct nvml_library *library = pass->library;
    nvml_device device = pass->state->device;
    nvml_read_utilization(pass, gpu);
    read_tables(pass, gpu, PACE_FAST);
    nvml_read_memory(pass, device, gpu);
    read_engines(pass, gpu);
    read_clock_events(pass, gpu);
    read_fields(pass, gpu, rows, sizeof rows / sizeof rows[0]);
    read_fans(pass, gpu);
    struct nvml_memory_v1 bar1 = {0};
    if (nvml_may_call(pass, CALL_BAR1, library->bar1 != NULL) &&
        nvml_accept(pass, CALL_BAR1, library->bar1(device, &bar1))) {
        snapshot_set(pass->snapshot, gpu, METRIC_BAR1_MEMORY_USED, nvml_u64(bar1.used, 1));
        snapshot_set(pass->snapshot, gpu, METRIC_BAR1_MEMORY_TOTAL, nvml_u64(bar1.total, 1));
    }
    uint64_t millijoules = NVML_NOT_AVAILABLE_U64;
    if (nvml_may_call(pass, CALL_ENERGY, library->energy != NULL) &&
        nvml_accept(pass, CALL_ENERGY, library->energy(device, &millijoules))) {
        snapshot_set(pass->snapshot, gpu, METRIC_ENERGY, nvml_u64(millijoules, MILLI));
    }
}

static void read_ecc(struct nvml_pass *pass, struct gpu *gpu)
{
    static const enum metric_id counters[2][2] = {
        {METRIC_ECC_CORRECTED_VOLATILE, METRIC_ECC_CORRECTED_AGGREGATE},
        {METRIC_ECC_UNCORRECTED_VOLATILE, METRIC_ECC_UNCORRECTED_AGGREGATE},
    };
    const struct nvml_library *library = pass->library;
    uint32_t current = 0;
    uint32_t pending = 0;
    if (nvml_may_call(pass, CALL_ECC_MODE, library->ecc_mode != NULL) &&
        nvml_accept(pass, CALL_ECC_MODE,
                    library->ecc_mode(pass->state->device, &current, &pending))) {
        snapshot_set(pass->snapshot, gpu, METRIC_ECC_ENABLED, current);
        snapshot_set(pass->snapshot, gpu, METRIC_ECC_ENABLED_PENDING, pending);
    }
    for (uint32_t type = 0; type < 2; type++) {
        for (uint32_t scope = 0; scope < 2; scope++) {
            int call = CALL_ECC_ERRORS + (int)(type * 2 + scope);
            uint64_t errors = NVML_NOT_AVAILABLE_U64;
            if (nvml_may_call(pass, call, library->ecc_errors != NULL) &&
                nvml_accept(pass, call,
                            library->ecc_errors(pass->state->device, type, scope, &errors))) {
                snapshot_set(pass->snapshot, gpu, counters[type][scope], nvml_u64(errors, 1));
            }
        }
    }
}

static void read_bad_memory(struct nvml_pass *pass, struct gpu *gpu)
{
    static const enum metric_id rows[] = {
        METRIC_REMAPPED_ROWS_CORRECTABLE, METRIC_REMAPPED_ROWS_UNCORRECTABLE,
        METRIC_REMAPPED_ROWS_PENDING, METRIC_REMAPPED_ROWS_FAILED};
    static const enum metric_id pages[] = {METRIC_RETIRED_PAGES_SINGLE_BIT,
                                           METRIC_RETIRED_PAGES_DOUBLE_BIT};
    const struct nvml_library *library = pass->library;
    nvml_device device = pass->state->device;
    uint32_t value[4] = {0};
    if (nvml_may_call(pass, CALL_REMAPPED, library->remapped_rows != NULL) &&
        nvml_accept(pass, CALL_REMAPPED,
                    library->remapped_rows(device, &value[0], &value[1], &value[2], &value[3]))) {
        for (size_t i = 0; i < 4; i++) {
            snapshot_set(pass->snapshot, gpu, rows[i], nvml_u32(value[i], 1));
        }
    }
    for (uint32_t cause = 0; cause < 2; cause++) {
        int call = CALL_RETIRED + (int)cause;
        uint32_t count = 0;
        if (!nvml_may_call(pass, call, library->retired_pages != NULL)) {
            continue;
        }
        /* Asked for the number only: "insufficient size" is the good answer when there are some. */
        int32_t result = library->retired_pages(device, cause, &count, NULL);
        result = result == NVML_INSUFFICIENT_SIZE ? NVML_SUCCESS : result;
        if (nvml_accept(pass, call, result)) {
            snapshot_set(pass->snapshot, gpu, pages[cause], nvml_u32(count, 1));
        }
    }
}

static void read_encoder(struct nvml_pass *pass, struct gpu *gpu)
{
    uint32_t sessions = 0;
    uint32_t fps = 0;
    uint32_t latency_us = 0;
    if (nvml_may_call(pass, CALL_ENCODER_STATS, pass->library->encoder_stats != NULL) &&
        nvml_accept(
            pass, CALL_ENCODER_STATS,
            pass->library->encoder_stats(pass->state->device, &sessions, &fps, &latency_us))) {
        snapshot_set(pass->snapshot, gpu, METRIC_ENCODER_SESSIONS, nvml_u32(sessions, 1));
        snapshot_set(pass->snapshot, gpu, METRIC_ENCODER_FPS, nvml_u32(fps, 1));
        snapshot_set(pass->snapshot, gpu, METRIC_ENCODER_LATENCY, nvml_u32(latency_us, 1e-6));
    }
}

static void read_violations(struct nvml_pass *pass, struct gpu *gpu)
{
    static const enum metric_id policies[] = {
        METRIC_VIOLATION_POWER,       METRIC_VIOLATION_THERMAL,  METRIC_VIOLATION_SYNC_BOOST,
        METRIC_VIOLATION_BOARD_LIMIT, METRIC_VIOLATION_LOW_UTIL, METRIC_VIOLATION_RELIABILITY,
    };
    for (uint32_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct nvml_violation violation = {0, NVML_NOT_AVAILABLE_U64};
        int call = CALL_VIOLATION + (int)i;
        if (nvml_may_call(pass, call, pass->library->violation != NULL) &&
            nvml_accept(pass, call, pass->library->violation(pass->state->device, i, &violation))) {
            snapshot_set(pass->snapshot, gpu, policies[i], nvml_u64(violation.violation_ns, 1e-9));
        }
    }
}

void nvml_read_slow(struct nvml_pass *pass, struct gpu *gpu)
{
    static const struct field_row rows[] = {
        {94, 0, METRIC_PCIE_REPLAY, 1},
        {138, ALL_LINKS, METRIC_NVLINK_TX, 1024},
        {139, ALL_LINKS, METRIC_NVLINK_RX, 1024},
    };
    uint32_t current = 0;
    uint32_t pending = 0;
    read_tables(pass, gpu, PACE_SLOW);
    read_ecc(pass, gpu);
    read_bad_memory(pass, gpu);
    read_encoder(pass, gpu);
    read_violations(pass, gpu);
    read_fields(pass, gpu, rows, sizeof rows / sizeof rows[0]);
    if (nvml_may_call(pass, CALL_MIG, pass->library->mig_mode != NULL) &&
        nvml_accept(pass, CALL_MIG,
                    pass->library->mig_mode(pass->state->device, &current, &pending))) {
        snapshot_set(pass->snapshot, gpu, METRIC_MIG_MODE, current);
        snapshot_set(pass->snapshot, gpu, METRIC_MIG_MODE_PENDING, pending);
    }
}

static void set_word(char *out, const char *word)
{
    text_copy(out, GPU_WORD_SIZE, word != NULL ? word : "");
}

static const char *architecture_name(uint32_t code)
{
    static const char *const names[] = {
        [2] = "Kepler", [3] = "Maxwell",      [4] = "Pascal", [5] = "Volta",     [6] = "Turing",
        [7] = "Ampere", [8] = "Ada Lovelace", [9] = "Hopper", [10] = "Blackwell"};
    return code < sizeof names / sizeof names[0] ? names[code] : NULL;
}

static const char *brand_name(uint32_t code)
{
    static const char *const names[] = {[1] = "Quadro",
                                        [2] = "Tesla",
                                        [3] = "NVS",
                                        [4] = "GRID",
                                        [5] = "GeForce",
                                        [6] = "Titan",
                                        [7] = "NVIDIA vApps",
                                        [8] = "NVIDIA vPC",
                                        [9] = "NVIDIA vCS",
                                        [10] = "NVIDIA vWS",
                                        [11] = "NVIDIA Cloud Gaming",
                                        [12] = "Quadro RTX",
                                        [13] = "NVIDIA RTX",
                                        [14] = "NVIDIA",
                                        [15] = "GeForce RTX",
                                        [16] = "Titan RTX"};
    return code < sizeof names / sizeof names[0] ? names[code] : NULL;
}

static void read_words(struct nvml_pass *pass, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    nvml_device device = pass->state->device;
    const struct {
        enum gpu_text_id text;
        int32_t (*call)(nvml_device, char *, uint32_t);
    } words[] = {{GPU_TEXT_SERIAL, library->serial}, {GPU_TEXT_VBIOS_VERSION, library->vbios}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        char text[64] = "";
        if (words[i].call != NULL && words[i].call(device, text, sizeof text - 1) == NVML_SUCCESS) {
            text_clean(gpu->text[words[i].text], GPU_WORD_SIZE, text, strnlen(text, sizeof text));
        }
    }
    struct nvml_pci pci = {0};
    if (library->pci != NULL && library->pci(device, &pci) == NVML_SUCCESS) {
        text_clean(gpu->text[GPU_TEXT_PCI_BUS_ID], GPU_WORD_SIZE, pci.bus_id,
                   strnlen(pci.bus_id, sizeof pci.bus_id));
    }
    uint32_t code = 0;
    if (library->brand != NULL && library->brand(device, &code) == NVML_SUCCESS) {
        set_word(gpu->text[GPU_TEXT_BRAND], brand_name(code));
    }
    if (library->architecture != NULL && library->architecture(device, &code) == NVML_SUCCESS) {
        set_word(gpu->text[GPU_TEXT_ARCHITECTURE], architecture_name(code));
    }
    int32_t major = 0;
    int32_t minor = 0;
    if (library->compute_capability != NULL &&
        library->compute_capability(device, &major, &minor) == NVML_SUCCESS && major > 0 &&
        major < 1000 && minor >= 0 && minor < 1000) {
        (void)snprintf(gpu->text[GPU_TEXT_COMPUTE_CAPABILITY], GPU_WORD_SIZE, "%d.%d", major,
                       minor);
    }
}

void nvml_read_once(struct nvml_pass *pass, struct gpu *gpu)
{
    const struct nvml_library *library = pass->library;
    uint32_t least = NVML_NOT_AVAILABLE_U32;
    uint32_t most = NVML_NOT_AVAILABLE_U32;
    read_words(pass, gpu);
    read_tables(pass, gpu, PACE_ONCE);
    if (nvml_may_call(pass, CALL_POWER_LIMITS, library->power_limits != NULL) &&
        nvml_accept(pass, CALL_POWER_LIMITS,
                    library->power_limits(pass->state->device, &least, &most))) {
        snapshot_set(pass->snapshot, gpu, METRIC_POWER_LIMIT_MIN, nvml_u32(least, MILLI));
        snapshot_set(pass->snapshot, gpu, METRIC_POWER_LIMIT_MAX, nvml_u32(most, MILLI));
    }
    uint32_t clocks[64] = {0};
    uint32_t count = sizeof clocks / sizeof clocks[0];
    gpu->memory_clock_count = 0;
    if (nvml_may_call(pass, CALL_MEMORY_CLOCKS, library->memory_clocks != NULL) &&
        nvml_accept(pass, CALL_MEMORY_CLOCKS,
                    library->memory_clocks(pass->state->device, &count, clocks))) {
        for (uint32_t i = 0; i < count && i < GPU_CLOCKS_MAX; i++) {
            gpu->memory_clock_hz[gpu->memory_clock_count++] = nvml_u32(clocks[i], MHZ);
        }
    }
}

/* The throughput of one link stands in the field values, by scope. */
static void read_link_traffic(struct nvml_pass *pass, uint32_t link, double *out)
{
    struct nvml_field fields[2] = {{.id = 138, .scope = link, .result = NVML_NOT_SUPPORTED},
                                   {.id = 139, .scope = link, .result = NVML_NOT_SUPPORTED}};
    if (pass->library->fields != NULL &&
        pass->library->fields(pass->state->device, 2, fields) == NVML_SUCCESS) {
        out[LINK_TX] = field_value(&fields[0], 1024);
        out[LINK_RX] = field_value(&fields[1], 1024);
    }
}

static void read_link_errors(struct nvml_pass *pass, uint32_t link, double *out)
{
    static const enum link_metric_id counters[] = {LINK_REPLAY_ERRORS, LINK_RECOVERY_ERRORS,
                                                   LINK_CRC_FLIT_ERRORS, LINK_CRC_DATA_ERRORS};
    for (uint32_t i = 0; i < sizeof counters / sizeof counters[0]; i++) {
        uint64_t errors = NVML_NOT_AVAILABLE_U64;
        if (pass->library->link_errors != NULL &&
            pass->library->link_errors(pass->state->device, link, i, &errors) == NVML_SUCCESS) {
            out[counters[i]] = nvml_u64(errors, 1);
        }
    }
}

void nvml_read_links(struct nvml_pass *pass, struct gpu *gpu, bool is_first)
{
    const struct nvml_library *library = pass->library;
    nvml_device device = pass->state->device;
    int active = 0;
    int count = 0;
    if (library->link_state == NULL || pass->trouble != 0 || (!is_first && gpu->link_count == 0)) {
        return;
    }
    /* Links are not numbered without holes, and an inactive one says nothing of the next (Part C
     * 4): all are asked, and the last that answers is the last there is. */
    for (uint32_t link = 0; link < GPU_LINKS_MAX; link++) {
        uint32_t value = 0;
        double *out = gpu->link[link];
        if (library->link_state(device, link, &value) != NVML_SUCCESS) {
            continue;
        }
        count = (int)link + 1;
        out[LINK_ACTIVE] = value == 1;
        active += value == 1;
        if (is_first && library->link_version != NULL &&
            library->link_version(device, link, &value) == NVML_SUCCESS) {
            out[LINK_VERSION] = value;
        }
        if (is_first && library->link_capability != NULL &&
            library->link_capability(device, link, 0, &value) == NVML_SUCCESS) {
            out[LINK_P2P_SUPPORTED] = value == 1;
        }
        read_link_traffic(pass, link, out);
        read_link_errors(pass, link, out);
    }
    gpu->link_count = count;
    if (count > 0) {
        snapshot_set(pass->snapshot, gpu, METRIC_NVLINK_COUNT, count);
        snapshot_set(pass->snapshot, gpu, METRIC_NVLINK_ACTIVE_COUNT, active);
    }
}
