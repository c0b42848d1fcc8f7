/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* gen-docs FOLDER: writes what the tables say into docs/reference/ and docs/man/ under the folder.
 * A test compares the committed files with a fresh run, so a row without its line cannot land. */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "build_config.h"
#include "cmd/cmd.h"
#include "config/options.h"
#include "model/metric.h"

#include <stdio.h>
#include <string.h>

#define NOTE "<!-- Made by `./dev docs` from the program's tables; change those. -->\n\n"

/* Calls `each` for the command's own options, then the ones every sampling command has. */
static void each_option(const struct cmd_command *command, struct buf *out,
                        void (*each)(struct buf *, const struct cmd_option *))
{
    for (int i = 0; i < CMD_OPTIONS_MAX && command->option[i].name != NULL; i++) {
        each(out, &command->option[i]);
    }
    for (int i = 0; command->is_sampling && i < 2; i++) {
        each(out, &cmd_sampling_options[i]);
    }
}

static void cell(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|') {
            buf_char(out, '\\');
        }
        buf_char(out, *text);
    }
}

static void option_row(struct buf *out, const struct cmd_option *option)
{
    buf_format(out, "| `--%s%s%s` | ", option->name, option->argument ? " " : "",
               option->argument ? option->argument : "");
    cell(out, option->help);
    buf_text(out, " |\n");
}

static void write_commands(struct buf *out)
{
    buf_text(out, "# Commands\n\n" NOTE);
    buf_text(out, "Every command takes `--config PATH` (before or after its name) and `--help`.\n"
                  "Exit codes: 0 ok, 1 failed (`Error: …` on stderr), 2 usage or configuration, "
                  "130 cancelled.\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        const struct cmd_command *command = &cmd_commands[i];
        buf_format(out, "\n## %s%s%s\n\n%s.\n", command->name, command->arguments[0] ? " " : "",
                   command->arguments, command->summary);
        if (command->option[0].name != NULL || command->is_sampling) {
            buf_text(out, "\n| option | meaning |\n|---|---|\n");
            each_option(command, out, option_row);
        }
    }
}

static const char *kind_name(enum option_kind kind)
{
    static const char *const names[] = {
        [OPTION_TEXT] = "text",         [OPTION_BOOL] = "true or false",
        [OPTION_ZONE] = "time zone",    [OPTION_URL] = "URL",
        [OPTION_FOLDER] = "folder",     [OPTION_FILE] = "file",
        [OPTION_DURATION] = "duration", [OPTION_AGE] = "duration or never",
        [OPTION_NAME] = "name",         [OPTION_CRON] = "cron",
        [OPTION_CLOCK] = "HH:MM",       [OPTION_WINDOW] = "window",
        [OPTION_WORD] = "word",         [OPTION_WORDS] = "list of words",
    };
    return names[kind];
}

static void write_options(struct buf *out)
{
    buf_text(out, "# Configuration\n\n" NOTE);
    buf_text(out, "`config.toml` is looked for at `--config PATH`, then `$GPUMANAGER_CONFIG`, "
                  "then `~/.config/gpumanager/config.toml`,\nthen `/etc/gpumanager/config.toml`. "
                  "`[[report]]` may stand any number of times.\n");
    const char *section = "";
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_get(i);
        if (strcmp(section, row->section) != 0) {
            bool is_report = strcmp(row->section, "report") == 0;
            buf_format(out, is_report ? "\n## [[%s]]\n\n" : "\n## [%s]\n\n", row->section);
            buf_text(out, "| key | value | default | meaning |\n|---|---|---|---|\n");
            section = row->section;
        }
        buf_format(out, "| `%s` | %s", row->key, kind_name(row->kind));
        if (row->words != NULL) {
            buf_text(out, ": ");
            cell(out, row->words);
        }
        buf_format(out, " | %s%s%s | ", row->fallback[0] ? "`" : "", row->fallback,
                   row->fallback[0] ? "`" : "");
        cell(out, row->help);
        buf_format(out, "%s |\n",
                   (row->flags & OPTION_SECRET) != 0 ? "; a secret, never shown" : "");
    }
}

static void write_metrics(struct buf *out)
{
    buf_format(out,
               "# Metrics\n\n" NOTE "%d figures of a GPU, %d words, %d figures of each NVLink. "
               "Base units; what is unknown is absent, never zero.\nPace: fast is read every "
               "time, slow every ten seconds, once when a GPU is first seen.\n\n",
               METRIC_COUNT, GPU_TEXT_COUNT, LINK_METRIC_COUNT);
    buf_text(
        out,
        "| metric | unit | kind | pace | gpu-hot's key | meaning |\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        const struct metric *row = &metrics[i];
        buf_format(out, "| `%s` | %s | %s | %s | %s%s%s | %s |\n", row->key,
                   metric_unit_name(row->unit), metric_kind_name(row->kind),
                   metric_pace_name(row->pace), row->gh_key[0] ? "`" : "", row->gh_key,
                   row->gh_key[0] ? "`" : "", row->help);
    }
    buf_text(out, "\n## Words\n\n| word | gpu-hot's key | meaning |\n|---|---|---|\n");
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        buf_format(out, "| `%s` | `%s` | %s |\n", gpu_texts[i].key, gpu_texts[i].gh_key,
                   gpu_texts[i].help);
    }
    buf_text(
        out,
        "\n## Each NVLink\n\n| metric | unit | kind | pace | meaning |\n|---|---|---|---|---|\n");
    for (size_t i = 0; i < LINK_METRIC_COUNT; i++) {
        const struct link_metric *row = &link_metrics[i];
        buf_format(out, "| `%s` | %s | %s | %s | %s |\n", row->key, metric_unit_name(row->unit),
                   metric_kind_name(row->kind), metric_pace_name(row->pace), row->help);
    }
}

