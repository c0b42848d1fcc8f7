/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/connection.h"

#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <assert.h>
#include <event2/bufferevent_ssl.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define INPUT_BYTES ((size_t)16 * 1024)  /* libevent reads no further ahead */
#define UNSENT_BYTES ((size_t)64 * 1024) /* with more waiting, no further request is looked at */
#define LINGER_NS (2 * NS_PER_S)
#define LINGER_BYTES ((size_t)16 * 1024 * 1024)

struct timeval duration_timeval(int64_t duration_ns)
{
    return (struct timeval){.tv_sec = duration_ns / NS_PER_S,
                            .tv_usec = duration_ns % NS_PER_S / 1000};
}

void connection_set_timer(struct http_connection *connection, int64_t duration_ns)
{
    struct timeval duration = duration_timeval(duration_ns);
    connection->taken = connection_taken(connection);
    (void)event_add(connection->timer, &duration);
}

size_t connection_unsent(const struct http_connection *connection)
{
    return evbuffer_get_length(bufferevent_get_output(connection->events));
}

uint64_t connection_taken(const struct http_connection *connection)
{
    return connection->queued - connection_unsent(connection);
}

void connection_send(struct http_connection *connection)
{
    struct evbuffer *out = connection->server->out;
    struct evbuffer *output = bufferevent_get_output(connection->events);
    if (!connection->is_tls && evbuffer_get_length(output) == 0) {
        /* A send that fails leaves the bytes, and libevent meets the same error later, in a
         * callback, where the connection may be freed. */
        (void)evbuffer_write(out, bufferevent_getfd(connection->events));
    }
    connection->queued += evbuffer_get_length(out);
    (void)evbuffer_add_buffer(output, out);
    (void)evbuffer_drain(out, evbuffer_get_length(out));
}

static void linger(struct http_connection *connection)
{
    SSL *ssl = bufferevent_openssl_get_ssl(connection->events);
    if (connection->phase == PHASE_LINGER) {
        return;
    }
    connection->phase = PHASE_LINGER;
    if (connection->is_tls && ssl != NULL) {
        (void)SSL_shutdown(ssl); /* the socket does not block */
    }
    (void)shutdown(bufferevent_getfd(connection->events), SHUT_WR);
    connection_set_timer(connection, LINGER_NS);
}

void connection_finish(struct http_connection *connection)
{
    connection->phase = PHASE_CLOSING;
    if (connection_unsent(connection) == 0) {
        linger(connection);
    } else {
        connection_set_timer(connection, connection->server->limits.stalled_ns);
    }
}

static void release_body(struct http_connection *connection)
{
    connection->server->bodies_bytes -= connection->body_held;
    connection->body_held = 0;
}

void connection_free(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    if (connection->socket != NULL) {
        websocket_detach(connection);
    }
    if (connection->request != NULL) {
        request_fini(connection->request);
        free(connection->request);
    }
    release_body(connection);
    server_count_remove(server, &connection->key);
    if (connection->previous != NULL) {
        connection->previous->next = connection->next;
    } else {
        server->connections = connection->next;
    }
    if (connection->next != NULL) {
        connection->next->previous = connection->previous;
    }
    server->connection_count--;
    if (connection->timer != NULL) {
        event_free(connection->timer);
    }
    if (connection->events != NULL) {
        bufferevent_free(connection->events);
    }
    free(connection);
    server_check_stopped(server);
}

/* --- requests --- */

static void answer(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    struct request *parsed = connection->request;
    const char *path = parsed->text.data + parsed->path;
    size_t prefix = strlen(server->base_path);
    if (prefix > 0 && strncmp(path, server->base_path, prefix) == 0 && path[prefix] == '/') {
        path += prefix;
    }
    struct http_request request = {
        .method = parsed->method,
        .path = path,
        .query = parsed->text.data + parsed->query,
        .body = {parsed->body.length > 0 ? parsed->body.data : "", parsed->body.length},
        .peer = connection->peer,
        .is_loopback = connection->is_loopback,
        .is_tls = connection->is_tls,
        .is_websocket = request_is_websocket(parsed),
        .connection = connection,
    };
    connection->is_answered = false;
    connection->is_last = !parsed->keeps_alive || server->is_stopping;
    server->handler(server->arg, &request);
    if (!connection->is_answered) {
        http_reply_error(&request, 500, "no answer was made");
    }
    release_body(connection);
    if (connection->phase == PHASE_WEBSOCKET) {
        request_fini(parsed);
        free(parsed);
        connection->request = NULL;
    } else if (connection->is_last) {
        connection_finish(connection);
    } else {
        request_reset(parsed);
        connection->phase = PHASE_IDLE;
    }
}

