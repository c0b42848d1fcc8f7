/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The picture: the course of all GPUs over the window, then a row a GPU with its average and its
 * own course. Utilisation has one scale everywhere, 0 to 100 %, so that rows can be compared. */
#include "base/own.h"
#include "base/text.h"
#include "report/words.h"

#include <math.h>
#include <string.h>

#define WIDTH 960
#define MARGIN 32
#define HEAD_HEIGHT 84
#define COURSE_HEIGHT 150
#define ROW_HEIGHT 36
#define AXIS_WIDTH 40
#define BAR_LEFT 300
#define BAR_WIDTH 200
#define LINE_LEFT 596
#define LINE_WIDTH (WIDTH - MARGIN - LINE_LEFT)
#define ROWS_MAX 512
#define NAME_SHOWN 26
#define DAY_S 86400

/* Contrast of text at least 4.5:1, of marks 3:1, in both themes. Plain colours, as not every viewer
 * of pictures knows variables. */
static const char style[] =
    "<style>.gm{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\","
    "sans-serif;font-variant-numeric:tabular-nums}"
    ".gm .bg{fill:#fff}.gm text{fill:#16191d;font-size:13px}"
    ".gm .title{font-size:20px;font-weight:600}.gm .figure{font-size:28px;font-weight:600}"
    ".gm .dim{fill:#5b6570;font-size:12px}.gm .num{text-anchor:end}.gm .mid{text-anchor:middle}"
    ".gm .grid{stroke:#e3e7eb;stroke-width:1;fill:none}.gm .track{fill:#eef1f4}"
    ".gm .bar{fill:#2563b0}.gm .area{fill:#2563b0;fill-opacity:.16}"
    ".gm .line{stroke:#2563b0;stroke-width:1.5;fill:none;stroke-linejoin:round}"
    "@media(prefers-color-scheme:dark){.gm .bg{fill:#14171a}.gm text{fill:#e8ebee}"
    ".gm .dim{fill:#9aa5b1}.gm .grid{stroke:#2b3138}.gm .track{fill:#22272d}"
    ".gm .bar,.gm .area{fill:#6ea8f0}.gm .line{stroke:#6ea8f0}}</style>\n";

void words_xml(const char *text, struct buf *out)
{
    size_t length = strlen(text);
    size_t step = 0;
    for (size_t at = 0; at < length; at += step) {
        step = text_utf8_length(text + at, length - at);
        unsigned char c = (unsigned char)text[at];
        if (step == 0 || c < 0x20 || c == 0x7f) {
            buf_char(out, '?');
            step = step == 0 ? 1 : step;
        } else if (c == '&' || c == '<' || c == '>' || c == '"' || c == '\'') {
            buf_format(out, "&#%d;", c);
        } else {
            buf_add(out, text + at, step);
        }
    }
}

static void text_at(struct buf *out, double x, double y, const char *classes, const char *text)
{
    buf_format(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, classes);
    words_xml(text, out);
    buf_text(out, "</text>\n");
}

/* Where a course is drawn, and what it is of. */
struct course {
    double left, top, width, height;
    const struct report *report;
    const struct archive_gpu *gpu; /* NULL: all */
};

static double course_value(const struct course *course, size_t i)
{
    return course->gpu != NULL ? usage_part(course->gpu, i)
                               : usage_part_of_all(course->report->result, i);
}

static double course_y(const struct course *course, double percent)
{
    double inside = percent < 0 ? 0 : percent > 100 ? 100 : percent;
    return course->top + course->height * (1 - inside / 100);
}

/* A run of parts with values, as one path; where samples are missing the line is broken. */
static size_t draw_run(const struct course *course, size_t begin, bool is_area, struct buf *out)
{
    size_t count = course->report->bucket_count;
    double step = course->width / (double)count;
    double bottom = course->top + course->height;
    size_t i = begin;
    if (is_area) {
        buf_format(out, "M%.1f %.1f", course->left + step * (double)begin, bottom);
    }
    for (; i < count; i++) {
        double value = course_value(course, i);
        if (isnan(value)) {
            break;
        }
        double y = course_y(course, value);
        double x = course->left + step * (double)i;
        buf_format(out, "%c%.1f %.1fH%.1f", i == begin && !is_area ? 'M' : 'L', x, y, x + step);
    }
    if (is_area) {
        buf_format(out, "V%.1fZ", bottom);
    }
    return i;
}

static void draw_course(const struct course *course, struct buf *out)
{
    for (int pass = 0; pass < 2; pass++) {
        bool is_area = pass == 0;
        buf_format(out, "<path class=\"%s\" d=\"", is_area ? "area" : "line");
        for (size_t i = 0; i < course->report->bucket_count; i++) {
            if (!isnan(course_value(course, i))) {
                i = draw_run(course, i, is_area, out);
            }
        }
        buf_text(out, "\"/>\n");
    }
}

