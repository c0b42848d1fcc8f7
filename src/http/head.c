/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/head.h"

#include "base/mem.h"
#include "base/own.h"

#include <string.h>

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool is_token(struct span text)
{
    for (size_t i = 0; i < text.length; i++) {
        if (!is_token_char(text.data[i])) {
            return false;
        }
    }
    return text.length > 0;
}

bool head_is_method_begun(struct span seen)
{
    struct span rest = seen;
    struct span word;
    return span_cut(&rest, ' ', &word) && is_token(word);
}

bool head_is_other_version(struct span seen)
{
    static const char mark[] = " HTTP/";
    const char *at =
        seen.length == 0 ? NULL : memmem(seen.data, seen.length, mark, sizeof mark - 1);
    if (at == NULL) {
        return false;
    }
    size_t left = seen.length - (size_t)(at - seen.data) - (sizeof mark - 1);
    char major = at[sizeof mark - 1];
    return left > 0 && major >= '0' && major <= '9' && major != '1';
}

static size_t add_text(struct request *request, struct span text)
{
    size_t at = request->text.length;
    buf_add(&request->text, text.data, text.length);
    buf_char(&request->text, '\0');
    return at;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static bool is_utf8(const char *text, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t step = text_utf8_length(text + at, length - at);
        if (step == 0) {
            return false;
        }
        at += step;
    }
    return true;
}

/* Adds the decoded path to `text`; false when it is none. */
static bool add_path(struct request *request, struct span path)
{
    struct buf *text = &request->text;
    request->path = text->length;
    for (size_t i = 0; i < path.length; i++) {
        char c = path.data[i];
        if (c == '%') {
            int high = path.length - i > 2 ? hex_digit(path.data[i + 1]) : -1;
            int low = high >= 0 ? hex_digit(path.data[i + 2]) : -1;
            if (low < 0) {
                return false;
            }
            c = (char)(high * 16 + low);
            i += 2;
        }
        if ((unsigned char)c < 0x20 || c == 0x7f) {
            return false;
        }
        buf_char(text, c);
    }
    size_t length = text->length - request->path;
    buf_char(text, '\0');
    return is_utf8(text->data + request->path, length);
}

/* "http://host/path" → "/path"; the host must be the one of the Host header. */
static bool cut_authority(struct request *request, struct span *target)
{
    const char *host = request_header(request, "host");
    size_t scheme = span_starts(*target, "http://") ? 7 : span_starts(*target, "https://") ? 8 : 0;
    size_t length = strlen(host);
    if (scheme == 0 || target->length - scheme < length ||
        strncasecmp(target->data + scheme, host, length) != 0) {
        return false;
    }
    target->data += scheme + length;
    target->length -= scheme + length;
    return target->length == 0 || target->data[0] == '/' || target->data[0] == '?';
}

static void parse_target(struct request *request, struct span target)
{
    if (target.length == 0 || memchr(target.data, '#', target.length) != NULL) {
        request_refuse(request, 400, "the address asked for is malformed");
        return;
    }
    if (target.data[0] != '/' && !cut_authority(request, &target)) {
        request_refuse(request, 400, "the address asked for is not on this server");
        return;
    }
    const char *mark = target.length > 0 ? memchr(target.data, '?', target.length) : NULL;
    struct span path = target;
    struct span query = {"", 0};
    if (mark != NULL) {
        path.length = (size_t)(mark - target.data);
        query = (struct span){mark + 1, target.length - path.length - 1};
    }
    request->query = add_text(request, query);
    if (!add_path(request, path.length > 0 ? path : span_of("/"))) {
        request_refuse(request, 400, "the path asked for is malformed");
    }
}

static const char *known_method(struct span method)
{
    static const char *const methods[] = {"GET",    "HEAD",  "POST",   "PUT",
                                          "DELETE", "PATCH", "OPTIONS"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (span_equals(method, methods[i])) {
            return methods[i];
        }
    }
    return NULL;
}

static void parse_request_line(struct request *request, struct span line)
{
    struct span rest = line;
    struct span method;
    (void)span_cut(&rest, ' ', &method);
    const char *version = rest.data != NULL ? memrchr(rest.data, ' ', rest.length) : NULL;
    if (version == NULL || !is_token(method)) {
        request_refuse(request, 400, "the request line is malformed");
        return;
    }
    request->method = known_method(method);
    struct span target = {rest.data, (size_t)(version - rest.data)};
    struct span number = {version + 1, rest.length - target.length - 1};
    if (!span_equals(number, "HTTP/1.1") && !span_equals(number, "HTTP/1.0")) {
        request_refuse(request, head_is_other_version(line) ? 505 : 400,
                       "only HTTP/1.1 and HTTP/1.0 are spoken here");
        return;
    }
    if (request->method == NULL) {
        request_refuse(request, 501, "this method is not implemented");
        return;
    }
    request->is_head_method = strcmp(request->method, "HEAD") == 0;
    if (request->is_head_method) {
        request->method = "GET";
    }
    parse_target(request, target);
}

struct field {
    struct span name, value; /* in `head` */
};

static bool is_same_name(struct span a, struct span b)
{
    return a.length == b.length && strncasecmp(a.data, b.data, a.length) == 0;
}

