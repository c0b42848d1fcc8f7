/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/nvidia_smi_parse.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Any bytes as nvidia-smi's answer: whatever is made of them stays inside the model's limits. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct smi_query query = {.count = size > 0 && data[0] % 2 == 0 ? 4 : smi_field_count};
    for (size_t i = 0; i < query.count; i++) {
        query.column[i] = i;
    }
    struct snapshot *snapshot = snapshot_new(1);
    struct smi_answer answer;
    smi_parse_gpus(text, size, &query, true, snapshot, &answer);
    smi_parse_processes(text, size, false, snapshot);
    (void)smi_parse_xml(text, size, snapshot);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        const double *value = snapshot->gpu[i].value;
        for (size_t j = 0; j < METRIC_COUNT; j++) {
            if (value[j] > metrics[j].highest || value[j] < -100) {
                __builtin_trap();
            }
        }
    }
    snapshot_unref(snapshot);
    return 0;
}
