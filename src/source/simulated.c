/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A machine that does not exist, for looking around and for tests. The argument is a list of cards
 * and, behind colons, options:
 *   8xH100                          eight cards
 *   2xRTX4090,1xGB10                a mixed machine
 *   4xA100:mig=3                    each card that can is cut into three instances
 *   8xH100:seed=7                   another believable week (default seed 1)
 *   8xH100:fault=lost@3:fault=hang  faults: lost, reset, ecc, thermal, powercap, xid, silent (no
 *                                   utilization), impossible (values out of range), hang; @N = that
 *                                   GPU, else the first
 * Everything is a function of seed, GPU and time: the same moment is always the same. */
#include "source/simulated_models.h"
#include "source/source.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SLOW_PACE_S 5.0
#define GPUS_MAX 512
#define SLOT_S 1800         /* one job lasts one slot */
#define LIFE_S (90 * 86400) /* the driver is loaded anew this often */
#define MIB 1048576.0

enum fault {
    FAULT_LOST,
    FAULT_RESET,
    FAULT_ECC,
    FAULT_THERMAL,
    FAULT_POWERCAP,
    FAULT_XID,
    FAULT_SILENT,
    FAULT_IMPOSSIBLE,
    FAULT_HANG,
    FAULT_COUNT
};

static const char *const fault_names[FAULT_COUNT + 1] = {
    "lost", "reset", "ecc", "thermal", "powercap", "xid", "silent", "impossible", "hang", NULL};

struct card {
    const struct simulated_model *model;
    bool fault[FAULT_COUNT];
};

struct simulated {
    struct source source;
    struct card *card;
    size_t count, capacity;
    uint64_t seed;
    int64_t mig;
    enum source_depth depth;
};

enum job_kind { JOB_NONE, JOB_TRAINING, JOB_INFERENCE, JOB_HELD };

struct job {
    enum job_kind kind;
    double level;  /* 0-1: how hard it works */
    double memory; /* share of the card it holds */
    uint64_t hash;
};

