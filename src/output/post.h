/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One HTTP POST by libcurl, which is opened when first needed: linking it would cost every sample
 * its start. No redirects; proxies as the environment says (https_proxy, no_proxy). */
#ifndef OUTPUT_POST_H
#define OUTPUT_POST_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define POST_ANSWER_MAX 4096 /* bytes of the answer that are kept */

struct post_answer {
    long status;           /* HTTP, 0 = there was no answer */
    int64_t retry_after_s; /* what Retry-After says, 0 = nothing */
    struct buf body;       /* cut at POST_ANSWER_MAX */
    bool is_lasting;       /* without an answer: another try would fail alike */
    char failure[256];     /* without an answer: why, without the URL */
};

/* 0: look at the answer. -ENOENT: no libcurl here; -EINVAL: the URL cannot be used. Sentences never
 * hold the URL. End the answer with post_answer_fini. */
int post_json(const char *url, const char *body, int64_t deadline_ns, struct post_answer *out,
              struct err *err);
void post_answer_fini(struct post_answer *answer);

#endif
