/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* test-sample: one sample of every GPU becomes one CSV file. What the sampling timer runs. */
#include "base/own.h"
#include "cmd/cmd.h"
#include "store/archive.h"

#include <stdio.h>
#include <stdlib.h>

static int store(const struct cmd_context *context, const struct snapshot *snapshot)
{
    struct err err = {0};
    if (snapshot->gpu_count == 0) {
        (void)printf("No GPUs reported by nvidia-smi.\n");
        return CMD_OK;
    }
    OWN_FREE char *path = NULL;
    size_t rows = 0;
    const char *folder = context->config->csv_dir;
    if (archive_write(folder, snapshot, &context->zone, &path, &rows, &err) != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Wrote %zu GPU rows to %s\n", rows, path);
    return CMD_OK;
}

int cmd_test_sample(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    struct sampler *sampler = NULL;
    struct snapshot *snapshot = NULL;
    if (cmd_sampler_open(cmd, context.config, SOURCE_UTILIZATION, NULL, &sampler, &err) != 0) {
        return cmd_fail_usage(&err);
    }
    code = sampler_take(sampler, &snapshot, &err) == 0 ? store(&context, snapshot) : cmd_fail(&err);
    snapshot_unref(snapshot);
    sampler_close(sampler);
    return code;
}
