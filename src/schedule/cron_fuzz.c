/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Any text: refused with a sentence, or its times go forward and match, and its calendar values
 * hold only what may stand in a unit file. The first byte chooses the zone. */
#include "schedule/cron.h"

#include "base/own.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define NOW_S INT64_C(1796083200) /* 2026-12-01T00:00:00Z */
#define TEXT_SIZE 1024

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The letters of the weekdays and of the zones below, digits, and systemd's signs. */
static void check_calendar(const struct buf *out)
{
    static const char allowed[] = " \n*,-./0123456789:;ABCDEFHLMSTUW_abcdefhilnoprstuw";
    assert(out->length > 0);
    for (size_t i = 0; i < out->length; i++) {
        assert(out->data[i] != 0 && strchr(allowed, out->data[i]) != NULL);
    }
    assert(strstr(out->data, "\n\n") == NULL && strstr(out->data, ",,") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const zones[] = {"UTC", "Europe/Berlin", "Africa/Cairo", "Europe/Dublin",
                                        "Australia/Lord_Howe"};
    char text[TEXT_SIZE];
    if (size < 1 || size > sizeof text) {
        return 0;
    }
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    struct zone zone;
    if (zone_open(&zone, zones[data[0] % (sizeof zones / sizeof zones[0])], NULL) != 0) {
        return 0;
    }
    struct cron cron;
    struct err err = {0};
    if (cron_parse(text, &cron, &err) != 0) {
        assert(err.code < 0 && err.text[0] != '\0');
        return 0;
    }
    int64_t at = NOW_S;
    int64_t last = at;
    for (int i = 0; i < 5 && cron_next(&cron, &zone, at, &at); i++) {
        assert(at > last && at % 60 == 0);
        last = at;
    }
    OWN_BUF struct buf out = {0};
    cron_to_calendar(&cron, &zone, NOW_S, &out);
    assert(out.data[out.length - 1] == '\n');
    check_calendar(&out);
    buf_clear(&out);
    cron_to_calendar_short(&cron, &zone, &out);
    assert(strchr(out.data, '\n') == NULL);
    check_calendar(&out);
    return 0;
}
