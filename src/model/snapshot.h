/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What all GPUs of a machine were doing at one moment. Built by one source, then published: after
 * that nothing changes it, and readers on any thread hold a reference (snapshot_ref/_unref).
 * Unknown is NaN for numbers and "" for words. Base units throughout (model/metric.h). */
#ifndef MODEL_SNAPSHOT_H
#define MODEL_SNAPSHOT_H

#include "model/metric.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GPU_UUID_SIZE 96 /* NVML_DEVICE_UUID_V2_BUFFER_SIZE */
#define GPU_NAME_SIZE 96
#define GPU_WORD_SIZE 96
#define GPU_LINKS_MAX 36 /* NVML_NVLINK_MAX_LINKS of CUDA 13 */
#define GPU_FANS_MAX 16
#define GPU_CLOCKS_MAX 10
#define SNAPSHOT_GPUS_MAX 1024       /* with MIG instances; more are refused by every source */
#define SNAPSHOT_PROCESSES_MAX 65536 /* the same for processes */

enum gpu_state {
    GPU_STATE_OK,
    GPU_STATE_NEEDS_RESET, /* the driver says that only a reset helps */
    GPU_STATE_LOST,        /* was or should be there, and the driver does not reach it */
    GPU_STATE_SILENT,      /* the driver itself does not answer; read_ns says since when */
};

struct gpu {
    int index;  /* the driver's number now; never an identity. MIG instances: that of the parent */
    int parent; /* position in snapshot->gpu of the MIG parent, -1 for a whole GPU */
    int gpu_instance, compute_instance; /* MIG ids, -1 for a whole GPU */
    char uuid[GPU_UUID_SIZE];           /* the identity; "" only for a lost GPU never seen before */
    char name[GPU_NAME_SIZE];
    enum gpu_state state;
    bool is_unified;             /* memory figures are the system's, shared with the CPU */
    bool is_used_with_reserved;  /* memory_used includes what the driver reserved (old driver) */
    char note[GPU_WORD_SIZE];    /* a trouble in the driver's words: "infoROM is corrupted" */
    char source[16];             /* "nvml", "nvidia-smi", "nvml+smi", "simulated", … */
    int64_t read_ns[PACE_COUNT]; /* wall time of the values of each pace; 0 = never read */
    double value[METRIC_COUNT];  /* NaN = unknown */
    char text[GPU_TEXT_COUNT][GPU_WORD_SIZE];
    int fan_count;
    double fan_ratio[GPU_FANS_MAX];
    int link_count; /* links the device reports, up or down */
    double link[GPU_LINKS_MAX][LINK_METRIC_COUNT];
    int memory_clock_count; /* supported memory clocks, highest first */
    double memory_clock_hz[GPU_CLOCKS_MAX];
};

enum process_kind { PROCESS_COMPUTE = 1, PROCESS_GRAPHICS = 2, PROCESS_MPS = 4 };

struct process {
    int gpu;        /* position in snapshot->gpu (the MIG instance where it is known) */
    unsigned kinds; /* enum process_kind, or-ed */
    uint32_t pid;   /* as the driver says it: of the host's namespace */
    char name[128]; /* what the driver tells of it, "" when nothing */
    double memory_bytes;
    double sm_ratio, memory_ratio, encoder_ratio, decoder_ratio;
};

enum event_kind { EVENT_XID };

struct event {
    enum event_kind kind;
    int64_t time_ns; /* wall */
    int gpu;         /* position in snapshot->gpu */
    uint64_t code;   /* the XID */
};

struct snapshot {
    int64_t time_ns; /* wall time at which reading began */
    char driver_version[80], library_version[80], cuda_version[16];
    struct gpu *gpu;
    size_t gpu_count;
    size_t gpu_expected; /* whole GPUs the driver counts, lost ones included */
    struct process *process;
    size_t process_count;
    struct event *event;
    size_t event_count;
    uint64_t dropped; /* impossible values refused since the source was opened */
    /* private */
    int references;
    size_t gpu_capacity, process_capacity, event_capacity;
};

/* An empty snapshot with one reference. */
struct snapshot *snapshot_new(int64_t time_ns);
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot *snapshot);                  /* accepts NULL */
struct snapshot *snapshot_copy(const struct snapshot *snapshot); /* one reference, to be changed */

/* Room for one more, with everything unknown; NULL past the limit. The pointer lives until the
 * next add. */
struct gpu *snapshot_add_gpu(struct snapshot *snapshot);
struct process *snapshot_add_process(struct snapshot *snapshot);
struct event *snapshot_add_event(struct snapshot *snapshot);

/* Stores a value from outside after checking it against its row: what is negative (celsius apart),
 * over `highest` or not finite stays unknown and is counted in `dropped`. */
void snapshot_set(struct snapshot *snapshot, struct gpu *gpu, enum metric_id id, double value);

/* The same check for values that have no row of their own. */
double snapshot_check(struct snapshot *snapshot, double value, double highest);

/* Position of a uuid (case-insensitive), or -1. */
int snapshot_find(const struct snapshot *snapshot, const char *uuid);

const char *gpu_state_name(enum gpu_state state); /* "ok", "needs reset", "lost", … */

#endif
