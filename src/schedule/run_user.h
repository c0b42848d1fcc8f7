/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The account our services run as. Asked once, at install; later the installed units remember it
 * (Part C 8). */
#ifndef SCHEDULE_RUN_USER_H
#define SCHEDULE_RUN_USER_H

#include "base/err.h"
#include "schedule/unit_dir.h"

struct run_user {
    char name[UNIT_USER_SIZE]; /* as a unit file takes it: an odd name is given as a number */
    char *home;                /* owned; never NULL */
    uid_t uid;
    gid_t gid;
};

/* `wanted` (--run-user), else `pending` (of a change that was cut short), else what the installed
 * units name, else who called sudo, else the caller; "" and NULL are absent. -EINVAL: no such
 * account. */
int run_user_find(const char *wanted, const char *pending, struct run_user *out, struct err *err);

/* Where "~" of our caller leads for that account: a path below our HOME, below its home instead.
 * NULL when the path is not below HOME, or both homes are the same. Caller frees. */
char *run_user_path(const struct run_user *user, const char *path);

/* Runs `step(arg)` with the rights of that account: here when it is ours already, in a child when
 * we are root. Returns what the step returned; -EPERM when we cannot become that account. The step
 * may use nothing that another thread could hold. */
int run_user_do(const struct run_user *user, int (*step)(const char *arg), const char *arg);

void run_user_fini(struct run_user *user);

#endif
