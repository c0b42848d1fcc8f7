/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/listener.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "http/connection.h"
#include "http/tls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <limits.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define BACKLOG 512
#define REST_NS (100 * NS_PER_MS)

struct listener {
    struct listener *next;
    struct http_server *server;
    char *address; /* as it was asked for */
    char *path;    /* of a unix socket, else NULL */
    dev_t device;
    ino_t inode;
    int fd;
    struct evconnlistener *accepting;
    struct event *rest; /* after descriptors ran out */
    struct tls *tls;    /* NULL = plain */
};

union address {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

static int parse_port(struct span text, in_port_t *port)
{
    int64_t number = -1;
    if (!text_to_int64(text, &number) || number < 0 || number > 65535) {
        return -EINVAL;
    }
    *port = htons((uint16_t)number);
    return 0;
}

/* "1.2.3.4:80" or "[::1]:80" */
static int parse_address(const char *text, union address *address, socklen_t *length)
{
    char host[INET6_ADDRSTRLEN];
    const char *colon = strrchr(text, ':');
    bool is_v6 = text[0] == '[';
    size_t host_length = colon != NULL ? (size_t)(colon - text) : 0;
    if (is_v6) {
        if (host_length < 3 || text[host_length - 1] != ']') {
            return -EINVAL;
        }
        text++;
        host_length -= 2;
    }
    if (host_length == 0 || host_length >= sizeof host) {
        return -EINVAL;
    }
    memcpy(host, text, host_length);
    host[host_length] = '\0';
    *address = (union address){0};
    in_port_t port = 0;
    if (parse_port(span_of(colon + 1), &port) != 0) {
        return -EINVAL;
    }
    if (is_v6) {
        *length = sizeof address->in6;
        address->in6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = port};
        return inet_pton(AF_INET6, host, &address->in6.sin6_addr) == 1 ? 0 : -EINVAL;
    }
    *length = sizeof address->in;
    address->in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port};
    return inet_pton(AF_INET, host, &address->in.sin_addr) == 1 ? 0 : -EINVAL;
}

/* A socket's name that nobody listens on is removed; anything else stays. */
static int clear_path(const struct sockaddr_un *address, struct err *err)
{
    struct stat status;
    if (lstat(address->sun_path, &status) != 0) {
        return errno == ENOENT ? 0 : err_errno(err, -errno, "'%s'", address->sun_path);
    }
    if (!S_ISSOCK(status.st_mode)) {
        return err_set(err, -EEXIST, "'%s' is in the way and no socket", address->sun_path);
    }
    OWN_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return err_errno(err, -errno, "no socket");
    }
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN) {
        return err_set(err, -EADDRINUSE, "another program listens on 'unix:%s'", address->sun_path);
    }
    if (errno != ECONNREFUSED) {
        return err_errno(err, -errno, "'%s' cannot be tried", address->sun_path);
    }
    if (unlink(address->sun_path) != 0 && errno != ENOENT) {
        return err_errno(err, -errno, "the dead socket '%s' cannot be removed", address->sun_path);
    }
    return 0;
}

static int new_socket(int family, struct err *err)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return err_errno(err, -errno, "no socket");
    }
    int on = 1;
    int off = 0;
    /* What the kernel may hide of a slow reader; accepted sockets inherit it. */
    int send_bytes = 64 * 1024;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof send_bytes);
    if (family == AF_INET6) {
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    return fd;
}

static int open_unix(struct listener *listener, struct err *err)
{
    union address address = {.un = {.sun_family = AF_UNIX}};
    if (strlen(listener->path) >= sizeof address.un.sun_path || listener->path[0] == '\0') {
        return err_set(err, -EINVAL, "'%s': a socket's path has 1 to %zu characters",
                       listener->address, sizeof address.un.sun_path - 1);
    }
    text_copy(address.un.sun_path, sizeof address.un.sun_path, listener->path);
    int code = clear_path(&address.un, err);
    if (code != 0) {
        return code;
    }
    OWN_FD int fd = new_socket(AF_UNIX, err);
    if (fd < 0) {
        return fd;
    }
    /* On Linux the name gets the mode of the socket, so that it is never wider than this. */
    (void)fchmod(fd, 0660);
    if (bind(fd, &address.any, sizeof address.un) != 0) {
        return err_errno(err, -errno, "cannot listen on '%s'", listener->address);
    }
    struct stat status;
    if (chmod(listener->path, 0660) != 0 || lstat(listener->path, &status) != 0) {
        return err_errno(err, -errno, "cannot give '%s' its mode", listener->address);
    }
    listener->device = status.st_dev;
    listener->inode = status.st_ino;
    listener->fd = MOVE_FD(fd);
    return 0;
}

