/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Slack's formatting rules: https://api.slack.com/reference/surfaces/formatting (escaping) and
 * https://api.slack.com/reference/block-kit/blocks (limits). */
#include "base/jsonout.h"
#include "base/own.h"
#include "report/words.h"

#include <math.h>
#include <string.h>

#define SECTION_MAX 2900 /* characters of a block's text; Slack takes 3,000 */
#define HEADER_MAX 150
#define BLOCKS_MAX 50
#define BAR_CELLS 20

/* & < > become entities, and nothing else does. */
static void escape(const char *text, struct buf *out)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            buf_text(out, "&amp;");
            break;
        case '<':
            buf_text(out, "&lt;");
            break;
        case '>':
            buf_text(out, "&gt;");
            break;
        default:
            buf_char(out, *text);
            break;
        }
    }
}

void report_slack_text(const struct report *report, struct buf *out)
{
    OWN_BUF struct buf raw = {0};
    report_text(report, &raw);
    escape(buf_string(&raw), out);
}

static void text_object(struct jsonout *json, const char *kind, const char *text)
{
    jsonout_begin_object(json);
    jsonout_key(json, "type");
    jsonout_string(json, kind);
    jsonout_key(json, "text");
    jsonout_string(json, text);
    jsonout_end_object(json);
}

static void text_block(struct jsonout *json, const char *block, const char *kind, const char *text)
{
    jsonout_begin_object(json);
    jsonout_key(json, "type");
    jsonout_string(json, block);
    jsonout_key(json, "text");
    text_object(json, kind, text);
    jsonout_end_object(json);
}

/* Small grey words under the header. */
static void context_block(struct jsonout *json, const char *text)
{
    jsonout_begin_object(json);
    jsonout_key(json, "type");
    jsonout_string(json, "context");
    jsonout_key(json, "elements");
    jsonout_begin_array(json);
    text_object(json, "mrkdwn", text);
    jsonout_end_array(json);
    jsonout_end_object(json);
}

/* Cut to what Slack takes, at the end of a character and never inside an entity. */
static void cut_text(struct buf *text, size_t limit)
{
    if (text->length <= limit) {
        return;
    }
    size_t end = limit;
    while (end > 0 && ((unsigned char)text->data[end] & 0xc0) == 0x80) {
        end--;
    }
    for (size_t back = 1; back <= 5 && back <= end; back++) {
        if (text->data[end - back] == ';') {
            break;
        }
        if (text->data[end - back] == '&') {
            end -= back;
            break;
        }
    }
    text->length = end;
    text->data[end] = '\0';
}

static void add_bar(double percent, struct buf *out)
{
    int full = isnan(percent) ? 0 : (int)lround(percent / 100 * BAR_CELLS);
    for (int i = 0; i < BAR_CELLS; i++) {
        buf_text(out, i < full ? "\u2588" : "\u2591");
    }
}

/* "GPU  0 ████░░░░  61.25%  100% of samples  NVIDIA H100" */
static void gpu_line(const struct archive_gpu *gpu, int64_t expected, struct buf *out)
{
    OWN_BUF struct buf figure = {0};
    double average = usage_average(gpu);
    words_percent(average, &figure);
    buf_format(out, "GPU %2d ", gpu->index);
    add_bar(average, out);
    buf_format(out, " %7s", figure.data);
    double coverage = usage_coverage(gpu, expected);
    if (!isnan(coverage)) {
        buf_format(out, "  %3.0f%% of samples", floor(coverage * 100));
    }
    buf_text(out, "  ");
    size_t begin = out->length;
    escape(gpu->name, out);
    for (size_t i = begin; i < out->length; i++) {
        if (out->data[i] == '`') { /* would end the monospaced block */
            out->data[i] = '\'';
        }
    }
    buf_char(out, '\n');
}

static void flush_lines(struct jsonout *json, struct buf *lines)
{
    if (lines->length == 0) {
        return;
    }
    OWN_BUF struct buf text = {0};
    buf_format(&text, "```\n%s```", lines->data);
    text_block(json, "section", "mrkdwn", text.data);
    buf_clear(lines);
}

/* Sections of as many lines as fit, each a monospaced block. */
static void gpu_blocks(struct jsonout *json, const struct report *report)
{
    const struct archive_result *result = report->result;
    int64_t expected = usage_expected(&report->window, report->sample_interval_s);
    OWN_BUF struct buf lines = {0};
    OWN_BUF struct buf line = {0};
    int blocks = 3; /* header, window, and the note at the end */
    size_t i = 0;
    for (; i < result->gpu_count; i++) {
        buf_clear(&line);
        gpu_line(&result->gpu[i], expected, &line);
        if (lines.length + line.length > SECTION_MAX) {
            if (++blocks == BLOCKS_MAX) {
                break;
            }
            flush_lines(json, &lines);
        }
        buf_add(&lines, line.data, line.length);
    }
    flush_lines(json, &lines);
    if (i < result->gpu_count) {
        OWN_BUF struct buf rest = {0};
        buf_format(&rest, "… and %zu more GPUs", result->gpu_count - i);
        context_block(json, rest.data);
    }
}

static void blocks(struct jsonout *json, const struct report *report)
{
    OWN_BUF struct buf raw = {0};
    OWN_BUF struct buf text = {0};
    words_header(report, &raw);
    escape(buf_string(&raw), &text);
    cut_text(&text, HEADER_MAX);
    jsonout_begin_array(json);
    text_block(json, "header", "plain_text", buf_string(&text));
    buf_clear(&text);
    buf_format(&text, "Window: %s · ", report->window.label);
    words_time(report, &text);
    context_block(json, text.data);
    if (report->result->gpu_count == 0) {
        text_block(json, "section", "mrkdwn", WORDS_NO_SAMPLES);
    } else {
        gpu_blocks(json, report);
    }
    jsonout_end_array(json);
}

void report_slack_body(const struct report *report, bool has_blocks, struct buf *out)
{
    OWN_BUF struct buf text = {0};
    report_slack_text(report, &text);
    struct jsonout json = {.out = out, .indent = -1, .is_ascii = true};
    jsonout_begin_object(&json);
    jsonout_key(&json, "text");
    jsonout_string(&json, buf_string(&text));
    if (has_blocks) {
        jsonout_key(&json, "blocks");
        blocks(&json, report);
    }
    jsonout_end_object(&json);
}
