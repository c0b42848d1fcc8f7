/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What a change still has to do, kept beside the units until it is done. The unit files alone
 * cannot say it: once they are written, a timer that was not started yet looks like one that a
 * person stopped. So `gpumanager reload` finishes what was cut short (GM-083). */
#ifndef SCHEDULE_PENDING_H
#define SCHEDULE_PENDING_H

#include "schedule/act.h"
#include "schedule/unit_dir.h"

struct pending {
    bool is_present;
    char user[UNIT_USER_SIZE]; /* "" = not said */
    struct words enable;       /* timers to enable and start */
    struct words rearm;        /* timers to start anew if they run */
    struct words off;          /* new timers that stay off */
};

void pending_read(struct pending *out);
int pending_write(const struct pending *pending, struct act *act, struct err *err);
int pending_clear(struct act *act, struct err *err);
void pending_fini(struct pending *pending);

#define OWN_PENDING __attribute__((cleanup(pending_fini)))

#endif
