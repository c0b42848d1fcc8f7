/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The commands about systemd, and what the commands that change the configuration do afterwards. */
#ifndef CMD_SYSTEMD_H
#define CMD_SYSTEMD_H

#include "cmd/cmd.h"

/* Brings installed timers in line with the configuration; `word` heads the list of timers that
 * changed. Prints nothing when nothing is installed. Returns an exit code; a failure says that
 * `gpumanager reload` finishes the job (GM-083). */
int systemd_follow(const struct cmd_context *context, const char *word);

#endif
