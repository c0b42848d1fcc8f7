/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What we need of NVML's binary interface, declared by ourselves: facts of the ABI, the same in
 * nvml.h of CUDA 11.6 to 13.3 (sizes are asserted below). Versioned structs carry
 * sizeof | version << 24 in their first word. */
#ifndef SOURCE_NVML_ABI_H
#define SOURCE_NVML_ABI_H

#include <stdint.h>

typedef void *nvml_device;
typedef void *nvml_event_set;

enum nvml_return {
    NVML_SUCCESS = 0,
    NVML_UNINITIALIZED = 1,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_TIMEOUT = 10,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_LIB_RM_VERSION_MISMATCH = 18,
};

#define NVML_NOT_AVAILABLE_U32 UINT32_MAX
#define NVML_NOT_AVAILABLE_U64 UINT64_MAX
#define NVML_EVENT_XID UINT64_C(0x8)

struct nvml_utilization {
    uint32_t gpu, memory; /* percent */
};

struct nvml_memory_v1 {
    uint64_t total, free, used; /* bytes; `used` includes what the driver reserved */
};

struct nvml_memory_v2 {
    uint32_t version;
    uint64_t total, reserved, free, used;
};
#define NVML_MEMORY_V2 (uint32_t)(sizeof(struct nvml_memory_v2) | 2U << 24)

struct nvml_process_v1 { /* of the unsuffixed symbols */
    uint32_t pid;
    uint64_t used_bytes;
};

struct nvml_process { /* of the _v2 and _v3 symbols */
    uint32_t pid;
    uint64_t used_bytes;
    uint32_t gpu_instance, compute_instance;
};

struct nvml_process_utilization {
    uint32_t pid;
    uint64_t time_us;
    uint32_t sm, memory, encoder, decoder; /* percent */
};

struct nvml_pci {
    char bus_id_legacy[16];
    uint32_t domain, bus, device, id, subsystem_id;
    char bus_id[32];
};

struct nvml_field {
    uint32_t id, scope;
    int64_t time_us, latency_us;
    uint32_t
        type; /* 0 double, 1 unsigned, 2 unsigned long, 3 unsigned long long, 4 long long, 5 int */
    int32_t result;
    union {
        double real;
        uint32_t u32;
        uint64_t u64;
        int64_t i64;
        int32_t i32;
    } value;
};

struct nvml_event {
    nvml_device device;
    uint64_t type, data;
    uint32_t gpu_instance, compute_instance;
};

struct nvml_violation {
    uint64_t reference_us, violation_ns;
};

_Static_assert(sizeof(struct nvml_utilization) == 8, "ABI");
_Static_assert(sizeof(struct nvml_memory_v1) == 24, "ABI");
_Static_assert(NVML_MEMORY_V2 == 0x02000028, "ABI");
_Static_assert(sizeof(struct nvml_process_v1) == 16, "ABI");
_Static_assert(sizeof(struct nvml_process) == 24, "ABI");
_Static_assert(sizeof(struct nvml_process_utilization) == 32, "ABI");
_Static_assert(sizeof(struct nvml_pci) == 68, "ABI");
_Static_assert(sizeof(struct nvml_field) == 40, "ABI");
_Static_assert(sizeof(struct nvml_event) == 32, "ABI");
_Static_assert(sizeof(struct nvml_violation) == 16, "ABI");

#endif
