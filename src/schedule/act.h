/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Steps that change the machine's systemd. Root takes them directly; anybody else through sudo,
 * which may ask for a password on the terminal. A sentence names the command that failed. */
#ifndef SCHEDULE_ACT_H
#define SCHEDULE_ACT_H

#include "base/buf.h"
#include "base/err.h"
#include "schedule/unit_dir.h"

#include <stdbool.h>

struct act {
    bool is_root;
    size_t written, deleted; /* files so far, for the sentence of a partial failure */
};

/* -ENOENT: no systemd here, or "sudo not found". */
int act_open(struct act *act, struct err *err);

/* argv[0] searched in PATH; NULL ends it. -EIO: it ran and failed. */
int act_run(struct act *act, const char *const *argv, struct err *err);

/* systemctl VERB [FLAG] UNITS…; flag may be NULL. Nothing happens for an empty list of units. */
int act_systemctl(struct act *act, const char *verb, const char *flag, const struct words *units,
                  struct err *err);
int act_daemon_reload(struct act *act, struct err *err);

/* Whole, 0644, root's. */
int act_write(struct act *act, const char *path, const struct buf *text, struct err *err);
/* Makes these files of one folder, or sets their times to now; the folder is made when missing. */
int act_touch(struct act *act, const struct words *paths, struct err *err);
int act_delete(struct act *act, const struct words *paths, struct err *err);

#endif
