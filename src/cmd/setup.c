/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* init, add-report, remove-report: the commands that change config.toml (GM-036), by questions and
 * answers where an answer is missing. Every answer is checked and explained before the next. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/next.h"
#include "cmd/systemd.h"
#include "cmd/terminal.h"
#include "config/edit.h"
#include "query/window.h"
#include "schedule/cron.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_server_time(const struct zone *zone, int64_t now_s)
{
    char text[64];
    zone_format(zone, now_s, "%Y-%m-%d %H:%M:%S %Z", text, sizeof text);
    (void)printf("Current server time: %s\n", text);
}

static void show_cron_examples(void)
{
    (void)printf("Report time examples:\n"
                 "  Every day at 09:00  -> 0 9 * * *\n"
                 "  Every hour          -> 0 * * * *\n"
                 "  Every 10 minutes    -> */10 * * * *\n");
}

/* What the person chose, explained in the zone that counts. */
struct meaning {
    const struct zone *zone;
    int64_t now_s;
    const char *cron; /* the report's time, for the window's example */
    int64_t sample_interval_s;
};

static int explain_cron(void *arg, const char *answer, struct err *err)
{
    const struct meaning *meaning = arg;
    struct cron cron;
    int code = cron_parse(answer, &cron, err);
    if (code != 0) {
        return code;
    }
    (void)printf("  next runs:");
    int64_t at = meaning->now_s;
    for (int i = 0; i < 3 && cron_next(&cron, meaning->zone, at, &at); i++) {
        char text[32];
        zone_format(meaning->zone, at, "%a %Y-%m-%d %H:%M", text, sizeof text);
        (void)printf("%s %s", i > 0 ? "," : "", text);
    }
    (void)printf("\n");
    return 0;
}

static int explain_window(void *arg, const char *answer, struct err *err)
{
    const struct meaning *meaning = arg;
    int code = window_check(answer, err);
    if (code != 0) {
        return code;
    }
    struct cron cron;
    int64_t run_s = meaning->now_s;
    if (meaning->cron != NULL && cron_parse(meaning->cron, &cron, NULL) == 0) {
        (void)cron_next(&cron, meaning->zone, meaning->now_s, &run_s);
    }
    char text[128];
    if (next_window_text(meaning->zone, answer, run_s, text, sizeof text, NULL) == 0) {
        (void)printf("  window of the next run: %s\n", text);
    }
    if (meaning->cron != NULL &&
        next_window_is_short(meaning->zone, answer, run_s, meaning->sample_interval_s)) {
        (void)printf("  note: that window is shorter than two samples\n");
    }
    return 0;
}

static int check_zone_answer(void *arg, const char *answer, struct err *err)
{
    (void)arg;
    struct zone zone;
    int code = zone_open(&zone, answer, err);
    if (code == 0) {
        show_server_time(&zone, clock_wall_ns() / NS_PER_S);
    }
    return code;
}

static int check_duration_answer(void *arg, const char *answer, struct err *err)
{
    (void)arg;
    int64_t seconds = 0;
    return config_parse_duration("sample.interval", answer, &seconds, err);
}

static int check_url_answer(void *arg, const char *answer, struct err *err)
{
    (void)arg;
    return config_check_value("slack", "webhook_url", answer, &cmd_checks, err);
}

static int check_name_answer(void *arg, const char *answer, struct err *err)
{
    (void)arg;
    return config_check_value("general", "server_name", answer, &cmd_checks, err);
}

static int check_folder_answer(void *arg, const char *answer, struct err *err)
{
    (void)arg;
    if (answer[0] != '/' && !text_starts(answer, "~/")) {
        return err_set(err, -EINVAL, "use an absolute path, or one that starts with ~/");
    }
    return config_check_value("storage", "csv_dir", answer, &cmd_checks, err);
}

/* The answers of one init, in the order of asking; what is stored is what was typed. */
struct answers {
    struct config_change *change;
    size_t count, capacity;
};

