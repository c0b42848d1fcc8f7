/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The file: lines "user NAME", "enable UNIT", "rearm UNIT", "off UNIT". systemd takes no notice of
 * it. */
#include "schedule/pending.h"

#include "base/own.h"
#include "base/text.h"

#define PENDING_NAME "gpumanager.pending"

void pending_fini(struct pending *pending)
{
    words_fini(&pending->enable);
    words_fini(&pending->rearm);
    words_fini(&pending->off);
}

static void add_unit(struct words *words, struct span name)
{
    OWN_FREE char *unit = span_copy(name);
    if (unit_is_ours(unit) && unit_is_switched(unit) && !words_have(words, unit)) {
        words_add(words, unit);
    }
}

void pending_read(struct pending *out)
{
    OWN_BUF struct buf text = {0};
    *out = (struct pending){.is_present = unit_read(PENDING_NAME, &text)};
    struct span rest = span_of(buf_string(&text));
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        struct span verb;
        struct span word = line;
        if (!span_cut(&word, ' ', &verb) || word.data == NULL) {
            continue;
        }
        if (span_equals(verb, "user")) {
            text_clean(out->user, sizeof out->user, word.data, word.length);
        } else if (span_equals(verb, "enable")) {
            add_unit(&out->enable, word);
        } else if (span_equals(verb, "rearm")) {
            add_unit(&out->rearm, word);
        } else if (span_equals(verb, "off")) {
            add_unit(&out->off, word);
        }
    }
}

static void put_timers(struct buf *out, const char *verb, const struct words *timers)
{
    for (size_t i = 0; i < timers->count; i++) {
        buf_format(out, "%s %s\n", verb, timers->word[i]);
    }
}

int pending_write(const struct pending *pending, struct act *act, struct err *err)
{
    OWN_BUF struct buf text = {0};
    buf_format(&text, "user %s\n", pending->user);
    put_timers(&text, "enable", &pending->enable);
    put_timers(&text, "rearm", &pending->rearm);
    put_timers(&text, "off", &pending->off);
    OWN_FREE char *path = unit_path(PENDING_NAME);
    return act_write(act, path, &text, err);
}

int pending_clear(struct act *act, struct err *err)
{
    OWN_FREE char *path = unit_path(PENDING_NAME);
    OWN_WORDS struct words paths = {0};
    words_add(&paths, path);
    return act_delete(act, &paths, err);
}
