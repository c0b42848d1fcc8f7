/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The cards that can be simulated, with their true figures (vendors' public data sheets). */
#ifndef SOURCE_SIMULATED_MODELS_H
#define SOURCE_SIMULATED_MODELS_H

#include <stdbool.h>
#include <stddef.h>

struct simulated_model {
    const char *key;  /* "H100", what a person types */
    const char *name; /* as the driver says it */
    const char *brand, *architecture, *compute_capability;
    double memory_mib; /* 0 = shares the system's memory */
    double power_limit_w, power_min_w, power_idle_w;
    double clock_mhz, memory_clock_mhz;       /* highest */
    int slowdown_c, shutdown_c, memory_max_c; /* memory_max_c 0 = has no memory sensor */
    int links;                                /* NVLinks, 0 = none */
    int pcie_gen;                             /* all are x16 */
    int mig_most;                             /* instances it can be cut into, 0 = none */
    bool has_fan, has_ecc;
};

extern const struct simulated_model simulated_models[];
extern const size_t simulated_model_count;

#endif
