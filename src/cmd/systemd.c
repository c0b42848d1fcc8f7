/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/systemd.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/crontab.h"
#include "cmd/terminal.h"
#include "schedule/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_lines(const char *title, char *const *words, size_t count)
{
    (void)printf("%s\n", title);
    for (size_t i = 0; i < count; i++) {
        (void)printf("%s\n", words[i]);
    }
}

static void print_list(const char *title, char *const *words, size_t count, const char *separator)
{
    (void)printf("%s", title);
    for (size_t i = 0; i < count; i++) {
        (void)printf("%s%s", i > 0 ? separator : " ", words[i]);
    }
    (void)printf("\n");
}

static void warn(const struct units_outcome *outcome)
{
    for (size_t i = 0; i < outcome->warning_count; i++) {
        (void)fprintf(stderr, "Warning: %s\n", outcome->warning[i]);
    }
    if (outcome->conflicting_count == 0) {
        return;
    }
    print_lines("Warning: conflicting user-level systemd units were found:", outcome->conflicting,
                outcome->conflicting_count);
    (void)printf("Disable and remove them to avoid timers stopping when the login session ends.\n");
    print_list("Suggested cleanup: systemctl --user disable --now", outcome->conflicting,
               outcome->conflicting_count, " ");
}

int systemd_follow(const struct cmd_context *context, const char *word)
{
    struct err err = {0};
    OWN_FREE char *program = cmd_program_path();
    struct units_options options = {
        .config = context->config, .program = program, .now_s = context->now_s};
    struct units_outcome outcome = {0};
    int code = units_reconcile(&options, &outcome, &err);
    if (code == 0 && outcome.enabled_count + outcome.restarted_count > 0) {
        (void)printf("%s:", word);
        for (size_t i = 0; i < outcome.enabled_count; i++) {
            (void)printf("%s %s", i > 0 ? "," : "", outcome.enabled[i]);
        }
        for (size_t i = 0; i < outcome.restarted_count; i++) {
            (void)printf("%s %s", i + outcome.enabled_count > 0 ? "," : "", outcome.restarted[i]);
        }
        (void)printf("\n");
    }
    if (code == 0 && outcome.removed_count > 0) {
        print_lines("Removed unit files:", outcome.removed, outcome.removed_count);
    }
    warn(&outcome);
    units_outcome_fini(&outcome);
    if (code == 0) {
        return CMD_OK;
    }
    if (strstr(err.text, "gpumanager reload") == NULL) {
        OWN_FREE char *text = mem_copy_text(err.text);
        (void)err_set(&err, code,
                      "%s; the configuration was saved, and `gpumanager reload` finishes the job",
                      text);
    }
    return cmd_fail(&err);
}

int cmd_install_systemd(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    OWN_FREE char *program = cmd_program_path();
    if (units_check_systemd(&err) != 0) {
        OWN_BUF struct buf lines = {0};
        crontab_format(&context, program, &lines);
        (void)fputs(buf_string(&lines), stdout);
        return cmd_fail(&err);
    }
    bool is_enabling = cmd_value(cmd, "enable-now") != NULL;
    struct units_options options = {.config = context.config,
                                    .program = program,
                                    .run_user = cmd_value(cmd, "run-user"),
                                    .is_enabling = is_enabling,
                                    .is_serving = cmd_value(cmd, "serve") != NULL,
                                    .now_s = context.now_s};
    struct units_outcome outcome = {0};
    code = units_install(&options, &outcome, &err);
    if (outcome.installed_count > 0) {
        print_lines("Installed unit files:", outcome.installed, outcome.installed_count);
    }
    if (code != 0) {
        units_outcome_fini(&outcome);
        return cmd_fail(&err);
    }
    if (is_enabling) {
        print_list("Enabled and started system timers:", outcome.enabled, outcome.enabled_count,
                   ", ");
    } else {
        (void)printf("Enable with: sudo systemctl enable --now %s.timer", UNITS_SAMPLE);
        for (size_t i = 0; i < context.config->report_count; i++) {
            (void)printf(" %s%s.timer", UNITS_REPORT_PREFIX, context.config->report[i].name);
        }
        (void)printf("%s\n", options.is_serving ? " " UNITS_SERVE ".service" : "");
    }
    (void)printf("System services will run as user: %s\n", outcome.run_user);
    warn(&outcome);
    units_outcome_fini(&outcome);
    return CMD_OK;
}

int cmd_uninstall_systemd(struct cmd *cmd)
{
    (void)cmd;
    struct err err = {0};
    struct units_outcome outcome = {0};
    int code = units_uninstall(&outcome, &err);
    if (outcome.removed_count > 0) {
        print_lines("Removed unit files:", outcome.removed, outcome.removed_count);
    } else if (code == 0) {
        (void)printf("No unit files found.\n");
    }
    units_outcome_fini(&outcome);
    return code == 0 ? CMD_OK : cmd_fail(&err);
}

/* Whether any unit file of ours is there. */
static bool is_anything_installed(const struct cmd_context *context)
{
    struct units_timer_state state = {0};
    units_timer_state(UNITS_SAMPLE ".timer", &context->zone, &state);
    bool is_installed = state.is_installed;
    units_timer_state_fini(&state);
    for (size_t i = 0; !is_installed && i < context->config->report_count; i++) {
        OWN_FREE char *timer =
            mem_format(UNITS_REPORT_PREFIX "%s.timer", context->config->report[i].name);
        units_timer_state(timer, &context->zone, &state);
        is_installed = state.is_installed;
        units_timer_state_fini(&state);
    }
    return is_installed;
}

int cmd_reload(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    if (units_check_systemd(&err) != 0) {
        return cmd_fail(&err);
    }
    if (!is_anything_installed(&context)) {
        (void)printf("No installed timers found.\n");
    }
    return systemd_follow(&context, "Reloaded timers");
}

int cmd_disable_sample(struct cmd *cmd)
{
    (void)cmd;
    struct err err = {0};
    if (units_disable(UNITS_SAMPLE ".timer", &err) != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Disabled %s.timer\n", UNITS_SAMPLE);
    return CMD_OK;
}

int cmd_disable_report(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    size_t first = 0;
    size_t count = 0;
    int code = cmd_reports_open(cmd, &context, &first, &count);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    if (count > 1 && cmd_value(cmd, "yes") == NULL && terminal_is_interactive()) {
        OWN_FREE char *question = mem_format("Disable the timers of %zu reports?", count);
        if (!terminal_confirm(question)) {
            (void)printf("Nothing was changed.\n");
            return CMD_OK;
        }
    }
    for (size_t i = 0; i < count; i++) {
        OWN_FREE char *timer =
            mem_format(UNITS_REPORT_PREFIX "%s.timer", context.config->report[first + i].name);
        if (units_disable(timer, &err) != 0) {
            code = cmd_fail(&err);
            continue;
        }
        (void)printf("Disabled %s\n", timer);
    }
    return code;
}