/* A well-mixed number from a few others (splitmix64's finaliser). */
static uint64_t mix(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = a * 0x9e3779b97f4a7c15U + b * 0xbf58476d1ce4e5b9U + c * 0x94d049bb133111ebU;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

static double share(uint64_t hash)
{
    return (double)(hash >> 11) / 9007199254740992.0;
}

/* What runs on a GPU in a slot: more work by day than by night, and a week that looks like one. */
static struct job job_at(uint64_t seed, size_t gpu, int64_t slot)
{
    struct job job = {.hash = mix(seed, gpu + 1, (uint64_t)slot)};
    int64_t hour = slot * SLOT_S / 3600 % 24;
    bool is_night = hour < 6;
    double dice = share(job.hash);
    double none = is_night ? 0.35 : 0.15;
    if (dice < none) {
        job.kind = JOB_NONE;
    } else if (dice < none + 0.45) {
        job.kind = JOB_TRAINING;
    } else if (dice < none + 0.70 && !is_night) {
        job.kind = JOB_INFERENCE;
    } else {
        job.kind = JOB_HELD;
    }
    job.level = 0.55 + 0.45 * share(mix(job.hash, 2, 3));
    job.memory = job.kind == JOB_NONE ? 0 : 0.25 + 0.7 * share(mix(job.hash, 4, 5));
    return job;
}

/* Smooth noise in 0-1 with a period of some seconds. */
static double wobble(uint64_t hash, double at_s, double period_s)
{
    double steps = at_s / period_s;
    double low = floor(steps);
    double between = steps - low;
    double first = share(mix(hash, (uint64_t)(int64_t)low, 7));
    double second = share(mix(hash, (uint64_t)(int64_t)low + 1, 7));
    double smooth = between * between * (3 - 2 * between);
    return first + (second - first) * smooth;
}

static double utilization_at(const struct job *job, double into_slot_s, double at_s)
{
    bool is_loading = into_slot_s < 25;
    if (job->kind == JOB_TRAINING) {
        bool is_checkpoint = fmod(into_slot_s, 600) > 580;
        double busy = 0.90 + 0.10 * wobble(job->hash, at_s, 4);
        return is_loading || is_checkpoint ? 0.05 + 0.1 * wobble(job->hash, at_s, 2)
                                           : busy * (0.9 + 0.1 * job->level);
    }
    if (job->kind == JOB_INFERENCE) {
        double burst = wobble(job->hash, at_s, 20) * wobble(job->hash + 1, at_s, 3);
        return is_loading ? 0.02 : job->level * burst * 1.2 > 1 ? 1 : job->level * burst * 1.2;
    }
    return 0;
}

/* The moment of one card; the seconds are those of the wall clock. */
struct moment {
    struct job job;
    double utilization, power_w, temperature_c;
};

static double power_of(const struct simulated_model *model, const struct job *job, double busy)
{
    double idle = model->power_idle_w * (job->kind == JOB_NONE ? 1 : 1.25);
    return idle + (model->power_limit_w * 0.97 - idle) * busy * (0.75 + 0.25 * job->level);
}

static void moment_at(const struct simulated *simulated, size_t gpu, double at_s,
                      struct moment *out)
{
    const struct simulated_model *model = simulated->card[gpu].model;
    double heat = 0;
    double weights = 0;
    /* Temperature follows the power of the last three minutes. */
    for (int back = 12; back >= 0; back--) {
        double then = at_s - back * 15.0;
        int64_t slot = (int64_t)floor(then / SLOT_S);
        out->job = job_at(simulated->seed, gpu, slot);
        out->utilization = utilization_at(&out->job, then - (double)slot * SLOT_S, then);
        out->power_w = power_of(model, &out->job, out->utilization);
        double weight = exp(-back / 4.0);
        heat += weight * out->power_w;
        weights += weight;
    }
    double share_of_limit = heat / weights / model->power_limit_w;
    out->temperature_c = 28 + (double)(gpu % 4) + (model->slowdown_c - 42) * share_of_limit;
}

/* Joules since the driver was loaded: whole slots at their mean power, the current one in part. */
static double energy_at(const struct simulated *simulated, size_t gpu, double at_s)
{
    const struct simulated_model *model = simulated->card[gpu].model;
    int64_t first = (int64_t)(at_s / LIFE_S) * (LIFE_S / SLOT_S);
    int64_t last = (int64_t)(at_s / SLOT_S);
    double joules = 0;
    for (int64_t slot = first; slot <= last; slot++) {
        struct job job = job_at(simulated->seed, gpu, slot);
        double busy = job.kind == JOB_TRAINING ? 0.9 : job.kind == JOB_INFERENCE ? 0.3 : 0;
        double seconds = slot < last ? SLOT_S : at_s - (double)last * SLOT_S;
        joules += power_of(model, &job, busy) * seconds;
    }
    return joules;
}

static void set_identity(const struct simulated *simulated, size_t number, struct gpu *gpu)
{
    const struct simulated_model *model = simulated->card[number].model;
    uint64_t one = mix(simulated->seed, number, 11);
    uint64_t two = mix(simulated->seed, number, 12);
    gpu->index = (int)number;
    (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%08x-%04x-4%03x-8%03x-%012llx",
                   (unsigned)(one >> 32), (unsigned)(one >> 16) & 0xffffU, (unsigned)one & 0xfffU,
                   (unsigned)(two >> 48) & 0xfffU, (unsigned long long)(two & 0xffffffffffffU));
    text_copy(gpu->name, sizeof gpu->name, model->name);
    (void)snprintf(gpu->source, sizeof gpu->source, "simulated");
}

static void set_static(struct snapshot *snapshot, struct gpu *gpu, size_t number,
                       const struct simulated_model *model)
{
    static const enum metric_id clocks[] = {METRIC_CLOCK_GRAPHICS_MAX, METRIC_CLOCK_SM_MAX,
                                            METRIC_CLOCK_GRAPHICS_DEFAULT, METRIC_CLOCK_SM_DEFAULT};
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        snapshot_set(snapshot, gpu, clocks[i], model->clock_mhz * 1e6);
    }
    text_copy(gpu->text[GPU_TEXT_BRAND], GPU_WORD_SIZE, model->brand);
    text_copy(gpu->text[GPU_TEXT_ARCHITECTURE], GPU_WORD_SIZE, model->architecture);
    text_copy(gpu->text[GPU_TEXT_COMPUTE_CAPABILITY], GPU_WORD_SIZE, model->compute_capability);
    text_copy(gpu->text[GPU_TEXT_VBIOS_VERSION], GPU_WORD_SIZE, "96.00.00.00.01");
    (void)snprintf(gpu->text[GPU_TEXT_SERIAL], GPU_WORD_SIZE, "%013zu", 1650000000000 + number);
    (void)snprintf(gpu->text[GPU_TEXT_PCI_BUS_ID], GPU_WORD_SIZE, "00000000:%02zX:00.0",
                   (number * 8 + 0x18) % 256);
    snapshot_set(snapshot, gpu, METRIC_CLOCK_VIDEO_MAX, model->clock_mhz * 0.85e6);
    if (model->memory_clock_mhz > 0) {
        snapshot_set(snapshot, gpu, METRIC_CLOCK_MEMORY_MAX, model->memory_clock_mhz * 1e6);
        snapshot_set(snapshot, gpu, METRIC_CLOCK_MEMORY_DEFAULT, model->memory_clock_mhz * 1e6);
        gpu->memory_clock_count = 1;
        gpu->memory_clock_hz[0] = model->memory_clock_mhz * 1e6;
    }
    snapshot_set(snapshot, gpu, METRIC_TEMPERATURE_SLOWDOWN, model->slowdown_c);
    snapshot_set(snapshot, gpu, METRIC_TEMPERATURE_SHUTDOWN, model->shutdown_c);
    snapshot_set(snapshot, gpu, METRIC_TEMPERATURE_MAX, model->slowdown_c - 2);
    snapshot_set(snapshot, gpu, METRIC_POWER_LIMIT, model->power_limit_w);
    snapshot_set(snapshot, gpu, METRIC_POWER_LIMIT_ENFORCED, model->power_limit_w);
    snapshot_set(snapshot, gpu, METRIC_POWER_LIMIT_DEFAULT, model->power_limit_w);
    snapshot_set(snapshot, gpu, METRIC_POWER_LIMIT_MIN, model->power_min_w);
    snapshot_set(snapshot, gpu, METRIC_POWER_LIMIT_MAX, model->power_limit_w);
    snapshot_set(snapshot, gpu, METRIC_PCIE_GEN_MAX, model->pcie_gen);
    snapshot_set(snapshot, gpu, METRIC_PCIE_WIDTH_MAX, 16);
    snapshot_set(snapshot, gpu, METRIC_COMPUTE_MODE, 0);
    snapshot_set(snapshot, gpu, METRIC_PERSISTENCE_MODE, 1);
    snapshot_set(snapshot, gpu, METRIC_DISPLAY_ACTIVE, 0);
    snapshot_set(snapshot, gpu, METRIC_MULTI_GPU_BOARD, 0);
    snapshot_set(snapshot, gpu, METRIC_MIG_COUNT_MAX, model->mig_most);
}

