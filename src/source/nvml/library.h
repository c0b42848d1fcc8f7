/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The driver's library, opened at run time. One table names every symbol with the older names to
 * fall back to; one that is missing is NULL, and what it gives is a missing metric. */
#ifndef SOURCE_NVML_LIBRARY_H
#define SOURCE_NVML_LIBRARY_H

#include "base/err.h"
#include "source/nvml/abi.h"

#include <stdbool.h>

/* SYMBOL(member, parameters, name, older names …) */
#define NVML_SYMBOLS(SYMBOL)                                                                       \
    SYMBOL(init, (void), "nvmlInit_v2", "nvmlInit")                                                \
    SYMBOL(shutdown, (void), "nvmlShutdown")                                                       \
    SYMBOL(driver_version, (char *, uint32_t), "nvmlSystemGetDriverVersion")                       \
    SYMBOL(library_version, (char *, uint32_t), "nvmlSystemGetNVMLVersion")                        \
    SYMBOL(cuda_version, (int32_t *), "nvmlSystemGetCudaDriverVersion_v2",                         \
           "nvmlSystemGetCudaDriverVersion")                                                       \
    SYMBOL(process_name, (uint32_t, char *, uint32_t), "nvmlSystemGetProcessName")                 \
    SYMBOL(count, (uint32_t *), "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount")                     \
    SYMBOL(device, (uint32_t, nvml_device *), "nvmlDeviceGetHandleByIndex_v2",                     \
           "nvmlDeviceGetHandleByIndex")                                                           \
    SYMBOL(name, (nvml_device, char *, uint32_t), "nvmlDeviceGetName")                             \
    SYMBOL(uuid, (nvml_device, char *, uint32_t), "nvmlDeviceGetUUID")                             \
    SYMBOL(serial, (nvml_device, char *, uint32_t), "nvmlDeviceGetSerial")                         \
    SYMBOL(vbios, (nvml_device, char *, uint32_t), "nvmlDeviceGetVbiosVersion")                    \
    SYMBOL(pci, (nvml_device, struct nvml_pci *), "nvmlDeviceGetPciInfo_v3",                       \
           "nvmlDeviceGetPciInfo_v2")                                                              \
    SYMBOL(brand, (nvml_device, uint32_t *), "nvmlDeviceGetBrand")                                 \
    SYMBOL(architecture, (nvml_device, uint32_t *), "nvmlDeviceGetArchitecture")                   \
    SYMBOL(compute_capability, (nvml_device, int32_t *, int32_t *),                                \
           "nvmlDeviceGetCudaComputeCapability")                                                   \
    SYMBOL(utilization, (nvml_device, struct nvml_utilization *), "nvmlDeviceGetUtilizationRates") \
    SYMBOL(encoder_utilization, (nvml_device, uint32_t *, uint32_t *),                             \
           "nvmlDeviceGetEncoderUtilization")                                                      \
    SYMBOL(decoder_utilization, (nvml_device, uint32_t *, uint32_t *),                             \
           "nvmlDeviceGetDecoderUtilization")                                                      \
    SYMBOL(jpeg_utilization, (nvml_device, uint32_t *, uint32_t *), "nvmlDeviceGetJpgUtilization") \
    SYMBOL(ofa_utilization, (nvml_device, uint32_t *, uint32_t *), "nvmlDeviceGetOfaUtilization")  \
    SYMBOL(memory_v2, (nvml_device, struct nvml_memory_v2 *), "nvmlDeviceGetMemoryInfo_v2")        \
    SYMBOL(memory_v1, (nvml_device, struct nvml_memory_v1 *), "nvmlDeviceGetMemoryInfo")           \
    SYMBOL(bar1, (nvml_device, struct nvml_memory_v1 *), "nvmlDeviceGetBAR1MemoryInfo")            \
    SYMBOL(temperature, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetTemperature")           \
    SYMBOL(temperature_threshold, (nvml_device, uint32_t, uint32_t *),                             \
           "nvmlDeviceGetTemperatureThreshold")                                                    \
    SYMBOL(power, (nvml_device, uint32_t *), "nvmlDeviceGetPowerUsage")                            \
    SYMBOL(power_limit, (nvml_device, uint32_t *), "nvmlDeviceGetPowerManagementLimit")            \
    SYMBOL(power_limit_default, (nvml_device, uint32_t *),                                         \
           "nvmlDeviceGetPowerManagementDefaultLimit")                                             \
    SYMBOL(power_limit_enforced, (nvml_device, uint32_t *), "nvmlDeviceGetEnforcedPowerLimit")     \
    SYMBOL(power_limits, (nvml_device, uint32_t *, uint32_t *),                                    \
           "nvmlDeviceGetPowerManagementLimitConstraints")                                         \
    SYMBOL(energy, (nvml_device, uint64_t *), "nvmlDeviceGetTotalEnergyConsumption")               \
    SYMBOL(fan, (nvml_device, uint32_t *), "nvmlDeviceGetFanSpeed")                                \
    SYMBOL(fan_count, (nvml_device, uint32_t *), "nvmlDeviceGetNumFans")                           \
    SYMBOL(fan_one, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetFanSpeed_v2")               \
    SYMBOL(clock, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetClockInfo")                   \
    SYMBOL(clock_max, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetMaxClockInfo")            \
    SYMBOL(clock_app, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetApplicationsClock")       \
    SYMBOL(clock_default, (nvml_device, uint32_t, uint32_t *),                                     \
           "nvmlDeviceGetDefaultApplicationsClock")                                                \
    SYMBOL(memory_clocks, (nvml_device, uint32_t *, uint32_t *),                                   \
           "nvmlDeviceGetSupportedMemoryClocks")                                                   \
    SYMBOL(performance_state, (nvml_device, uint32_t *), "nvmlDeviceGetPerformanceState",          \
           "nvmlDeviceGetPowerState")                                                              \
    SYMBOL(compute_mode, (nvml_device, uint32_t *), "nvmlDeviceGetComputeMode")                    \
    SYMBOL(persistence_mode, (nvml_device, uint32_t *), "nvmlDeviceGetPersistenceMode")            \
    SYMBOL(display_active, (nvml_device, uint32_t *), "nvmlDeviceGetDisplayActive")                \
    SYMBOL(multi_gpu_board, (nvml_device, uint32_t *), "nvmlDeviceGetMultiGpuBoard")               \
    SYMBOL(clock_events, (nvml_device, uint64_t *), "nvmlDeviceGetCurrentClocksEventReasons",      \
           "nvmlDeviceGetCurrentClocksThrottleReasons")                                            \
    SYMBOL(violation, (nvml_device, uint32_t, struct nvml_violation *),                            \
           "nvmlDeviceGetViolationStatus")                                                         \
    SYMBOL(pcie_gen, (nvml_device, uint32_t *), "nvmlDeviceGetCurrPcieLinkGeneration")             \
    SYMBOL(pcie_gen_max, (nvml_device, uint32_t *), "nvmlDeviceGetMaxPcieLinkGeneration")          \
    SYMBOL(pcie_width, (nvml_device, uint32_t *), "nvmlDeviceGetCurrPcieLinkWidth")                \
    SYMBOL(pcie_width_max, (nvml_device, uint32_t *), "nvmlDeviceGetMaxPcieLinkWidth")             \
    SYMBOL(pcie_throughput, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetPcieThroughput")    \
    SYMBOL(pcie_replay, (nvml_device, uint32_t *), "nvmlDeviceGetPcieReplayCounter")               \
    SYMBOL(encoder_stats, (nvml_device, uint32_t *, uint32_t *, uint32_t *),                       \
           "nvmlDeviceGetEncoderStats")                                                            \
    SYMBOL(ecc_mode, (nvml_device, uint32_t *, uint32_t *), "nvmlDeviceGetEccMode")                \
    SYMBOL(ecc_errors, (nvml_device, uint32_t, uint32_t, uint64_t *),                              \
           "nvmlDeviceGetTotalEccErrors")                                                          \
    SYMBOL(remapped_rows, (nvml_device, uint32_t *, uint32_t *, uint32_t *, uint32_t *),           \
           "nvmlDeviceGetRemappedRows")                                                            \
    SYMBOL(retired_pages, (nvml_device, uint32_t, uint32_t *, uint64_t *),                         \
           "nvmlDeviceGetRetiredPages")                                                            \
    SYMBOL(retired_pending, (nvml_device, uint32_t *), "nvmlDeviceGetRetiredPagesPendingStatus")   \
    SYMBOL(link_state, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetNvLinkState")            \
    SYMBOL(link_version, (nvml_device, uint32_t, uint32_t *), "nvmlDeviceGetNvLinkVersion")        \
    SYMBOL(link_capability, (nvml_device, uint32_t, uint32_t, uint32_t *),                         \
           "nvmlDeviceGetNvLinkCapability")                                                        \
    SYMBOL(link_errors, (nvml_device, uint32_t, uint32_t, uint64_t *),                             \
           "nvmlDeviceGetNvLinkErrorCounter")                                                      \
    SYMBOL(mig_mode, (nvml_device, uint32_t *, uint32_t *), "nvmlDeviceGetMigMode")                \
    SYMBOL(mig_count_max, (nvml_device, uint32_t *), "nvmlDeviceGetMaxMigDeviceCount")             \
    SYMBOL(mig_handle, (nvml_device, uint32_t, nvml_device *),                                     \
           "nvmlDeviceGetMigDeviceHandleByIndex")                                                  \
    SYMBOL(gpu_instance, (nvml_device, uint32_t *), "nvmlDeviceGetGpuInstanceId")                  \
    SYMBOL(compute_instance, (nvml_device, uint32_t *), "nvmlDeviceGetComputeInstanceId")          \
    SYMBOL(compute_processes, (nvml_device, uint32_t *, void *),                                   \
           "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2")   \
    SYMBOL(compute_processes_v1, (nvml_device, uint32_t *, void *),                                \
           "nvmlDeviceGetComputeRunningProcesses")                                                 \
    SYMBOL(graphics_processes, (nvml_device, uint32_t *, void *),                                  \
           "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2") \
    SYMBOL(graphics_processes_v1, (nvml_device, uint32_t *, void *),                               \
           "nvmlDeviceGetGraphicsRunningProcesses")                                                \
    SYMBOL(mps_processes, (nvml_device, uint32_t *, void *),                                       \
           "nvmlDeviceGetMPSComputeRunningProcesses_v3",                                           \
           "nvmlDeviceGetMPSComputeRunningProcesses_v2")                                           \
    SYMBOL(mps_processes_v1, (nvml_device, uint32_t *, void *),                                    \
           "nvmlDeviceGetMPSComputeRunningProcesses")                                              \
    SYMBOL(process_utilization,                                                                    \
           (nvml_device, struct nvml_process_utilization *, uint32_t *, uint64_t),                 \
           "nvmlDeviceGetProcessUtilization")                                                      \
    SYMBOL(fields, (nvml_device, int32_t, struct nvml_field *), "nvmlDeviceGetFieldValues")        \
    SYMBOL(event_types, (nvml_device, uint64_t *), "nvmlDeviceGetSupportedEventTypes")             \
    SYMBOL(event_set_create, (nvml_event_set *), "nvmlEventSetCreate")                             \
    SYMBOL(event_set_free, (nvml_event_set), "nvmlEventSetFree")                                   \
    SYMBOL(event_register, (nvml_device, uint64_t, nvml_event_set), "nvmlDeviceRegisterEvents")    \
    SYMBOL(event_wait, (nvml_event_set, struct nvml_event *, uint32_t), "nvmlEventSetWait_v2")

struct nvml_library {
    void *handle; /* of dlopen; NULL = closed */
#define NVML_MEMBER(member, parameters, ...) int32_t(*member) parameters;
    NVML_SYMBOLS(NVML_MEMBER)
#undef NVML_MEMBER
};

/* Opens the library and the driver. -ENODEV when either is not there, or refuses. */
int nvml_library_open(struct nvml_library *library, struct err *err);
void nvml_library_close(struct nvml_library *library); /* also when it is closed already */

/* NVML's own words for a result. */
const char *nvml_result_name(int32_t result);

#endif
