/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What a window means at a run, in words: "since 2026-07-01 00:00", "last 1d (from …)". */
#ifndef CMD_NEXT_H
#define CMD_NEXT_H

#include "cmd/cmd.h"

#include <stddef.h>

int next_window_text(const struct zone *zone, const char *interval, int64_t run_s, char *out,
                     size_t size, struct err *err);

/* True when that window holds fewer than two samples, as "since:month" does at midnight of the
 * first. */
bool next_window_is_short(const struct zone *zone, const char *interval, int64_t run_s,
                          int64_t sample_interval_s);

#endif
