/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/reply.h"
#include "base/clock.h"
#include "base/jsonout.h"
#include "base/mem.h"
#include "http/connection.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COPIED_BYTES                                                                               \
    ((size_t)2048) /* a shorter body is copied behind its head: one send, no chain */

struct status_name {
    int status;
    const char *name;
};

static const struct status_name status_names[] = {
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

static const char *status_name(int status)
{
    for (size_t i = 0; i < sizeof status_names / sizeof status_names[0]; i++) {
        if (status_names[i].status == status) {
            return status_names[i].name;
        }
    }
    return "Other";
}

/* "Tue, 01 Dec 2026 00:00:00 GMT", whatever the locale. */
void reply_date(int64_t now_s, char *text, size_t size)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm tm = {0};
    time_t when = now_s;
    if (gmtime_r(&when, &tm) == NULL) {
        tm = (struct tm){.tm_mday = 1, .tm_year = 70, .tm_wday = 4};
    }
    (void)snprintf(text, size, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday,
                   months[tm.tm_mon], tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void add_date(struct http_server *server)
{
    int64_t now_s = clock_wall_ns() / NS_PER_S;
    if (server->date_s != now_s) {
        server->date_s = now_s;
        reply_date(now_s, server->date, sizeof server->date);
    }
    buf_text(&server->head, "Date: ");
    buf_text(&server->head, server->date);
    buf_text(&server->head, "\r\n");
}

/* A line end in a value would begin another header: control characters become blanks. */
static void add_line(struct buf *head, const char *name, const char *value)
{
    buf_text(head, name);
    buf_text(head, ": ");
    for (const char *at = value; *at != '\0'; at++) {
        bool is_control = ((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7f;
        char c = *at;
        if (is_control) {
            c = ' ';
        }
        buf_char(head, c);
    }
    buf_text(head, "\r\n");
}

static bool is_given(const struct http_reply *reply, const char *name)
{
    for (const struct http_header_line *line = reply->headers; line != NULL && line->name != NULL;
         line++) {
        if (strcasecmp(line->name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* Weak comparison: W/"x" and "x" are the same. */
bool reply_matches_etag(const char *list, const char *etag)
{
    struct span rest = span_of(list);
    struct span part;
    while (span_cut(&rest, ',', &part)) {
        part = span_trim(part);
        if (span_starts(part, "W/")) {
            part.data += 2;
            part.length -= 2;
        }
        if (span_equals(part, "*") || span_equals(part, etag)) {
            return true;
        }
    }
    return false;
}

static bool is_zero(struct span number)
{
    for (size_t i = 0; i < number.length; i++) {
        if (number.data[i] != '0' && number.data[i] != '.') {
            return false;
        }
    }
    return true;
}

/* The quality of one member of Accept-Encoding is not zero. */
static bool is_wanted(struct span parameters)
{
    struct span part;
    while (span_cut(&parameters, ';', &part)) {
        part = span_trim(part);
        if (span_starts(part, "q=") || span_starts(part, "Q=")) {
            return !is_zero((struct span){part.data + 2, part.length - 2});
        }
    }
    return true;
}

bool reply_takes_gzip(const char *accept_encoding)
{
    struct span rest = span_of(accept_encoding);
    struct span part;
    bool takes_any = false;
    while (span_cut(&rest, ',', &part)) {
        struct span name;
        (void)span_cut(&part, ';', &name);
        name = span_trim(name);
        if (name.length == 4 && strncasecmp(name.data, "gzip", 4) == 0) {
            return is_wanted(part);
        }
        takes_any = takes_any || (span_equals(name, "*") && is_wanted(part));
    }
    return takes_any;
}

static void unref_blob(const void *data, size_t length, void *blob)
{
    (void)data;
    (void)length;
    http_blob_unref(blob);
}

struct chosen {
    int status;
    struct http_blob *body; /* NULL = none */
    size_t length;
    bool is_gzip;
};

static struct chosen choose(const struct http_request *request, const struct http_reply *reply)
{
    struct chosen chosen = {.status = reply->status, .body = reply->body};
    if (reply->gzip != NULL && reply_takes_gzip(http_header(request, "accept-encoding"))) {
        chosen.body = reply->gzip;
        chosen.is_gzip = true;
    }
    bool is_known =
        reply->status == 200 && reply->etag != NULL && strcmp(request->method, "GET") == 0;
    if (is_known && reply_matches_etag(http_header(request, "if-none-match"), reply->etag)) {
        chosen.status = 304;
    }
    if (chosen.status == 304 || chosen.status == 204) {
        chosen.body = NULL;
    }
    if (chosen.body != NULL) {
        (void)http_blob_data(chosen.body, &chosen.length);
    }
    return chosen;
}

static void write_head(struct http_connection *connection, const struct http_reply *reply,
                       const struct chosen *chosen)
{
    struct buf *head = &connection->server->head;
    buf_clear(head);
    buf_format(head, "HTTP/1.1 %d %s\r\n", chosen->status, status_name(chosen->status));
    add_date(connection->server);
    if (chosen->body != NULL && reply->type != NULL) {
        add_line(head, "Content-Type", reply->type);
    }
    if (chosen->status != 304 && chosen->status != 204) {
        buf_format(head, "Content-Length: %zu\r\n", chosen->length);
    }
    if (reply->gzip != NULL) {
        buf_text(head, "Vary: Accept-Encoding\r\n");
    }
    if (chosen->is_gzip && chosen->body != NULL) {
        buf_text(head, "Content-Encoding: gzip\r\n");
    }
    if (reply->etag != NULL) {
        /* The same bytes only without compression. */
        buf_format(head, "ETag: %s%s\r\n", reply->gzip != NULL ? "W/" : "", reply->etag);
    }
    if (!is_given(reply, "Cache-Control")) {
        add_line(head, "Cache-Control", reply->etag != NULL ? "no-cache" : "no-store");
    }
    if (chosen->status == 426) {
        buf_text(head, "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    }
    buf_text(head, "X-Content-Type-Options: nosniff\r\n");
    if (!is_given(reply, "Referrer-Policy")) {
        buf_text(head, "Referrer-Policy: no-referrer\r\n");
    }
    for (const struct http_header_line *line = reply->headers; line != NULL && line->name != NULL;
         line++) {
        add_line(head, line->name, line->value);
    }
    bool is_old = connection->request->parser.http_minor == 0;
    if (connection->is_last) {
        buf_text(head, "Connection: close\r\n");
    } else if (is_old) {
        buf_text(head, "Connection: keep-alive\r\n");
    }
    buf_text(head, "\r\n");
}

static void send_reply(struct http_connection *connection, struct http_blob *body)
{
    struct http_server *server = connection->server;
    size_t length = 0;
    const void *data = body != NULL ? http_blob_data(body, &length) : NULL;
    if (length > 0 && length <= COPIED_BYTES) {
        buf_add(&server->head, data, length);
        length = 0;
    }
    (void)evbuffer_add(server->out, server->head.data, server->head.length);
    if (length > 0 &&
        evbuffer_add_reference(server->out, data, length, unref_blob, http_blob_ref(body)) != 0) {
        http_blob_unref(body);
        connection->is_last = true; /* the length that was promised is not met */
    }
    connection_send(connection);
}

void http_reply(struct http_request *request, const struct http_reply *reply)
{
    struct http_connection *connection = request->connection;
    assert(!connection->is_answered);
    connection->is_answered = true;
    struct chosen chosen = choose(request, reply);
    write_head(connection, reply, &chosen);
    send_reply(connection, connection->request->is_head_method ? NULL : chosen.body);
}

static struct http_blob *error_body(const char *sentence)
{
    struct buf text = {0};
    struct jsonout json = {.out = &text};
    jsonout_begin_object(&json);
    jsonout_key(&json, "error");
    jsonout_string(&json, sentence);
    jsonout_end_object(&json);
    struct http_blob *blob = http_blob_new(text.data, text.length);
    buf_fini(&text);
    return blob;
}

void http_reply_error(struct http_request *request, int status, const char *sentence)
{
    struct http_blob *body = error_body(sentence);
    http_reply(request,
               &(struct http_reply){.status = status, .type = "application/json", .body = body});
    http_blob_unref(body);
}

void reply_refusal(struct http_connection *connection, int status, const char *sentence)
{
    struct http_blob *body = error_body(sentence);
    struct http_reply reply = {.status = status, .type = "application/json", .body = body};
    struct chosen chosen = {.status = status, .body = body};
    (void)http_blob_data(body, &chosen.length);
    connection->is_last = true;
    write_head(connection, &reply, &chosen);
    send_reply(connection, connection->request->is_head_method ? NULL : body);
    http_blob_unref(body);
}

void reply_continue(struct http_connection *connection)
{
    static const char text[] = "HTTP/1.1 100 Continue\r\n\r\n";
    (void)evbuffer_add(connection->server->out, text, sizeof text - 1);
    connection_send(connection);
}

const char *http_header(const struct http_request *request, const char *name)
{
    return request_header(request->connection->request, name);
}
