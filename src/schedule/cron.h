/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Five-field cron as vixie cron takes it, as data: which minutes fire. Pure. */
#ifndef SCHEDULE_CRON_H
#define SCHEDULE_CRON_H

#include "base/buf.h"
#include "base/err.h"
#include "base/zone.h"

#include <stdbool.h>
#include <stdint.h>

struct cron {
    uint64_t minutes;  /* bit n = minute n */
    uint32_t hours;    /* bit n = hour n */
    uint32_t days;     /* bit n = day of month n (1-31) */
    uint32_t months;   /* bit n = month n (1-12) */
    uint32_t weekdays; /* bit n = weekday n, 0 = Sunday */
    bool is_day_and;   /* a day field began with '*': both must match; else either one */
    bool is_wild_time; /* minute or hour began with '*': real minutes count, not wall times */
};

/* -EINVAL with GM's sentences (SPEC Part B); an expression that can never fire is refused. */
int cron_parse(const char *text, struct cron *out, struct err *err);
int cron_check(const char *text, struct err *err); /* the same, for config_checks */

/* The first instant after `after_s` (UTC seconds) at which it fires; false when there is none
 * within ten years. A fixed time in the spring gap fires at the first valid instant after it; in
 * the autumn fold, once. */
bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *out_s);

/* True when the wall shows a time that matches; `local` as zone_civil gives it. */
bool cron_matches(const struct cron *cron, const struct civil *local);

/* True when some month it names has some day of month it names. */
bool cron_has_days(const struct cron *cron);

/* Adds the OnCalendar= values, each ended by '\n', that make systemd fire at the same instants as
 * cron_next. What systemd leaves out when the zone's clocks jump (a fixed time in a gap, the
 * second pass of a fold) gets lines of its own, with the date, for the ten years after now_s:
 * they run out unless the units are written again. */
void cron_to_calendar(const struct cron *cron, const struct zone *zone, int64_t now_s,
                      struct buf *out);

/* Only the usual part of it, without '\n': what `status` shows as on_calendar. Two lines (either
 * day field may fire) stand with "; " between them. */
void cron_to_calendar_short(const struct cron *cron, const struct zone *zone, struct buf *out);

#endif
