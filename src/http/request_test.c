/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/request.h"

#include "http/limits.h"
#include "tests/check.h"

#include <string.h>

static struct http_limits limits;

static struct http_limits *small_limits(void)
{
    limits = http_limits_filled(
        &(struct http_limits){.header_bytes = 1024, .header_count = 10, .body_bytes = 100});
    return &limits;
}

static void feed_text(struct request *request, const char *text, size_t length, size_t piece)
{
    size_t at = 0;
    while (at < length && request->state != REQUEST_DONE && request->state != REQUEST_REFUSED) {
        size_t used = 0;
        size_t part = length - at < piece ? length - at : piece;
        (void)request_feed(request, text + at, part, &used);
        at += used;
    }
}

/* The status that the bytes are refused with, 200 when they are a request, 0 when they are not a
 * whole one; the same in one piece and byte by byte. */
static int status_of(const char *text, size_t length)
{
    int statuses[2];
    for (int i = 0; i < 2; i++) {
        struct request request;
        request_init(&request, small_limits());
        feed_text(&request, text, length, i == 0 ? length : 1);
        statuses[i] = request.state == REQUEST_REFUSED ? request.status
                      : request.state == REQUEST_DONE  ? 200
                                                       : 0;
        request_fini(&request);
    }
    CHECK_INT(statuses[1], statuses[0]);
    return statuses[0];
}

#define STATUS(text) status_of((text), sizeof(text) - 1)
#define HOST "Host: a\r\n"

TEST(a_request_has_its_parts)
{
    static const char text[] = "\r\nPOST /a%20b/%C3%A9?x=1&y=%20 HTTP/1.1\r\nHOST: a:1\r\n"
                               "X-One: 1\r\nx-one:\t2 \r\nContent-Length: 5\r\n\r\nhelloGET";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct request request;
        request_init(&request, small_limits());
        CHECK(!request_is_begun(&request));
        feed_text(&request, text, sizeof text - 1, piece);
        CHECK_INT(request.state, REQUEST_DONE);
        CHECK_TEXT(request.method, "POST");
        CHECK_TEXT(request.text.data + request.path, "/a b/\xc3\xa9");
        CHECK_TEXT(request.text.data + request.query, "x=1&y=%20");
        CHECK_TEXT(request_header(&request, "x-one"), "1, 2");
        CHECK_TEXT(request_header(&request, "host"), "a:1");
        CHECK_TEXT(request_header(&request, "absent"), "");
        CHECK_TEXT(buf_string(&request.body), "hello");
        CHECK(request.keeps_alive);
        request_fini(&request);
    }
}

TEST(a_body_ends_where_its_framing_says)
{
    static const char text[] = "POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                               "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET /2 HTTP/1.1\r\n" HOST "\r\n";
    struct request request;
    request_init(&request, small_limits());
    size_t used = 0;
    CHECK_INT(request_feed(&request, text, sizeof text - 1, &used), REQUEST_DONE);
    CHECK_TEXT(buf_string(&request.body), "abcde");
    size_t rest = used;
    request_reset(&request);
    CHECK_INT(request_feed(&request, text + rest, sizeof text - 1 - rest, &used), REQUEST_DONE);
    CHECK_TEXT(request.text.data + request.path, "/2");
    CHECK_INT(rest + used, sizeof text - 1);
    request_fini(&request);
}

TEST(what_is_right_is_taken)
{
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "\r\n"), 200);
    CHECK_INT(STATUS("HEAD / HTTP/1.1\r\n" HOST "\r\n"), 200);
    CHECK_INT(STATUS("GET / HTTP/1.0\r\n\r\n"), 200);
    CHECK_INT(STATUS("GET http://a/x HTTP/1.1\r\n" HOST "\r\n"), 200);
    CHECK_INT(STATUS("GET http://a HTTP/1.1\r\n" HOST "\r\n"), 200);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"), 200);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X:\r\nY: \xc3\xa9\r\n\r\n"), 200);
    CHECK_INT(STATUS("POST / HTTP/1.1\r\n" HOST "\r\n"), 200);
    CHECK_INT(STATUS("POST / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"), 200);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n"), 200);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST), 0);
}