static void set_memory(struct snapshot *snapshot, struct gpu *gpu,
                       const struct simulated_model *model, const struct moment *moment)
{
    gpu->is_unified = model->memory_mib == 0;
    double total = gpu->is_unified ? 124609.0 * MIB : model->memory_mib * MIB;
    double reserved = gpu->is_unified ? NAN : total * 0.008;
    double used = moment->job.memory * total * 0.98;
    snapshot_set(snapshot, gpu, METRIC_MEMORY_TOTAL, total);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_USED, floor(used / MIB) * MIB);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_RESERVED, reserved);
    snapshot_set(snapshot, gpu, METRIC_MEMORY_FREE,
                 total - floor(used / MIB) * MIB - (isnan(reserved) ? 0 : reserved));
    if (!gpu->is_unified) {
        snapshot_set(snapshot, gpu, METRIC_BAR1_MEMORY_TOTAL, exp2(ceil(log2(total))));
        snapshot_set(snapshot, gpu, METRIC_BAR1_MEMORY_USED, 4 * MIB);
    }
}

static void set_moving(struct snapshot *snapshot, struct gpu *gpu,
                       const struct simulated_model *model, const struct moment *moment)
{
    double busy = moment->utilization;
    bool is_idle = busy == 0;
    double clock_hz = (is_idle ? 210 : model->clock_mhz * (0.93 + 0.07 * (1 - busy))) * 1e6;
    snapshot_set(snapshot, gpu, METRIC_MEMORY_UTILIZATION, floor(busy * 55) / 100);
    snapshot_set(snapshot, gpu, METRIC_ENCODER_UTILIZATION, 0);
    snapshot_set(snapshot, gpu, METRIC_DECODER_UTILIZATION, 0);
    snapshot_set(snapshot, gpu, METRIC_TEMPERATURE, floor(moment->temperature_c));
    if (model->memory_max_c > 0) {
        snapshot_set(snapshot, gpu, METRIC_TEMPERATURE_MEMORY, floor(moment->temperature_c + 7));
        snapshot_set(snapshot, gpu, METRIC_TEMPERATURE_MEMORY_MAX, model->memory_max_c);
    }
    snapshot_set(snapshot, gpu, METRIC_POWER_DRAW, moment->power_w);
    snapshot_set(snapshot, gpu, METRIC_POWER_INSTANT, moment->power_w * (0.98 + 0.04 * busy));
    snapshot_set(snapshot, gpu, METRIC_POWER_AVERAGE, moment->power_w);
    snapshot_set(snapshot, gpu, METRIC_CLOCK_GRAPHICS, clock_hz);
    snapshot_set(snapshot, gpu, METRIC_CLOCK_SM, clock_hz);
    snapshot_set(snapshot, gpu, METRIC_CLOCK_VIDEO, clock_hz * 0.85);
    if (model->memory_clock_mhz > 0) {
        snapshot_set(snapshot, gpu, METRIC_CLOCK_MEMORY, model->memory_clock_mhz * 1e6);
    }
    snapshot_set(snapshot, gpu, METRIC_PERFORMANCE_STATE, is_idle && model->has_fan ? 8 : 0);
    snapshot_set(snapshot, gpu, METRIC_PCIE_GEN, is_idle ? 1 : model->pcie_gen);
    snapshot_set(snapshot, gpu, METRIC_PCIE_WIDTH, 16);
    snapshot_set(snapshot, gpu, METRIC_PCIE_TX, floor(busy * 2e9));
    snapshot_set(snapshot, gpu, METRIC_PCIE_RX, floor(busy * 6e9));
    snapshot_set(snapshot, gpu, METRIC_PCIE_REPLAY, 0);
    if (model->has_fan) {
        double speed = is_idle ? 0 : floor(30 + moment->temperature_c * 0.6) / 100;
        snapshot_set(snapshot, gpu, METRIC_FAN_SPEED, speed);
        gpu->fan_count = 2;
        gpu->fan_ratio[0] = speed;
        gpu->fan_ratio[1] = speed;
    }
    for (int i = METRIC_CLOCK_EVENT_IDLE; i <= METRIC_CLOCK_EVENT_DISPLAY; i++) {
        snapshot_set(snapshot, gpu, (enum metric_id)i, 0);
    }
    snapshot_set(snapshot, gpu, METRIC_CLOCK_EVENT_IDLE, is_idle);
    snapshot_set(snapshot, gpu, METRIC_CLOCK_EVENT_SW_POWER_CAP, busy > 0.97);
}

