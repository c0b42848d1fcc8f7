/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Lets tests in other languages ask schedule/cron: each line of standard input holds
 * "expression TAB zone TAB base (2026-11-30T15:00:00Z) TAB count"; each line of standard output
 * "OK TAB instant,instant,… TAB short value TAB OnCalendar value|value|…" or
 * "REFUSED TAB sentence". */
#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "schedule/cron.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 4096
#define FIELD_COUNT 4

static int cut_line(char *line, char *field[FIELD_COUNT])
{
    line[strcspn(line, "\n")] = '\0';
    char *at = line;
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (at == NULL) {
            return -EINVAL;
        }
        field[i] = at;
        at = strchr(at, '\t');
        if (at != NULL) {
            *at++ = '\0';
        }
    }
    return 0;
}

static void add_instants(const struct cron *cron, const struct zone *zone, int64_t at,
                         int64_t count, struct buf *out)
{
    struct zone utc = {.name = "UTC"};
    for (int64_t i = 0; i < count && cron_next(cron, zone, at, &at); i++) {
        char text[32];
        zone_format(&utc, at, at % 60 == 0 ? "%Y-%m-%dT%H:%MZ" : "%Y-%m-%dT%H:%M:%SZ", text,
                    sizeof text);
        buf_format(out, "%s%s", i > 0 ? "," : "", text);
    }
}

static int answer(char *line, struct buf *out, struct err *err)
{
    char *field[FIELD_COUNT];
    struct zone zone;
    struct cron cron;
    int64_t base = 0;
    int offset = 0;
    int64_t count = 0;
    if (cut_line(line, field) != 0 ||
        !clock_parse_iso(field[2], (int64_t)strlen(field[2]), &base, &offset) ||
        !text_to_int64(span_of(field[3]), &count)) {
        return err_set(err, -EINVAL, "not a line of expression, zone, base and count");
    }
    int code = zone_open(&zone, field[1], err);
    code = code != 0 ? code : cron_parse(field[0], &cron, err);
    if (code != 0) {
        return code;
    }
    buf_text(out, "OK\t");
    add_instants(&cron, &zone, base, count, out);
    buf_char(out, '\t');
    cron_to_calendar_short(&cron, &zone, out);
    buf_char(out, '\t');
    size_t start = out->length;
    cron_to_calendar(&cron, &zone, base, out);
    out->data[--out->length] = '\0';
    for (char *at = out->data + start; *at != '\0'; at++) {
        if (*at == '\n') {
            *at = '|';
        }
    }
    return 0;
}

int main(void)
{
    char line[LINE_SIZE];
    while (fgets(line, sizeof line, stdin) != NULL) {
        OWN_BUF struct buf out = {0};
        struct err err = {0};
        if (answer(line, &out, &err) == 0) {
            (void)printf("%s\n", buf_string(&out));
        } else {
            (void)printf("REFUSED\t%s\n", err.text);
        }
    }
    return 0;
}
