/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The span of time a report looks at: rolling ("30m", "12h", "7d", counted back from the moment of
 * sending) or from a boundary in the configured zone ("since:day|week|month|quarter|year" or
 * "since:YYYY-MM-DD"). Both ends are inclusive (GM-050 … GM-059). Pure. */
#ifndef QUERY_WINDOW_H
#define QUERY_WINDOW_H

#include "base/err.h"
#include "base/zone.h"

#include <stdint.h>

struct window {
    int64_t from_s, to_s; /* seconds since 1970 UTC, both inclusive */
    char label[64];       /* "last 1d" or "since 2026-07-01 00:00": what follows "Window: " */
};

/* 0 when the text is a window; -EINVAL "must look like 1d, 12h, or 30m, …". */
int window_check(const char *text, struct err *err);

/* The window that ends at now_s. */
int window_resolve(const char *text, const struct zone *zone, int64_t now_s, struct window *out,
                   struct err *err);

#endif
