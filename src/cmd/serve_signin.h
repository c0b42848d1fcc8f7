/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The sign-in of serve: asked for once there is a token, and always where other machines reach the
 * port. Programs send the token in a header; browsers trade it for a session at ./login. Once it
 * was asked for, it is so until the end of the process: no token left means nobody gets in. */
#ifndef CMD_SERVE_SIGNIN_H
#define CMD_SERVE_SIGNIN_H

#include "cmd/session.h"

struct serve;
struct cmd;
struct http_request;

/* Who asks, as it was when it asked. */
struct visitor {
    bool is_signed_in; /* else nobody has to */
    bool has_session;
    uint8_t session[SESSION_ID_BYTES];
    uint8_t token[TOKEN_HASH_BYTES];
};

/* Reads the token file; a sentence when there is one that cannot be read. */
int serve_signin_open(struct serve *serve, const struct cmd *cmd, struct err *err);
void serve_signin_close(struct serve *serve);

bool serve_signin_has_tokens(const struct serve *serve);
void serve_signin_require(struct serve *serve);

/* Sees whether the token file changed; ends the viewers who lost their access. */
void serve_signin_tick(struct serve *serve, int64_t now_ns);

/* Answers ./login, ./logout and what these pages need; false for other addresses. */
bool serve_signin_answer(struct serve *serve, struct http_request *request);

/* False: the request was answered, with 401, 429 or the way to ./login. */
bool serve_signin_admit(struct serve *serve, struct http_request *request, struct visitor *out);

/* Still may see; a session counts as used. */
bool serve_signin_holds(struct serve *serve, const struct visitor *visitor);

/* Names, users and commands of processes are not for this visitor. */
bool serve_signin_is_hidden(const struct serve *serve, const struct visitor *visitor);

#endif
