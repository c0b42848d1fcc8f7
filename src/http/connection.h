/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: one accepted socket from its first byte to its last, and the server that owns
 * it. Functions that a handler may call never free the connection; only callbacks of the loop do.
 */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include "base/buf.h"
#include "http/http.h"
#include "http/request.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/in.h>

struct listener;
struct websocket;

/*
 *  HANDSHAKE ──► IDLE ◄──► HEAD ──► BODY        a reply leads back to IDLE,
 *                  │         │        │         or, when it is the last one,
 *                  │         ▼        ▼         to CLOSING
 *                  │      WEBSOCKET  CLOSING ──► LINGER ──► freed
 */
enum phase {
    PHASE_HANDSHAKE, /* of TLS */
    PHASE_IDLE,      /* no byte of the next request yet */
    PHASE_HEAD,
    PHASE_BODY,
    PHASE_CLOSING, /* the last reply is on its way */
    PHASE_LINGER,  /* our side is shut; what still comes is thrown away, so that no reset
                      overtakes the reply */
    PHASE_WEBSOCKET,
};

/* Who is counted together: an IPv4 address, or the /64 of an IPv6 address. */
struct address_key {
    unsigned char bytes[8];
    bool is_counted;
};

struct http_connection {
    struct http_server *server;
    struct http_connection *next, *previous;
    struct bufferevent *events;
    struct event *timer;
    enum phase phase;
    bool is_tls;
    bool is_loopback;
    bool is_ended;            /* the peer will send no more */
    bool is_answered;         /* the present request has its reply */
    bool is_last;             /* no request after this one */
    bool is_fresh;            /* nothing was ever received */
    bool is_broken;           /* the next callback frees it */
    uint64_t queued;          /* bytes that were ever left to `events` */
    uint64_t taken;           /* bytes of them that were sent when the timer was set */
    size_t lingered;          /* bytes thrown away */
    size_t body_held;         /* counted in the server's bodies_bytes */
    struct request *request;  /* NULL for a WebSocket */
    struct websocket *socket; /* owned */
    struct address_key key;
    char peer[INET6_ADDRSTRLEN];
};

struct address_count {
    struct address_key key;
    size_t count;
};

struct http_server {
    struct event_base *base;
    struct http_limits limits;
    http_handler_fn *handler;
    void (*stopped)(void *arg);
    void *arg;
    char *base_path;
    struct listener *listeners; /* in the order they were added */
    struct http_connection *connections;
    size_t connection_count;
    struct address_count *addresses;
    size_t address_count, address_capacity;
    size_t bodies_bytes;
    struct event *stop_timer;
    bool is_stopping;
    struct evbuffer *out; /* empty between calls: what is about to be sent */
    struct buf head;      /* of a reply */
    int64_t date_s;       /* the second that `date` says */
    char date[32];
};

/* Takes `fd` (and `ssl`, which may be NULL). NULL when it could not be set up; then both are
 * closed. */
struct http_connection *connection_new(struct http_server *server, int fd, void *ssl,
                                       const struct sockaddr *address);

/* Ends it at once, whatever is left unsent. */
void connection_free(struct http_connection *connection);

/* Sends all of server->out: now what the socket takes, later the rest. */
void connection_send(struct http_connection *connection);

/* What is waiting for the socket. */
size_t connection_unsent(const struct http_connection *connection);

/* Bytes that the socket has taken of what was left to wait. */
uint64_t connection_taken(const struct http_connection *connection);

/* Sends the rest, shuts our side, and waits a little for the peer's end. */
void connection_finish(struct http_connection *connection);

void connection_set_timer(struct http_connection *connection, int64_t duration_ns);
struct timeval duration_timeval(int64_t duration_ns);

/* Of server.c. */
bool server_count_add(struct http_server *server, const struct address_key *key);
void server_count_remove(struct http_server *server, const struct address_key *key);
void server_check_stopped(struct http_server *server);

/* Of reply.c: an answer that is the connection's last. */
void reply_refusal(struct http_connection *connection, int status, const char *sentence);
void reply_continue(struct http_connection *connection);

/* Of websocket.c: what the connection tells it. */
void websocket_readable(struct http_connection *connection);
void websocket_writable(struct http_connection *connection);
void websocket_timeout(struct http_connection *connection);
void websocket_detach(struct http_connection *connection); /* calls `closed` and frees it */

#endif