static void set_reliability(struct snapshot *snapshot, struct gpu *gpu,
                            const struct simulated_model *model)
{
    snapshot_set(snapshot, gpu, METRIC_ECC_ENABLED, model->has_ecc);
    if (!model->has_ecc) {
        return;
    }
    static const enum metric_id zero[] = {
        METRIC_ECC_CORRECTED_VOLATILE,    METRIC_ECC_UNCORRECTED_VOLATILE,
        METRIC_ECC_CORRECTED_AGGREGATE,   METRIC_ECC_UNCORRECTED_AGGREGATE,
        METRIC_REMAPPED_ROWS_CORRECTABLE, METRIC_REMAPPED_ROWS_UNCORRECTABLE,
        METRIC_REMAPPED_ROWS_PENDING,     METRIC_REMAPPED_ROWS_FAILED,
    };
    snapshot_set(snapshot, gpu, METRIC_ECC_ENABLED_PENDING, 1);
    for (size_t i = 0; i < sizeof zero / sizeof zero[0]; i++) {
        snapshot_set(snapshot, gpu, zero[i], 0);
    }
}

static void set_links(struct snapshot *snapshot, struct gpu *gpu,
                      const struct simulated_model *model, double energy)
{
    if (model->links == 0) {
        return;
    }
    gpu->link_count = model->links;
    snapshot_set(snapshot, gpu, METRIC_NVLINK_COUNT, model->links);
    snapshot_set(snapshot, gpu, METRIC_NVLINK_ACTIVE_COUNT, model->links);
    snapshot_set(snapshot, gpu, METRIC_NVLINK_TX, floor(energy * 1e6));
    snapshot_set(snapshot, gpu, METRIC_NVLINK_RX, floor(energy * 1e6));
    for (int i = 0; i < model->links; i++) {
        double *link = gpu->link[i];
        link[LINK_ACTIVE] = 1;
        link[LINK_VERSION] = model->links >= 18 ? 4 : 3;
        link[LINK_P2P_SUPPORTED] = 1;
        link[LINK_TX] = floor(energy * 1e6 / model->links);
        link[LINK_RX] = floor(energy * 1e6 / model->links);
        link[LINK_CRC_FLIT_ERRORS] = 0;
        link[LINK_CRC_DATA_ERRORS] = 0;
        link[LINK_REPLAY_ERRORS] = 0;
        link[LINK_RECOVERY_ERRORS] = 0;
    }
}

