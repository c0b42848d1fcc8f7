/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The table of routes: gpu-hot's (GH-001 … GH-007) and ours. The description that is served under
 * /api/v1/openapi.json is made from it. */
#include "cmd/serve.h"

#include "base/clock.h"
#include "base/jsonout.h"
#include "base/own.h"
#include "build_config.h"
#include "cmd/guard.h"
#include "cmd/page.h"
#include "output/gpu_hot.h"

#include <string.h>

struct route {
    const char *path;
    bool is_websocket;
    bool is_open; /* also without sign-in */
    void (*answer)(struct serve *serve, struct http_request *request,
                   const struct visitor *visitor);
    const char *help;
};

static void reply_blob(struct http_request *request, struct http_blob *body)
{
    http_reply(request,
               &(struct http_reply){.status = 200, .type = "application/json", .body = body});
}

static void reply_text(struct http_request *request, const struct buf *text)
{
    struct http_blob *body = http_blob_new(buf_string(text), text->length);
    reply_blob(request, body);
    http_blob_unref(body);
}

/* Somebody wants data: the drivers are asked at the live cadence for a while. */
static void note_asked(struct serve *serve)
{
    bool was_idle = serve->asked_ns == 0;
    serve->asked_ns = clock_mono_ns();
    if (was_idle) {
        event_active(serve->tick, EV_TIMEOUT, 0);
    }
}

static void answer_gpu_data(struct serve *serve, struct http_request *request,
                            const struct visitor *visitor)
{
    note_asked(serve);
    reply_blob(request, serve_gpu_data(serve, serve_signin_is_hidden(serve, visitor)));
}

static void answer_version(struct serve *serve, struct http_request *request,
                           const struct visitor *visitor)
{
    (void)visitor;
    (void)serve;
    OWN_BUF struct buf text = {0};
    gpu_hot_version(GPUMANAGER_VERSION, &text);
    reply_text(request, &text);
}

static void answer_snapshot(struct serve *serve, struct http_request *request,
                            const struct visitor *visitor)
{
    note_asked(serve);
    if (serve->view == NULL) {
        http_reply_error(request, 503, "nothing was read yet; ask again in a moment");
        return;
    }
    reply_blob(request, serve_full(serve, serve_signin_is_hidden(serve, visitor)));
}

static void answer_metrics(struct serve *serve, struct http_request *request,
                           const struct visitor *visitor)
{
    OWN_BUF struct buf text = {0};
    struct live_greeting greeting = serve_greeting(serve, serve_signin_is_hidden(serve, visitor));
    live_write_hello(&greeting, &text);
    reply_text(request, &text);
}

static void answer_status(struct serve *serve, struct http_request *request,
                          const struct visitor *visitor)
{
    (void)visitor;
    OWN_BUF struct buf text = {0};
    struct jsonout json = {.out = &text};
    jsonout_begin_object(&json);
    jsonout_key(&json, "version");
    jsonout_string(&json, GPUMANAGER_VERSION);
    jsonout_key(&json, "viewers");
    jsonout_int(&json, (int64_t)serve->viewer_count);
    jsonout_key(&json, "connections");
    jsonout_int(&json, (int64_t)http_server_connections(serve->http));
    jsonout_key(&json, "drivers");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < serve->feed_count; i++) {
        struct feed_status status = feed_status(serve->feed[i].feed);
        jsonout_begin_object(&json);
        jsonout_key(&json, "name");
        jsonout_string(&json, serve->feed[i].name);
        jsonout_key(&json, "state");
        jsonout_string(&json, feed_state_name(status.state));
        jsonout_key(&json, "interval");
        jsonout_number(&json, (double)status.interval_ns / 1e9, -1);
        jsonout_key(&json, "took");
        jsonout_number(&json, (double)status.took_ns / 1e9, -1);
        jsonout_key(&json, "restarts");
        jsonout_int(&json, status.restarts);
        jsonout_key(&json, "stuck");
        jsonout_int(&json, status.stuck_count);
        jsonout_key(&json, "trouble");
        jsonout_string(&json, board_feed_sentence(serve->board, i));
        jsonout_end_object(&json);
    }
    jsonout_end_array(&json);
    jsonout_end_object(&json);
    reply_text(request, &text);
}

static void answer_health(struct serve *serve, struct http_request *request,
                          const struct visitor *visitor)
{
    (void)visitor;
    (void)serve;
    static const char text[] = "{\"status\":\"ok\"}";
    struct http_blob *body = http_blob_static(text, sizeof text - 1);
    reply_blob(request, body);
    http_blob_unref(body);
}

static void answer_description(struct serve *serve, struct http_request *request,
                               const struct visitor *visitor)
{
    (void)visitor;
    OWN_BUF struct buf text = {0};
    serve_describe(serve, &text);
    reply_text(request, &text);
}

static void answer_page_socket(struct serve *serve, struct http_request *request,
                               const struct visitor *visitor)
{
    serve_add_viewer(serve, request, false, visitor);
}

static void answer_gpu_hot_socket(struct serve *serve, struct http_request *request,
                                  const struct visitor *visitor)
{
    serve_add_viewer(serve, request, true, visitor);
}

