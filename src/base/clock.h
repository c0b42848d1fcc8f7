/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The only reader of the clock. Everyone else is handed `now`. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)

/* Nanoseconds since 1970-01-01 UTC. In a build with test hooks GPUMANAGER_NOW replaces it:
 * "@SECONDS" or "2026-03-22T16:30:00+09:00" fixes the clock, "+SECONDS" or "-SECONDS" moves it. */
int64_t clock_wall_ns(void);

/* Nanoseconds since some start that no clock change moves; for intervals and deadlines. */
int64_t clock_mono_ns(void);

/* The time that the kernel stamps files with on this machine. No test hook moves it, as none moves
 * the stamps. */
int64_t clock_file_ns(void);

void clock_sleep_ns(int64_t duration_ns);

/* "YYYY-MM-DDTHH:MM:SS" followed by Z or +HH:MM; whole seconds. False when it is not that or no
 * such date (1 <= year <= 9999). `*out_s` is seconds since 1970 UTC. */
bool clock_parse_iso(const char *text, int64_t length, int64_t *out_s, int *offset_s);

/* Days from 1970-01-01 to the civil date (proleptic Gregorian); months 1-12, days 1-31. */
int64_t clock_days_from_civil(int64_t year, int month, int day);

#endif
