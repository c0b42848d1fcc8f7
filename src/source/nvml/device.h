/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One GPU as NVML gives it. A value that a card does not have is asked for once and then left alone
 * for a while; a GPU that fails costs only itself. Internal to source/nvml. */
#ifndef SOURCE_NVML_DEVICE_H
#define SOURCE_NVML_DEVICE_H

#include "model/snapshot.h"
#include "source/nvml/library.h"
#include "source/source.h"

#define NVML_SLOW_NS INT64_C(10000000000)   /* between reads of the values of PACE_SLOW */
#define NVML_RETRY_NS INT64_C(600000000000) /* before an unsupported call is tried again */
#define NVML_INSTANCES_MAX 16

/* Calls that may be unsupported, by number; device_read.c lists them. */
#define NVML_CALLS_MAX 128

struct nvml_instance {
    nvml_device device;
    struct gpu gpu; /* identity */
};

struct nvml_gpu {
    nvml_device device;
    bool has_device;
    struct gpu last; /* identity, and the newest values of every pace */
    bool is_once_read;
    int64_t slow_ns;                        /* wall time of the last slow read, 0 = none */
    int64_t unsupported_ns[NVML_CALLS_MAX]; /* when the call was refused, 0 = it was not */
    uint64_t process_time_us;               /* newest process sample seen */
    bool is_registered;                     /* for events */
    struct nvml_instance *instance; /* NVML_INSTANCES_MAX of them once there was one; owned */
    int instance_count;
};

/* One read of one GPU. */
struct nvml_pass {
    const struct nvml_library *library;
    struct nvml_gpu *state;
    struct snapshot *snapshot;
    int64_t now_ns;
    int32_t trouble; /* the first result that concerns the whole GPU, 0 = none */
};

/* False when the call is missing, or was refused a short while ago. */
bool nvml_may_call(const struct nvml_pass *pass, int call, bool is_there);
/* Notes what a call said; true when its answer counts. */
bool nvml_accept(struct nvml_pass *pass, int call, int32_t result);

void nvml_read_identity(struct nvml_pass *pass, struct gpu *gpu);
void nvml_read_utilization(struct nvml_pass *pass, struct gpu *gpu);
void nvml_read_fast(struct nvml_pass *pass, struct gpu *gpu);
void nvml_read_slow(struct nvml_pass *pass, struct gpu *gpu);
void nvml_read_once(struct nvml_pass *pass, struct gpu *gpu);
void nvml_read_links(struct nvml_pass *pass, struct gpu *gpu, bool is_first);
void nvml_read_memory(struct nvml_pass *pass, nvml_device device, struct gpu *gpu);

/* MIG: finds the instances (slow), and adds them to the snapshot behind their parent. */
void nvml_find_instances(struct nvml_pass *pass);
void nvml_add_instances(struct nvml_pass *pass, int parent);

/* Adds the processes of the GPU at `position`, those of MIG instances under their instance. */
void nvml_read_processes(struct nvml_pass *pass, int position);

/* 0xFFFFFFFF and ~0 are NVML's "no value". */
double nvml_u32(uint32_t value, double scale);
double nvml_u64(uint64_t value, double scale);

#endif