/* Fields that must not be said twice: two parsers would choose differently. */
static bool is_single(struct span name)
{
    static const char *const singles[] = {
        "host",          "content-length", "transfer-encoding", "content-type",
        "authorization", "origin",         "sec-websocket-key", "sec-websocket-version"};
    for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) {
        if (is_same_name(name, span_of(singles[i]))) {
            return true;
        }
    }
    return false;
}

static void parse_field(struct request *request, struct span line, struct field *field)
{
    struct span rest = line;
    (void)span_cut(&rest, ':', &field->name);
    if (rest.data == NULL || !is_token(field->name)) {
        request_refuse(request, 400, "a header line is malformed");
        return;
    }
    field->value = span_trim(rest);
}

/* Every value of the name of the first field, joined, so that each name occurs once. */
static void add_header(struct request *request, const struct field *fields, size_t count)
{
    struct buf *text = &request->text;
    request->headers = mem_grow(request->headers, request->header_count, &request->header_capacity,
                                sizeof *request->headers);
    struct request_header *header = &request->headers[request->header_count++];
    header->name = text->length;
    for (size_t i = 0; i < fields[0].name.length; i++) {
        char c = fields[0].name.data[i];
        buf_char(text, (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c));
    }
    buf_char(text, '\0');
    header->value = text->length;
    buf_add(text, fields[0].value.data, fields[0].value.length);
    for (size_t i = 1; i < count; i++) {
        if (!is_same_name(fields[i].name, fields[0].name)) {
            continue;
        }
        if (is_single(fields[i].name)) {
            request_refuse(request, 400, "a header that may occur once occurs twice");
        }
        buf_text(text, ", ");
        buf_add(text, fields[i].value.data, fields[i].value.length);
    }
    buf_char(text, '\0');
}

static void add_headers(struct request *request, const struct field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t earlier = 0;
        while (!is_same_name(fields[earlier].name, fields[i].name)) {
            earlier++;
        }
        if (earlier == i) {
            add_header(request, fields + i, count - i);
        }
    }
}

static bool is_host(const char *host)
{
    size_t length = strlen(host);
    return length > 0 && strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789.-_~:[]%") == length;
}

static bool is_digits(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && strspn(text, "0123456789") == length;
}

static void check_length(struct request *request)
{
    const char *length = request_header(request, "content-length");
    const char *encoding = request_header(request, "transfer-encoding");
    uint64_t announced = request->parser.content_length;
    bool has_body =
        encoding[0] != '\0' || (length[0] != '\0' && strspn(length, "0") != strlen(length));
    if (encoding[0] != '\0' && length[0] != '\0') {
        request_refuse(request, 400, "both a length and a transfer encoding");
    } else if (encoding[0] != '\0' && request->parser.http_minor == 0) {
        request_refuse(request, 400, "a transfer encoding in HTTP/1.0");
    } else if (encoding[0] != '\0' && strcasecmp(encoding, "chunked") != 0) {
        request_refuse(request, 501, "this transfer encoding is not implemented");
    } else if (length[0] != '\0' && !is_digits(length)) {
        request_refuse(request, 400, "the length of the body is no number");
    } else if (has_body && strcmp(request->method, "GET") == 0) {
        request_refuse(request, 400, "GET with a body");
    } else if (length[0] != '\0' && announced > request->limits->body_bytes) {
        request_refuse(request, 413, "the body is longer than this server takes");
    }
}

static void check_headers(struct request *request)
{
    bool is_old = request->parser.http_minor == 0;
    const char *host = request_header(request, "host");
    const char *connection = request_header(request, "connection");
    const char *expect = request_header(request, "expect");
    if (!is_host(host) && !(is_old && host[0] == '\0')) {
        request_refuse(request, 400, "one Host header is needed");
        return;
    }
    check_length(request);
    if (expect[0] != '\0' && strcasecmp(expect, "100-continue") != 0) {
        request_refuse(request, 417, "this expectation cannot be met");
    }
    request->expects_continue = expect[0] != '\0' && !is_old && !request->is_complete;
    request->keeps_alive = !request_has_token(connection, "close") &&
                           (!is_old || request_has_token(connection, "keep-alive"));
}

void head_parse(struct request *request)
{
    struct span rest = {request->head.data + request->first, request->head.length - request->first};
    struct span line;
    struct span first = {NULL, 0};
    OWN_FREE struct field *fields = mem_new(request->lines, sizeof *fields);
    size_t count = 0;
    while (request->state != REQUEST_REFUSED && span_cut(&rest, '\n', &line)) {
        line.length -= line.length > 0 && line.data[line.length - 1] == '\r';
        if (line.length == 0) {
            break;
        }
        if (first.data == NULL) {
            first = line;
        } else {
            parse_field(request, line, &fields[count++]);
        }
    }
    /* The headers come before the address: it may name the host. */
    if (request->state != REQUEST_REFUSED) {
        add_headers(request, fields, count);
    }
    if (request->state != REQUEST_REFUSED) {
        parse_request_line(request, first);
    }
    if (request->state != REQUEST_REFUSED) {
        check_headers(request);
    }
    buf_clear(&request->head);
}
