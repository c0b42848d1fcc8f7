/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* next: when each report will run, and over which window (needs no systemd). */
#include "cmd/next.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "query/window.h"
#include "schedule/cron.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define COUNT_DEFAULT 3
#define COUNT_MAX 1000

int next_window_text(const struct zone *zone, const char *interval, int64_t run_s, char *out,
                     size_t size, struct err *err)
{
    struct window window;
    int code = window_resolve(interval, zone, run_s, &window, err);
    if (code != 0) {
        return code;
    }
    char from[32];
    zone_format(zone, window.from_s, "%Y-%m-%d %H:%M", from, sizeof from);
    if (text_starts(window.label, "since ")) {
        (void)snprintf(out, size, "%s", window.label);
    } else {
        (void)snprintf(out, size, "%s (from %s)", window.label, from);
    }
    return 0;
}

bool next_window_is_short(const struct zone *zone, const char *interval, int64_t run_s,
                          int64_t sample_interval_s)
{
    struct window window;
    return window_resolve(interval, zone, run_s, &window, NULL) == 0 &&
           window.to_s - window.from_s < 2 * sample_interval_s;
}

static int print_runs(const struct cmd_context *context, const struct config_report *report,
                      int64_t after_s, int64_t count, struct err *err)
{
    struct cron cron;
    int code = cron_parse(report->report_time, &cron, err);
    for (int64_t i = 0; code == 0 && i < count; i++) {
        if (!cron_next(&cron, &context->zone, after_s, &after_s)) {
            return 0;
        }
        char run[32];
        char window[128];
        zone_format_iso(&context->zone, after_s, run);
        code =
            next_window_text(&context->zone, report->interval, after_s, window, sizeof window, err);
        if (code == 0) {
            (void)printf("%-12s  %s  %s\n", report->name, run, window);
        }
    }
    return code;
}

static int read_options(const struct cmd *cmd, const struct cmd_context *context, int64_t *after_s,
                        int64_t *count, struct err *err)
{
    const char *after = cmd_value(cmd, "after");
    *after_s = context->now_s;
    int offset = 0;
    if (after != NULL && !clock_parse_iso(after, (int64_t)strlen(after), after_s, &offset)) {
        return err_set(err, -EINVAL, "--after %s: expected a time like 2026-03-22T16:30:00Z",
                       after);
    }
    const char *text = cmd_value(cmd, "count");
    *count = COUNT_DEFAULT;
    if (text != NULL &&
        (!text_to_int64(span_of(text), count) || *count < 1 || *count > COUNT_MAX)) {
        return err_set(err, -EINVAL, "--count %s: expected a number from 1 to %d", text, COUNT_MAX);
    }
    return 0;
}

int cmd_next(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    size_t first = 0;
    size_t count = 0;
    int code = cmd_reports_open(cmd, &context, &first, &count);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    int64_t after_s = 0;
    int64_t runs = 0;
    if (read_options(cmd, &context, &after_s, &runs, &err) != 0) {
        return cmd_fail_usage(&err);
    }
    for (size_t i = 0; i < count; i++) {
        const struct config_report *report = &context.config->report[first + i];
        if (print_runs(&context, report, after_s, runs, &err) != 0) {
            err_prefix(&err, "report '%s': ", report->name);
            code = cmd_fail(&err); /* the others can still be shown */
        }
    }
    return code;
}
