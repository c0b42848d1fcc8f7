/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What a webhook's answer means for the message. Pure. Statuses as Slack documents them:
 * https://api.slack.com/messaging/webhooks (errors) and /docs/rate-limits (429, Retry-After). */
#ifndef OUTPUT_ANSWER_H
#define OUTPUT_ANSWER_H

#include "output/post.h"

enum answer_verdict {
    ANSWER_DELIVERED,
    ANSWER_RETRY,       /* the same message may pass later */
    ANSWER_KEEP,        /* it may pass later, but not within this run */
    ANSWER_BAD_MESSAGE, /* this message will never pass */
    ANSWER_BAD_WEBHOOK, /* no message passes until the URL is mended */
};

/* The sentence for everything but ANSWER_DELIVERED goes to `err` (code -EAGAIN or -EPERM). The URL
 * is given so that no part of it gets into the sentence, even if the answer repeats it. */
enum answer_verdict answer_judge(const struct post_answer *answer, const char *url,
                                 struct err *err);

#endif
