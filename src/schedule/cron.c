/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The text becomes five bit sets, and the search goes through the days: a day is a question of
 * three bits, so ten years cost less than a millisecond. Only days on which the zone's clocks jump
 * are looked at minute by minute. */
#include "schedule/cron.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#define CRON_TEXT_MAX 512  /* bytes; all 60 minutes as a list are 169 */
#define CRON_SHOWN_SIZE 40 /* of a wrong piece, in a message */
#define FIELD_COUNT 5
#define SEARCH_DAYS 3653 /* ten years */
#define DAY_S 86400
/* Years 1 to 9999: what the C library and ISO 8601 both can say. */
#define TIME_MIN_S INT64_C(-62135596800)
#define TIME_MAX_S INT64_C(253402300799)

struct field {
    const char *name;
    int low, high;            /* what `*` stands for */
    int top;                  /* the highest value that may be written: 7 is Sunday too */
    const char *const *words; /* three letters each, NULL ends it; NULL: none */
};

static const char *const month_words[] = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                          "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekday_words[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field fields[FIELD_COUNT] = {
    {"minute", 0, 59, 59, NULL},         {"hour", 0, 23, 23, NULL},
    {"day of month", 1, 31, 31, NULL},   {"month", 1, 12, 12, month_words},
    {"weekday", 0, 6, 7, weekday_words},
};

enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY };

static const struct nickname {
    const char *name;
    const char *meaning;
} nicknames[] = {
    {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
    {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
    {"@hourly", "0 * * * *"},
};

/* "Invalid cron value: x (hour: …)": GM's words, then which field and what it takes. */
static int refuse(struct err *err, const char *what, struct span piece, const struct field *field)
{
    char shown[CRON_SHOWN_SIZE];
    text_clean(shown, sizeof shown, piece.data, piece.length);
    const char *or_word = field->words == month_words     ? " or jan to dec"
                          : field->words == weekday_words ? " or sun to sat, 0 and 7 are Sunday"
                                                          : "";
    return err_set(err, -EINVAL, "%s: %s (%s: %d to %d%s)", what, shown, field->name, field->low,
                   field->top, or_word);
}

static bool is_number(struct span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] < '0' || text.data[i] > '9') {
            return false;
        }
    }
    return text.length > 0;
}

static int parse_value(const struct field *field, struct span text, int *out, struct err *err)
{
    for (int i = 0; field->words != NULL && field->words[i] != NULL; i++) {
        if (text.length == 3 && strncasecmp(text.data, field->words[i], 3) == 0) {
            *out = field->low + i;
            return 0;
        }
    }
    if (!is_number(text)) {
        return refuse(err, "Invalid cron value", text, field);
    }
    int64_t number = 0;
    if (!text_to_int64(text, &number) || number < field->low || number > field->top) {
        return refuse(err, "Cron value out of range", text, field);
    }
    *out = (int)number;
    return 0;
}

static int parse_step(const struct field *field, struct span text, int *out, struct err *err)
{
    int64_t number = 0;
    if (!is_number(text) || !text_to_int64(text, &number) || number < 1 || number > field->top) {
        return refuse(err, "Invalid cron step", text, field);
    }
    *out = (int)number;
    return 0;
}

/* "*", "n" or "a-b": the first and the last value. */
static int parse_bounds(const struct field *field, struct span text, bool has_step, int bounds[2],
                        struct err *err)
{
    if (span_equals(text, "*")) {
        bounds[0] = field->low;
        bounds[1] = field->high;
        return 0;
    }
    struct span last = text;
    struct span first;
    (void)span_cut(&last, '-', &first);
    if (first.length == 0 || (last.data != NULL && last.length == 0)) {
        return refuse(err, "Invalid cron range", text, field);
    }
    int code = parse_value(field, first, &bounds[0], err);
    if (code != 0) {
        return code;
    }
    if (first.length == text.length) {
        bounds[1] = has_step ? field->high : bounds[0];
        return 0;
    }
    if (last.data == NULL || memchr(last.data, '-', last.length) != NULL) {
        return refuse(err, "Invalid cron range", text, field);
    }
    code = parse_value(field, last, &bounds[1], err);
    if (code != 0) {
        return code;
    }
    bool is_weekday = field->top != field->high;
    if (is_weekday && last.length == 3 && strncasecmp(last.data, "sun", 3) == 0) {
        bounds[1] = 7;
    }
    if (bounds[0] > bounds[1] && is_weekday) {
        bounds[1] += 7; /* fri-mon goes over the end of the week */
    }
    return bounds[0] <= bounds[1] ? 0 : refuse(err, "Invalid cron range", text, field);
}