static int open_internet(struct listener *listener, struct err *err)
{
    union address address;
    socklen_t length = 0;
    if (parse_address(listener->address, &address, &length) != 0) {
        return err_set(err, -EINVAL,
                       "'%s': expected an address like 127.0.0.1:1312, [::1]:1312 or unix:/path",
                       listener->address);
    }
    OWN_FD int fd = new_socket(address.any.sa_family, err);
    if (fd < 0) {
        return fd;
    }
    if (bind(fd, &address.any, length) != 0) {
        return err_errno(err, -errno, "cannot listen on '%s'", listener->address);
    }
    listener->fd = MOVE_FD(fd);
    return 0;
}

int listener_open(struct http_server *server, const char *address, struct listener **out,
                  struct err *err)
{
    struct listener *listener = mem_new(1, sizeof *listener);
    listener->server = server;
    listener->fd = -1;
    listener->address = mem_copy_text(address);
    if (text_starts(address, "unix:")) {
        listener->path = mem_copy_text(address + strlen("unix:"));
    }
    int code = listener->path != NULL ? open_unix(listener, err) : open_internet(listener, err);
    if (code != 0) {
        listener_close(listener);
        return code;
    }
    *out = listener;
    return 0;
}

int listener_secure(struct listener *listener, const char *certificate, const char *key,
                    struct err *err)
{
    return tls_open(certificate, key, &listener->tls, err);
}

static void on_accept(struct evconnlistener *accepting, evutil_socket_t fd,
                      struct sockaddr *address, int length, void *arg)
{
    struct listener *listener = arg;
    struct http_server *server = listener->server;
    (void)accepting;
    (void)length;
    if (server->connection_count >= server->limits.connections) {
        (void)close(fd);
        return;
    }
    void *ssl = NULL;
    if (listener->tls != NULL) {
        ssl = tls_session(listener->tls, clock_mono_ns());
        if (ssl == NULL) {
            (void)close(fd);
            return;
        }
    }
    /* The kernel gives no family for the nameless peer of a unix socket. */
    struct sockaddr nameless = {.sa_family = AF_UNIX};
    (void)connection_new(server, fd, ssl, listener->path != NULL ? &nameless : address);
}

/* Without descriptors accept would fail again at once, for ever: rest a little. */
static void on_accept_error(struct evconnlistener *accepting, void *arg)
{
    struct listener *listener = arg;
    struct timeval rest = duration_timeval(REST_NS);
    (void)evconnlistener_disable(accepting);
    (void)event_add(listener->rest, &rest);
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
    struct listener *listener = arg;
    (void)fd;
    (void)what;
    (void)evconnlistener_enable(listener->accepting);
}

int listener_start(struct listener *listener, struct err *err)
{
    struct event_base *base = listener->server->base;
    if (listen(listener->fd, BACKLOG) != 0) {
        return err_errno(err, -errno, "cannot listen on '%s'", listener->address);
    }
    listener->rest = evtimer_new(base, on_rested, listener);
    listener->accepting = evconnlistener_new(
        base, on_accept, listener, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, listener->fd);
    if (listener->accepting == NULL || listener->rest == NULL) {
        return err_set(err, -ENOMEM, "cannot listen on '%s': no memory", listener->address);
    }
    listener->fd = -1; /* the listener's now */
    evconnlistener_set_error_cb(listener->accepting, on_accept_error);
    return 0;
}

int listener_port(const struct listener *listener)
{
    union address address = {0};
    socklen_t length = sizeof address;
    int fd = listener->accepting != NULL ? evconnlistener_get_fd(listener->accepting) : -1;
    if (fd < 0 || getsockname(fd, &address.any, &length) != 0) {
        return -ENOENT;
    }
    switch (address.any.sa_family) {
    case AF_INET:
        return ntohs(address.in.sin_port);
    case AF_INET6:
        return ntohs(address.in6.sin6_port);
    default:
        return -ENOENT;
    }
}

struct listener *listener_next(const struct listener *listener)
{
    return listener->next;
}

void listener_append(struct listener **list, struct listener *listener)
{
    while (*list != NULL) {
        list = &(*list)->next;
    }
    *list = listener;
}

static void remove_name(const struct listener *listener)
{
    struct stat status;
    if (listener->inode != 0 && lstat(listener->path, &status) == 0 &&
        status.st_dev == listener->device && status.st_ino == listener->inode) {
        (void)unlink(listener->path);
    }
}

void listener_close(struct listener *listener)
{
    if (listener->path != NULL) {
        remove_name(listener);
    }
    if (listener->rest != NULL) {
        event_free(listener->rest);
    }
    if (listener->accepting != NULL) {
        evconnlistener_free(listener->accepting);
    }
    if (listener->fd >= 0) {
        (void)close(listener->fd);
    }
    tls_close(listener->tls);
    free(listener->path);
    free(listener->address);
    free(listener);
}
