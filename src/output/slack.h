/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Messages on their way to a Slack webhook. A message that could not be delivered is kept on disk
 * (<folder>/queue) and sent, in order and once, before the next one of any report, with its age
 * said. The URL is a secret: it is in no message, log or queue file. libcurl is opened when first
 * needed. */
#ifndef OUTPUT_SLACK_H
#define OUTPUT_SLACK_H

#include "base/err.h"

#include <stdint.h>

struct slack_options {
    const char *webhook_url;
    const char *state_dir; /* holds queue/; made when missing */
    int64_t now_s;         /* wall time of this run */
    int64_t patience_ns;   /* for retries within one run; 0 = 60 s */
    int64_t deadline_ns;   /* for one request; 0 = 10 s */
};

struct slack_outcome {
    int sent_late; /* kept messages of earlier runs that were delivered now */
    int dropped;   /* kept messages that Slack refused for good, or that were too many or too old */
    struct err trouble; /* with the queue itself, when its text is not empty: nothing is held up */
};

/* Delivers what is kept, then `body` (JSON). 0: `body` was delivered. -EAGAIN: it was kept and
 * the next run will send it. -EPERM: Slack refused it for good (the sentence shows Slack's reason);
 * it is not kept. -EINVAL: the URL is missing or wrong. */
int slack_deliver(const struct slack_options *options, const char *body,
                  struct slack_outcome *outcome, struct err *err);

#endif
