/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/sampler.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "sampler/merge.h"
#include "sampler/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEADLINE_DEFAULT_NS (10 * NS_PER_S)

struct sampler {
    struct reader *only; /* simulated or replay: nothing else is asked */
    struct reader *nvml, *smi;
    struct merge_memory memory;
    char *visible;
    int64_t deadline_ns;
};

/* Opens a source once to see that its argument is right. */
static int check_argument(const struct source_ops *ops, const struct source_options *options,
                          struct err *err)
{
    struct source *source = NULL;
    int code = ops->open(&source, options, err);
    if (code == 0) {
        ops->close(source);
    }
    return code;
}

int sampler_open(struct sampler **out, const struct sampler_options *options, struct err *err)
{
    struct source_options inner = {.depth = options->depth,
                                   .visible = options->visible,
                                   .deadline_ns = options->deadline_ns,
                                   .tap = options->tap};
    const struct source_ops *only = options->replay != NULL     ? &source_replay
                                    : options->simulate != NULL ? &source_simulated
                                                                : NULL;
    struct sampler *sampler = mem_new(1, sizeof *sampler);
    sampler->deadline_ns = options->deadline_ns > 0 ? options->deadline_ns : DEADLINE_DEFAULT_NS;
    sampler->visible = options->visible != NULL ? mem_copy_text(options->visible) : NULL;
    if (only != NULL) {
        inner.arg = options->replay != NULL ? options->replay : options->simulate;
        int code = check_argument(only, &inner, err);
        if (code != 0) {
            sampler_close(sampler);
            return code;
        }
        sampler->only = reader_new(only, &inner);
        *out = sampler;
        return 0;
    }
    if (!options->is_smi_forced) {
        sampler->nvml = reader_new(&source_nvml, &inner);
    }
    inner.arg = options->nvidia_smi_path;
    sampler->smi = reader_new(&source_nvidia_smi, &inner);
    *out = sampler;
    return 0;
}

void sampler_close(struct sampler *sampler)
{
    if (sampler == NULL) {
        return;
    }
    reader_close(sampler->only);
    reader_close(sampler->nvml);
    reader_close(sampler->smi);
    merge_memory_fini(&sampler->memory);
    free(sampler->visible);
    free(sampler);
}

/* Nobody gave a GPU: a sentence with everything that was tried. */
static int no_source(const struct err *nvml, int nvml_code, const struct err *smi, int smi_code,
                     struct err *err)
{
    bool is_late = smi_code == -ETIMEDOUT || nvml_code == -ETIMEDOUT;
    if (nvml == NULL) {
        return err_set(err, smi_code == -ETIMEDOUT ? -ETIMEDOUT : -ENODEV, "%s", smi->text);
    }
    return err_set(err, is_late ? -ETIMEDOUT : -ENODEV, "no GPU could be read: NVML: %s; %s",
                   nvml->text, smi->text);
}

/* nvidia-smi alone, or what NVML left open. */
static int take_smi(struct sampler *sampler, int64_t now_ns, int64_t end_ns, struct snapshot **out,
                    struct err *err)
{
    int64_t left_ns = end_ns - clock_mono_ns();
    return reader_take(sampler->smi, now_ns, left_ns > NS_PER_S ? left_ns : NS_PER_S, out, err);
}

static int take_nvidia(struct sampler *sampler, int64_t now_ns, struct snapshot **out,
                       struct err *err)
{
    int64_t end_ns = clock_mono_ns() + sampler->deadline_ns;
    struct snapshot *nvml = NULL;
    struct snapshot *smi = NULL;
    struct err nvml_err = {0};
    struct err smi_err = {0};
    int nvml_code = 0;
    if (sampler->nvml != NULL) {
        /* Something is left for nvidia-smi when NVML hangs. */
        nvml_code =
            reader_take(sampler->nvml, now_ns, sampler->deadline_ns * 6 / 10, &nvml, &nvml_err);
        if (nvml_code == 0 && !merge_is_needed(&sampler->memory, nvml)) {
            *out = nvml;
            return 0;
        }
    }
    int smi_code = take_smi(sampler, now_ns, end_ns, &smi, &smi_err);
    if (nvml != NULL) {
        merge_from(&sampler->memory, nvml, smi);
        snapshot_unref(smi);
        *out = nvml;
        return 0;
    }
    if (smi_code == 0) {
        *out = smi;
        return 0;
    }
    return no_source(sampler->nvml != NULL ? &nvml_err : NULL, nvml_code, &smi_err, smi_code, err);
}

int sampler_take(struct sampler *sampler, struct snapshot **out, struct err *err)
{
    int64_t now_ns = clock_wall_ns();
    struct snapshot *snapshot = NULL;
    int code = sampler->only != NULL
                   ? reader_take(sampler->only, now_ns, sampler->deadline_ns, &snapshot, err)
                   : take_nvidia(sampler, now_ns, &snapshot, err);
    if (code == 0) {
        source_filter_visible(snapshot, sampler->visible);
        *out = snapshot;
    }
    return code;
}
