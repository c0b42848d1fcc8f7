/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Finds the command, reads its options, calls it. --config is taken before and after it. */
#include "base/mem.h"
#include "base/spawn.h"
#include "base/text.h"
#include "build_config.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int count_options(const struct cmd_command *command)
{
    int count = 0;
    while (count < CMD_OPTIONS_MAX && command->option[count].name != NULL) {
        count++;
    }
    return count;
}

static void print_option(const struct cmd_option *option)
{
    char left[64];
    (void)snprintf(left, sizeof left, "--%s%s%s", option->name, option->argument ? " " : "",
                   option->argument ? option->argument : "");
    (void)printf("  %-22s  %s\n", left, option->help);
}

static void print_help(void)
{
    (void)printf("usage: gpumanager [--config PATH] COMMAND [options]\n\n"
                 "GPU utilization sampler and Slack reporter\n\ncommands:\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        (void)printf("  %-18s  %s\n", cmd_commands[i].name, cmd_commands[i].summary);
    }
    (void)printf("\noptions:\n");
    print_option(&(struct cmd_option){"config", "PATH", "Path to config.toml"});
    print_option(&(struct cmd_option){"help", NULL, "Show this, or a command's options"});
    print_option(&(struct cmd_option){"version", NULL, "Show the version"});
}

static void print_usage(FILE *to, const struct cmd_command *command)
{
    (void)fprintf(to, "usage: gpumanager [--config PATH] %s", command->name);
    for (int i = 0; i < count_options(command); i++) {
        const struct cmd_option *option = &command->option[i];
        (void)fprintf(to, " [--%s%s%s]", option->name, option->argument ? " " : "",
                      option->argument ? option->argument : "");
    }
    if (command->is_sampling) {
        (void)fprintf(to, " [--simulate SPEC | --replay FILE]");
    }
    (void)fprintf(to, "%s%s\n", command->arguments[0] ? " " : "", command->arguments);
}

static void print_command_help(const struct cmd_command *command)
{
    print_usage(stdout, command);
    (void)printf("\n%s\n\noptions:\n", command->summary);
    for (int i = 0; i < count_options(command); i++) {
        print_option(&command->option[i]);
    }
    for (int i = 0; command->is_sampling && i < 2; i++) {
        print_option(&cmd_sampling_options[i]);
    }
    print_option(&(struct cmd_option){"config", "PATH", "Path to config.toml"});
    print_option(&(struct cmd_option){"help", NULL, "Show this"});
}

