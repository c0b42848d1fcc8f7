/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* status: what is configured, installed and running, as GM's JSON with our keys after it, or as
 * text for people. Works without a configuration; never holds the webhook (Part C 6). */
#include "base/clock.h"
#include "base/jsonout.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"
#include "build_config.h"
#include "cmd/cmd.h"
#include "output/queue.h"
#include "schedule/cron.h"
#include "schedule/unit_dir.h"
#include "schedule/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct report_status {
    const struct config_report *report;
    char *timer;
    char *on_calendar;
    struct units_timer_state state;
};

struct status {
    const struct cmd_context *context;
    char *path; /* the configuration file in use, or the one init would write */
    bool has_config, has_csv_dir;
    char *nvidia_smi, *systemctl; /* NULL = not found */
    int kept_messages;
    struct units_timer_state sample;
    bool has_serve; /* its unit is installed */
    struct report_status *report;
};

static char *calendar_of(const struct config_report *report, const struct zone *zone)
{
    struct cron cron;
    struct buf text = {0};
    if (cron_parse(report->report_time, &cron, NULL) == 0) {
        cron_to_calendar_short(&cron, zone, &text);
    }
    return buf_take(&text);
}

static void status_gather(const struct cmd *cmd, const struct cmd_context *context,
                          struct status *out)
{
    const struct config *config = context->config;
    struct stat info;
    *out = (struct status){.context = context};
    out->has_config = config->path != NULL;
    out->path =
        out->has_config ? mem_copy_text(config->path) : config_default_path(cmd->config_path);
    out->has_csv_dir = stat(config->csv_dir, &info) == 0 && S_ISDIR(info.st_mode);
    const char *search = getenv("PATH");
    out->systemctl = spawn_find("systemctl", search != NULL ? search : "/usr/bin:/bin");
    bool is_given = config->nvidia_smi != NULL && access(config->nvidia_smi, X_OK) == 0;
    out->nvidia_smi = is_given
                          ? mem_copy_text(config->nvidia_smi)
                          : spawn_find("nvidia-smi", search != NULL ? search : "/usr/bin:/bin");
    OWN_FREE char *state_dir = cmd_state_dir(config);
    out->kept_messages = (int)queue_count(state_dir);
    units_timer_state(UNITS_SAMPLE ".timer", &context->zone, &out->sample);
    OWN_FREE char *serve = unit_path(UNITS_SERVE ".service");
    out->has_serve = access(serve, F_OK) == 0;
    out->report = mem_new(config->report_count, sizeof *out->report);
    for (size_t i = 0; i < config->report_count; i++) {
        struct report_status *one = &out->report[i];
        one->report = &config->report[i];
        one->timer = mem_format(UNITS_REPORT_PREFIX "%s.timer", one->report->name);
        one->on_calendar = calendar_of(one->report, &context->zone);
        units_timer_state(one->timer, &context->zone, &one->state);
    }
}

static void status_fini(struct status *status)
{
    for (size_t i = 0; status->report != NULL && i < status->context->config->report_count; i++) {
        free(status->report[i].timer);
        free(status->report[i].on_calendar);
        units_timer_state_fini(&status->report[i].state);
    }
    free(status->report);
    units_timer_state_fini(&status->sample);
    free(status->nvidia_smi);
    free(status->systemctl);
    free(status->path);
}

static void key_string(struct jsonout *json, const char *key, const char *value)
{
    jsonout_key(json, key);
    jsonout_string(json, value);
}

static void key_bool(struct jsonout *json, const char *key, bool value)
{
    jsonout_key(json, key);
    jsonout_bool(json, value);
}

static void write_report(struct jsonout *json, const struct report_status *one)
{
    jsonout_begin_object(json);
    key_string(json, "name", one->report->name);
    key_string(json, "report_time", one->report->report_time);
    key_string(json, "on_calendar", one->on_calendar);
    key_string(json, "interval", one->report->interval);
    key_string(json, "timer", one->timer);
    key_bool(json, "timer_installed", one->state.is_installed);
    key_string(json, "next_trigger", one->state.next_trigger);
    jsonout_end_object(json);
}

