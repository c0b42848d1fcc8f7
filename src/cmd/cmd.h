/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What a person types. A command is a row in commands.c and one function; main.c finds the row,
 * reads its options and calls it. To add one: a file, a row, a paragraph in the manual. Exit codes:
 * 0 ok, 1 failed ("Error: …" on stderr), 2 usage or configuration, 130 cancelled. */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "base/err.h"
#include "base/zone.h"
#include "config/config.h"
#include "sampler/sampler.h"

#include <stdbool.h>
#include <stdint.h>

#define CMD_OPTIONS_MAX 12
#define CMD_ARGUMENTS_MAX 2

enum cmd_exit { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2, CMD_CANCELLED = 130 };

struct cmd_option {
    const char *name;
    const char *argument; /* what stands for its value in help; NULL = a flag */
    const char *help;
    bool is_repeatable; /* several values come joined by "," */
};

struct cmd;

struct cmd_command {
    const char *name;
    const char *arguments; /* "[NAME]", for usage; "" = none are taken */
    const char *summary;
    bool is_sampling;                          /* takes --simulate and --replay too */
    struct cmd_option option[CMD_OPTIONS_MAX]; /* name == NULL ends it */
    int (*run)(struct cmd *cmd);               /* returns an enum cmd_exit */
};

/* One run of one command; borrowed from argv. */
struct cmd {
    const struct cmd_command *command;
    const char *config_path; /* --config, NULL when not given */
    const char *value[CMD_OPTIONS_MAX + 2];
    const char *argument[CMD_ARGUMENTS_MAX];
    int argument_count;
    char *joined[CMD_OPTIONS_MAX]; /* what `value` points to where an option was repeated */
};

extern const struct cmd_command cmd_commands[];
extern const size_t cmd_command_count;
extern const struct cmd_option cmd_sampling_options[2];

/* The value of an option ("" for a flag), NULL when not given. */
const char *cmd_value(const struct cmd *cmd, const char *name);

/* "Error: …" on stderr; returns CMD_FAILED, or CMD_USAGE for what the person can mend in the
 * command or the configuration (`is_usage`). */
int cmd_fail(const struct err *err);
int cmd_fail_usage(const struct err *err);

/* What most commands begin with. */
struct cmd_context {
    struct config *config;
    struct zone zone;
    int64_t now_s;
};

/* Finds and reads the configuration (warnings go to stderr) and opens its zone. On failure the
 * sentence was printed and the exit code is returned; 0 is success. `is_optional`: no file gives
 * the defaults. */
int cmd_context_open(const struct cmd *cmd, bool is_optional, struct cmd_context *out);
void cmd_context_fini(struct cmd_context *context);
#define OWN_CONTEXT __attribute__((cleanup(cmd_context_fini)))

/* Checks of all texts whose grammar lives outside config/. */
extern const struct config_checks cmd_checks;

/* A sampler as the options, the configuration and the environment say. */
int cmd_sampler_open(const struct cmd *cmd, const struct config *config, enum source_depth depth,
                     const struct source_tap *tap, struct sampler **out, struct err *err);

/* Absolute path of the running program; caller frees. */
char *cmd_program_path(void);

/* Whether the environment's NVIDIA_SMI asks for nvidia-smi in place of NVML (GH-022). */
bool cmd_is_smi_forced(void);

/* cmd_context_open for commands that work on reports: the one named by --report, or all. */
int cmd_reports_open(const struct cmd *cmd, struct cmd_context *context, size_t *first,
                     size_t *count);

/* <csv_dir>/.gpumanager; caller frees. */
char *cmd_state_dir(const struct config *config);

/* The words behind `driver`, which is for `serve` and not for people. */
int cmd_driver(int argc, char **argv);

int cmd_init(struct cmd *cmd);
int cmd_add_report(struct cmd *cmd);
int cmd_remove_report(struct cmd *cmd);
int cmd_test_sample(struct cmd *cmd);
int cmd_test_report(struct cmd *cmd);
int cmd_delete_csv(struct cmd *cmd);
int cmd_compact(struct cmd *cmd);
int cmd_status(struct cmd *cmd);
int cmd_next(struct cmd *cmd);
int cmd_record(struct cmd *cmd);
int cmd_config(struct cmd *cmd);
int cmd_install_systemd(struct cmd *cmd);
int cmd_uninstall_systemd(struct cmd *cmd);
int cmd_reload(struct cmd *cmd);
int cmd_disable_sample(struct cmd *cmd);
int cmd_disable_report(struct cmd *cmd);
int cmd_completion(struct cmd *cmd);
int cmd_serve(struct cmd *cmd);
int cmd_token(struct cmd *cmd);

/* What serve and token do where the server is linked in; main.c sets them. */
extern int (*cmd_serve_run)(struct cmd *cmd);
extern int (*cmd_token_run)(struct cmd *cmd);

#endif
