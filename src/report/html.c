/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One file with the picture and the figures; needs nothing from anywhere. */
#include "base/own.h"
#include "report/words.h"

#include <math.h>
#include <stdio.h>

static const char page_style[] =
    "<style>body{margin:0;background:#fff;color:#16191d;font:13px/1.5 system-ui,-apple-system,"
    "\"Segoe UI\",Roboto,\"Helvetica Neue\",sans-serif;font-variant-numeric:tabular-nums}"
    "main{max-width:960px;margin:0 auto}main>svg{display:block;width:100%;height:auto}"
    ".figures{padding:0 32px 32px;overflow-x:auto}table{border-collapse:collapse;width:100%}"
    "th{font-weight:400;color:#5b6570;font-size:12px}th,td{text-align:right;padding:6px 8px;"
    "border-bottom:1px solid #e3e7eb;white-space:nowrap}th:nth-child(2),td:nth-child(2)"
    "{text-align:left}td.uuid{white-space:normal;word-break:break-all;font-family:ui-monospace,"
    "monospace;font-size:12px}"
    "p{color:#5b6570;font-size:12px}"
    "@media(prefers-color-scheme:dark){body{background:#14171a;color:#e8ebee}th,p{color:#9aa5b1}"
    "th,td{border-color:#2b3138}}</style>\n";

static void cell(struct buf *out, const char *classes, const char *text)
{
    buf_format(out, "<td%s>", classes);
    words_xml(text, out);
    buf_text(out, "</td>");
}

static void cell_percent(struct buf *out, double percent)
{
    OWN_BUF struct buf text = {0};
    words_percent(percent, &text);
    cell(out, "", text.data);
}

static void cell_int(struct buf *out, int64_t value)
{
    buf_format(out, "<td>%lld</td>", (long long)value);
}

static void table_row(struct buf *out, const struct archive_gpu *gpu, int64_t expected)
{
    double coverage = usage_coverage(gpu, expected);
    buf_format(out, "<tr><td>%d</td>", gpu->index);
    cell(out, "", gpu->name);
    cell_percent(out, usage_average(gpu));
    cell_percent(out, usage_least(gpu));
    cell_percent(out, usage_most(gpu));
    cell_int(out, gpu->sample_count);
    cell_int(out, expected);
    cell_percent(out, coverage * 100);
    cell(out, " class=\"uuid\"", gpu->uuid);
    buf_text(out, "</tr>\n");
}

static void notes(struct buf *out, const struct report *report)
{
    const struct archive_result *result = report->result;
    int64_t most = 0;
    for (size_t i = 0; i < result->gpu_count; i++) {
        most = result->gpu[i].sample_count > most ? result->gpu[i].sample_count : most;
    }
    buf_format(out,
               "<p>%lld samples, one every %lld s expected. Averages are over the samples "
               "that are there.",
               (long long)most, (long long)report->sample_interval_s);
    if (result->skipped_lines > 0 || result->unreadable_count > 0) {
        buf_format(out, " Left out: %lld torn or malformed lines, %lld unreadable files.",
                   (long long)result->skipped_lines, (long long)result->unreadable_count);
    }
    buf_text(out, "</p>\n");
}

void report_html(const struct report *report, struct buf *out)
{
    const struct archive_result *result = report->result;
    int64_t expected = usage_expected(&report->window, report->sample_interval_s);
    OWN_BUF struct buf title = {0};
    words_header(report, &title);
    buf_text(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    words_xml(buf_string(&title), out);
    buf_format(out, " %s</title>\n%s</head>\n<body>\n<main>\n", report->window.label, page_style);
    words_svg(report, false, out);
    buf_text(out, "<div class=\"figures\">\n");
    if (result->gpu_count > 0) {
        buf_text(out, "<table>\n<thead><tr><th>GPU</th><th>Name</th><th>Average</th><th>Least</th>"
                      "<th>Most</th><th>Samples</th><th>Expected</th><th>Coverage</th><th>UUID</th>"
                      "</tr></thead>\n<tbody>\n");
        for (size_t i = 0; i < result->gpu_count; i++) {
            table_row(out, &result->gpu[i], expected);
        }
        buf_text(out, "</tbody>\n</table>\n");
    }
    notes(out, report);
    buf_text(out, "</div>\n</main>\n</body>\n</html>\n");
}
