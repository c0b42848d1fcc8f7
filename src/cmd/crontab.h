/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The schedules as lines for crontab(5), for machines without systemd. */
#ifndef CMD_CRONTAB_H
#define CMD_CRONTAB_H

#include "base/buf.h"
#include "cmd/cmd.h"

/* Adds the lines, with comments for what cron cannot do as asked. */
void crontab_format(const struct cmd_context *context, const char *program, struct buf *out);

#endif
