/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* HTTP/1.1 and WebSocket server over libevent and llhttp. Knows nothing of what is served: a
 * request goes in, a reply comes out, or the connection becomes a WebSocket. Everything runs on the
 * one thread of the event_base; nothing here blocks. Deadlines, limits and caps are this folder's
 * business, who may ask what is the handler's. */
#ifndef HTTP_HTTP_H
#define HTTP_HTTP_H

#include "base/err.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct http_server;

/* Zero means the default in brackets. */
struct http_limits {
    size_t header_bytes;     /* request line and headers [16 KiB]: 414, 431 */
    size_t header_count;     /* [100]: 431 */
    size_t body_bytes;       /* [1 MiB]: 413 */
    size_t bodies_bytes;     /* of all half-received bodies together [64 MiB]: 503 */
    int64_t header_ns;       /* from the first byte to the end of the headers [10 s]: 408 */
    int64_t body_ns;         /* for the whole body [30 s]: 408 */
    int64_t idle_ns;         /* between two requests of a connection [60 s]: closed */
    size_t connections;      /* [4096]: closed at once */
    size_t connections_each; /* of one address [1024]; a unix socket has none */
    size_t message_bytes;    /* of one WebSocket message from a client [64 KiB]: close 1009 */
    int64_t ping_ns;         /* pings an idle WebSocket [20 s] and drops one that is silent twice */
    int64_t stalled_ns;      /* drops who takes nothing of what is sent for so long [10 s] */
};

struct http_request {
    const char *method; /* "GET" also for HEAD, whose answer goes without the body */
    const char *path;   /* decoded UTF-8 from '/' on, no control character; without base_path */
    const char *query;  /* raw, "" when there is none */
    struct span body;   /* whole; empty for GET and HEAD */
    const char *peer;   /* "127.0.0.1", "::1", "unix"; from the socket, not from a header */
    bool is_loopback;   /* the peer is this machine */
    bool is_tls;
    bool is_websocket; /* a correct upgrade request: http_upgrade may be called */
    /* private */
    struct http_connection *connection;
};

/* Header by lower-case name, "" when absent; repeated ones are joined by ", ". Borrowed. */
const char *http_header(const struct http_request *request, const char *name);

/* A body that several replies share; counted. Immutable after it was made. */
struct http_blob;
struct http_blob *http_blob_new(const void *data, size_t length);    /* copies */
struct http_blob *http_blob_static(const void *data, size_t length); /* must live for ever */
struct http_blob *http_blob_ref(struct http_blob *blob);
void http_blob_unref(struct http_blob *blob); /* accepts NULL */
const void *http_blob_data(const struct http_blob *blob, size_t *length);

struct http_header_line {
    const char *name, *value;
};

struct http_reply {
    int status;
    const char *type;                       /* Content-Type, NULL when there is no body */
    struct http_blob *body;                 /* a reference is taken; NULL = empty */
    struct http_blob *gzip;                 /* the same compressed; used when the client takes it */
    const char *etag;                       /* with quotes; answers If-None-Match with 304 */
    const struct http_header_line *headers; /* name == NULL ends it; may be NULL */
};

/* Called for each whole request; must reply or upgrade before it returns. Replies carry
 * X-Content-Type-Options, Referrer-Policy, Cache-Control (unless given: no-cache with an ETag, else
 * no-store) and no Server. A reply of 426 names the WebSocket version that is spoken. */
typedef void http_handler_fn(void *arg, struct http_request *request);

void http_reply(struct http_request *request, const struct http_reply *reply);

/* {"error": SENTENCE}, escaped. */
void http_reply_error(struct http_request *request, int status, const char *sentence);

/* --- WebSocket (RFC 6455) --- */

struct websocket;

struct websocket_ops {
    /* A whole text message, valid UTF-8; borrowed. */
    void (*message)(void *arg, struct websocket *socket, struct span text);
    /* The socket is gone after this returns; `arg` is the callee's to free. */
    void (*closed)(void *arg, struct websocket *socket);
};

/* One server message ready to be sent to any number of viewers: framed, and compressed once for
 * those who negotiated permessage-deflate (no context takeover). */
struct websocket_frame;
struct websocket_frame *websocket_frame_text(const char *text, size_t length, bool is_compressed);
struct websocket_frame *websocket_frame_ref(struct websocket_frame *frame);
void websocket_frame_unref(struct websocket_frame *frame); /* accepts NULL */

/* Answers 101. `ops` must live for ever. NULL when the request is no WebSocket; then a reply is
 * still due. A subprotocol is never chosen. */
struct websocket *http_upgrade(struct http_request *request, const struct websocket_ops *ops,
                               void *arg);

/* Sends in order. For what must not be lost (a greeting). */
void websocket_send(struct websocket *socket, struct websocket_frame *frame);
/* Sends now when the socket has drained, else keeps this frame and forgets an earlier kept one:
 * a slow viewer gets the newest, never a queue. */
void websocket_send_newest(struct websocket *socket, struct websocket_frame *frame);
bool websocket_is_drained(const struct websocket *socket);
/* Says goodbye; `closed` is called later, from the loop. Nothing is sent or received after it. */
void websocket_close(struct websocket *socket, int code, const char *reason);

/* --- server --- */

struct http_options {
    struct event_base *base;
    const struct http_limits *limits; /* NULL = defaults */
    http_handler_fn *handler;
    const char *base_path; /* "/gpu": taken off a path that begins with it; NULL or "" = none */
    void (*stopped)(void *arg); /* after http_server_stop, when nobody is left; may be NULL */
    void *arg;                  /* of handler and stopped */
};

/* Makes the process ignore SIGPIPE. Never NULL. */
struct http_server *http_server_new(const struct http_options *options);

/* "127.0.0.1:1312", "[::1]:1312", "unix:/run/x.sock" (0660, replaces a dead socket). With
 * certificate and key (PEM files) it speaks TLS 1.2 and newer; both are read again when they
 * change on disk. -EADDRINUSE and others with a sentence that names the address. */
int http_server_listen(struct http_server *server, const char *address, const char *certificate,
                       const char *key, struct err *err);

/* The port of the n-th listener, for tests that listen on port 0. */
int http_server_port(const struct http_server *server, size_t listener);

size_t http_server_connections(const struct http_server *server);

/* Stops accepting, closes WebSockets with 1001, lets replies drain for at most `drain_ns`. */
void http_server_stop(struct http_server *server, int64_t drain_ns);
void http_server_free(struct http_server *server); /* accepts NULL */

#endif
