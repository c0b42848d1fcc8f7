/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/post.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"
#include "build_config.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

struct curl_calls {
    CURL *(*init)(void);
    CURLcode (*setopt)(CURL *, CURLoption, ...);
    CURLcode (*perform)(CURL *);
    CURLcode (*getinfo)(CURL *, CURLINFO, ...);
    void (*cleanup)(CURL *);
    const char *(*explain)(CURLcode);
    struct curl_slist *(*list_append)(struct curl_slist *, const char *);
    void (*list_free)(struct curl_slist *);
};

/* Loaded once for the life of the process: libcurl does not like to be unloaded. */
static const struct curl_calls *load(struct err *err)
{
    static struct curl_calls calls;
    if (calls.init != NULL) {
        return &calls;
    }
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        (void)err_set(err, -ENOENT,
                      "cannot send: libcurl is not on this machine (install libcurl4)");
        return NULL;
    }
    struct {
        const char *name;
        void *place;
    } const symbols[] = {
        {"curl_easy_setopt", &calls.setopt},       {"curl_easy_perform", &calls.perform},
        {"curl_easy_getinfo", &calls.getinfo},     {"curl_easy_cleanup", &calls.cleanup},
        {"curl_easy_strerror", &calls.explain},    {"curl_slist_append", &calls.list_append},
        {"curl_slist_free_all", &calls.list_free}, {"curl_easy_init", &calls.init},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(library, symbols[i].name);
        if (symbol == NULL) {
            calls = (struct curl_calls){0};
            (void)err_set(err, -ENOENT, "cannot send: libcurl has no %s", symbols[i].name);
            (void)dlclose(library);
            return NULL;
        }
        memcpy(symbols[i].place, &symbol, sizeof symbol);
    }
    return &calls;
}

static size_t take_body(char *data, size_t size, size_t count, void *arg)
{
    struct buf *body = arg;
    size_t length = size * count;
    size_t room = POST_ANSWER_MAX - body->length;
    buf_add(body, data, length < room ? length : room);
    return length; /* the rest is read and dropped */
}

/* Failures that tell of the URL or of the certificates, not of the moment. */
static bool is_lasting(CURLcode code)
{
    return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
           code == CURLE_SSL_CIPHER || code == CURLE_SSL_ISSUER_ERROR;
}

static void explain(const struct curl_calls *curl, CURL *handle, CURLcode code,
                    struct post_answer *out)
{
    long number = 0;
    (void)curl->getinfo(handle, CURLINFO_OS_ERRNO, &number);
    if (code == CURLE_OPERATION_TIMEDOUT) {
        (void)snprintf(out->failure, sizeof out->failure, "timed out");
    } else if (code == CURLE_UNSUPPORTED_PROTOCOL) { /* the URL's scheme was looked at before */
        (void)snprintf(out->failure, sizeof out->failure, "the answer was not HTTP");
    } else if (number != 0 && code == CURLE_COULDNT_CONNECT) {
        (void)snprintf(out->failure, sizeof out->failure, "[Errno %ld] %s", number,
                       err_name((int)number));
    } else {
        text_copy(out->failure, sizeof out->failure, curl->explain(code));
    }
    out->is_lasting = is_lasting(code);
}

static void set_options(const struct curl_calls *curl, CURL *handle, const char *body,
                        int64_t deadline_ns, struct post_answer *out)
{
    long deadline_ms = (long)(deadline_ns / NS_PER_MS);
    (void)curl->setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)strlen(body));
    (void)curl->setopt(handle, CURLOPT_POSTFIELDS, body);
    (void)curl->setopt(handle, CURLOPT_TIMEOUT_MS, deadline_ms > 0 ? deadline_ms : 1L);
    (void)curl->setopt(handle, CURLOPT_NOSIGNAL, 1L);
    (void)curl->setopt(handle, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl->setopt(handle, CURLOPT_USERAGENT, "gpumanager/" GPUMANAGER_VERSION);
    (void)curl->setopt(handle, CURLOPT_WRITEFUNCTION, take_body);
    (void)curl->setopt(handle, CURLOPT_WRITEDATA, &out->body);
}

static int perform(const struct curl_calls *curl, CURL *handle, struct post_answer *out,
                   struct err *err)
{
    CURLcode code = curl->perform(handle);
    if (code == CURLE_URL_MALFORMAT) {
        return err_set(err, -EINVAL, "slack.webhook_url is not a URL that can be used");
    }
    if (code != CURLE_OK && code != CURLE_WRITE_ERROR) {
        explain(curl, handle, code, out);
        return 0;
    }
    curl_off_t wait_s = 0;
    (void)curl->getinfo(handle, CURLINFO_RESPONSE_CODE, &out->status);
    (void)curl->getinfo(handle, CURLINFO_RETRY_AFTER, &wait_s);
    out->retry_after_s = wait_s > 0 ? wait_s : 0;
    return 0;
}

int post_json(const char *url, const char *body, int64_t deadline_ns, struct post_answer *out,
              struct err *err)
{
    *out = (struct post_answer){0};
    const struct curl_calls *curl = load(err);
    if (curl == NULL) {
        return -ENOENT;
    }
    CURL *handle = curl->init();
    if (handle == NULL) {
        return err_set(err, -ENOMEM, "cannot send: libcurl did not start");
    }
    /* Without "Expect:" libcurl waits for a 100 Continue that many servers never send. */
    struct curl_slist *headers = curl->list_append(NULL, "Content-Type: application/json");
    struct curl_slist *more = headers != NULL ? curl->list_append(headers, "Expect:") : NULL;
    set_options(curl, handle, body, deadline_ns, out);
    (void)curl->setopt(handle, CURLOPT_HTTPHEADER, more != NULL ? more : headers);
    int code = err_set(err, -EINVAL, "slack.webhook_url is not a URL that can be used");
    /* Before 7.85 the option is unknown; the caller has looked at the scheme. */
    CURLcode only = curl->setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    if ((only == CURLE_OK || only == CURLE_UNKNOWN_OPTION) &&
        curl->setopt(handle, CURLOPT_URL, url) == CURLE_OK) {
        code = perform(curl, handle, out, err);
    }
    curl->list_free(headers);
    curl->cleanup(handle);
    return code;
}

void post_answer_fini(struct post_answer *answer)
{
    buf_fini(&answer->body);
}