static void add_process(struct snapshot *snapshot, int position, const struct moment *moment)
{
    static const char *const names[] = {"", "/usr/bin/python3", "/usr/local/bin/tritonserver",
                                        "/opt/conda/bin/python3"};
    struct process *process = moment->job.kind != JOB_NONE ? snapshot_add_process(snapshot) : NULL;
    if (process == NULL) {
        return;
    }
    process->gpu = position;
    process->kinds = PROCESS_COMPUTE;
    process->pid = 10000 + (uint32_t)(moment->job.hash % 50000);
    process->memory_bytes = snapshot->gpu[position].value[METRIC_MEMORY_USED];
    process->sm_ratio = moment->utilization;
    text_copy(process->name, sizeof process->name, names[moment->job.kind]);
}

/* Whatever was asked for to go wrong. */
static void apply_faults(const struct card *card, struct snapshot *snapshot, struct gpu *gpu)
{
    if (card->fault[FAULT_ECC]) {
        snapshot_set(snapshot, gpu, METRIC_ECC_UNCORRECTED_VOLATILE, 3);
        snapshot_set(snapshot, gpu, METRIC_ECC_UNCORRECTED_AGGREGATE, 5);
        snapshot_set(snapshot, gpu, METRIC_REMAPPED_ROWS_PENDING, 1);
    }
    if (card->fault[FAULT_THERMAL]) {
        snapshot_set(snapshot, gpu, METRIC_TEMPERATURE, card->model->slowdown_c);
        snapshot_set(snapshot, gpu, METRIC_CLOCK_EVENT_HW_THERMAL, 1);
        snapshot_set(snapshot, gpu, METRIC_CLOCK_EVENT_HW_SLOWDOWN, 1);
    }
    if (card->fault[FAULT_POWERCAP]) {
        snapshot_set(snapshot, gpu, METRIC_POWER_DRAW, card->model->power_limit_w);
        snapshot_set(snapshot, gpu, METRIC_CLOCK_EVENT_SW_POWER_CAP, 1);
    }
    if (card->fault[FAULT_SILENT]) {
        gpu->value[METRIC_UTILIZATION] = NAN;
    }
    if (card->fault[FAULT_IMPOSSIBLE]) {
        snapshot_set(snapshot, gpu, METRIC_UTILIZATION, 42949672.95);
        snapshot_set(snapshot, gpu, METRIC_POWER_DRAW, 4294967.295);
    }
    bool is_gone = card->fault[FAULT_LOST] || card->fault[FAULT_RESET];
    if (is_gone) {
        gpu->state = card->fault[FAULT_LOST] ? GPU_STATE_LOST : GPU_STATE_NEEDS_RESET;
        for (size_t i = 0; i < METRIC_COUNT; i++) {
            gpu->value[i] = NAN;
        }
        gpu->link_count = 0;
        gpu->fan_count = 0;
        gpu->memory_clock_count = 0;
    }
}

