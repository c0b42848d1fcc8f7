/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The table of commands: dispatch, help, the manual, shell completion and the reference are made
 * from it. */
#include "cmd/cmd.h"

#define YES_OPTION                                                                                 \
    {                                                                                              \
        "yes", NULL, "Skip confirmation prompt"                                                    \
    }

const struct cmd_option cmd_sampling_options[2] = {
    {"simulate", "SPEC", "Simulated GPUs instead of this machine's, for example 8xH100"},
    {"replay", "FILE", "GPUs of a recording (see record) instead of this machine's"},
};

const struct cmd_command cmd_commands[] = {
    {"init", "", "Run interactive initial setup", .run = cmd_init},
    {"add-report", "[NAME]", "Add a report to the configuration and start its timer",
     .option = {{"report-time", "CRON", "When it is sent: five cron fields, '0 9 * * *'"},
                {"interval", "WINDOW", "What it averages: 1h, 1d, 7d, since:month, …"}},
     .run = cmd_add_report},
    {"remove-report", "NAME", "Remove a report from the configuration and delete its timer",
     .option = {YES_OPTION}, .run = cmd_remove_report},
    {"test-sample", "", "Collect and store one GPU utilization sample", .is_sampling = true,
     .run = cmd_test_sample},
    {"test-report", "[FILE]", "Aggregate CSV data and send Slack report",
     .option = {{"report", "NAME", "Only this report; without it every report"},
                {"output", "FORMAT",
                 "Print it as text, json, csv, html or svg (to FILE if given) instead of sending"},
                {"no-cache", NULL, "Read every CSV file, without the day cache"},
                YES_OPTION},
     .run = cmd_test_report},
    {"delete-csv", "", "Delete CSV files by datetime range",
     .option = {{"start", "TIME", "Start datetime in YYYY-MM-DD HH:MM:SS"},
                {"end", "TIME", "End datetime in YYYY-MM-DD HH:MM:SS"},
                YES_OPTION},
     .run = cmd_delete_csv},
    {"compact", "", "Merge finished days into one CSV file a day",
     .option = {{"before", "DATE", "Only days before YYYY-MM-DD; without it all finished days"},
                YES_OPTION},
     .run = cmd_compact},
    {"status", "", "Show runtime and configuration status",
     .option = {{"text", NULL, "For people instead of JSON"}}, .run = cmd_status},
    {"next", "", "Show when reports will run, and over which window",
     .option = {{"report", "NAME", "Only this report; without it every report"},
                {"count", "K", "How many runs of each (default 3, at most 1000)"},
                {"after", "TIME",
                 "From this moment (YYYY-MM-DDTHH:MM:SSZ or +09:00) instead of now"}},
     .run = cmd_next},
    {"record", "FILE", "Write all that the drivers say to a file, for --replay and bug reports",
     .is_sampling = true,
     .option = {{"for", "TIME", "How long: 30s, 10m, 1h (default 1m)"},
                {"interval", "TIME", "Time between snapshots: 1s, 10s (default 1s)"}},
     .run = cmd_record},
    {"serve", "", "Show every GPU live on a page, and answer programs", .is_sampling = true,
     .option = {{"listen", "ADDR:PORT",
                 "Where (127.0.0.1:1312, [::1]:1312, unix:/path); can be given several times",
                 .is_repeatable = true},
                {"insecure", NULL,
                 "Listen where other machines reach it also without TLS or tokens"}},
     .run = cmd_serve},
    {"token", "add|list|remove [NAME]", "Make, show or remove the tokens that open the page",
     .option = {{"role", "ROLE", "For add: viewer (default) or operator, who sees all processes"}},
     .run = cmd_token},
    {"config", "check|show", "Check the configuration, or show every value and where it is from",
     .run = cmd_config},
    {"install-systemd", "", "Install system-wide systemd services and timers",
     .option = {{"enable-now", NULL, "Enable and start the system timers after installing them"},
                {"run-user", "USER", "Linux user account that the system services should run as"},
                {"serve", NULL,
                 "Also install the page (gpumanager-serve.service); it is remembered"}},
     .run = cmd_install_systemd},
    {"uninstall-systemd", "", "Remove system-wide systemd services and timers",
     .run = cmd_uninstall_systemd},
    {"reload", "", "Reload system-wide systemd timers for gpumanager", .run = cmd_reload},
    {"disable-sample", "", "Disable the sample timer", .run = cmd_disable_sample},
    {"disable-report", "", "Disable the report timer",
     .option = {{"report", "NAME", "Only this report; without it every report"}, YES_OPTION},
     .run = cmd_disable_report},
    {"completion", "bash|zsh|fish", "Print a completion script for a shell", .run = cmd_completion},
};

const size_t cmd_command_count = sizeof cmd_commands / sizeof cmd_commands[0];
