/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A server on src/http for its tests: http_echo [NAME=VALUE...] ADDRESS...
 * Names: cert key base, and each limit, durations in milliseconds. An address "tls:127.0.0.1:0"
 * speaks TLS. Prints "ready PORT..." (0 for a unix socket); SIGTERM stops it gracefully. */
#include "base/clock.h"
#include "base/mem.h"
#include "http/http.h"

#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG_BYTES ((size_t)8 * 1024 * 1024)
#define PAGE "<!doctype html><title>page</title>"
#define LISTENERS_MAX 8

struct feed {
    struct feed *next, *previous;
    struct websocket *socket;
};

struct echo {
    struct event_base *base;
    struct http_server *server;
    struct http_limits limits;
    const char *certificate, *key, *base_path;
    struct http_blob *big, *page, *page_gzip;
    struct feed *feeds; /* of /ws-feed */
    struct event *feed_timer;
    int64_t feed_ns, drain_ns;
    size_t feed_bytes, sent, listeners;
};

/* --- WebSockets --- */

static void echo_message(void *arg, struct websocket *socket, struct span text)
{
    (void)arg;
    if (span_equals(text, "close me")) {
        websocket_close(socket, 3000, "as asked");
        return;
    }
    struct websocket_frame *frame = websocket_frame_text(text.data, text.length, true);
    websocket_send(socket, frame);
    websocket_frame_unref(frame);
}

static void echo_closed(void *arg, struct websocket *socket)
{
    (void)arg;
    (void)socket;
}

static const struct websocket_ops echo_ops = {echo_message, echo_closed};

struct feed_arg {
    struct echo *echo;
    struct feed feed;
};

static void feed_message(void *arg, struct websocket *socket, struct span text)
{
    (void)arg;
    (void)socket;
    (void)text;
}

static void feed_closed(void *arg, struct websocket *socket)
{
    struct feed_arg *own = arg;
    (void)socket;
    if (own->feed.previous != NULL) {
        own->feed.previous->next = own->feed.next;
    } else {
        own->echo->feeds = own->feed.next;
    }
    if (own->feed.next != NULL) {
        own->feed.next->previous = own->feed.previous;
    }
    free(own);
}

static const struct websocket_ops feed_ops = {feed_message, feed_closed};

static void on_feed(evutil_socket_t fd, short what, void *arg)
{
    struct echo *echo = arg;
    (void)fd;
    (void)what;
    if (echo->feeds == NULL) {
        return;
    }
    char *text = mem_new(echo->feed_bytes + 32, 1);
    int head = snprintf(text, 32, "%zu ", ++echo->sent);
    /* Bytes that deflate cannot shorten much, so that a slow reader has something to read. */
    unsigned random = (unsigned)echo->sent;
    for (size_t i = 0; i < echo->feed_bytes; i++) {
        random = random * 1103515245u + 12345u;
        text[(size_t)head + i] = (char)('0' + (random >> 16) % 64);
    }
    struct websocket_frame *frame =
        websocket_frame_text(text, (size_t)head + echo->feed_bytes, true);
    for (struct feed *at = echo->feeds; at != NULL; at = at->next) {
        websocket_send_newest(at->socket, frame);
    }
    websocket_frame_unref(frame);
    free(text);
}

static bool upgrade(struct echo *echo, struct http_request *request)
{
    if (strcmp(request->path, "/ws-feed") != 0) {
        return http_upgrade(request, &echo_ops, echo) != NULL;
    }
    struct feed_arg *own = mem_new(1, sizeof *own);
    own->echo = echo;
    own->feed.socket = http_upgrade(request, &feed_ops, own);
    if (own->feed.socket == NULL) {
        free(own);
        return false;
    }
    own->feed.next = echo->feeds;
    if (echo->feeds != NULL) {
        echo->feeds->previous = &own->feed;
    }
    echo->feeds = &own->feed;
    return true;
}

/* --- requests --- */

static void reply_text(struct http_request *request, int status, const char *text, size_t length)
{
    struct http_blob *body = http_blob_new(text, length);
    http_reply(request, &(struct http_reply){
                            .status = status, .type = "text/plain; charset=utf-8", .body = body});
    http_blob_unref(body);
}

