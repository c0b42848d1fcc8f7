/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* completion: scripts for bash, zsh and fish, made from the table of commands. */
#include "base/buf.h"
#include "base/own.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Calls `each` for every option of the command, the common ones included. */
static void for_options(const struct cmd_command *command, struct buf *out,
                        void (*each)(struct buf *, const struct cmd_command *,
                                     const struct cmd_option *))
{
    for (int i = 0; i < CMD_OPTIONS_MAX && command->option[i].name != NULL; i++) {
        each(out, command, &command->option[i]);
    }
    for (int i = 0; command->is_sampling && i < 2; i++) {
        each(out, command, &cmd_sampling_options[i]);
    }
    each(out, command, &(struct cmd_option){"config", "PATH", "Path to config.toml"});
    each(out, command, &(struct cmd_option){"help", NULL, "Show the options"});
}

/* Text inside single quotes of a shell. */
static void quoted(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'') {
            buf_text(out, "'\\''");
        } else {
            buf_char(out, *text);
        }
    }
}

/* The words an argument like "bash|zsh|fish" offers; nothing for a free one. */
static void choices(struct buf *out, const struct cmd_command *command)
{
    if (strchr(command->arguments, '|') == NULL) {
        return;
    }
    for (const char *at = command->arguments; *at != '\0' && *at != ' '; at++) {
        char c = *at;
        if (c == '|') {
            c = ' ';
        }
        buf_char(out, c);
    }
}

static void bash_option(struct buf *out, const struct cmd_command *command,
                        const struct cmd_option *option)
{
    (void)command;
    buf_format(out, " --%s", option->name);
}

static void write_bash(struct buf *out)
{
    buf_text(
        out,
        "_gpumanager() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case ${COMP_WORDS[i]} in\n"
        "            --config) ((i++)) ;;\n"
        "            -*) ;;\n"
        "            *) command=${COMP_WORDS[i]}; break ;;\n"
        "        esac\n"
        "    done\n"
        "    case $before in\n"
        "        --config | --replay) COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n"
        "        --output) COMPREPLY=($(compgen -W 'text json csv html svg' -- \"$word\")); return "
        ";;\n"
        "        --run-user) COMPREPLY=($(compgen -u -- \"$word\")); return ;;\n"
        "    esac\n"
        "    local words=\n"
        "    case $command in\n"
        "        '') words='--config --help --version");
    for (size_t i = 0; i < cmd_command_count; i++) {
        buf_format(out, " %s", cmd_commands[i].name);
    }
    buf_text(out, "' ;;\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        buf_format(out, "        %s) words='", cmd_commands[i].name);
        choices(out, &cmd_commands[i]);
        for_options(&cmd_commands[i], out, bash_option);
        buf_text(out, "' ;;\n");
    }
    buf_text(out, "    esac\n"
                  "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                  "    [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$word\"))\n"
                  "}\n"
                  "complete -F _gpumanager gpumanager\n");
}

static void zsh_option(struct buf *out, const struct cmd_command *command,
                       const struct cmd_option *option)
{
    (void)command;
    buf_format(out, " '--%s[", option->name);
    for (const char *at = option->help; *at != '\0'; at++) {
        if (*at == '[' || *at == ']' || *at == ':') {
            buf_char(out, '\\');
        }
        char one[2] = {*at, '\0'};
        quoted(out, one);
    }
    buf_text(out, "]");
    if (option->argument != NULL) {
        bool is_file =
            strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "PATH") == 0;
        buf_format(out, ":%s:%s", option->argument, is_file ? "_files" : "");
    }
    buf_text(out, "'");
}

static void write_zsh(struct buf *out)
{
    buf_text(out, "#compdef gpumanager\n"
                  "_gpumanager() {\n"
                  "    local -a commands=(\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        buf_format(out, "        '%s:", cmd_commands[i].name);
        quoted(out, cmd_commands[i].summary);
        buf_text(out, "'\n");
    }
    buf_text(out, "    )\n"
                  "    if (( CURRENT == 2 )); then _describe command commands; return; fi\n"
                  "    local command=${words[2]}\n"
                  "    shift words; (( CURRENT-- ))\n"
                  "    case $command in\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        buf_format(out, "        %s) _arguments", cmd_commands[i].name);
        for_options(&cmd_commands[i], out, zsh_option);
        if (strchr(cmd_commands[i].arguments, '|') != NULL) {
            buf_text(out, " '1:choice:(");
            choices(out, &cmd_commands[i]);
            buf_text(out, ")'");
        } else if (cmd_commands[i].arguments[0] != '\0') {
            buf_text(out, " '1:argument:_files'");
        }
        buf_text(out, " ;;\n");
    }
    buf_text(out, "    esac\n}\n_gpumanager \"$@\"\n");
}

static void fish_option(struct buf *out, const struct cmd_command *command,
                        const struct cmd_option *option)
{
    buf_format(out, "complete -c gpumanager -n '__fish_seen_subcommand_from %s' -l %s%s -d '",
               command->name, option->name, option->argument ? " -r" : "");
    quoted(out, option->help);
    buf_text(out, "'\n");
}

static void write_fish(struct buf *out)
{
    buf_text(out, "complete -c gpumanager -n __fish_use_subcommand -f\n");
    for (size_t i = 0; i < cmd_command_count; i++) {
        const struct cmd_command *command = &cmd_commands[i];
        buf_format(out, "complete -c gpumanager -n __fish_use_subcommand -a %s -d '",
                   command->name);
        quoted(out, command->summary);
        buf_text(out, "'\n");
        if (strchr(command->arguments, '|') != NULL) {
            buf_format(out, "complete -c gpumanager -n '__fish_seen_subcommand_from %s' -f -a '",
                       command->name);
            choices(out, command);
            buf_text(out, "'\n");
        }
        for_options(command, out, fish_option);
    }
}

int cmd_completion(struct cmd *cmd)
{
    OWN_BUF struct buf out = {0};
    const char *shell = cmd->argument[0];
    if (strcmp(shell, "bash") == 0) {
        write_bash(&out);
    } else if (strcmp(shell, "zsh") == 0) {
        write_zsh(&out);
    } else if (strcmp(shell, "fish") == 0) {
        write_fish(&out);
    } else {
        struct err err = {0};
        (void)err_set(&err, -EINVAL, "completion %s: expected bash, zsh or fish", shell);
        return cmd_fail_usage(&err);
    }
    (void)fwrite(out.data, 1, out.length, stdout);
    return CMD_OK;
}