TEST(lengths_that_two_parsers_read_differently_are_refused)
{
#define POST "POST / HTTP/1.1\r\n" HOST
    CHECK_INT(STATUS(POST "Content-Length: +5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: -5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 0x5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 5 5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 5, 5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 18446744073709551616\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 18446744073709551621\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"), 400);
    CHECK_INT(STATUS(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
}

TEST(other_encodings_are_not_implemented)
{
    CHECK_INT(STATUS(POST "Transfer-Encoding: gzip\r\n\r\n"), 501);
    CHECK_INT(STATUS(POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), 501);
    CHECK_INT(STATUS(POST "Transfer-Encoding: chunked, gzip\r\n\r\n"), 400);
    CHECK_INT(STATUS(POST "Expect: cake\r\nContent-Length: 5\r\n\r\nhello"), 417);
}

TEST(chunks_are_read_strictly)
{
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
    CHECK_INT(STATUS(CHUNKED "5\r\nhello\r\n0\r\n\r\n"), 200);
    CHECK_INT(STATUS(CHUNKED "+5\r\nhello\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "0x5\r\nhello\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "5\nhello\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "5 \r\nhello\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "5\r\nhelloXX0\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "5;a=b\r\nhello\r\n0\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "5\r\nhello\r\n0\r\nX: y\r\n\r\n"), 400);
    CHECK_INT(STATUS(CHUNKED "10000000000000000\r\nhello\r\n0\r\n\r\n"), 400);
}

TEST(a_body_over_the_limit_is_refused)
{
    char text[512];
    CHECK_INT(STATUS(POST "Content-Length: 101\r\n\r\n"), 413);
    CHECK_INT(STATUS(POST "Content-Length: 999999999999\r\n\r\n"), 413);
    int length = snprintf(text, sizeof text, CHUNKED "65\r\n%0101d\r\n0\r\n\r\n", 0);
    CHECK_INT(status_of(text, (size_t)length), 413);
    length = snprintf(text, sizeof text, CHUNKED "64\r\n%0100d\r\n0\r\n\r\n", 0);
    CHECK_INT(status_of(text, (size_t)length), 200);
    /* Zeros in front of a chunk size cost bytes without end. */
    char zeros[2048];
    length = snprintf(zeros, sizeof zeros, CHUNKED "%01500d", 0);
    CHECK(status_of(zeros, (size_t)length) >= 400);
}

TEST(lines_are_read_strictly)
{
    CHECK_INT(STATUS("GET / HTTP/1.1\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost: a\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X: a\rb\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X: a\r\n b\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n Host: a\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X: a\x1b\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X : a\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST ": a\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "no colon\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST "X(: a\r\n\r\n"), 400);
}

TEST(one_host_is_needed)
{
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost: a b\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n"), 400);
    CHECK_INT(STATUS("GET http://b/x HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET http://ab/x HTTP/1.1\r\n" HOST "\r\n"), 400);
}

TEST(the_request_line_is_read_strictly)
{
    CHECK_INT(STATUS("GET /a b HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /%zz HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /%2 HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /%00 HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /%0a HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /%ff HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /\xff HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /\x01 HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /a#b HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET a HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET /\r\n\r\n"), 400);
    CHECK_INT(STATUS("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/1.9\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTX/1.1\r\n" HOST "\r\n"), 400);
    CHECK_INT(STATUS("GET / HTTP/2.0\r\n" HOST "\r\n"), 505);
    CHECK_INT(STATUS("GET / HTTP/3.0\r\n" HOST "\r\n"), 505);
    CHECK_INT(STATUS("GET / HTTP/0.9\r\n" HOST "\r\n"), 505);
    CHECK_INT(STATUS("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
    CHECK_INT(STATUS("\x16\x03\x01\x02"), 400);
}

TEST(other_methods_are_not_implemented)
{
    CHECK_INT(STATUS("FOO / HTTP/1.1\r\n" HOST "\r\n"), 501);
    CHECK_INT(STATUS("get / HTTP/1.1\r\n" HOST "\r\n"), 501);
    CHECK_INT(STATUS("TRACE / HTTP/1.1\r\n" HOST "\r\n"), 501);
    CHECK_INT(STATUS("CONNECT a:1 HTTP/1.1\r\n" HOST "\r\n"), 501);
    CHECK_INT(STATUS("G@T / HTTP/1.1\r\n" HOST "\r\n"), 400);
}

TEST(a_head_over_its_limits_is_refused)
{
    char text[4096];
    int length = snprintf(text, sizeof text, "GET /%02000d HTTP/1.1\r\n" HOST "\r\n", 0);
    CHECK_INT(status_of(text, (size_t)length), 414);
    length = snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "X: %02000d\r\n\r\n", 0);
    CHECK_INT(status_of(text, (size_t)length), 431);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST
                     "A:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\n\r\n"),
              200);
    CHECK_INT(STATUS("GET / HTTP/1.1\r\n" HOST
                     "A:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\nA:\r\n\r\n"),
              431);
}

static bool keeps_alive(const char *text)
{
    struct request request;
    request_init(&request, small_limits());
    feed_text(&request, text, strlen(text), strlen(text));
    bool keeps = request.keeps_alive;
    CHECK_INT(request.state, REQUEST_DONE);
    request_fini(&request);
    return keeps;
}

TEST(a_connection_is_kept_when_both_want_it)
{
    CHECK(keeps_alive("GET / HTTP/1.1\r\n" HOST "\r\n"));
    CHECK(!keeps_alive("GET / HTTP/1.1\r\n" HOST "Connection: Close\r\n\r\n"));
    CHECK(!keeps_alive("GET / HTTP/1.1\r\n" HOST "Connection: x, close\r\n\r\n"));
    CHECK(!keeps_alive("GET / HTTP/1.0\r\n\r\n"));
    CHECK(keeps_alive("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

static bool is_upgrade(const char *lines)
{
    char text[1024];
    int length = snprintf(text, sizeof text, "GET / HTTP/1.1\r\n" HOST "%s\r\n", lines);
    struct request request;
    request_init(&request, small_limits());
    feed_text(&request, text, (size_t)length, (size_t)length);
    CHECK_INT(request.state, REQUEST_DONE);
    bool is_websocket = request.state == REQUEST_DONE && request_is_websocket(&request);
    request_fini(&request);
    return is_websocket;
}

TEST(an_upgrade_is_known_by_its_tokens)
{
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define V13 "Sec-WebSocket-Version: 13\r\n"
    CHECK(is_upgrade("Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n" KEY V13));
    CHECK(is_upgrade("connection: UPGRADE\r\nupgrade: WebSocket\r\n" KEY V13));
    CHECK(is_upgrade(
        "Connection: keep-alive\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" KEY V13));
    CHECK(!is_upgrade("Connection: keep-alive\r\nUpgrade: websocket\r\n" KEY V13));
    CHECK(!is_upgrade("Connection: upgrade\r\nUpgrade: h2c\r\n" KEY V13));
    CHECK(!is_upgrade("Connection: upgrade\r\nUpgrade: websocket\r\n" V13));
    CHECK(!is_upgrade("Connection: upgrade\r\nUpgrade: websocket\r\n" KEY
                      "Sec-WebSocket-Version: 8\r\n"));
    CHECK(!is_upgrade(
        "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: short\r\n" V13));
}

MAIN(RUN(a_request_has_its_parts), RUN(a_body_ends_where_its_framing_says),
     RUN(what_is_right_is_taken), RUN(lengths_that_two_parsers_read_differently_are_refused),
     RUN(other_encodings_are_not_implemented), RUN(chunks_are_read_strictly),
     RUN(a_body_over_the_limit_is_refused), RUN(lines_are_read_strictly), RUN(one_host_is_needed),
     RUN(the_request_line_is_read_strictly), RUN(other_methods_are_not_implemented),
     RUN(a_head_over_its_limits_is_refused), RUN(a_connection_is_kept_when_both_want_it),
     RUN(an_upgrade_is_known_by_its_tokens))
