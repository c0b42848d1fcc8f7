/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What systemd knows of a timer, and how `systemctl` words it. All but the bus is pure. */
#ifndef SCHEDULE_TIMER_FACTS_H
#define SCHEDULE_TIMER_FACTS_H

#include "base/buf.h"
#include "base/zone.h"

#include <stdbool.h>
#include <stdint.h>

struct span;

struct timer_facts {
    char load_state[24]; /* "loaded", "not-found"; "" = systemd did not say */
    char file_state[24]; /* "enabled", "disabled"; "" = not said */
    /* Microseconds; 0 = none. The first two are of the wall clock, the third of CLOCK_MONOTONIC. */
    int64_t last_us, next_real_us, next_mono_us;
};

/* Asks the system bus, for two seconds at most. -ENOSYS: built without, or no libsystemd here. */
int timer_facts_ask_bus(const char *timer, struct timer_facts *out);

/* The output of `systemctl show`: lines "Name=value". Times are in UTC or in `zone`. */
void timer_facts_parse(const char *text, const struct zone *zone, struct timer_facts *out);

/* "1d 2h 3min 4.5s" as systemd prints spans; false for "infinity", "" and what is no span. */
bool timer_parse_span(struct span text, int64_t *out_us);

/* "@1774310400", "Tue 2026-03-24 09:00:00 KST"; false for "n/a", "" and what is no time. The
 * letters at the end must be UTC or those of `zone` at that time. */
bool timer_parse_stamp(struct span text, const struct zone *zone, int64_t *out_us);

/* Adds "22h left", "1 day 3h left", "5s ago", "400ms left", "now": as `systemctl status` puts it.
 */
void timer_left(int64_t left_us, struct buf *out);

/* The earlier of both kinds of elapse, in microseconds since 1970; 0 = none. */
int64_t timer_next(const struct timer_facts *facts, int64_t now_us, int64_t mono_us);

/* "Tue 2026-03-24 09:00:00 KST; 22h left"; "n/a" for next_us = 0. */
void timer_trigger(int64_t next_us, const struct zone *zone, int64_t now_us, struct buf *out);

#endif