static void answers_add(struct answers *answers, const char *section, const char *report,
                        const char *key, char *value)
{
    answers->change =
        mem_grow(answers->change, answers->count, &answers->capacity, sizeof *answers->change);
    answers->change[answers->count++] = (struct config_change){section, report, key, value};
}

static void answers_fini(struct answers *answers)
{
    for (size_t i = 0; i < answers->count; i++) {
        free((void *)(uintptr_t)answers->change[i].value);
    }
    free(answers->change);
}

static int ask(struct answers *answers, const struct terminal_question *question,
               const struct config_change *where, struct err *err)
{
    char *value = NULL;
    int code = terminal_ask(question, &value, err);
    if (code == 0) {
        answers_add(answers, where->section, where->report_name, where->key, value);
    }
    return code;
}

static int ask_basics(struct answers *answers, const struct config *config, struct err *err)
{
    bool has_url = config->webhook_url[0] != '\0';
    const struct {
        struct terminal_question question;
        struct config_change where;
    } basics[] = {
        {{"Server name", config->server_name, NULL, check_name_answer, NULL},
         {"general", NULL, "server_name", NULL}},
        {{"Slack webhook URL", config->webhook_url, has_url ? "keep the one that is set" : NULL,
          check_url_answer, NULL},
         {"slack", NULL, "webhook_url", NULL}},
        {{"CSV storage directory", config->csv_dir, NULL, check_folder_answer, NULL},
         {"storage", NULL, "csv_dir", NULL}},
        {{"Sample interval (e.g. 30s, 2m, 15m, 1h)", config->sample_interval, NULL,
          check_duration_answer, NULL},
         {"sample", NULL, "interval", NULL}},
    };
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof basics / sizeof basics[0]; i++) {
        code = ask(answers, &basics[i].question, &basics[i].where, err);
    }
    return code;
}

static int ask_report(struct answers *answers, const struct config_report *report,
                      struct meaning *meaning, struct err *err)
{
    struct terminal_question when = {"Report time cron (minute hour day month weekday)",
                                     report->report_time, NULL, explain_cron, meaning};
    struct terminal_question window = {"Report window (e.g. 1m, 1h, 12h, 1d)", report->interval,
                                       NULL, explain_window, meaning};
    meaning->cron = NULL;
    int code = ask(answers, &when,
                   &(struct config_change){"report", report->name, "report_time", NULL}, err);
    if (code != 0) {
        return code;
    }
    meaning->cron = answers->change[answers->count - 1].value;
    return ask(answers, &window, &(struct config_change){"report", report->name, "interval", NULL},
               err);
}

static int ask_all(struct answers *answers, const struct cmd_context *context, struct err *err)
{
    const struct config *config = context->config;
    struct meaning meaning = {.zone = &context->zone,
                              .now_s = context->now_s,
                              .sample_interval_s = config->sample_interval_s};
    show_server_time(&context->zone, context->now_s);
    int code = ask_basics(answers, config, err);
    if (code == 0) {
        show_cron_examples();
    }
    for (size_t i = 0; code == 0 && i < config->report_count; i++) {
        if (config->report_count > 1) {
            (void)printf("Report '%s':\n", config->report[i].name);
        }
        code = ask_report(answers, &config->report[i], &meaning, err);
    }
    if (code == 0) {
        struct terminal_question zone = {"Timezone", context->zone.name, NULL, check_zone_answer,
                                         NULL};
        code = ask(answers, &zone, &(struct config_change){"general", NULL, "timezone", NULL}, err);
    }
    return code;
}

/* After a change of the file: installed timers follow it. */
static int follow(const struct cmd *cmd, const char *path, const char *word)
{
    struct cmd again = *cmd;
    again.config_path = path;
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(&again, false, &context);
    return code != CMD_OK ? code : systemd_follow(&context, word);
}