static const struct cmd_command *find_command(const char *name)
{
    for (size_t i = 0; i < cmd_command_count; i++) {
        if (strcmp(cmd_commands[i].name, name) == 0) {
            return &cmd_commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    const char **names = mem_new(cmd_command_count + 1, sizeof *names);
    for (size_t i = 0; i < cmd_command_count; i++) {
        names[i] = cmd_commands[i].name;
    }
    const char *near = text_nearest(name, names);
    (void)fprintf(stderr, "Error: unknown command '%s'%s%s%s; see gpumanager --help\n", name,
                  near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    free(names);
    return CMD_USAGE;
}

enum { OPTION_CONFIG = 1000, OPTION_HELP };

/* The command's own options by position, then the sampling ones, then --config and --help. */
static void fill_long_options(const struct cmd_command *command, struct option *out)
{
    int at = 0;
    for (int i = 0; i < count_options(command); i++) {
        const struct cmd_option *option = &command->option[i];
        out[at++] = (struct option){option->name,
                                    option->argument ? required_argument : no_argument, NULL, i};
    }
    for (int i = 0; command->is_sampling && i < 2; i++) {
        out[at++] = (struct option){cmd_sampling_options[i].name, required_argument, NULL,
                                    CMD_OPTIONS_MAX + i};
    }
    out[at++] = (struct option){"config", required_argument, NULL, OPTION_CONFIG};
    out[at] = (struct option){"help", no_argument, NULL, OPTION_HELP};
}

static int usage_error(const struct cmd_command *command)
{
    print_usage(stderr, command);
    return CMD_USAGE;
}

static int take_arguments(struct cmd *cmd, int argc, char **argv)
{
    const struct cmd_command *command = cmd->command;
    int most = command->arguments[0] != '\0' ? 1 : 0;
    for (const char *at = command->arguments; *at != '\0'; at++) {
        most += *at == ' ' ? 1 : 0;
    }
    for (int i = optind; i < argc; i++) {
        if (cmd->argument_count == most) {
            (void)fprintf(stderr, "Error: %s does not take '%s'\n", command->name, argv[i]);
            return usage_error(command);
        }
        cmd->argument[cmd->argument_count++] = argv[i];
    }
    bool is_required = most > 0 && command->arguments[0] != '[';
    if (is_required && cmd->argument_count == 0) {
        (void)fprintf(stderr, "Error: %s needs %s\n", command->name, command->arguments);
        return usage_error(command);
    }
    return CMD_OK;
}

/* Values of an option that may come several times live as long as the run. */
static void take_value(struct cmd *cmd, int option, const char *argument)
{
    const char *before = cmd->value[option];
    bool is_own = option < CMD_OPTIONS_MAX;
    if (is_own && before != NULL && cmd->command->option[option].is_repeatable) {
        char *joined = mem_format("%s,%s", before, argument);
        free(cmd->joined[option]);
        cmd->joined[option] = joined;
        cmd->value[option] = joined;
        return;
    }
    cmd->value[option] = argument != NULL ? argument : "";
}

/* argv[0] is the command's name. */
static int run_command(struct cmd *cmd, int argc, char **argv)
{
    struct option options[CMD_OPTIONS_MAX + 5] = {0};
    fill_long_options(cmd->command, options);
    optind = 1;
    int option = 0;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) !=
           -1) { /* NOLINT(concurrency-mt-unsafe) */
        if (option == 'h' || option == OPTION_HELP) {
            print_command_help(cmd->command);
            return CMD_OK;
        }
        if (option == '?') {
            return usage_error(cmd->command);
        }
        if (option == OPTION_CONFIG) {
            cmd->config_path = optarg;
            continue;
        }
        take_value(cmd, option, optarg);
    }
    int code = take_arguments(cmd, argc, argv);
    return code != CMD_OK ? code : cmd->command->run(cmd);
}

static void cancel(int signal_number)
{
    (void)signal_number;
    static const char text[] = "\nCancelled.\n";
    spawn_kill_running();
    /* Files are replaced whole or not at all, so stopping here loses nothing. */
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(CMD_CANCELLED);
}

/* Options before the command: true when the run is over, with its exit code. */
static bool read_global_option(struct cmd *cmd, char **argv, int *at, int *code)
{
    const char *word = argv[*at];
    *code = CMD_OK;
    if (strcmp(word, "--version") == 0) {
        (void)printf("gpumanager %s\n", GPUMANAGER_VERSION);
        return true;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        print_help();
        return true;
    }
    if (text_starts(word, "--config=")) {
        cmd->config_path = word + strlen("--config=");
        return false;
    }
    if (strcmp(word, "--config") == 0) {
        if (argv[*at + 1] == NULL) {
            (void)fprintf(stderr, "Error: --config needs a path\n");
            *code = CMD_USAGE;
            return true;
        }
        *at += 1;
        cmd->config_path = argv[*at];
        return false;
    }
    (void)fprintf(stderr, "Error: unknown option '%s'; see gpumanager --help\n", word);
    *code = CMD_USAGE;
    return true;
}

static int run(int argc, char **argv)
{
    struct cmd cmd = {0};
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        int code = CMD_OK;
        if (read_global_option(&cmd, argv, &at, &code)) {
            return code;
        }
    }
    if (at >= argc) {
        print_help();
        return CMD_USAGE;
    }
    if (strcmp(argv[at], "help") == 0) {
        const struct cmd_command *asked = at + 1 < argc ? find_command(argv[at + 1]) : NULL;
        if (asked != NULL) {
            print_command_help(asked);
        } else {
            print_help();
        }
        return CMD_OK;
    }
    if (strcmp(argv[at], "driver") == 0) {
        return cmd_driver(argc - at - 1, argv + at + 1);
    }
    cmd.command = find_command(argv[at]);
    if (cmd.command == NULL) {
        return unknown_command(argv[at]);
    }
    int code = run_command(&cmd, argc - at, argv + at);
    for (size_t i = 0; i < CMD_OPTIONS_MAX; i++) {
        free(cmd.joined[i]);
    }
    return code;
}

int serve_run(struct cmd *cmd); /* serve.c, which only the program has */
int token_run(struct cmd *cmd); /* token_command.c, likewise */

int main(int argc, char **argv)
{
    cmd_serve_run = serve_run;
    cmd_token_run = token_run;
    (void)setlocale(LC_CTYPE, "C.UTF-8"); /* numbers keep their point whatever the locale */
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGXFSZ, SIG_IGN); /* a limit on files is an error to be told, as a full disk is */
    struct sigaction action = {.sa_handler = cancel};
    (void)sigaction(SIGINT, &action, NULL);
    int code = run(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        (void)fprintf(stderr, "Error: cannot write the output: %s\n", err_name(errno));
        return code == CMD_OK ? CMD_FAILED : code;
    }
    return code;
}
