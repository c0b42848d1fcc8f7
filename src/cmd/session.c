/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/session.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define ADDRESSES_MAX 1024
#define ADDRESS_BYTES 16
#define WINDOW_NS (60 * NS_PER_S)

struct session {
    uint8_t id[SESSION_ID_BYTES];
    uint8_t token[TOKEN_HASH_BYTES];
    int64_t created_ns, used_ns;
};

struct sessions {
    struct session session[SESSIONS_MAX];
    size_t count;
};

struct sessions *sessions_new(void)
{
    return mem_new(1, sizeof(struct sessions));
}

void sessions_free(struct sessions *sessions)
{
    free(sessions);
}

static void end_session(struct sessions *sessions, size_t at)
{
    sessions->session[at] = sessions->session[--sessions->count];
}

static bool is_over(const struct session *session, int64_t now_ns)
{
    return now_ns - session->created_ns >= SESSION_LIFE_S * NS_PER_S ||
           now_ns - session->used_ns >= SESSION_IDLE_S * NS_PER_S;
}

void sessions_add(struct sessions *sessions, const uint8_t id[SESSION_ID_BYTES],
                  const uint8_t token[TOKEN_HASH_BYTES], int64_t now_ns)
{
    size_t oldest = 0;
    for (size_t i = sessions->count; i-- > 0;) {
        if (is_over(&sessions->session[i], now_ns)) {
            end_session(sessions, i);
        }
    }
    for (size_t i = 1; i < sessions->count; i++) {
        if (sessions->session[i].used_ns < sessions->session[oldest].used_ns) {
            oldest = i;
        }
    }
    if (sessions->count == SESSIONS_MAX) {
        end_session(sessions, oldest);
    }
    struct session *session = &sessions->session[sessions->count++];
    *session = (struct session){.created_ns = now_ns, .used_ns = now_ns};
    memcpy(session->id, id, SESSION_ID_BYTES);
    memcpy(session->token, token, TOKEN_HASH_BYTES);
}

static struct session *find_session(struct sessions *sessions, const uint8_t *id)
{
    struct session *found = NULL;
    for (size_t i = 0; i < sessions->count; i++) {
        if (token_is_same(sessions->session[i].id, id, SESSION_ID_BYTES)) {
            found = &sessions->session[i];
        }
    }
    return found;
}

const uint8_t *sessions_use(struct sessions *sessions, const uint8_t id[SESSION_ID_BYTES],
                            int64_t now_ns)
{
    struct session *session = find_session(sessions, id);
    if (session == NULL || is_over(session, now_ns)) {
        return NULL;
    }
    session->used_ns = now_ns;
    return session->token;
}

void sessions_remove(struct sessions *sessions, const uint8_t id[SESSION_ID_BYTES])
{
    const struct session *session = find_session(sessions, id);
    if (session != NULL) {
        end_session(sessions, (size_t)(session - sessions->session));
    }
}

void sessions_keep(struct sessions *sessions, const struct token_list *list)
{
    for (size_t i = sessions->count; i-- > 0;) {
        if (token_match(list, sessions->session[i].token) == NULL) {
            end_session(sessions, i);
        }
    }
}

size_t sessions_count(const struct sessions *sessions)
{
    return sessions->count;
}

/* The times of the last failures of one address, the oldest at `next`. */
struct address {
    uint8_t bytes[ADDRESS_BYTES];
    int64_t time_ns[FAILURES_MOST];
    size_t count, next;
    int64_t last_ns;
};

struct failures {
    struct address address[ADDRESSES_MAX];
    size_t count;
};

struct failures *failures_new(void)
{
    return mem_new(1, sizeof(struct failures));
}

void failures_free(struct failures *failures)
{
    free(failures);
}

/* Whoever has one IPv6 address has all of its /64. */
static void address_of(const char *peer, uint8_t out[ADDRESS_BYTES])
{
    memset(out, 0, ADDRESS_BYTES);
    struct in6_addr six;
    if (inet_pton(AF_INET, peer, out) == 1) {
        out[ADDRESS_BYTES - 1] = 4;
    } else if (inet_pton(AF_INET6, peer, &six) == 1) {
        memcpy(out, &six, IN6_IS_ADDR_V4MAPPED(&six) ? ADDRESS_BYTES : ADDRESS_BYTES / 2);
    } else {
        out[ADDRESS_BYTES - 1] = 1; /* a unix socket */
    }
}

