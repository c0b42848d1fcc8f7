/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/crontab.h"

#include "base/own.h"

#include <stdlib.h>
#include <string.h>

#define HOUR_S 3600
#define DAY_S 86400

/* One word for the shell that cron starts; cron itself takes a % for the end of the line. */
static void add_word(struct buf *out, const char *text)
{
    buf_char(out, '\'');
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buf_text(out, "'\\''");
        } else if (*text == '%') {
            buf_text(out, "'\\%'");
        } else {
            buf_char(out, *text);
        }
    }
    buf_char(out, '\'');
}

static void add_command(struct buf *out, const struct cmd_context *context, const char *program,
                        const char *command)
{
    add_word(out, program);
    if (context->config->path != NULL) {
        OWN_FREE char *absolute = realpath(context->config->path, NULL);
        buf_text(out, " --config ");
        add_word(out, absolute != NULL ? absolute : context->config->path);
    }
    buf_format(out, " %s\n", command);
}

/* The five fields that come nearest to an interval, not less often. Exact for what divides an hour
 * or a day evenly. */
static void add_interval(struct buf *out, int64_t interval_s)
{
    long long minutes = interval_s / 60;
    long long hours = interval_s / HOUR_S;
    if (interval_s >= DAY_S) {
        buf_text(out, "0 0 * * *");
    } else if (interval_s >= HOUR_S) {
        buf_format(out, "0 */%lld * * *", hours);
    } else if (minutes > 1) {
        buf_format(out, "*/%lld * * * *", minutes);
    } else {
        buf_text(out, "* * * * *");
    }
}

static bool is_exact(int64_t interval_s)
{
    if (interval_s < 60) {
        return 60 % interval_s == 0;
    }
    if (interval_s <= HOUR_S) {
        return interval_s % 60 == 0 && HOUR_S % interval_s == 0;
    }
    return interval_s % HOUR_S == 0 && DAY_S % interval_s == 0;
}

static void add_sampling(struct buf *out, const struct cmd_context *context, const char *program)
{
    int64_t interval_s = context->config->sample_interval_s;
    if (!is_exact(interval_s)) {
        buf_format(out, "# cron cannot run exactly every %s; this is the nearest\n",
                   context->config->sample_interval);
    }
    int64_t step_s = interval_s < 60 ? interval_s : 60;
    for (int64_t at_s = 0; at_s < 60; at_s += step_s) {
        add_interval(out, interval_s);
        buf_char(out, ' ');
        if (at_s > 0) {
            buf_format(out, "sleep %lld; ", (long long)at_s);
        }
        add_command(out, context, program, "test-sample");
    }
}

void crontab_format(const struct cmd_context *context, const char *program, struct buf *out)
{
    const struct config *config = context->config;
    struct zone system;
    buf_text(out, "# gpumanager: lines for crontab -e\n");
    if (zone_open(&system, "", NULL) == 0 && strcmp(system.name, context->zone.name) != 0) {
        buf_format(out,
                   "# Times below are meant in %s; cron reads them in this machine's zone (%s).\n",
                   context->zone.name, system.name);
    }
    add_sampling(out, context, program);
    for (size_t i = 0; i < config->report_count; i++) {
        OWN_BUF struct buf command = {0};
        buf_format(&command, "test-report --report %s --yes", config->report[i].name);
        buf_format(out, "%s ", config->report[i].report_time);
        add_command(out, context, program, buf_string(&command));
    }
}