static void refuse(struct http_connection *connection, int status, const char *sentence)
{
    reply_refusal(connection, status, sentence);
    buf_fini(&connection->request->body);
    release_body(connection);
    connection_finish(connection);
}

/* Counts what this body has grown by; false when all bodies together are too long. */
static bool hold_body(struct http_connection *connection)
{
    struct http_server *server = connection->server;
    size_t length = connection->request->body.length;
    server->bodies_bytes += length - connection->body_held;
    connection->body_held = length;
    return server->bodies_bytes <= server->limits.bodies_bytes;
}

static void feed(struct http_connection *connection, const char *data, size_t length, size_t *used)
{
    struct request *request = connection->request;
    const struct http_limits *limits = &connection->server->limits;
    if (connection->phase == PHASE_IDLE) {
        connection->phase = PHASE_HEAD;
        connection_set_timer(connection, limits->header_ns);
    }
    switch (request_feed(request, data, length, used)) {
    case REQUEST_HEAD:
        break;
    case REQUEST_BODY:
        if (connection->phase == PHASE_HEAD) {
            connection->phase = PHASE_BODY;
            connection_set_timer(connection, limits->body_ns);
            if (request->expects_continue && request->body.length == 0) {
                reply_continue(connection);
            }
        }
        if (!hold_body(connection)) {
            refuse(connection, 503, "too many requests with a body at once; try again");
        }
        break;
    case REQUEST_DONE:
        answer(connection);
        break;
    case REQUEST_REFUSED:
        refuse(connection, request->status, request->sentence);
        break;
    }
}

static bool is_reading(const struct http_connection *connection)
{
    return connection->phase == PHASE_IDLE || connection->phase == PHASE_HEAD ||
           connection->phase == PHASE_BODY;
}

static void read_requests(struct http_connection *connection)
{
    struct evbuffer *input = bufferevent_get_input(connection->events);
    while (is_reading(connection) && connection_unsent(connection) <= UNSENT_BYTES) {
        size_t length = evbuffer_get_contiguous_space(input);
        if (length == 0) {
            break;
        }
        connection->is_fresh = false;
        const char *data = (const char *)evbuffer_pullup(input, (ev_ssize_t)length);
        size_t used = 0;
        feed(connection, data, length, &used);
        (void)evbuffer_drain(input, used);
    }
    if (connection->phase == PHASE_IDLE && !connection->is_fresh) {
        const struct http_limits *limits = &connection->server->limits;
        bool is_waiting = connection_unsent(connection) > 0;
        connection_set_timer(connection, is_waiting ? limits->stalled_ns : limits->idle_ns);
    }
}

/* --- callbacks of the loop: the only places that free a connection --- */

static void throw_away(struct http_connection *connection)
{
    struct evbuffer *input = bufferevent_get_input(connection->events);
    connection->lingered += evbuffer_get_length(input);
    (void)evbuffer_drain(input, evbuffer_get_length(input));
    if (connection->lingered > LINGER_BYTES) {
        connection->is_broken = true;
    }
}

static void go_on(struct http_connection *connection)
{
    if (is_reading(connection)) {
        read_requests(connection);
    }
    if (connection->phase == PHASE_WEBSOCKET) {
        websocket_readable(connection);
    }
    if (connection->phase == PHASE_CLOSING || connection->phase == PHASE_LINGER) {
        throw_away(connection);
    }
    if (connection->is_ended && connection_unsent(connection) == 0) {
        connection->is_broken = true;
    }
    if (connection->is_broken) {
        connection_free(connection);
    }
}

static void on_read(struct bufferevent *events, void *arg)
{
    (void)events;
    go_on(arg);
}

/* Also called once at the start, with nothing sent. */
static void on_write(struct bufferevent *events, void *arg)
{
    struct http_connection *connection = arg;
    (void)events;
    if (connection_unsent(connection) > 0) {
        return;
    }
    if (connection->phase == PHASE_CLOSING) {
        linger(connection);
    } else if (connection->phase == PHASE_WEBSOCKET) {
        websocket_writable(connection);
    }
    go_on(connection);
}

static void on_event(struct bufferevent *events, short what, void *arg)
{
    struct http_connection *connection = arg;
    (void)events;
    if ((what & BEV_EVENT_CONNECTED) != 0) {
        if (connection->phase == PHASE_HANDSHAKE) {
            connection->phase = PHASE_IDLE;
            connection_set_timer(connection, connection->server->limits.header_ns);
        }
        return;
    }
    bool is_end = (what & BEV_EVENT_EOF) != 0 && (what & BEV_EVENT_READING) != 0;
    if (!is_end || connection->phase == PHASE_HANDSHAKE || connection->phase == PHASE_LINGER) {
        connection_free(connection);
        return;
    }
    /* A client may shut its side after its last request and still wait for the replies. */
    connection->is_ended = true;
    go_on(connection);
}

