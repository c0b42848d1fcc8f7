/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/request.h"

#include "http/head.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* A body of one-byte chunks is six times as long on the wire. */
#define CHUNK_OVERHEAD 8
#define KEPT_BYTES ((size_t)8 * 1024)

static int on_body(llhttp_t *parser, const char *data, size_t length)
{
    struct request *request = parser->data;
    if (length > request->limits->body_bytes - request->body.length) {
        request_refuse(request, 413, "the body is longer than this server takes");
        return HPE_USER;
    }
    buf_add(&request->body, data, length);
    return 0;
}

static int on_message_complete(llhttp_t *parser)
{
    struct request *request = parser->data;
    request->is_complete = true;
    return HPE_PAUSED; /* what follows is the next request */
}

/* Both are places where two parsers may disagree about where a body ends. Nobody needs them. */
static int on_chunk_extension(llhttp_t *parser, const char *data, size_t length)
{
    (void)data;
    (void)length;
    request_refuse(parser->data, 400, "chunk extensions are not supported");
    return HPE_USER;
}

static int on_header_field(llhttp_t *parser, const char *data, size_t length)
{
    struct request *request = parser->data;
    (void)data;
    (void)length;
    if (request->state == REQUEST_BODY) {
        request_refuse(request, 400, "trailers after the body are not supported");
        return HPE_USER;
    }
    return 0;
}

static const llhttp_settings_t settings = {
    .on_header_field = on_header_field,
    .on_body = on_body,
    .on_chunk_extension_name = on_chunk_extension,
    .on_message_complete = on_message_complete,
};

void request_refuse(struct request *request, int status, const char *sentence)
{
    if (request->state != REQUEST_REFUSED) {
        request->state = REQUEST_REFUSED;
        request->status = status;
        request->sentence = sentence;
    }
}

void request_init(struct request *request, const struct http_limits *limits)
{
    *request = (struct request){.limits = limits};
    request_reset(request);
}

static void buf_restart(struct buf *buf)
{
    if (buf->capacity > KEPT_BYTES) {
        buf_fini(buf);
    }
    buf_clear(buf);
}

void request_reset(struct request *request)
{
    llhttp_init(&request->parser, HTTP_REQUEST, &settings);
    request->parser.data = request;
    request->state = REQUEST_HEAD;
    request->status = 0;
    request->sentence = NULL;
    request->method = NULL;
    request->is_head_method = false;
    request->keeps_alive = false;
    request->expects_continue = false;
    request->path = 0;
    request->query = 0;
    buf_restart(&request->text);
    buf_restart(&request->body);
    buf_restart(&request->head);
    request->first = 0;
    request->line = 0;
    request->lines = 0;
    request->raw_body_bytes = 0;
    request->is_complete = false;
    request->header_count = 0;
}

void request_fini(struct request *request)
{
    buf_fini(&request->text);
    buf_fini(&request->body);
    buf_fini(&request->head);
    free(request->headers);
    request->headers = NULL;
}

bool request_is_begun(const struct request *request)
{
    return request->state != REQUEST_HEAD || request->head.length > request->first;
}

/* What a scan of new bytes of the head found. */
struct scan {
    size_t good; /* bytes without fault, up to and with the end of the head */
    bool is_end;
    int status; /* 0, or the fault of the byte after the good ones */
    const char *sentence;
};

static bool is_fault(struct scan *scan, int status, const char *sentence)
{
    scan->status = status;
    scan->sentence = sentence;
    return true;
}

static bool is_byte_fault(const struct request *request, size_t at, char last, char c,
                          struct scan *scan)
{
    unsigned char byte = (unsigned char)c;
    if (at >= request->limits->header_bytes) {
        return request->lines == 0 ? is_fault(scan, 414, "the request line is too long")
                                   : is_fault(scan, 431, "the headers are too long");
    }
    if ((last == '\r') != (c == '\n')) {
        return is_fault(scan, 400, "a line must end with CR LF");
    }
    if ((byte < 0x20 && c != '\t' && c != '\r' && c != '\n') || byte == 0x7f) {
        return is_fault(scan, 400, "a control character in the headers");
    }
    if (request->lines == 0 && (byte >= 0x80 || c == '\t')) {
        return is_fault(scan, 400, "a character in the request line that must be encoded");
    }
    if (request->lines > 0 && at == request->line && (c == ' ' || c == '\t')) {
        return is_fault(scan, 400, "a folded header line");
    }
    return false;
}

/* The line that ends with the byte before `end`; true when it ends the head or is one too many. */
static bool end_line(struct request *request, size_t end, struct scan *scan)
{
    bool is_empty = end - request->line == 2;
    request->line = end;
    if (!is_empty) {
        request->lines++;
        if (request->lines - 1 > request->limits->header_count) {
            return is_fault(scan, 431, "too many header lines");
        }
        return false;
    }
    if (request->lines > 0) {
        scan->is_end = true;
        return true;
    }
    request->first = end; /* a blank line before the request is passed over */
    return false;
}

static struct scan scan_head(struct request *request, const char *data, size_t length)
{
    struct scan scan = {0};
    size_t start = request->head.length;
    char last = '\0';
    if (start > 0) {
        last = request->head.data[start - 1];
    }
    while (scan.good < length) {
        size_t at = start + scan.good;
        char c = data[scan.good];
        if (is_byte_fault(request, at, last, c, &scan)) {
            break;
        }
        scan.good++;
        last = c;
        if (c == '\n' && end_line(request, at + 1, &scan)) {
            break;
        }
    }
    return scan;
}

