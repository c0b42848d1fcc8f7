/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Any answer of a webhook: judged with a sentence that is one line of valid text and never holds
 * the secret of the URL. The first two bytes are the status. */
#include "output/answer.h"

#include "base/text.h"

#include <assert.h>
#include <string.h>

#define SECRET "s3cr3t-token"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > POST_ANSWER_MAX) {
        return 0;
    }
    struct post_answer answer = {.status = data[0] * 4 + data[1] % 4};
    buf_add(&answer.body, data + 2, size - 2);
    struct err err = {0};
    enum answer_verdict verdict =
        answer_judge(&answer, "https://hooks.example/services/T0/B0/" SECRET, &err);
    assert((verdict == ANSWER_DELIVERED) == (err.text[0] == '\0'));
    assert(strstr(err.text, SECRET) == NULL && strchr(err.text, '\n') == NULL);
    size_t length = strlen(err.text);
    for (size_t at = 0; at < length;) {
        size_t step = text_utf8_length(err.text + at, length - at);
        assert(step > 0);
        at += step;
    }
    post_answer_fini(&answer);
    return 0;
}