static void add_instances(const struct simulated *simulated, struct snapshot *snapshot, int parent,
                          const struct moment *moment)
{
    int64_t count = simulated->mig;
    snapshot_set(snapshot, &snapshot->gpu[parent], METRIC_MIG_MODE, 1);
    snapshot_set(snapshot, &snapshot->gpu[parent], METRIC_MIG_MODE_PENDING, 1);
    snapshot->gpu[parent].value[METRIC_UTILIZATION] = NAN;
    for (int64_t i = 0; i < count; i++) {
        struct gpu *instance = snapshot_add_gpu(snapshot);
        if (instance == NULL) {
            return;
        }
        const struct gpu *whole = &snapshot->gpu[parent];
        instance->index = whole->index;
        instance->parent = parent;
        instance->gpu_instance = (int)i + 1;
        instance->compute_instance = 0;
        (void)snprintf(instance->uuid, sizeof instance->uuid, "MIG-%.60s-%lld", whole->uuid + 4,
                       (long long)i);
        (void)snprintf(instance->name, sizeof instance->name, "%.60s MIG %lldg", whole->name,
                       (long long)(8 / count));
        (void)snprintf(instance->source, sizeof instance->source, "simulated");
        memcpy(instance->read_ns, whole->read_ns, sizeof instance->read_ns);
        double total = whole->value[METRIC_MEMORY_TOTAL] / (double)count;
        snapshot_set(snapshot, instance, METRIC_MEMORY_TOTAL, floor(total));
        snapshot_set(snapshot, instance, METRIC_MEMORY_USED, floor(total * moment->job.memory));
        snapshot_set(snapshot, instance, METRIC_MEMORY_FREE,
                     floor(total) - floor(total * moment->job.memory));
    }
}

