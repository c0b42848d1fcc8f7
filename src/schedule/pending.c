/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The file: lines "user NAME", "enable TIMER", "rearm TIMER". systemd takes no notice of it. */
#include "schedule/pending.h"

#include "base/own.h"
#include "base/text.h"

#define PENDING_NAME "gpumanager.pending"

void pending_fini(struct pending *pending)
{
    words_fini(&pending->enable);
    words_fini(&pending->rearm);
}

static void add_timer(struct words *words, struct span name)
{
    OWN_FREE char *timer = span_copy(name);
    if (unit_is_ours(timer) && text_ends(timer, ".timer") && !words_have(words, timer)) {
        words_add(words, timer);
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
            add_timer(&out->enable, word);
        } else if (span_equals(verb, "rearm")) {
            add_timer(&out->rearm, word);
        }
    }
}

int pending_write(const struct pending *pending, struct act *act, struct err *err)
{
    OWN_BUF struct buf text = {0};
    buf_format(&text, "user %s\n", pending->user);
    for (size_t i = 0; i < pending->enable.count; i++) {
        buf_format(&text, "enable %s\n", pending->enable.word[i]);
    }
    for (size_t i = 0; i < pending->rearm.count; i++) {
        buf_format(&text, "rearm %s\n", pending->rearm.word[i]);
    }
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
