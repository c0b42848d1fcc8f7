/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "http/connection.h"
#include "http/limits.h"
#include "http/listener.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void on_stop_timer(evutil_socket_t fd, short what, void *arg)
{
    struct http_server *server = arg;
    (void)fd;
    (void)what;
    if (server->connections == NULL) {
        if (server->stopped != NULL) {
            server->stopped(server->arg);
        }
        return;
    }
    while (server->connections != NULL) {
        connection_free(server->connections);
    }
}

struct http_server *http_server_new(const struct http_options *options)
{
    struct http_server *server = mem_new(1, sizeof *server);
    (void)signal(SIGPIPE, SIG_IGN);
    server->base = options->base;
    server->limits = http_limits_filled(options->limits);
    server->handler = options->handler;
    server->stopped = options->stopped;
    server->arg = options->arg;
    server->base_path = mem_copy_text(options->base_path != NULL ? options->base_path : "");
    size_t length = strlen(server->base_path);
    while (length > 0 && server->base_path[length - 1] == '/') {
        server->base_path[--length] = '\0';
    }
    server->date_s = -1;
    server->out = evbuffer_new();
    server->stop_timer = evtimer_new(server->base, on_stop_timer, server);
    assert(server->out != NULL && server->stop_timer != NULL);
    return server;
}

int http_server_listen(struct http_server *server, const char *address, const char *certificate,
                       const char *key, struct err *err)
{
    if ((certificate == NULL) != (key == NULL)) {
        return err_set(err, -EINVAL, "'%s': TLS needs a certificate and a key", address);
    }
    struct listener *listener = NULL;
    int code = listener_open(server, address, &listener, err);
    if (code != 0) {
        return code;
    }
    if (certificate != NULL) {
        code = listener_secure(listener, certificate, key, err);
    }
    if (code == 0) {
        code = listener_start(listener, err);
    }
    if (code != 0) {
        listener_close(listener);
        return code;
    }
    listener_append(&server->listeners, listener);
    return 0;
}

int http_server_port(const struct http_server *server, size_t listener)
{
    const struct listener *at = server->listeners;
    for (; at != NULL && listener > 0; listener--) {
        at = listener_next(at);
    }
    return at != NULL ? listener_port(at) : -ENOENT;
}

size_t http_server_connections(const struct http_server *server)
{
    return server->connection_count;
}

static struct address_count *find_address(struct http_server *server, const struct address_key *key)
{
    for (size_t i = 0; i < server->address_count; i++) {
        if (memcmp(server->addresses[i].key.bytes, key->bytes, sizeof key->bytes) == 0) {
            return &server->addresses[i];
        }
    }
    return NULL;
}

bool server_count_add(struct http_server *server, const struct address_key *key)
{
    if (!key->is_counted) {
        return true;
    }
    struct address_count *address = find_address(server, key);
    if (address == NULL) {
        server->addresses = mem_grow(server->addresses, server->address_count,
                                     &server->address_capacity, sizeof *server->addresses);
        address = &server->addresses[server->address_count++];
        *address = (struct address_count){.key = *key};
    }
    if (address->count >= server->limits.connections_each) {
        return false;
    }
    address->count++;
    return true;
}

void server_count_remove(struct http_server *server, const struct address_key *key)
{
    if (!key->is_counted) {
        return;
    }
    struct address_count *address = find_address(server, key);
    assert(address != NULL && address->count > 0);
    if (--address->count == 0) {
        *address = server->addresses[--server->address_count];
    }
}

static void close_listeners(struct http_server *server)
{
    while (server->listeners != NULL) {
        struct listener *next = listener_next(server->listeners);
        listener_close(server->listeners);
        server->listeners = next;
    }
}

void server_check_stopped(struct http_server *server)
{
    if (server->is_stopping && server->connections == NULL) {
        struct timeval now = {0, 0};
        (void)event_add(server->stop_timer, &now);
    }
}

void http_server_stop(struct http_server *server, int64_t drain_ns)
{
    if (server->is_stopping) {
        return;
    }
    close_listeners(server);
    struct timeval drain = duration_timeval(drain_ns > 0 ? drain_ns : 0);
    (void)event_add(server->stop_timer, &drain);
    server->is_stopping = true;
    struct http_connection *next = NULL;
    for (struct http_connection *at = server->connections; at != NULL; at = next) {
        next = at->next;
        if (at->socket != NULL) {
            websocket_close(at->socket, 1001, "the server stops");
        } else if (at->phase == PHASE_HANDSHAKE || at->phase == PHASE_LINGER) {
            connection_free(at);
        } else if (at->phase == PHASE_IDLE) {
            connection_finish(at);
        }
    }
    server_check_stopped(server);
}

void http_server_free(struct http_server *server)
{
    if (server == NULL) {
        return;
    }
    server->is_stopping = false; /* nobody is told any more */
    close_listeners(server);
    while (server->connections != NULL) {
        connection_free(server->connections);
    }
    event_free(server->stop_timer);
    evbuffer_free(server->out);
    buf_fini(&server->head);
    free(server->addresses);
    free(server->base_path);
    free(server);
}