static void add_card(const struct simulated *simulated, size_t number, struct snapshot *snapshot)
{
    const struct card *card = &simulated->card[number];
    struct gpu *gpu = snapshot_add_gpu(snapshot);
    if (gpu == NULL) {
        return;
    }
    int position = (int)(snapshot->gpu_count - 1);
    double at_s = (double)snapshot->time_ns / NS_PER_S;
    struct moment moment = {0};
    moment_at(simulated, number, at_s, &moment);
    set_identity(simulated, number, gpu);
    for (size_t i = 0; i < PACE_COUNT; i++) {
        gpu->read_ns[i] = snapshot->time_ns;
    }
    snapshot_set(snapshot, gpu, METRIC_UTILIZATION, floor(moment.utilization * 100 + 0.5) / 100);
    if (simulated->depth == SOURCE_FULL) {
        double energy = energy_at(simulated, number, at_s);
        set_static(snapshot, gpu, number, card->model);
        set_memory(snapshot, gpu, card->model, &moment);
        set_moving(snapshot, gpu, card->model, &moment);
        set_reliability(snapshot, gpu, card->model);
        /* As with a real driver, what is read slowly does not move with every reading. */
        double slow_s = floor(at_s / SLOW_PACE_S) * SLOW_PACE_S;
        set_links(snapshot, gpu, card->model, energy_at(simulated, number, slow_s));
        snapshot_set(snapshot, gpu, METRIC_ENERGY, energy);
        snapshot_set(snapshot, gpu, METRIC_COMPUTE_PROCESSES, moment.job.kind != JOB_NONE);
        snapshot_set(snapshot, gpu, METRIC_GRAPHICS_PROCESSES, 0);
        snapshot_set(snapshot, gpu, METRIC_MIG_MODE, card->model->mig_most > 0 ? 0 : NAN);
    }
    apply_faults(card, snapshot, gpu);
    if (gpu->state == GPU_STATE_OK && simulated->depth == SOURCE_FULL) {
        add_process(snapshot, position, &moment);
    }
    if (card->fault[FAULT_XID]) {
        struct event *event = snapshot_add_event(snapshot);
        if (event != NULL) {
            *event = (struct event){EVENT_XID, snapshot->time_ns, position, 79};
            snapshot_set(snapshot, gpu, METRIC_XID_LAST, 79);
        }
    }
    if (simulated->mig > 0 && card->model->mig_most > 0) {
        add_instances(simulated, snapshot, position, &moment);
    }
}

static int simulated_read(struct source *source, int64_t now_ns, struct snapshot **out,
                          struct err *err)
{
    (void)err;
    const struct simulated *simulated = (const struct simulated *)source;
    for (size_t i = 0; i < simulated->count; i++) {
        if (simulated->card[i].fault[FAULT_HANG]) {
            clock_sleep_ns(3600 * NS_PER_S);
        }
    }
    struct snapshot *snapshot = snapshot_new(now_ns);
    text_copy(snapshot->driver_version, sizeof snapshot->driver_version, "580.00.00");
    text_copy(snapshot->cuda_version, sizeof snapshot->cuda_version, "13.0");
    for (size_t i = 0; i < simulated->count; i++) {
        add_card(simulated, i, snapshot);
    }
    snapshot->gpu_expected = simulated->count;
    *out = snapshot;
    return 0;
}

static void simulated_close(struct source *source)
{
    struct simulated *simulated = (struct simulated *)source;
    if (simulated != NULL) {
        free(simulated->card);
        free(simulated);
    }
}

