/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "query/window.h"
#include "schedule/cron.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static int check_zone(const char *text, struct err *err)
{
    struct zone zone;
    return zone_open(&zone, text, err);
}

const struct config_checks cmd_checks = {cron_check, window_check, check_zone};

const char *cmd_value(const struct cmd *cmd, const char *name)
{
    for (int i = 0; i < CMD_OPTIONS_MAX && cmd->command->option[i].name != NULL; i++) {
        if (strcmp(cmd->command->option[i].name, name) == 0) {
            return cmd->value[i];
        }
    }
    for (int i = 0; cmd->command->is_sampling && i < 2; i++) {
        if (strcmp(cmd_sampling_options[i].name, name) == 0) {
            return cmd->value[CMD_OPTIONS_MAX + i];
        }
    }
    return NULL;
}

int cmd_fail(const struct err *err)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "Error: %s\n", err->text);
    return CMD_FAILED;
}

int cmd_fail_usage(const struct err *err)
{
    (void)cmd_fail(err);
    return CMD_USAGE;
}

void cmd_context_fini(struct cmd_context *context)
{
    config_free(context->config);
    context->config = NULL;
}

int cmd_context_open(const struct cmd *cmd, bool is_optional, struct cmd_context *out)
{
    *out = (struct cmd_context){.now_s = clock_wall_ns() / NS_PER_S};
    struct err err = {0};
    OWN_FREE char *path = config_find(cmd->config_path);
    if (path != NULL && is_optional && access(path, F_OK) != 0 && errno == ENOENT) {
        free(path);
        path = NULL;
    }
    if (path == NULL && !is_optional) {
        OWN_FREE char *wanted = config_default_path(cmd->config_path);
        (void)err_set(&err, -ENOENT, "Config file not found: %s (gpumanager init makes one)",
                      wanted);
        return cmd_fail_usage(&err);
    }
    if (config_load(path, &cmd_checks, &out->config, &err) != 0) {
        return cmd_fail_usage(&err);
    }
    for (char **warning = out->config->warning; warning != NULL && *warning != NULL; warning++) {
        (void)fprintf(stderr, "Warning: %s\n", *warning);
    }
    if (zone_open(&out->zone, out->config->timezone, &err) != 0) {
        err_prefix(&err, "general.timezone: ");
        return cmd_fail_usage(&err);
    }
    return CMD_OK;
}

static bool is_true(const char *text)
{
    return text != NULL && (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0 ||
                            strcasecmp(text, "yes") == 0 || strcasecmp(text, "on") == 0);
}

bool cmd_is_smi_forced(void)
{
    return is_true(getenv("NVIDIA_SMI"));
}

int cmd_sampler_open(const struct cmd *cmd, const struct config *config, enum source_depth depth,
                     const struct source_tap *tap, struct sampler **out, struct err *err)
{
    struct sampler_options options = {
        .simulate = cmd_value(cmd, "simulate"),
        .replay = cmd_value(cmd, "replay"),
        .nvidia_smi_path = config->nvidia_smi,
        .is_smi_forced = cmd_is_smi_forced(),
        .visible = getenv("NVIDIA_VISIBLE_DEVICES"),
        .depth = depth,
        .tap = tap,
    };
    if (options.simulate != NULL && options.replay != NULL) {
        return err_set(err, -EINVAL, "--simulate and --replay exclude each other");
    }
    return sampler_open(out, &options, err);
}

char *cmd_program_path(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) {
        return mem_copy_text("/usr/bin/gpumanager");
    }
    path[length] = '\0';
    return mem_copy_text(path);
}

static int select_reports(const struct cmd *cmd, const struct config *config, size_t *first,
                          size_t *count, struct err *err)
{
    const char *name = cmd_value(cmd, "report");
    *first = 0;
    *count = config->report_count;
    if (name == NULL) {
        return 0;
    }
    const char **names = mem_new(config->report_count + 1, sizeof *names);
    for (size_t i = 0; i < config->report_count; i++) {
        names[i] = config->report[i].name;
        if (strcmp(names[i], name) == 0) {
            *first = i;
            *count = 1;
            free(names);
            return 0;
        }
    }
    const char *near = text_nearest(name, names);
    int code = err_set(err, -ENOENT, "there is no report '%s' in %s%s%s%s", name,
                       config->path != NULL ? config->path : "the defaults",
                       near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return code;
}

int cmd_reports_open(const struct cmd *cmd, struct cmd_context *context, size_t *first,
                     size_t *count)
{
    int code = cmd_context_open(cmd, false, context);
    struct err err = {0};
    if (code == CMD_OK && select_reports(cmd, context->config, first, count, &err) != 0) {
        code = cmd_fail_usage(&err);
    }
    return code;
}

char *cmd_state_dir(const struct config *config)
{
    return mem_format("%s/.gpumanager", config->csv_dir);
}