/* The answer to what llhttp does not take. `seen` is the head up to the byte that it refused. */
static void refuse_by_parser(struct request *request, llhttp_errno_t code, struct span seen)
{
    switch ((int)code) {
    case HPE_INVALID_METHOD:
        if (head_is_method_begun(seen)) {
            request_refuse(request, 501, "this method is not implemented");
        }
        request_refuse(request, 400, "no HTTP request");
        break;
    case HPE_INVALID_VERSION:
        if (head_is_other_version(seen)) {
            request_refuse(request, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
        }
        request_refuse(request, 400, "no such version of HTTP");
        break;
    case HPE_PAUSED_H2_UPGRADE:
        request_refuse(request, 505, "only HTTP/1.1 and HTTP/1.0 are spoken here");
        break;
    case HPE_INVALID_CONTENT_LENGTH:
    case HPE_UNEXPECTED_CONTENT_LENGTH:
        request_refuse(request, 400, "the length of the body is not clear");
        break;
    case HPE_INVALID_TRANSFER_ENCODING:
        request_refuse(request, 400, "the transfer encoding is not clear");
        break;
    case HPE_INVALID_CHUNK_SIZE:
        request_refuse(request, 400, "a wrong chunk size");
        break;
    default:
        request_refuse(request, 400, "the request is malformed");
        break;
    }
}

static bool is_parsed(llhttp_errno_t code)
{
    return code == HPE_OK || code == HPE_PAUSED || code == HPE_PAUSED_UPGRADE;
}

static void end_head(struct request *request, bool is_refused_at_end, llhttp_errno_t code)
{
    head_parse(request);
    if (request->state == REQUEST_REFUSED) {
        return;
    }
    if (is_refused_at_end) {
        refuse_by_parser(request, code, (struct span){NULL, 0});
        return;
    }
    request->state = request->is_complete ? REQUEST_DONE : REQUEST_BODY;
}

static void feed_head(struct request *request, const char *data, size_t length, size_t *used)
{
    struct scan scan = scan_head(request, data, length);
    size_t before = request->head.length;
    buf_add(&request->head, data, scan.good);
    *used = scan.good;
    llhttp_errno_t code = HPE_OK;
    if (scan.good > 0) {
        code = llhttp_execute(&request->parser, data, scan.good);
    }
    bool is_refused = !is_parsed(code);
    if (is_refused) {
        const char *position = llhttp_get_error_pos(&request->parser);
        size_t at = scan.good;
        if (position != NULL && position >= data && (size_t)(position - data) < at) {
            at = (size_t)(position - data);
        }
        /* At the last byte of the head the own checks have the better words. */
        if (!scan.is_end || at + 1 < scan.good) {
            size_t seen = before + at + (at < scan.good) - request->first;
            refuse_by_parser(request, code,
                             (struct span){request->head.data + request->first, seen});
            return;
        }
    }
    if (scan.status != 0) {
        request_refuse(request, scan.status, scan.sentence);
    } else if (scan.is_end) {
        end_head(request, is_refused, code);
    }
}

static void feed_body(struct request *request, const char *data, size_t length, size_t *used)
{
    if (length == 0) {
        return;
    }
    llhttp_errno_t code = llhttp_execute(&request->parser, data, length);
    size_t taken = length;
    if (code != HPE_OK) {
        const char *position = llhttp_get_error_pos(&request->parser);
        assert(position >= data && position <= data + length);
        taken = (size_t)(position - data);
    }
    *used += taken;
    request->raw_body_bytes += taken;
    if (!is_parsed(code)) {
        refuse_by_parser(request, code, (struct span){NULL, 0});
    } else if (request->is_complete) {
        request->state = REQUEST_DONE;
    } else if (request->raw_body_bytes / CHUNK_OVERHEAD > request->limits->body_bytes) {
        request_refuse(request, 413, "the body is longer than this server takes");
    }
}

enum request_state request_feed(struct request *request, const char *data, size_t length,
                                size_t *used)
{
    *used = 0;
    if (request->state == REQUEST_HEAD && length > 0) {
        feed_head(request, data, length, used);
    }
    if (request->state == REQUEST_BODY) {
        feed_body(request, data + *used, length - *used, used);
    }
    return request->state;
}

const char *request_header(const struct request *request, const char *name)
{
    for (size_t i = 0; i < request->header_count; i++) {
        if (strcmp(request->text.data + request->headers[i].name, name) == 0) {
            return request->text.data + request->headers[i].value;
        }
    }
    return "";
}

bool request_has_token(const char *list, const char *token)
{
    struct span rest = span_of(list);
    struct span part;
    size_t length = strlen(token);
    while (span_cut(&rest, ',', &part)) {
        part = span_trim(part);
        if (part.length == length && strncasecmp(part.data, token, length) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_websocket_key(const char *key)
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return strlen(key) == 24 && strspn(key, base64) == 22 && strcmp(key + 22, "==") == 0;
}

bool request_is_websocket(const struct request *request)
{
    return strcmp(request->method, "GET") == 0 && !request->is_head_method &&
           request->parser.http_minor == 1 &&
           request_has_token(request_header(request, "connection"), "upgrade") &&
           request_has_token(request_header(request, "upgrade"), "websocket") &&
           strcmp(request_header(request, "sec-websocket-version"), "13") == 0 &&
           is_websocket_key(request_header(request, "sec-websocket-key"));
}
