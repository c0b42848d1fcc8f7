/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* config check: is the file right, and what will it do? config show: every value and where it is
 * from, secrets apart. */
#include "base/own.h"
#include "cmd/cmd.h"
#include "cmd/next.h"
#include "config/draft.h"
#include "config/options.h"
#include "schedule/cron.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int check(const struct cmd_context *context)
{
    const struct config *config = context->config;
    (void)printf("%s: ok\n", config->path != NULL ? config->path : "no configuration file");
    (void)printf("a sample every %s into %s\n", config->sample_interval, config->csv_dir);
    if (config->csv_dir[0] != '/') {
        (void)printf("  note: that folder depends on where the program is started\n");
    }
    for (size_t i = 0; i < config->report_count; i++) {
        const struct config_report *report = &config->report[i];
        struct cron cron;
        int64_t run_s = 0;
        char run[64] = "never";
        char window[128] = "";
        if (cron_parse(report->report_time, &cron, NULL) == 0 &&
            cron_next(&cron, &context->zone, context->now_s, &run_s)) {
            zone_format(&context->zone, run_s, "%Y-%m-%d %H:%M %Z", run, sizeof run);
            (void)next_window_text(&context->zone, report->interval, run_s, window, sizeof window,
                                   NULL);
        }
        (void)printf("report '%s' next at %s, %s\n", report->name, run, window);
        if (run_s > 0 && next_window_is_short(&context->zone, report->interval, run_s,
                                              config->sample_interval_s)) {
            (void)printf("  note: that window is shorter than two samples\n");
        }
    }
    if (config->webhook_url[0] == '\0') {
        (void)printf("slack.webhook_url is not set: reports can be printed, not sent\n");
    }
    return CMD_OK;
}

/* As TOML, so that it can be pasted; the place stands behind as a comment. */
struct shown {
    const struct config *config;
    const char *section;
    const struct config_report *report;
};

static void show_value(void *arg, const struct option_value *value)
{
    struct shown *shown = arg;
    bool is_report = value->report != NULL;
    if (shown->section == NULL || strcmp(shown->section, value->row->section) != 0 ||
        shown->report != value->report) {
        (void)printf(is_report ? "%s[[%s]]\n" : "%s[%s]\n", shown->section != NULL ? "\n" : "",
                     value->row->section);
        shown->section = value->row->section;
        shown->report = value->report;
    }
    OWN_BUF struct buf text = {0};
    bool is_secret = (value->row->flags & OPTION_SECRET) != 0;
    if (is_secret || draft_format_value(value->row, value->text, &text, NULL) != 0) {
        buf_clear(&text);
        buf_text(&text, value->text);
    }
    (void)printf("%s%s = %s  # ", is_secret ? "# " : "", value->row->key, buf_string(&text));
    (void)printf(value->line > 0 ? "line %d\n" : "default\n", value->line);
}

int cmd_config(struct cmd *cmd)
{
    struct err err = {0};
    const char *what = cmd->argument[0];
    bool is_show = strcmp(what, "show") == 0;
    if (!is_show && strcmp(what, "check") != 0) {
        (void)err_set(&err, -EINVAL, "config %s: expected check or show", what);
        return cmd_fail_usage(&err);
    }
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, is_show, &context);
    if (code != CMD_OK) {
        return code;
    }
    if (!is_show) {
        return check(&context);
    }
    const char *path = context.config->path;
    (void)printf("# %s\n", path != NULL ? path : "no configuration file: all values are defaults");
    struct shown shown = {.config = context.config};
    option_each_value(context.config, show_value, &shown);
    return CMD_OK;
}