static const struct simulated_model *find_model(struct span name, struct err *err)
{
    const char *keys[64] = {0};
    for (size_t i = 0; i < simulated_model_count; i++) {
        keys[i] = simulated_models[i].key;
        if (name.length == strlen(keys[i]) && strncasecmp(name.data, keys[i], name.length) == 0) {
            return &simulated_models[i];
        }
    }
    char word[64];
    text_clean(word, sizeof word, name.data, name.length);
    const char *near = text_nearest(word, keys);
    (void)err_set(err, -EINVAL,
                  "--simulate: there is no card '%s'%s%s%s; try 8xH100, 2xRTX4090 or 1xGB10", word,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return NULL;
}

/* "8xH100" or "H100". */
static int add_cards(struct simulated *simulated, struct span item, struct err *err)
{
    item = span_trim(item);
    const char *times = item.length > 0 ? memchr(item.data, 'x', item.length) : NULL;
    int64_t count = 1;
    struct span name = item;
    struct span digits = {item.data, times != NULL ? (size_t)(times - item.data) : 0};
    if (times != NULL && text_to_int64(digits, &count)) {
        name = (struct span){times + 1, item.length - digits.length - 1};
    }
    const struct simulated_model *model = find_model(name, err);
    if (model == NULL) {
        return -EINVAL;
    }
    if (count < 1 || count + (int64_t)simulated->count > GPUS_MAX) {
        return err_set(err, -EINVAL, "--simulate: 1 to %d GPUs can be simulated", GPUS_MAX);
    }
    for (int64_t i = 0; i < count; i++) {
        simulated->card = mem_grow(simulated->card, simulated->count, &simulated->capacity,
                                   sizeof *simulated->card);
        simulated->card[simulated->count++] = (struct card){.model = model};
    }
    return 0;
}

/* "lost@3" */
static int add_fault(struct simulated *simulated, struct span value, struct err *err)
{
    struct span rest = value;
    struct span name;
    int64_t gpu = 0;
    (void)span_cut(&rest, '@', &name);
    if (rest.data != NULL && !text_to_int64(rest, &gpu)) {
        gpu = -1;
    }
    for (size_t i = 0; i < FAULT_COUNT; i++) {
        if (span_equals(name, fault_names[i]) && gpu >= 0 && gpu < (int64_t)simulated->count) {
            simulated->card[gpu].fault[i] = true;
            return 0;
        }
    }
    char word[64];
    text_clean(word, sizeof word, value.data, value.length);
    return err_set(err, -EINVAL,
                   "--simulate: fault=%s: expected lost, reset, ecc, thermal, powercap, xid, "
                   "silent, impossible or hang, with @N for one of the %zu GPUs",
                   word, simulated->count);
}

static int read_option(struct simulated *simulated, struct span option, struct err *err)
{
    struct span value = option;
    struct span key;
    int64_t number = 0;
    (void)span_cut(&value, '=', &key);
    if (value.data != NULL && span_equals(key, "fault")) {
        return add_fault(simulated, value, err);
    }
    bool is_number = value.data != NULL && text_to_int64(value, &number) && number >= 0;
    if (is_number && span_equals(key, "seed")) {
        simulated->seed = (uint64_t)number;
        return 0;
    }
    if (is_number && span_equals(key, "mig") && number >= 1 && number <= 7) {
        simulated->mig = number;
        return 0;
    }
    char word[64];
    text_clean(word, sizeof word, option.data, option.length);
    return err_set(err, -EINVAL, "--simulate: '%s': expected seed=N, mig=1…7 or fault=KIND[@GPU]",
                   word);
}

static int simulated_open(struct source **out, const struct source_options *options,
                          struct err *err)
{
    struct simulated *simulated = mem_new(1, sizeof *simulated);
    simulated->source.ops = &source_simulated;
    simulated->seed = 1;
    simulated->depth = options->depth;
    struct span rest = span_of(options->arg != NULL ? options->arg : "");
    struct span cards;
    struct span part;
    int code = 0;
    (void)span_cut(&rest, ':', &cards);
    while (code == 0 && span_cut(&cards, ',', &part)) {
        code = add_cards(simulated, part, err);
    }
    while (code == 0 && span_cut(&rest, ':', &part)) {
        code = read_option(simulated, part, err);
    }
    if (code != 0) {
        simulated_close(&simulated->source);
        return code;
    }
    *out = &simulated->source;
    return 0;
}

const struct source_ops source_simulated = {"simulated", simulated_open, simulated_read,
                                            simulated_close};
