/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* When facts are taken: one snapshot now, within a deadline, from the best source there is. NVML
 * first; a GPU that NVML gives no utilization for, or cannot read, is completed from nvidia-smi.
 * A call into a driver that does not return is left behind in its thread, and the next take starts
 * afresh without it. Used by one thread. */
#ifndef SAMPLER_SAMPLER_H
#define SAMPLER_SAMPLER_H

#include "base/err.h"
#include "source/source.h"

struct sampler_options {
    const char *simulate;        /* a machine as of source_simulated, or NULL */
    const char *replay;          /* a recording, or NULL; wins over simulate */
    const char *nvidia_smi_path; /* [sample] nvidia_smi, or NULL: searched */
    bool is_smi_forced;          /* NVIDIA_SMI=true */
    const char *visible;         /* NVIDIA_VISIBLE_DEVICES, or NULL */
    enum source_depth depth;
    int64_t deadline_ns;          /* for one take; 0 = 10 s */
    const struct source_tap *tap; /* NULL = none; must outlive the sampler */
};

struct sampler;

/* Never fails for want of a driver: that is told by each take, which tries again. -EINVAL for a
 * wrong simulate or replay. */
int sampler_open(struct sampler **out, const struct sampler_options *options, struct err *err);

/* A snapshot for the caller. -ENODEV: no source answers; the sentence names all that was tried.
 * -ETIMEDOUT: the driver did not answer within the deadline. -ENODATA: the replay is at its end. */
int sampler_take(struct sampler *sampler, struct snapshot **out, struct err *err);

void sampler_close(struct sampler *sampler); /* accepts NULL */

#endif