static void draw_axes(const struct course *course, struct buf *out)
{
    static const int marks[] = {0, 50, 100};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        double y = course_y(course, marks[i]);
        char label[16];
        (void)snprintf(label, sizeof label, "%d %%", marks[i]);
        buf_format(out, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>\n", course->left, y,
                   course->left + course->width);
        text_at(out, course->left - 8, y + 4, "dim num", label);
    }
    const struct window *window = &course->report->window;
    int64_t length = window->to_s - window->from_s;
    for (int i = 0; i <= 4; i++) {
        char label[32];
        zone_format(course->report->zone, window->from_s + length * i / 4,
                    length <= 2 * DAY_S ? "%a %H:%M" : "%Y-%m-%d", label, sizeof label);
        text_at(out, course->left + course->width * i / 4, course->top + course->height + 18,
                i == 0   ? "dim"
                : i == 4 ? "dim num"
                         : "dim mid",
                label);
    }
}

static void draw_head(const struct report *report, struct buf *out)
{
    OWN_BUF struct buf words = {0};
    words_header(report, &words);
    text_at(out, MARGIN, 44, "title", buf_string(&words));
    buf_clear(&words);
    buf_format(&words, "Window: %s · ", report->window.label);
    words_time(report, &words);
    text_at(out, MARGIN, 66, "dim", words.data);
    buf_clear(&words);
    words_percent(usage_average_of_all(report->result), &words);
    text_at(out, WIDTH - MARGIN, 50, "figure num", words.data);
    text_at(out, WIDTH - MARGIN, 66, "dim num", "average of all samples");
}

static void draw_row(const struct report *report, const struct archive_gpu *gpu, double top,
                     struct buf *out)
{
    OWN_BUF struct buf words = {0};
    double middle = top + ROW_HEIGHT / 2.0;
    double average = usage_average(gpu);
    buf_format(&words, "GPU %d", gpu->index);
    text_at(out, MARGIN, middle + 4, "", words.data);
    char name[NAME_SHOWN * 4];
    text_copy(name, NAME_SHOWN, gpu->name);
    text_at(out, MARGIN + 64, middle + 4, "dim", name);
    buf_format(out,
               "<rect class=\"track\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"10\" rx=\"2\"/>\n",
               BAR_LEFT, middle - 5, BAR_WIDTH);
    if (average > 0) {
        double width = average > 100 ? BAR_WIDTH : BAR_WIDTH * average / 100;
        buf_format(
            out,
            "<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"10\" rx=\"2\"/>\n",
            BAR_LEFT, middle - 5, width);
    }
    buf_clear(&words);
    words_percent(average, &words);
    text_at(out, BAR_LEFT + BAR_WIDTH + 76, middle + 4, "num", words.data);
    buf_format(out, "<path class=\"grid\" d=\"M%d %.1fH%d\"/>\n", LINE_LEFT, top + ROW_HEIGHT - 5,
               LINE_LEFT + LINE_WIDTH);
    struct course course = {LINE_LEFT, top + 5, LINE_WIDTH, ROW_HEIGHT - 10, report, gpu};
    draw_course(&course, out);
}

/* More rows than anybody looks at would only make the file large. */
static void draw_rows(const struct report *report, double top, struct buf *out)
{
    size_t count = report->result->gpu_count;
    size_t shown = count < ROWS_MAX ? count : ROWS_MAX;
    for (size_t i = 0; i < shown; i++) {
        draw_row(report, &report->result->gpu[i], top + ROW_HEIGHT * (double)i, out);
    }
    if (count > shown) {
        OWN_BUF struct buf words = {0};
        buf_format(&words, "… and %zu more GPUs", count - shown);
        text_at(out, MARGIN, top + ROW_HEIGHT * (double)shown + 20, "dim", words.data);
    }
}

void words_svg(const struct report *report, bool is_file, struct buf *out)
{
    size_t count = report->result->gpu_count;
    size_t rows = count == 0 ? 1 : count < ROWS_MAX ? count : ROWS_MAX + 1;
    double rows_top = HEAD_HEIGHT + (count > 0 ? COURSE_HEIGHT + 60 : 0);
    int height = (int)(rows_top + ROW_HEIGHT * (double)rows + MARGIN);
    if (is_file) {
        buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    }
    buf_format(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gm\" viewBox=\"0 0 %d %d\" "
               "width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
               WIDTH, height, WIDTH, height);
    OWN_BUF struct buf text = {0};
    report_text(report, &text);
    words_xml(buf_string(&text), out);
    buf_format(out, "</title>\n%s<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n", style);
    draw_head(report, out);
    if (count == 0) {
        text_at(out, MARGIN, rows_top + 20, "", WORDS_NO_SAMPLES);
    } else {
        struct course course = {
            MARGIN + AXIS_WIDTH, HEAD_HEIGHT + 14, WIDTH - 2 * MARGIN - AXIS_WIDTH,
            COURSE_HEIGHT,       report,           NULL};
        draw_axes(&course, out);
        draw_course(&course, out);
        draw_rows(report, rows_top, out);
    }
    buf_text(out, "</svg>\n");
}

void report_svg(const struct report *report, struct buf *out)
{
    words_svg(report, true, out);
}
