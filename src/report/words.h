/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Pieces that several forms of a report share. For the files of report/. */
#ifndef REPORT_WORDS_H
#define REPORT_WORDS_H

#include "report/report.h"

#define WORDS_NO_SAMPLES "No GPU samples found in the selected window."

void words_header(const struct report *report, struct buf *out); /* "[server/report]" */
void words_time(const struct report *report, struct buf *out);
void words_percent(double percent, struct buf *out); /* "12.34%" or "n/a" */

/* Text for XML and HTML, also inside quotes; characters that XML forbids become '?'. */
void words_xml(const char *text, struct buf *out);

/* The picture alone, as an <svg> element: for the file and for the page. */
void words_svg(const struct report *report, bool is_file, struct buf *out);

#endif
