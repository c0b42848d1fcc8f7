/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/mem.h"
#include "http/connection.h"
#include "http/wire.h"

#include <assert.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#define GOODBYE_NS (2 * NS_PER_S)         /* for the answer to our close frame */
#define SILENCES 2                        /* pings without a sign of life */
#define COMPRESSED_BYTES 128              /* shorter texts gain nothing */
#define UNSENT_BYTES ((size_t)256 * 1024) /* of websocket_send: who lets more wait is dropped */

struct websocket_frame {
    size_t references;
    struct buf plain;    /* head and text */
    struct buf deflated; /* the same compressed; empty = none */
};

struct websocket {
    struct http_connection *connection;
    const struct websocket_ops *ops;
    void *arg;
    struct wire_reader reader;
    struct event *stall;            /* running while something waits for the socket */
    uint64_t taken;                 /* when it was started */
    struct websocket_frame *newest; /* kept until the socket has drained */
    unsigned char pong[WIRE_HEAD_BYTES + WIRE_CONTROL_BYTES];
    size_t pong_length; /* 0 = no ping to answer; only the last one is */
    int silences;
    bool is_closing; /* our close frame went out */
};

/* --- shared frames --- */

static void build(struct buf *out, int first_byte, const char *data, size_t length)
{
    unsigned char head[WIRE_HEAD_BYTES];
    buf_add(out, head, wire_head(head, first_byte, length));
    buf_add(out, data, length);
}

struct websocket_frame *websocket_frame_text(const char *text, size_t length, bool is_compressed)
{
    struct websocket_frame *frame = mem_new(1, sizeof *frame);
    frame->references = 1;
    build(&frame->plain, WIRE_TEXT, text, length);
    if (is_compressed && length >= COMPRESSED_BYTES) {
        struct buf deflated = {0};
        wire_deflate(text, length, &deflated);
        build(&frame->deflated, WIRE_TEXT | 0x40, deflated.data, deflated.length);
        buf_fini(&deflated);
    }
    return frame;
}

struct websocket_frame *websocket_frame_ref(struct websocket_frame *frame)
{
    assert(frame->references > 0);
    frame->references++;
    return frame;
}

void websocket_frame_unref(struct websocket_frame *frame)
{
    if (frame == NULL) {
        return;
    }
    assert(frame->references > 0);
    if (--frame->references == 0) {
        buf_fini(&frame->plain);
        buf_fini(&frame->deflated);
        free(frame);
    }
}

static void unref_frame(const void *data, size_t length, void *frame)
{
    (void)data;
    (void)length;
    websocket_frame_unref(frame);
}

/* --- sending --- */

static void send_out(struct websocket *socket)
{
    struct http_connection *connection = socket->connection;
    connection_send(connection);
    size_t unsent = connection_unsent(connection);
    if (unsent == 0 || socket->is_closing) {
        return;
    }
    if (!evtimer_pending(socket->stall, NULL)) {
        struct timeval duration = duration_timeval(connection->server->limits.stalled_ns);
        socket->taken = connection_taken(connection);
        (void)event_add(socket->stall, &duration);
    }
}

static void send_bytes(struct websocket *socket, const void *data, size_t length)
{
    (void)evbuffer_add(socket->connection->server->out, data, length);
    send_out(socket);
}

static void send_frame(struct websocket *socket, struct websocket_frame *frame)
{
    bool is_deflated = socket->reader.is_deflate && frame->deflated.length > 0;
    const struct buf *bytes = is_deflated ? &frame->deflated : &frame->plain;
    struct evbuffer *out = socket->connection->server->out;
    (void)websocket_frame_ref(frame);
    if (evbuffer_add_reference(out, bytes->data, bytes->length, unref_frame, frame) != 0) {
        frame->references--; /* the caller holds another */
        return;
    }
    send_out(socket);
}

static void send_control(struct websocket *socket, int opcode, const void *data, size_t length)
{
    unsigned char bytes[WIRE_HEAD_BYTES + WIRE_CONTROL_BYTES];
    assert(length <= WIRE_CONTROL_BYTES);
    size_t head = wire_head(bytes, opcode, length);
    if (length > 0) {
        memcpy(bytes + head, data, length);
    }
    send_bytes(socket, bytes, head + length);
}

bool websocket_is_drained(const struct websocket *socket)
{
    return connection_unsent(socket->connection) == 0;
}

void websocket_send(struct websocket *socket, struct websocket_frame *frame)
{
    if (socket->is_closing) {
        return;
    }
    if (connection_unsent(socket->connection) > UNSENT_BYTES) {
        websocket_close(socket, 1008, "too slow");
        return;
    }
    send_frame(socket, frame);
}

void websocket_send_newest(struct websocket *socket, struct websocket_frame *frame)
{
    if (socket->is_closing) {
        return;
    }
    if (websocket_is_drained(socket)) {
        send_frame(socket, frame);
        return;
    }
    (void)websocket_frame_ref(frame);
    websocket_frame_unref(socket->newest);
    socket->newest = frame;
}

static void send_pong(struct websocket *socket, struct span payload)
{
    socket->pong_length = wire_head(socket->pong, WIRE_PONG, payload.length);
    if (payload.length > 0) {
        memcpy(socket->pong + socket->pong_length, payload.data, payload.length);
    }
    socket->pong_length += payload.length;
    if (websocket_is_drained(socket)) {
        send_bytes(socket, socket->pong, socket->pong_length);
        socket->pong_length = 0;
    }
}