/* roff: a line must not begin with a dot or an apostrophe, and '-' is a hyphen unless escaped. */
static void roff(struct buf *out, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\\') {
            buf_text(out, "\\e");
        } else if (*at == '-') {
            buf_text(out, "\\-");
        } else if (at == text && (*at == '.' || *at == '\'')) {
            buf_format(out, "\\&%c", *at);
        } else {
            buf_char(out, *at);
        }
    }
}

static void man_option(struct buf *out, const struct cmd_option *option)
{
    buf_text(out, ".TP\n.B \\-\\-");
    roff(out, option->name);
    if (option->argument != NULL) {
        buf_format(out, " \\fI%s\\fR", option->argument);
    }
    buf_text(out, "\n");
    roff(out, option->help);
    buf_text(out, "\n");
}

static void write_man_commands(struct buf *out)
{
    buf_text(out,
             ".\\\" Made by ./dev docs from the program's tables; change those.\n"
             ".TH GPUMANAGER 1 \"\" \"gpumanager " GPUMANAGER_VERSION "\" \"User Commands\"\n"
             ".SH NAME\ngpumanager \\- GPU utilization sampler and Slack reporter\n"
             ".SH SYNOPSIS\n.B gpumanager\n[\\fB\\-\\-config\\fR \\fIPATH\\fR] \\fICOMMAND\\fR "
             "[\\fIoptions\\fR]\n.SH DESCRIPTION\n"
             "Samples the utilization of every GPU into CSV files, averages them over windows "
             "and posts the figures\nto Slack on cron schedules run by systemd timers. Nothing "
             "runs in the background unless the timers are\ninstalled "
             "(\\fBinstall\\-systemd\\fR).\n.SH COMMANDS\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        const struct cmd_command *command = &cmd_commands[i];
        buf_text(out, ".SS ");
        roff(out, command->name);
        if (command->arguments[0] != '\0') {
            buf_char(out, ' ');
            roff(out, command->arguments);
        }
        buf_text(out, "\n");
        roff(out, command->summary);
        buf_text(out, ".\n");
        each_option(command, out, man_option);
    }
    buf_text(out, ".SH OPTIONS\nFor every command, before or after its name:\n");
    man_option(out, &(struct cmd_option){"config", "PATH", "Path to config.toml"});
    man_option(out, &(struct cmd_option){"help", NULL, "Show the options of a command"});
    man_option(out, &(struct cmd_option){"version", NULL, "Show the version"});
    buf_text(out, ".SH EXIT STATUS\n0 ok; 1 failed, with \\(lqError: ...\\(rq on standard error; 2 "
                  "usage or configuration; 130 cancelled.\n"
                  ".SH ENVIRONMENT\n.TP\n.B GPUMANAGER_CONFIG\nThe configuration file, where "
                  "\\-\\-config is not given.\n.TP\n.B NVIDIA_SMI\n"
                  "true: ask nvidia\\-smi only, not NVML.\n"
                  ".TP\n.B NVIDIA_VISIBLE_DEVICES\nWhich GPUs count: indices, UUIDs or their "
                  "beginnings, all, none.\n.TP\n.BR http_proxy \", \" https_proxy \", \" no_proxy\n"
                  "As curl takes them.\n.SH SEE ALSO\n.BR gpumanager.toml (5)\n");
}

static void write_man_options(struct buf *out)
{
    buf_text(out,
             ".\\\" Made by ./dev docs from the program's tables; change those.\n"
             ".TH GPUMANAGER.TOML 5 \"\" \"gpumanager " GPUMANAGER_VERSION "\" \"File Formats\"\n"
             ".SH NAME\ngpumanager.toml \\- configuration of gpumanager\n.SH DESCRIPTION\n"
             "TOML. The first of these that is named or exists is read: \\-\\-config, "
             "$GPUMANAGER_CONFIG,\n~/.config/gpumanager/config.toml, "
             "/etc/gpumanager/config.toml. An unknown key is an error.\n");
    const char *section = "";
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const struct option_row *row = option_get(i);
        if (strcmp(section, row->section) != 0) {
            bool is_report = strcmp(row->section, "report") == 0;
            buf_format(out, is_report ? ".SH [[%s]]\n" : ".SH [%s]\n", row->section);
            section = row->section;
        }
        buf_format(out, ".TP\n.B %s\n", row->key);
        roff(out, row->help);
        if (row->fallback[0] != '\0') {
            buf_text(out, ". Default: ");
            roff(out, row->fallback);
        }
        buf_text(out, ".\n");
    }
    buf_text(out, ".SH SEE ALSO\n.BR gpumanager (1)\n");
}

static int write_file(const char *folder, const char *name, void (*write)(struct buf *))
{
    OWN_BUF struct buf text = {0};
    OWN_FREE char *path = mem_format("%s/docs/%s", folder, name);
    write(&text);
    struct err err = {0};
    if (file_write(path, text.data, text.length, 0644, FILE_REPLACE, &err) != 0) {
        (void)fprintf(stderr, "Error: %s\n", err.text);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : ".";
    const char *const folders[] = {"docs/reference", "docs/man"};
    for (size_t i = 0; i < 2; i++) {
        OWN_FREE char *path = mem_format("%s/%s", folder, folders[i]);
        if (file_make_folders(path, 0755, NULL) != 0) {
            return 1;
        }
    }
    return write_file(folder, "reference/commands.md", write_commands) |
           write_file(folder, "reference/configuration.md", write_options) |
           write_file(folder, "reference/metrics.md", write_metrics) |
           write_file(folder, "man/gpumanager.1", write_man_commands) |
           write_file(folder, "man/gpumanager.toml.5", write_man_options);
}