int cmd_init(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, true, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    OWN_FREE char *path = context.config->path != NULL ? mem_copy_text(context.config->path)
                                                       : config_default_path(cmd->config_path);
    __attribute__((cleanup(answers_fini))) struct answers answers = {0};
    if (ask_all(&answers, &context, &err) != 0 ||
        config_set(path, answers.change, answers.count, &cmd_checks, &err) != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Saved configuration to %s\n", path);
    return follow(cmd, path, "Reloaded installed timers");
}

/* The option, or an answer. */
static int option_or_ask(const char *given, const struct terminal_question *question, char **out,
                         struct err *err)
{
    if (given == NULL) {
        return terminal_ask(question, out, err);
    }
    int code = question->check(question->arg, given, err);
    if (code == 0) {
        *out = mem_copy_text(given);
    }
    return code;
}

static int check_new_name(void *arg, const char *answer, struct err *err)
{
    const struct config *config = arg;
    int code = config_check_report_name(answer, err);
    if (code == 0 && config_report_find(config, answer) != NULL) {
        return err_set(err, -EEXIST, "there is a report '%s' already", answer);
    }
    return code;
}

/* Fills the report's name, time and window; they are the caller's. */
static int ask_new_report(const struct cmd *cmd, const struct cmd_context *context,
                          struct config_report *out, struct err *err)
{
    struct meaning meaning = {.zone = &context->zone,
                              .now_s = context->now_s,
                              .sample_interval_s = context->config->sample_interval_s};
    struct terminal_question name = {"Report name ([a-z0-9_-], e.g. weekly)", "", NULL,
                                     check_new_name, context->config};
    struct terminal_question when = {"Report time cron (minute hour day month weekday)",
                                     "0 9 * * *", NULL, explain_cron, &meaning};
    struct terminal_question window = {"Report window (e.g. 1h, 1d, 7d, since:month)", "1d", NULL,
                                       explain_window, &meaning};
    const char *given = cmd->argument_count > 0 ? cmd->argument[0] : NULL;
    int code = option_or_ask(given, &name, &out->name, err);
    if (code != 0) {
        return code;
    }
    if (cmd_value(cmd, "report-time") == NULL) {
        show_server_time(&context->zone, context->now_s);
        show_cron_examples();
    }
    code = option_or_ask(cmd_value(cmd, "report-time"), &when, &out->report_time, err);
    meaning.cron = out->report_time;
    return code != 0 ? code
                     : option_or_ask(cmd_value(cmd, "interval"), &window, &out->interval, err);
}

int cmd_add_report(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    struct config_report report = {0};
    code = ask_new_report(cmd, &context, &report, &err);
    if (code == 0) {
        code = config_add_report(context.config->path, &report, &cmd_checks, &err);
    }
    if (code == 0) {
        (void)printf("Added report '%s' to %s\n", report.name, context.config->path);
    }
    free(report.name);
    free(report.report_time);
    free(report.interval);
    if (code != 0) {
        return cmd_fail(&err);
    }
    return follow(cmd, context.config->path, "Enabled and started system timers");
}

int cmd_remove_report(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    const char *name = cmd->argument[0];
    const struct config *config = context.config;
    if (config_report_find(config, name) == NULL) {
        (void)err_set(&err, -ENOENT, "there is no report '%s' in %s; nothing was changed", name,
                      config->path);
        return cmd_fail(&err);
    }
    if (config->report_count == 1) {
        (void)err_set(&err, -EPERM,
                      "'%s' is the last report and stays; gpumanager uninstall-systemd stops "
                      "everything",
                      name);
        return cmd_fail(&err);
    }
    OWN_FREE char *question = mem_format("Remove report '%s' and its timer?", name);
    if (cmd_value(cmd, "yes") == NULL && !terminal_confirm(question)) {
        (void)printf("Nothing was changed.\n");
        return CMD_OK;
    }
    if (config_remove_report(config->path, name, &cmd_checks, &err) != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Removed report '%s' from %s\n", name, config->path);
    return follow(cmd, config->path, "Reloaded timers");
}
