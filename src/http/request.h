/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: one request out of bytes, without sockets or clocks. Bytes go in as they come,
 * in any pieces; the outcome does not depend on how they were cut. llhttp does the grammar and the
 * framing of the body; what it lets through (bare LF, folded lines, NUL) is refused here before.
 * The caller owns the struct; request_init, then feed, then request_reset for the next one. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include "base/buf.h"
#include "http/http.h"

#include <llhttp.h>

enum request_state { REQUEST_HEAD, REQUEST_BODY, REQUEST_DONE, REQUEST_REFUSED };

struct request_header {
    size_t name, value; /* offsets in `text`; the name is lower case, each name occurs once */
};

struct request {
    const struct http_limits *limits; /* filled */
    enum request_state state;
    int status;           /* REQUEST_REFUSED: what to answer before closing */
    const char *sentence; /* REQUEST_REFUSED: why; static */
    const char *method;   /* from here on: known when the head is over */
    bool is_head_method;  /* HEAD; `method` says GET */
    bool keeps_alive;
    bool expects_continue;
    size_t path, query; /* offsets in `text` */
    struct buf text;    /* decoded strings, each closed by NUL */
    struct buf body;
    /* private */
    llhttp_t parser;
    struct buf head;       /* as it came */
    size_t first;          /* where the request line starts in `head` */
    size_t line;           /* where the present line starts */
    size_t lines;          /* whole lines that were not empty */
    size_t raw_body_bytes; /* with the framing of chunks */
    bool is_complete;      /* llhttp saw the end of the message */
    struct request_header *headers;
    size_t header_count, header_capacity;
};

void request_init(struct request *request, const struct http_limits *limits);
void request_reset(struct request *request); /* for the next request; keeps small memory */
void request_fini(struct request *request);

/* Takes bytes up to the end of this request; `*used` says how many. */
enum request_state request_feed(struct request *request, const char *data, size_t length,
                                size_t *used);

/* True when bytes of a request were seen (blank lines before it do not count). */
bool request_is_begun(const struct request *request);

/* "" when absent; borrowed until the next reset. */
const char *request_header(const struct request *request, const char *name);

/* True when `token` is a member of the comma-separated list, in any case. */
bool request_has_token(const char *list, const char *token);

/* A correct WebSocket upgrade request of version 13. */
bool request_is_websocket(const struct request *request);

#endif
