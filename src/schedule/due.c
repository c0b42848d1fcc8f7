/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/due.h"

#include "base/clock.h"

#define FIRST_MOST_NS (10 * NS_PER_S) /* as OnActiveSec= of the timer */
#define SET_BACK_S 3600               /* further back, the clock was wrong before */

static void plan(struct due *due, const struct cron *cron, const struct zone *zone, int64_t now_s)
{
    bool is_repeat = due->last_s > now_s && due->last_s - now_s <= SET_BACK_S;
    int64_t next_s = 0;
    bool has_next = cron_next(cron, zone, is_repeat ? due->last_s : now_s, &next_s);
    due->next_s = has_next ? next_s : 0;
}

bool schedule_due(struct due *due, const struct cron *cron, const struct zone *zone, int64_t now_s)
{
    bool is_first = due->seen_s == 0;
    bool is_set_back = now_s < due->seen_s;
    due->seen_s = now_s;
    if (is_first || is_set_back) {
        plan(due, cron, zone, now_s);
        return false;
    }
    if (due->next_s == 0 || now_s < due->next_s) {
        return false;
    }
    /* A clock that jumped may have passed several; only the newest can be on time. */
    int64_t run_s = due->next_s;
    int64_t from_s = now_s - DUE_LATE_MOST_S - 1;
    if (run_s <= from_s && (!cron_next(cron, zone, from_s, &run_s) || run_s > now_s)) {
        plan(due, cron, zone, now_s);
        return false;
    }
    due->last_s = run_s;
    plan(due, cron, zone, now_s);
    return true;
}

void schedule_replan(struct due *due, const struct cron *cron, const struct zone *zone)
{
    if (due->seen_s != 0) {
        plan(due, cron, zone, due->seen_s);
    }
}

bool schedule_interval_due(int64_t *next_ns, int64_t interval_ns, int64_t now_ns)
{
    if (*next_ns == 0) {
        *next_ns = now_ns + (interval_ns < FIRST_MOST_NS ? interval_ns : FIRST_MOST_NS);
        return false;
    }
    if (now_ns < *next_ns) {
        return false;
    }
    *next_ns += interval_ns;
    if (*next_ns <= now_ns) {
        *next_ns = now_ns + interval_ns;
    }
    return true;
}