void websocket_close(struct websocket *socket, int code, const char *reason)
{
    if (socket->is_closing) {
        return;
    }
    char payload[WIRE_CONTROL_BYTES];
    payload[0] = (char)(code >> 8);
    payload[1] = (char)code;
    text_copy(payload + 2, sizeof payload - 2, reason != NULL ? reason : "");
    send_control(socket, WIRE_CLOSE, payload, 2 + strlen(payload + 2));
    socket->is_closing = true;
    websocket_frame_unref(socket->newest);
    socket->newest = NULL;
    connection_set_timer(socket->connection, GOODBYE_NS);
}

/* --- what the connection tells --- */

void websocket_detach(struct http_connection *connection)
{
    struct websocket *socket = connection->socket;
    connection->socket = NULL;
    socket->ops->closed(socket->arg, socket);
    if (socket->stall != NULL) {
        event_free(socket->stall);
    }
    websocket_frame_unref(socket->newest);
    wire_reader_fini(&socket->reader);
    free(socket);
}

/* Both sides have said goodbye, or one has no right to more. */
static void part(struct http_connection *connection)
{
    websocket_detach(connection);
    connection_finish(connection);
}

static void handle(struct websocket *socket, enum wire_event event)
{
    struct http_connection *connection = socket->connection;
    switch (event) {
    case WIRE_MORE:
        break;
    case WIRE_GOT_TEXT:
        if (!socket->is_closing) {
            socket->ops->message(socket->arg, socket, socket->reader.payload);
        }
        break;
    case WIRE_GOT_PING:
        if (!socket->is_closing) {
            send_pong(socket, socket->reader.payload);
        }
        break;
    case WIRE_GOT_PONG:
        break;
    case WIRE_GOT_CLOSE:
        websocket_close(socket, socket->reader.code, "");
        part(connection);
        break;
    case WIRE_FAULT:
        websocket_close(socket, socket->reader.code, socket->reader.reason);
        part(connection);
        break;
    }
}

void websocket_readable(struct http_connection *connection)
{
    struct evbuffer *input = bufferevent_get_input(connection->events);
    while (connection->socket != NULL) {
        struct websocket *socket = connection->socket;
        size_t length = evbuffer_get_contiguous_space(input);
        if (length == 0) {
            break;
        }
        socket->silences = 0;
        const void *data = evbuffer_pullup(input, (ev_ssize_t)length);
        size_t used = 0;
        enum wire_event event = wire_read(&socket->reader, data, length, &used);
        handle(socket, event);
        (void)evbuffer_drain(input, used);
    }
}

void websocket_writable(struct http_connection *connection)
{
    struct websocket *socket = connection->socket;
    (void)event_del(socket->stall);
    if (socket->is_closing) {
        return;
    }
    if (socket->pong_length > 0) {
        send_bytes(socket, socket->pong, socket->pong_length);
        socket->pong_length = 0;
    }
    if (socket->newest != NULL && websocket_is_drained(socket)) {
        struct websocket_frame *frame = socket->newest;
        socket->newest = NULL;
        send_frame(socket, frame);
        websocket_frame_unref(frame);
    }
}

void websocket_timeout(struct http_connection *connection)
{
    struct websocket *socket = connection->socket;
    if (socket->is_closing || socket->silences >= SILENCES) {
        connection->is_broken = true;
        return;
    }
    socket->silences++;
    if (websocket_is_drained(socket)) {
        send_control(socket, WIRE_PING, "", 0);
    }
    connection_set_timer(connection, connection->server->limits.ping_ns);
}

static void on_stalled(evutil_socket_t fd, short what, void *arg)
{
    struct websocket *socket = arg;
    struct http_connection *connection = socket->connection;
    (void)fd;
    (void)what;
    if (connection_taken(connection) == socket->taken) {
        connection_free(connection);
        return;
    }
    struct timeval duration = duration_timeval(connection->server->limits.stalled_ns);
    socket->taken = connection_taken(connection);
    (void)event_add(socket->stall, &duration);
}

/* --- the upgrade --- */

static void accept_key(const char *key, char text[32])
{
    static const char magic[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    char joined[128];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int length = 0;
    int joined_length = snprintf(joined, sizeof joined, "%s%s", key, magic);
    int is_made = EVP_Digest(joined, (size_t)joined_length, digest, &length, EVP_sha1(), NULL);
    assert(is_made == 1 && length == 20);
    (void)EVP_EncodeBlock((unsigned char *)text, digest, (int)length);
}

static void send_upgrade(struct http_request *request, bool is_deflate)
{
    struct http_server *server = request->connection->server;
    char accepted[32];
    accept_key(http_header(request, "sec-websocket-key"), accepted);
    (void)evbuffer_add_printf(server->out,
                              "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n%s\r\n",
                              accepted,
                              is_deflate ? "Sec-WebSocket-Extensions: permessage-deflate; "
                                           "server_no_context_takeover; "
                                           "client_no_context_takeover\r\n"
                                         : "");
    connection_send(request->connection);
}

struct websocket *http_upgrade(struct http_request *request, const struct websocket_ops *ops,
                               void *arg)
{
    struct http_connection *connection = request->connection;
    if (!request->is_websocket || connection->is_answered || connection->server->is_stopping) {
        return NULL;
    }
    struct websocket *socket = mem_new(1, sizeof *socket);
    socket->connection = connection;
    socket->ops = ops;
    socket->arg = arg;
    socket->stall = evtimer_new(connection->server->base, on_stalled, socket);
    if (socket->stall == NULL) {
        free(socket);
        return NULL;
    }
    bool is_deflate = wire_offers_deflate(http_header(request, "sec-websocket-extensions"));
    wire_reader_init(&socket->reader, connection->server->limits.message_bytes, is_deflate);
    send_upgrade(request, is_deflate);
    connection->is_answered = true;
    connection->socket = socket;
    connection->phase = PHASE_WEBSOCKET;
    connection_set_timer(connection, connection->server->limits.ping_ns);
    return socket;
}