static void reply_about(struct echo *echo, struct http_request *request)
{
    char text[1024];
    int length = snprintf(
        text, sizeof text,
        "method=%s\npath=%s\nquery=%s\npeer=%s\nloopback=%d\ntls=%d\nx-test=%s\nopen=%zu\n",
        request->method, request->path, request->query, request->peer, request->is_loopback,
        request->is_tls, http_header(request, "x-test"), http_server_connections(echo->server));
    reply_text(request, 200, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
    struct echo *echo = arg;
    (void)fd;
    (void)what;
    http_server_stop(echo->server, echo->drain_ns);
}

static void on_stopped(void *arg)
{
    struct echo *echo = arg;
    (void)event_base_loopbreak(echo->base);
}

static void handle(void *arg, struct http_request *request)
{
    struct echo *echo = arg;
    if (strcmp(request->path, "/ws") == 0 || strcmp(request->path, "/ws-feed") == 0 ||
        strcmp(request->path, "/socket.io/") == 0) {
        const char *origin = http_header(request, "origin");
        if (strcmp(origin, "http://evil.example") == 0) {
            http_reply_error(request, 403, "foreign origin");
        } else if (!upgrade(echo, request)) {
            http_reply_error(request, 426, "a \"WebSocket\" is wanted");
        }
    } else if (strcmp(request->path, "/hello") == 0 && strcmp(request->method, "GET") == 0) {
        reply_text(request, 200, "hello\n", 6);
    } else if (strcmp(request->path, "/big") == 0) {
        http_reply(request, &(struct http_reply){.status = 200,
                                                 .type = "application/octet-stream",
                                                 .body = echo->big});
    } else if (strcmp(request->path, "/page") == 0) {
        static const struct http_header_line lines[] = {{"X-Split", "a\r\nX-Evil: b"},
                                                        {NULL, NULL}};
        http_reply(request, &(struct http_reply){.status = 200,
                                                 .type = "text/html",
                                                 .body = echo->page,
                                                 .gzip = echo->page_gzip,
                                                 .etag = "\"v1\"",
                                                 .headers = lines});
    } else if (strcmp(request->path, "/echo") == 0 && strcmp(request->method, "POST") == 0) {
        reply_text(request, 200, request->body.data, request->body.length);
    } else if (strcmp(request->path, "/about") == 0) {
        reply_about(echo, request);
    } else if (strcmp(request->path, "/nothing") == 0) {
        return; /* a handler that forgets to answer */
    } else if (strcmp(request->path, "/hello") == 0 || strcmp(request->path, "/echo") == 0) {
        http_reply_error(request, 405, "not this method");
    } else {
        http_reply_error(request, 404, "no such page");
    }
}

/* --- start --- */

static bool set_limit(struct echo *echo, const char *name, int64_t number)
{
    struct http_limits *limits = &echo->limits;
    const struct {
        const char *name;
        size_t *size;
        int64_t *duration_ns;
    } settings[] = {
        {"header_bytes", &limits->header_bytes, NULL},
        {"header_count", &limits->header_count, NULL},
        {"body_bytes", &limits->body_bytes, NULL},
        {"bodies_bytes", &limits->bodies_bytes, NULL},
        {"connections", &limits->connections, NULL},
        {"connections_each", &limits->connections_each, NULL},
        {"message_bytes", &limits->message_bytes, NULL},
        {"header_ms", NULL, &limits->header_ns},
        {"body_ms", NULL, &limits->body_ns},
        {"idle_ms", NULL, &limits->idle_ns},
        {"ping_ms", NULL, &limits->ping_ns},
        {"stalled_ms", NULL, &limits->stalled_ns},
        {"feed_ms", NULL, &echo->feed_ns},
        {"feed_bytes", &echo->feed_bytes, NULL},
        {"drain_ms", NULL, &echo->drain_ns},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        if (strcmp(name, settings[i].name) != 0) {
            continue;
        }
        if (settings[i].size != NULL) {
            *settings[i].size = (size_t)number;
        } else {
            *settings[i].duration_ns = number * NS_PER_MS;
        }
        return true;
    }
    return false;
}

static bool set_option(struct echo *echo, const char *argument)
{
    struct span rest = span_of(argument);
    struct span name;
    (void)span_cut(&rest, '=', &name);
    if (rest.data == NULL) {
        return false;
    }
    if (span_equals(name, "cert")) {
        echo->certificate = rest.data;
    } else if (span_equals(name, "key")) {
        echo->key = rest.data;
    } else if (span_equals(name, "base")) {
        echo->base_path = rest.data;
    } else {
        char *copy = span_copy(name);
        int64_t number = 0;
        if (!text_to_int64(rest, &number) || !set_limit(echo, copy, number)) {
            (void)fprintf(stderr, "unknown option %s\n", argument);
            exit(2);
        }
        free(copy);
    }
    return true;
}

static void fill(struct echo *echo)
{
    /* PAGE, by gzip -n. */
    static const unsigned char packed[] = {
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xb3, 0x51, 0x4c,
        0xc9, 0x4f, 0x2e, 0xa9, 0x2c, 0x48, 0x55, 0xc8, 0x28, 0xc9, 0xcd, 0xb1, 0xb3,
        0x29, 0xc9, 0x2c, 0xc9, 0x49, 0xb5, 0x2b, 0x48, 0x4c, 0x4f, 0xb5, 0xd1, 0x87,
        0xb0, 0x01, 0x08, 0x81, 0x77, 0x77, 0x22, 0x00, 0x00, 0x00,
    };
    char *big = mem_new(BIG_BYTES, 1);
    memset(big, 'b', BIG_BYTES);
    echo->big = http_blob_new(big, BIG_BYTES);
    free(big);
    echo->page = http_blob_static(PAGE, sizeof PAGE - 1);
    echo->page_gzip = http_blob_static(packed, sizeof packed);
}

static int listen_all(struct echo *echo, int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        const char *address = arguments[i];
        bool is_tls = text_starts(address, "tls:");
        struct err err = {0};
        if (set_option(echo, address)) {
            continue;
        }
        if (echo->server == NULL) {
            struct http_options options = {.base = echo->base,
                                           .limits = &echo->limits,
                                           .handler = handle,
                                           .base_path = echo->base_path,
                                           .stopped = on_stopped,
                                           .arg = echo};
            echo->server = http_server_new(&options);
        }
        if (http_server_listen(echo->server, address + (is_tls ? 4 : 0),
                               is_tls ? echo->certificate : NULL, is_tls ? echo->key : NULL,
                               &err) != 0) {
            (void)fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        echo->listeners++;
    }
    return 0;
}

int main(int count, char **arguments)
{
    struct echo echo = {.feed_ns = 100 * NS_PER_MS, .feed_bytes = 1000, .drain_ns = NS_PER_S};
    echo.base = event_base_new();
    fill(&echo);
    int code = listen_all(&echo, count - 1, arguments + 1);
    if (code == 0 && echo.server != NULL) {
        struct event *stop = evsignal_new(echo.base, SIGTERM, on_stop, &echo);
        struct timeval pace = {echo.feed_ns / NS_PER_S, echo.feed_ns % NS_PER_S / 1000};
        echo.feed_timer = event_new(echo.base, -1, EV_PERSIST, on_feed, &echo);
        (void)event_add(stop, NULL);
        (void)event_add(echo.feed_timer, &pace);
        printf("ready");
        for (size_t i = 0; i < echo.listeners; i++) {
            int port = http_server_port(echo.server, i);
            printf(" %d", port > 0 ? port : 0);
        }
        printf("\n");
        (void)fflush(stdout);
        (void)event_base_dispatch(echo.base);
        event_free(stop);
        event_free(echo.feed_timer);
    }
    http_server_free(echo.server);
    http_blob_unref(echo.big);
    http_blob_unref(echo.page);
    http_blob_unref(echo.page_gzip);
    event_base_free(echo.base);
    return code;
}