static void request_timeout(struct http_connection *connection)
{
    bool is_begun = connection->phase == PHASE_BODY || request_is_begun(connection->request);
    if (is_begun) {
        refuse(connection, 408, "the request took too long to arrive");
        return;
    }
    connection->is_broken = true;
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
    struct http_connection *connection = arg;
    (void)fd;
    (void)what;
    switch (connection->phase) {
    case PHASE_HANDSHAKE:
    case PHASE_LINGER:
        connection->is_broken = true;
        break;
    case PHASE_IDLE:
    case PHASE_CLOSING:
        if (connection_unsent(connection) > 0 &&
            connection_taken(connection) != connection->taken) {
            connection_set_timer(connection, connection->server->limits.stalled_ns);
        } else {
            connection->is_broken = true;
        }
        break;
    case PHASE_HEAD:
    case PHASE_BODY:
        request_timeout(connection);
        break;
    case PHASE_WEBSOCKET:
        websocket_timeout(connection);
        break;
    }
    if (connection->is_broken) {
        connection_free(connection);
    }
}

/* --- who it is --- */

static void set_address4(struct http_connection *connection, const unsigned char *address)
{
    memcpy(connection->key.bytes, address, 4);
    connection->key.is_counted = true;
    connection->is_loopback = address[0] == 127;
    (void)inet_ntop(AF_INET, address, connection->peer, sizeof connection->peer);
}

static void set_address(struct http_connection *connection, const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, address, sizeof in);
        set_address4(connection, (const unsigned char *)&in.sin_addr);
    } else if (address->sa_family == AF_INET6) {
        struct sockaddr_in6 in;
        memcpy(&in, address, sizeof in);
        if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
            set_address4(connection, in.sin6_addr.s6_addr + 12);
            return;
        }
        memcpy(connection->key.bytes, in.sin6_addr.s6_addr, 8);
        connection->key.is_counted = true;
        connection->is_loopback = IN6_IS_ADDR_LOOPBACK(&in.sin6_addr);
        (void)inet_ntop(AF_INET6, &in.sin6_addr, connection->peer, sizeof connection->peer);
    } else {
        connection->is_loopback = true;
        text_copy(connection->peer, sizeof connection->peer, "unix");
    }
}

static struct bufferevent *new_events(struct event_base *base, int fd, void *ssl)
{
    if (ssl == NULL) {
        return bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    }
    /* Its callbacks would otherwise run inside our own calls. On failure it frees `ssl`. */
    struct bufferevent *events = bufferevent_openssl_socket_new(
        base, fd, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (events != NULL) {
        bufferevent_openssl_set_allow_dirty_shutdown(events, 1);
    }
    return events;
}

struct http_connection *connection_new(struct http_server *server, int fd, void *ssl,
                                       const struct sockaddr *address)
{
    struct http_connection *connection = mem_new(1, sizeof *connection);
    connection->server = server;
    set_address(connection, address);
    if (!server_count_add(server, &connection->key)) {
        SSL_free(ssl);
        (void)close(fd);
        free(connection);
        return NULL;
    }
    connection->next = server->connections;
    if (connection->next != NULL) {
        connection->next->previous = connection;
    }
    server->connections = connection;
    server->connection_count++;
    connection->is_tls = ssl != NULL;
    connection->is_fresh = true;
    connection->phase = ssl != NULL ? PHASE_HANDSHAKE : PHASE_IDLE;
    connection->request = mem_new(1, sizeof *connection->request);
    request_init(connection->request, &server->limits);
    connection->events = new_events(server->base, fd, ssl);
    connection->timer = evtimer_new(server->base, on_timer, connection);
    if (connection->events == NULL || connection->timer == NULL) {
        if (connection->events == NULL) {
            (void)close(fd);
        }
        connection_free(connection);
        return NULL;
    }
    if (address->sa_family != AF_UNIX) {
        int on = 1;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    bufferevent_setcb(connection->events, on_read, on_write, on_event, connection);
    bufferevent_setwatermark(connection->events, EV_READ, 0, INPUT_BYTES);
    connection_set_timer(connection, server->limits.header_ns);
    (void)bufferevent_enable(connection->events, EV_READ | EV_WRITE);
    return connection;
}
