/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: an address that is listened on. */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include "base/err.h"

struct http_server;
struct listener;

/* Adds one to the server. */
int listener_open(struct http_server *server, const char *address, struct listener **out,
                  struct err *err);

/* Speaks TLS from now on. */
int listener_secure(struct listener *listener, const char *certificate, const char *key,
                    struct err *err);

/* Accepts from now on. */
int listener_start(struct listener *listener, struct err *err);

int listener_port(const struct listener *listener);
struct listener *listener_next(const struct listener *listener);
void listener_append(struct listener **list, struct listener *listener);

/* Stops accepting and removes a unix socket's name. */
void listener_close(struct listener *listener);

#endif
