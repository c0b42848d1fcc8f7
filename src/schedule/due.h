/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What is due, for a program that runs the schedules itself instead of systemd's timers. Pure. */
#ifndef SCHEDULE_DUE_H
#define SCHEDULE_DUE_H

#include "base/zone.h"
#include "schedule/cron.h"

#include <stdbool.h>
#include <stdint.h>

/* So late a run still counts as on time; older ones (the machine slept, the program was stopped,
 * the clock was set) are not made up for. */
#define DUE_LATE_MOST_S 60

/* One cron schedule between two looks; = {0} to begin. */
struct due {
    int64_t seen_s; /* the wall clock at the last look; 0 = none yet */
    int64_t next_s; /* the next run; 0 = none */
    int64_t last_s; /* the run that was last due; 0 = none yet */
};

/* True when a run is due at this look. The first look only plans; a clock set back a little does
 * not repeat a run. */
bool schedule_due(struct due *due, const struct cron *cron, const struct zone *zone, int64_t now_s);

/* After a change of the schedule or the zone: plans anew from the last look. */
void schedule_replan(struct due *due, const struct cron *cron, const struct zone *zone);

/* The same for an interval on the monotonic clock: *next_ns = 0 to begin; the first run is after
 * one interval, ten seconds at most. Runs that were missed are left out. */
bool schedule_interval_due(int64_t *next_ns, int64_t interval_ns, int64_t now_ns);

#endif