static const struct address *find_address(const struct failures *failures, const uint8_t *bytes)
{
    for (size_t i = 0; i < failures->count; i++) {
        if (memcmp(failures->address[i].bytes, bytes, ADDRESS_BYTES) == 0) {
            return &failures->address[i];
        }
    }
    return NULL;
}

/* A new place, or that of the address whose last failure is the longest ago. */
static struct address *take_place(struct failures *failures, const uint8_t *bytes)
{
    struct address *place = &failures->address[0];
    if (failures->count < ADDRESSES_MAX) {
        place = &failures->address[failures->count++];
    }
    for (size_t i = 0; failures->count == ADDRESSES_MAX && i < failures->count; i++) {
        if (failures->address[i].last_ns < place->last_ns) {
            place = &failures->address[i];
        }
    }
    *place = (struct address){0};
    memcpy(place->bytes, bytes, ADDRESS_BYTES);
    return place;
}

void failures_add(struct failures *failures, const char *peer, int64_t now_ns)
{
    uint8_t bytes[ADDRESS_BYTES];
    address_of(peer, bytes);
    const struct address *known = find_address(failures, bytes);
    struct address *address =
        known != NULL ? &failures->address[known - failures->address] : take_place(failures, bytes);
    address->time_ns[address->next] = now_ns;
    address->next = (address->next + 1) % FAILURES_MOST;
    address->count += address->count < FAILURES_MOST ? 1 : 0;
    address->last_ns = now_ns;
}

int failures_wait_s(const struct failures *failures, const char *peer, int64_t now_ns)
{
    uint8_t bytes[ADDRESS_BYTES];
    address_of(peer, bytes);
    const struct address *address = find_address(failures, bytes);
    if (address == NULL || address->count < FAILURES_MOST) {
        return 0;
    }
    int64_t left_ns = address->time_ns[address->next] + WINDOW_NS - now_ns;
    return left_ns > 0 ? (int)((left_ns + NS_PER_S - 1) / NS_PER_S) : 0;
}

bool session_bearer(const char *authorization, struct span *out)
{
    if (strncasecmp(authorization, "Bearer ", 7) != 0) {
        return false;
    }
    *out = span_trim(span_of(authorization + 7));
    return true;
}

bool session_cookie(const char *cookies, const char *name, uint8_t out[SESSION_ID_BYTES])
{
    struct span rest = span_of(cookies);
    struct span part;
    while (rest.length > 0 && span_cut(&rest, ';', &part)) {
        struct span key;
        (void)span_cut(&part, '=', &key);
        part = span_trim(part);
        if (part.data != NULL && span_equals(span_trim(key), name) &&
            token_from_hex(part.data, part.length, out, SESSION_ID_BYTES)) {
            return true;
        }
    }
    return false;
}

void session_cookie_name(const char *host, char out[COOKIE_NAME_SIZE])
{
    const char *colon = strrchr(host, ':');
    size_t digits = colon != NULL ? strspn(colon + 1, "0123456789") : 0;
    bool has_port = digits > 0 && digits < 6 && colon[1 + digits] == '\0';
    (void)snprintf(out, COOKIE_NAME_SIZE, "gpumanager%s%.5s", has_port ? "_" : "",
                   has_port ? colon + 1 : "");
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c != '\0' ? strchr(digits, c | 0x20) : NULL;
    return found != NULL ? (int)(found - digits) : -1;
}

/* One character of a form at `*at`, which is moved past it; 0 when it is none. */
static char next_character(struct span text, size_t *at)
{
    char c = text.data[(*at)++];
    if (c == '+') {
        return ' ';
    }
    if (c != '%') {
        return c;
    }
    if (text.length - *at < 2) {
        return '\0';
    }
    int high = hex_digit(text.data[*at]);
    int low = hex_digit(text.data[*at + 1]);
    *at += 2;
    if (high < 0 || low < 0) {
        return '\0';
    }
    return (char)(high * 16 + low);
}

static bool decode(struct span text, char *out, size_t size)
{
    size_t length = 0;
    for (size_t at = 0; at < text.length;) {
        char c = next_character(text, &at);
        bool is_blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if (c == '\0' || (!is_blank && length + 1 >= size)) {
            return false;
        }
        if (!is_blank) { /* a token has none; those were pasted with it */
            out[length++] = c;
        }
    }
    out[length] = '\0';
    return length > 0;
}

bool session_form_token(struct span body, char *out, size_t size)
{
    struct span part;
    while (body.length > 0 && span_cut(&body, '&', &part)) {
        struct span key;
        (void)span_cut(&part, '=', &key);
        if (span_equals(key, "token")) {
            return part.data != NULL && decode(part, out, size);
        }
    }
    return false;
}
