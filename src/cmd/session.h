/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What serve remembers of sign-ins, bounded and in memory only: sessions of browsers, and failures
 * by address. And how their texts are read from requests. Pure: `now_ns` is monotonic. */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

#include "base/text.h"
#include "cmd/token.h"

#define SESSIONS_MAX 1000
#define SESSION_ID_BYTES 16
#define SESSION_ID_SIZE (2 * SESSION_ID_BYTES + 1)
#define SESSION_LIFE_S (30 * 86400)
#define SESSION_IDLE_S (7 * 86400)
#define FAILURES_MOST 5 /* within a minute */
#define COOKIE_NAME_SIZE 32

struct sessions;
struct sessions *sessions_new(void);
void sessions_free(struct sessions *sessions); /* accepts NULL */

/* When it is full, the session that was not used for the longest time ends. */
void sessions_add(struct sessions *sessions, const uint8_t id[SESSION_ID_BYTES],
                  const uint8_t token[TOKEN_HASH_BYTES], int64_t now_ns);
/* The token of a session that is not over, which counts as use; else NULL. Borrowed. */
const uint8_t *sessions_use(struct sessions *sessions, const uint8_t id[SESSION_ID_BYTES],
                            int64_t now_ns);
void sessions_remove(struct sessions *sessions, const uint8_t id[SESSION_ID_BYTES]);
/* Ends those whose token is not in the list. */
void sessions_keep(struct sessions *sessions, const struct token_list *list);
size_t sessions_count(const struct sessions *sessions);

struct failures;
struct failures *failures_new(void);
void failures_free(struct failures *failures); /* accepts NULL */
void failures_add(struct failures *failures, const char *peer, int64_t now_ns);
/* Seconds until this address may try again, 0 = now. Addresses of one IPv6 /64 are one. */
int failures_wait_s(const struct failures *failures, const char *peer, int64_t now_ns);

/* Of "Bearer TOKEN"; false for another scheme or none. */
bool session_bearer(const char *authorization, struct span *out);

/* The n-th session in a Cookie header under this name; false when there is none. */
bool session_cookie(const char *cookies, const char *name, uint8_t out[SESSION_ID_BYTES]);

/* "gpumanager_1312": browsers do not tell ports apart, but a tunnel ends on each of several. */
void session_cookie_name(const char *host, char out[COOKIE_NAME_SIZE]);

/* The field "token" of a form, decoded and without blanks around; false when it is missing, empty
 * or longer than `size` - 1. */
bool session_form_token(struct span body, char *out, size_t size);

#endif
