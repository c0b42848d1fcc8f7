/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Any bytes, as a connection would feed them: the same requests come out however the bytes are
 * cut, nothing goes past a limit, and a refusal has a status and a sentence. */
#include "http/limits.h"
#include "http/request.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct outcome {
    size_t requests; /* whole ones */
    size_t used;
    int status; /* of the refusal that ended it, 0 = none */
    uint64_t sum;
};

static void add_to_sum(struct outcome *outcome, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        outcome->sum = outcome->sum * 31 + (unsigned char)text[i];
    }
}

static void look(const struct request *request, struct outcome *outcome)
{
    const char *path = request->text.data + request->path;
    assert(path[0] == '/');
    for (const char *at = path; *at != '\0'; at++) {
        assert((unsigned char)*at >= 0x20);
    }
    assert(request->body.length == 0 || strcmp(request->method, "GET") != 0);
    add_to_sum(outcome, path, strlen(path));
    const char *query = request->text.data + request->query;
    add_to_sum(outcome, query, strlen(query));
    if (request->body.length > 0) {
        add_to_sum(outcome, request->body.data, request->body.length);
    }
    const char *host = request_header(request, "host");
    add_to_sum(outcome, host, strlen(host));
    (void)request_is_websocket(request);
}

static struct outcome feed_all(const char *data, size_t size, size_t piece)
{
    struct http_limits limits = http_limits_filled(
        &(struct http_limits){.header_bytes = 512, .header_count = 8, .body_bytes = 64});
    struct outcome outcome = {0};
    struct request request;
    request_init(&request, &limits);
    while (outcome.used < size && outcome.status == 0) {
        size_t length = size - outcome.used < piece ? size - outcome.used : piece;
        size_t used = 0;
        enum request_state state = request_feed(&request, data + outcome.used, length, &used);
        assert(used <= length && (used > 0 || state == REQUEST_REFUSED));
        outcome.used += used;
        assert(request.body.length <= limits.body_bytes);
        if (state == REQUEST_DONE) {
            look(&request, &outcome);
            outcome.requests++;
            request_reset(&request);
        } else if (state == REQUEST_REFUSED) {
            assert(request.status >= 400 && request.sentence != NULL);
            outcome.status = request.status;
        }
    }
    request_fini(&request);
    return outcome;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct outcome whole = feed_all((const char *)data, size, SIZE_MAX);
    struct outcome bytes = feed_all((const char *)data, size, 1);
    assert(whole.requests == bytes.requests && whole.status == bytes.status &&
           whole.sum == bytes.sum);
    return 0;
}