static int parse_field(const struct field *field, struct span text, uint64_t *out, struct err *err)
{
    uint64_t bits = 0;
    struct span rest = text;
    struct span part;
    bool is_last = false;
    while (!is_last) {
        /* A comma at the end leaves an empty part behind it: that is refused as well. */
        is_last = memchr(rest.data, ',', rest.length) == NULL;
        if (!span_cut(&rest, ',', &part) || part.length == 0) {
            return refuse(err, "Invalid cron field", text, field);
        }
        struct span step_text = part;
        struct span range;
        (void)span_cut(&step_text, '/', &range);
        bool has_step = range.length < part.length;
        if (range.length == 0 || (has_step && step_text.length == 0)) {
            return refuse(err, "Invalid cron field", text, field);
        }
        int step = 1;
        int bounds[2] = {0, 0};
        int code = has_step ? parse_step(field, step_text, &step, err) : 0;
        code = code != 0 ? code : parse_bounds(field, range, has_step, bounds, err);
        if (code != 0) {
            return code;
        }
        for (int value = bounds[0]; value <= bounds[1]; value += step) {
            bits |= UINT64_C(1) << (field->top != field->high ? value % 7 : value);
        }
    }
    *out = bits;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Cuts the text at blanks; false when there are not exactly five pieces. */
static bool split(const char *text, struct span pieces[FIELD_COUNT])
{
    int count = 0;
    const char *at = text;
    while (true) {
        while (is_blank(*at)) {
            at++;
        }
        if (*at == '\0') {
            return count == FIELD_COUNT;
        }
        if (count == FIELD_COUNT) {
            return false;
        }
        const char *start = at;
        while (*at != '\0' && !is_blank(*at)) {
            at++;
        }
        pieces[count++] = (struct span){start, (size_t)(at - start)};
    }
}

static int days_in(int month)
{
    return month == 2 ? 29 : 30 + ((month + (month > 7)) & 1);
}

bool cron_has_days(const struct cron *cron)
{
    for (int month = 1; month <= 12; month++) {
        uint32_t existing = (uint32_t)((UINT64_C(1) << (days_in(month) + 1)) - 1);
        if ((cron->months >> month & 1) != 0 && (cron->days & existing) != 0) {
            return true;
        }
    }
    return false;
}

/* The five fields behind "@daily"; the text itself when it is no nickname; NULL when unknown. */
static const char *expand_nickname(const char *text, struct err *err)
{
    struct span name = span_trim(span_of(text));
    if (!span_starts(name, "@")) {
        return text;
    }
    for (size_t i = 0; i < sizeof nicknames / sizeof nicknames[0]; i++) {
        if (name.length == strlen(nicknames[i].name) &&
            strncasecmp(name.data, nicknames[i].name, name.length) == 0) {
            return nicknames[i].meaning;
        }
    }
    if (name.length == 7 && strncasecmp(name.data, "@reboot", 7) == 0) {
        (void)err_set(err, -EINVAL,
                      "@reboot is not a time of the clock, and a report needs one: write 5 fields "
                      "like '0 9 * * *', or @hourly, @daily, @weekly, @monthly, @yearly");
        return NULL;
    }
    char shown[CRON_SHOWN_SIZE];
    text_clean(shown, sizeof shown, name.data, name.length);
    (void)err_set(err, -EINVAL,
                  "Invalid cron field: %s (known are @hourly, @daily, @midnight, @weekly, "
                  "@monthly, @yearly, @annually)",
                  shown);
    return NULL;
}

int cron_parse(const char *text, struct cron *out, struct err *err)
{
    if (strnlen(text, CRON_TEXT_MAX + 1) > CRON_TEXT_MAX) {
        return err_set(err, -EINVAL, "the cron string is longer than %d characters", CRON_TEXT_MAX);
    }
    const char *expanded = expand_nickname(text, err);
    if (expanded == NULL) {
        return -EINVAL;
    }
    struct span pieces[FIELD_COUNT];
    if (!split(expanded, pieces)) {
        return err_set(err, -EINVAL,
                       "report.report_time must be a 5-field cron string like '0 9 * * *' "
                       "(minute hour day-of-month month day-of-week)");
    }
    uint64_t bits[FIELD_COUNT] = {0};
    for (int i = 0; i < FIELD_COUNT; i++) {
        int code = parse_field(&fields[i], pieces[i], &bits[i], err);
        if (code != 0) {
            return code;
        }
    }
    struct cron cron = {
        .minutes = bits[MINUTE],
        .hours = (uint32_t)bits[HOUR],
        .days = (uint32_t)bits[DAY],
        .months = (uint32_t)bits[MONTH],
        .weekdays = (uint32_t)bits[WEEKDAY],
        .is_day_and = pieces[DAY].data[0] == '*' || pieces[WEEKDAY].data[0] == '*',
        .is_wild_time = pieces[MINUTE].data[0] == '*' || pieces[HOUR].data[0] == '*',
    };
    /* When either day field may fire, some weekday is always there. */
    if (cron.is_day_and && !cron_has_days(&cron)) {
        char shown[CRON_SHOWN_SIZE];
        text_clean(shown, sizeof shown, expanded, strlen(expanded));
        return err_set(err, -EINVAL,
                       "the cron string '%s' can never fire: no month it names has such a day",
                       shown);
    }
    *out = cron;
    return 0;
}

int cron_check(const char *text, struct err *err)
{
    struct cron cron;
    return cron_parse(text, &cron, err);
}

static bool is_day_due(const struct cron *cron, const struct civil *date)
{
    bool is_day = (cron->days >> date->day & 1) != 0;
    bool is_weekday = (cron->weekdays >> date->weekday & 1) != 0;
    return (cron->months >> date->month & 1) != 0 &&
           (cron->is_day_and ? is_day && is_weekday : is_day || is_weekday);
}

static bool is_time_due(const struct cron *cron, const struct civil *local)
{
    return (cron->hours >> local->hour & 1) != 0 && (cron->minutes >> local->minute & 1) != 0;
}

bool cron_matches(const struct cron *cron, const struct civil *local)
{
    return local->second == 0 && is_time_due(cron, local) && is_day_due(cron, local);
}

/* True when no clock of the zone jumps on that day; then `*start_s` is its midnight. */
static bool is_plain_day(const struct zone *zone, const struct civil *date, int64_t *start_s)
{
    struct civil midnight = {.year = date->year, .month = date->month, .day = date->day};
    struct civil next = midnight;
    civil_add_days(&next, 1);
    int64_t starts[2];
    int64_t ends[2];
    bool is_plain = zone_instants(zone, &midnight, starts) == 1 &&
                    zone_instants(zone, &next, ends) == 1 && ends[0] - starts[0] == DAY_S;
    if (is_plain) {
        *start_s = starts[0];
    }
    return is_plain;
}

/* On a plain day the first instant after `after_s` is found by its hour and minute alone. */
static int64_t next_in_plain_day(const struct cron *cron, int64_t start_s, int64_t after_s)
{
    int64_t first = after_s < start_s ? 0 : (after_s - start_s) / 60 + 1;
    for (int64_t hour = first / 60; hour < 24; hour++) {
        if ((cron->hours >> hour & 1) == 0) {
            continue;
        }
        for (int64_t minute = hour == first / 60 ? first % 60 : 0; minute < 60; minute++) {
            if ((cron->minutes >> minute & 1) != 0) {
                return start_s + (hour * 60 + minute) * 60;
            }
        }
    }
    return INT64_MAX;
}

/* Wild times count real minutes: go through those of the day. */
static int64_t next_wild(const struct cron *cron, const struct zone *zone, const struct civil *date,
                         int64_t after_s)
{
    struct civil next = {.year = date->year, .month = date->month, .day = date->day};
    int64_t start_s = zone_instant(zone, &next);
    civil_add_days(&next, 1);
    int64_t ends[2] = {0, 0};
    int end_count = zone_instants(zone, &next, ends);
    int64_t end_s = end_count > 0 ? ends[end_count - 1] : zone_instant(zone, &next);
    struct civil local;
    for (int64_t at = after_s < start_s ? start_s : after_s + 1; at < end_s;
         at += 60 - local.second % 60) {
        zone_civil(zone, at, &local);
        if (local.day == date->day && cron_matches(cron, &local)) {
            return at;
        }
    }
    return INT64_MAX;
}

/* Fixed times: each local time of the day is one instant, also in a gap or a fold. */
static int64_t next_fixed(const struct cron *cron, const struct zone *zone,
                          const struct civil *date, int64_t after_s)
{
    int64_t best = INT64_MAX;
    struct civil local = {.year = date->year, .month = date->month, .day = date->day};
    for (local.hour = 0; local.hour < 24; local.hour++) {
        for (local.minute = 0; local.minute < 60; local.minute++) {
            if (is_time_due(cron, &local)) {
                int64_t at = zone_instant(zone, &local);
                best = at > after_s && at < best ? at : best;
            }
        }
    }
    return best;
}

static int64_t next_in_day(const struct cron *cron, const struct zone *zone,
                           const struct civil *date, int64_t after_s)
{
    if (!is_day_due(cron, date)) {
        return INT64_MAX;
    }
    int64_t start_s = 0;
    if (is_plain_day(zone, date, &start_s)) {
        return next_in_plain_day(cron, start_s, after_s);
    }
    return cron->is_wild_time ? next_wild(cron, zone, date, after_s)
                              : next_fixed(cron, zone, date, after_s);
}

bool cron_next(const struct cron *cron, const struct zone *zone, int64_t after_s, int64_t *out_s)
{
    if (after_s < TIME_MIN_S + 2 * DAY_S || after_s > TIME_MAX_S - (SEARCH_DAYS + 2) * DAY_S) {
        return false;
    }
    struct civil date;
    zone_civil(zone, after_s, &date);
    /* From the day before, whose times may lie behind a jump; and one day further than the first
     * find, because a jump over midnight can put its times before those of the day it follows. */
    civil_add_days(&date, -1);
    for (int i = 0; i < SEARCH_DAYS + 1; i++) {
        int64_t best = next_in_day(cron, zone, &date, after_s);
        civil_add_days(&date, 1);
        if (best == INT64_MAX) {
            continue;
        }
        int64_t other = next_in_day(cron, zone, &date, after_s);
        *out_s = best < other ? best : other;
        return true;
    }
    return false;
}
