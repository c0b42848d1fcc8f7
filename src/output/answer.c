/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/answer.h"

#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define REASON_MAX 160
#define SECRET_LEAST 6 /* shorter parts of a path are words such as "hooks" */

/* Does the text hold a part of the URL that could be the secret? */
static bool holds_secret(struct span text, const char *url)
{
    const char *path = strstr(url, "://");
    path = path != NULL ? strchr(path + 3, '/') : NULL;
    struct span rest = span_of(path != NULL ? path : "");
    struct span part;
    while (span_cut(&rest, '/', &part)) {
        if (part.length >= SECRET_LEAST &&
            memmem(text.data, text.length, part.data, part.length) != NULL) {
            return true;
        }
    }
    return false;
}

/* ": no_service" from the first line of the answer; nothing where it has none that can be shown. */
static void add_reason(const struct post_answer *answer, const char *url, char *out, size_t size)
{
    struct span body = span_trim((struct span){buf_string(&answer->body), answer->body.length});
    struct span line = body;
    (void)span_cut(&body, '\n', &line);
    line = span_trim(line);
    out[0] = '\0';
    bool is_page = span_starts(line, "<");
    if (line.length > 0 && !is_page && !holds_secret(line, url)) {
        char clean[REASON_MAX];
        text_clean(clean, sizeof clean, line.data, line.length);
        (void)snprintf(out, size, ": %s", clean);
    }
}

static bool is_passing(long status)
{
    return status == 408 || status == 429 || status >= 500;
}

enum answer_verdict answer_judge(const struct post_answer *answer, const char *url, struct err *err)
{
    struct span said = span_trim((struct span){buf_string(&answer->body), answer->body.length});
    if (answer->status >= 200 && answer->status < 300) {
        if (!span_starts(said, "<")) {
            return ANSWER_DELIVERED;
        }
        /* A proxy's sign-in page, say: no webhook answers so. */
        (void)err_set(
            err, -EAGAIN,
            "Slack webhook returned HTTP %ld with a web page instead of a webhook's answer",
            answer->status);
        return ANSWER_KEEP;
    }
    if (answer->status == 0) {
        (void)err_set(err, -EAGAIN, "Failed to send Slack webhook: %s", answer->failure);
        return answer->is_lasting ? ANSWER_KEEP : ANSWER_RETRY;
    }
    char reason[REASON_MAX + 8];
    add_reason(answer, url, reason, sizeof reason);
    bool is_redirect = answer->status >= 300 && answer->status < 400;
    (void)err_set(err, is_passing(answer->status) ? -EAGAIN : -EPERM,
                  "Slack webhook returned HTTP %ld%s%s", answer->status, reason,
                  is_redirect ? " (redirects are not followed)" : "");
    if (is_passing(answer->status)) {
        return ANSWER_RETRY;
    }
    bool is_message = answer->status == 400 || answer->status == 413 || answer->status == 422;
    return is_message ? ANSWER_BAD_MESSAGE : ANSWER_BAD_WEBHOOK;
}