static const struct route routes[] = {
    {"/api/gpu-data", false, false, answer_gpu_data,
     "The newest values of every GPU, as gpu-hot tells them"},
    {"/api/version", false, false, answer_version,
     "The version of this program, as gpu-hot tells it; nobody is asked"},
    {"/socket.io/", true, false, answer_gpu_hot_socket,
     "WebSocket: gpu-hot's messages (not the Socket.IO protocol)"},
    {"/ws", true, false, answer_page_socket,
     "WebSocket: what the page is told (docs/page-protocol.md)"},
    {"/api/v1/snapshot", false, false, answer_snapshot, "Everything known now, in base units"},
    {"/api/v1/metrics", false, false, answer_metrics,
     "The registry: name, unit and meaning of every metric"},
    {"/api/v1/status", false, false, answer_status,
     "The server itself: drivers, their pace and troubles, viewers"},
    {"/api/v1/openapi.json", false, false, answer_description, "This description"},
    {"/healthz", false, true, answer_health, "200 while the server answers"},
};

void serve_describe(const struct serve *serve, struct buf *out)
{
    (void)serve;
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    jsonout_key(&json, "openapi");
    jsonout_string(&json, "3.0.3");
    jsonout_key(&json, "info");
    jsonout_begin_object(&json);
    jsonout_key(&json, "title");
    jsonout_string(&json, "gpumanager");
    jsonout_key(&json, "version");
    jsonout_string(&json, GPUMANAGER_VERSION);
    jsonout_end_object(&json);
    jsonout_key(&json, "paths");
    jsonout_begin_object(&json);
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        jsonout_key(&json, routes[i].path);
        jsonout_begin_object(&json);
        jsonout_key(&json, "get");
        jsonout_begin_object(&json);
        jsonout_key(&json, "summary");
        jsonout_string(&json, routes[i].help);
        jsonout_key(&json, "responses");
        jsonout_begin_object(&json);
        jsonout_key(&json, routes[i].is_websocket ? "101" : "200");
        jsonout_begin_object(&json);
        jsonout_key(&json, "description");
        jsonout_string(&json,
                       routes[i].is_websocket ? "the connection becomes a WebSocket" : "JSON");
        jsonout_end_object(&json);
        jsonout_end_object(&json);
        jsonout_end_object(&json);
        jsonout_end_object(&json);
    }
    jsonout_end_object(&json);
    jsonout_end_object(&json);
}

/* A file of the page, by its name; "/" is index.html. */
static bool answer_file(struct http_request *request)
{
    static const struct http_header_line headers[] = {
        {"Content-Security-Policy", SERVE_CSP}, {"X-Frame-Options", "DENY"}, {NULL, NULL}};
    const char *name = strcmp(request->path, "/") == 0 ? "index.html" : request->path + 1;
    for (size_t i = 0; i < page_file_count; i++) {
        const struct page_file *file = &page_files[i];
        if (strcmp(file->name, name) != 0) {
            continue;
        }
        struct http_reply reply = {.status = 200,
                                   .type = file->type,
                                   .body = http_blob_static(file->data, file->length),
                                   .gzip = http_blob_static(file->gzip, file->gzip_length),
                                   .etag = file->etag,
                                   .headers = headers};
        http_reply(request, &reply);
        http_blob_unref(reply.body);
        http_blob_unref(reply.gzip);
        return true;
    }
    return false;
}

static void answer_no_page(struct http_request *request)
{
    static const char text[] = "This gpumanager was built without its page. The data are under "
                               "/api/v1/snapshot and /api/gpu-data.\n";
    struct http_blob *body = http_blob_static(text, sizeof text - 1);
    http_reply(request, &(struct http_reply){
                            .status = 200, .type = "text/plain; charset=utf-8", .body = body});
    http_blob_unref(body);
}

static bool is_route(const struct route *route, const char *path)
{
    size_t length = strlen(route->path);
    bool has_slash = route->path[length - 1] == '/';
    return strcmp(route->path, path) == 0 ||
           (has_slash && strlen(path) == length - 1 && strncmp(route->path, path, length - 1) == 0);
}

/* Requests of other pages in the viewer's browser are refused before anything else. */
static bool is_refused(const struct serve *serve, struct http_request *request)
{
    const struct config *config = serve->context.config;
    const char *host = http_header(request, "host");
    if (strcmp(request->peer, "unix") != 0 && !guard_host(host, config->hosts)) {
        http_reply_error(request, 421,
                         "this host name is not one of ours; [server] hosts in config.toml can "
                         "name it");
        return true;
    }
    if (!guard_origin(http_header(request, "origin"), host, config->hosts)) {
        http_reply_error(request, 403, "a page of another origin may not ask here");
        return true;
    }
    return false;
}

static const struct route *find_route(const char *path)
{
    for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        if (is_route(&routes[i], path)) {
            return &routes[i];
        }
    }
    return NULL;
}

void serve_handle(void *arg, struct http_request *request)
{
    struct serve *serve = arg;
    struct visitor visitor = {0};
    if (is_refused(serve, request) || serve_signin_answer(serve, request)) {
        return;
    }
    if (strcmp(request->method, "GET") != 0) {
        static const struct http_header_line headers[] = {{"Allow", "GET, HEAD"}, {NULL, NULL}};
        http_reply(request, &(struct http_reply){.status = 405, .headers = headers});
        return;
    }
    const struct route *route = find_route(request->path);
    bool is_open = route != NULL && route->is_open;
    if (!is_open && !serve_signin_admit(serve, request, &visitor)) {
        return;
    }
    if (route != NULL) {
        route->answer(serve, request, &visitor);
        return;
    }
    if (answer_file(request)) {
        return;
    }
    if (strcmp(request->path, "/") == 0) {
        answer_no_page(request);
        return;
    }
    http_reply_error(request, 404, "there is nothing under this address");
}