static void write_json(const struct status *status, struct buf *out)
{
    const struct config *config = status->context->config;
    struct jsonout json = {.out = out, .indent = 2};
    jsonout_begin_object(&json);
    key_string(&json, "config_path", status->path);
    key_string(&json, "csv_dir", config->csv_dir);
    key_bool(&json, "csv_dir_exists", status->has_csv_dir);
    key_string(&json, "sample.interval", config->sample_interval);
    jsonout_key(&json, "reports");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < config->report_count; i++) {
        write_report(&json, &status->report[i]);
    }
    jsonout_end_array(&json);
    key_bool(&json, "sample_timer_installed", status->sample.is_installed);
    key_string(&json, "sample.next_trigger", status->sample.next_trigger);
    /* GM-090 ends here; the rest is GM 0.2.4's and ours. */
    key_bool(&json, "config_exists", status->has_config);
    key_bool(&json, "slack.webhook_configured", config->webhook_url[0] != '\0');
    key_string(&json, "general.timezone", status->context->zone.name);
    key_string(&json, "general.server_name", config->server_name);
    key_string(&json, "nvidia_smi", status->nvidia_smi);
    key_string(&json, "systemctl", status->systemctl);
    key_string(&json, "systemd_scope", "system");
    jsonout_key(&json, "kept_messages");
    jsonout_int(&json, status->kept_messages);
    key_string(&json, "version", GPUMANAGER_VERSION);
    key_bool(&json, "serve_installed", status->has_serve);
    jsonout_end_object(&json);
    buf_char(out, '\n');
}

static const char *timer_words(const struct units_timer_state *state)
{
    if (!state->is_installed) {
        return "not installed (gpumanager install-systemd --enable-now)";
    }
    if (!state->is_enabled) {
        return "installed, switched off";
    }
    return "on";
}

static void write_timer(struct buf *out, const struct units_timer_state *state,
                        const struct zone *zone)
{
    buf_format(out, "    timer: %s\n", timer_words(state));
    if (state->is_installed && state->next_trigger != NULL) {
        buf_format(out, "    next:  %s\n", state->next_trigger);
    }
    if (state->last_s > 0) {
        char text[64];
        zone_format(zone, state->last_s, "%a %Y-%m-%d %H:%M:%S %Z", text, sizeof text);
        buf_format(out, "    last:  %s\n", text);
    }
}

static void write_text(const struct status *status, struct buf *out)
{
    const struct config *config = status->context->config;
    buf_format(out, "gpumanager %s\n\n", GPUMANAGER_VERSION);
    buf_format(out, "Configuration  %s%s\n", status->path,
               status->has_config ? "" : " (does not exist; gpumanager init makes it)");
    buf_format(out, "CSV folder     %s%s\n", config->csv_dir,
               status->has_csv_dir ? "" : " (does not exist yet)");
    buf_format(out, "Time zone      %s\n", status->context->zone.name);
    buf_format(out, "Slack webhook  %s\n", config->webhook_url[0] != '\0' ? "set" : "not set");
    buf_format(out, "nvidia-smi     %s\n",
               status->nvidia_smi != NULL ? status->nvidia_smi : "not found in PATH");
    buf_format(out, "systemd        %s\n",
               status->systemctl != NULL ? status->systemctl : "not found");
    buf_format(out, "Page           %s\n",
               status->has_serve
                   ? UNITS_SERVE ".service installed"
                   : "not installed (gpumanager install-systemd --serve --enable-now)");
    if (status->kept_messages > 0) {
        buf_format(out, "Waiting        %d message(s) that could not be delivered yet\n",
                   status->kept_messages);
    }
    buf_format(out, "\nSampling every %s\n", config->sample_interval);
    write_timer(out, &status->sample, &status->context->zone);
    for (size_t i = 0; i < config->report_count; i++) {
        const struct report_status *one = &status->report[i];
        buf_format(out, "\nReport '%s': %s over %s\n", one->report->name, one->report->report_time,
                   one->report->interval);
        write_timer(out, &one->state, &status->context->zone);
    }
}

int cmd_status(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, true, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct status status;
    status_gather(cmd, &context, &status);
    OWN_BUF struct buf out = {0};
    if (cmd_value(cmd, "text") != NULL) {
        write_text(&status, &out);
    } else {
        write_json(&status, &out);
    }
    (void)fwrite(out.data, 1, out.length, stdout);
    status_fini(&status);
    return CMD_OK;
}
