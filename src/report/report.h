/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One report as data, then as text, Slack blocks, JSON, CSV, HTML or SVG. Building is pure; the
 * text form is the predecessor's to the letter (GM-060 … GM-064). */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "base/buf.h"
#include "base/zone.h"
#include "query/usage.h"

#include <stdbool.h>
#include <stdint.h>

struct report {
    const char *server_name; /* "" = gpumanager */
    const char *report_name;
    const struct zone *zone;
    int64_t now_s;
    struct window window;
    int64_t sample_interval_s;           /* for coverage: expected samples */
    const struct archive_result *result; /* with buckets for html and svg */
    size_t bucket_count;
    bool has_coverage; /* include = ["coverage"] in the text form; others always have it */
};

/* "[server/report] YYYY.MM.DD HH:MM:SS TZ", "Window: …", "GPU i: 12.34%" lines; no line end at the
 * end. A GPU without a valid sample says "n/a". */
void report_text(const struct report *report, struct buf *out);

/* Slack's "text" form of it: & < > escaped once. */
void report_slack_text(const struct report *report, struct buf *out);

/* The body to POST: {"text": …} as Python's json.dumps writes it, or with "blocks" (Block Kit, at
 * most 50 blocks of 3,000 characters) beside the text. */
void report_slack_body(const struct report *report, bool has_blocks, struct buf *out);

/* One object, indented by 2; what is unknown is null. */
void report_json(const struct report *report, struct buf *out);
/* One row a GPU, after a header where `out` is empty; what is unknown is empty. */
void report_csv(const struct report *report, struct buf *out);
/* Self-contained pictures of the averages and of the course over the window; a light and a dark
 * theme, as the viewer prefers. */
void report_svg(const struct report *report, struct buf *out);
void report_html(const struct report *report, struct buf *out);

#endif
