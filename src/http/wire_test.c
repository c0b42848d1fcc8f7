/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/wire.h"

#include "tests/check.h"

#include <string.h>

#define LIMIT_BYTES 1000

/* Adds a masked client frame. */
static void add_frame(struct buf *out, int first_byte, const void *payload, size_t length)
{
    static const unsigned char mask[4] = {0x11, 0x22, 0x33, 0x44};
    unsigned char head[WIRE_HEAD_BYTES];
    size_t head_length = wire_head(head, first_byte, length);
    head[0] = (unsigned char)first_byte;
    head[1] |= 0x80;
    buf_add(out, head, head_length);
    buf_add(out, mask, sizeof mask);
    for (size_t i = 0; i < length; i++) {
        buf_char(out, (char)(((const unsigned char *)payload)[i] ^ mask[i % 4]));
    }
}

/* All events as letters, T text, I ping, O pong, C close, F fault with its code; the same in one
 * piece and byte by byte. The last text is left in `last`. */
static void events_of(const struct buf *bytes, size_t piece, char *events, char *last)
{
    struct wire_reader reader;
    wire_reader_init(&reader, LIMIT_BYTES, true);
    for (size_t at = 0; at < bytes->length;) {
        size_t used = 0;
        size_t length = bytes->length - at < piece ? bytes->length - at : piece;
        enum wire_event event = wire_read(&reader, bytes->data + at, length, &used);
        at += used;
        if (event == WIRE_MORE) {
            continue;
        }
        *events++ = "-TIOCF"[event];
        if (event == WIRE_GOT_TEXT) {
            (void)snprintf(last, LIMIT_BYTES + 1, "%.*s", (int)reader.payload.length,
                           reader.payload.data);
        }
        if (event == WIRE_FAULT || event == WIRE_GOT_CLOSE) {
            events += snprintf(events, 8, "%d", reader.code);
        }
        if (event == WIRE_FAULT) {
            break;
        }
    }
    *events = '\0';
    wire_reader_fini(&reader);
}

static void check_events(struct buf *bytes, const char *wanted, const char *wanted_text)
{
    char events[64];
    char last[LIMIT_BYTES + 1] = "";
    events_of(bytes, bytes->length, events, last);
    CHECK_TEXT(events, wanted);
    CHECK_TEXT(last, wanted_text);
    events_of(bytes, 1, events, last);
    CHECK_TEXT(events, wanted);
    CHECK_TEXT(last, wanted_text);
    buf_fini(bytes);
}

TEST(a_message_may_come_in_pieces_with_pings_between)
{
    struct buf bytes = {0};
    add_frame(&bytes, 0x01, "Wo", 2);
    add_frame(&bytes, 0x89, "abc", 3);
    add_frame(&bytes, 0x00, "", 0);
    add_frame(&bytes, 0x8a, "", 0);
    add_frame(&bytes, 0x80, "rd", 2);
    add_frame(&bytes, 0x81, "", 0);
    check_events(&bytes, "IOTT", "");
    add_frame(&bytes, 0x01, "\xe2\x82", 2);
    add_frame(&bytes, 0x80, "\xac", 1);
    check_events(&bytes, "T", "\xe2\x82\xac");
}

TEST(lengths_of_all_sizes_are_read)
{
    char text[LIMIT_BYTES + 1];
    memset(text, 'x', sizeof text);
    static const size_t sizes[] = {0, 1, 125, 126, 127, LIMIT_BYTES};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct buf bytes = {0};
        char wanted[LIMIT_BYTES + 1];
        (void)snprintf(wanted, sizeof wanted, "%.*s", (int)sizes[i], text);
        add_frame(&bytes, 0x81, text, sizes[i]);
        check_events(&bytes, "T", wanted);
    }
    struct buf bytes = {0};
    add_frame(&bytes, 0x81, text, LIMIT_BYTES + 1);
    check_events(&bytes, "F1009", "");
    add_frame(&bytes, 0x01, text, LIMIT_BYTES);
    add_frame(&bytes, 0x80, text, 1);
    check_events(&bytes, "F1009", "");
}

static void check_raw(const void *data, size_t length, const char *wanted)
{
    struct buf bytes = {0};
    buf_add(&bytes, data, length);
    check_events(&bytes, wanted, "");
}

#define RAW(text, wanted) check_raw((text), sizeof(text) - 1, (wanted))

TEST(what_breaks_the_protocol_has_its_code)
{
    RAW("\x81\x05", "F1002"); /* not masked */
    RAW("\x91\x80", "F1002"); /* reserved bits */
    RAW("\xa1\x80", "F1002");
    RAW("\xc9\x80", "F1002"); /* a compressed ping */
    RAW("\xc0\x80", "F1002"); /* the bit on a later piece */
    RAW("\x83\x80", "F1002"); /* unknown kinds */
    RAW("\x8b\x80", "F1002");
    RAW("\x09\x80", "F1002");             /* a ping in pieces */
    RAW("\x89\xfe", "F1002");             /* a long ping */
    RAW("\x80\x80", "F1002");             /* nothing to go on with */
    RAW("\x82\x80", "F1003");             /* binary */
    RAW("\x81\xfe\x00\x05mask", "F1002"); /* not the shortest length */
    RAW("\x81\xff\x00\x00\x00\x00\x00\x00\xff\xffmask", "F1002");
    RAW("\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xffmask", "F1009"); /* 2^63-1 */
    RAW("\x81\xff\x80\x00\x00\x00\x00\x00\x00\x00mask", "F1002"); /* 2^63 */
    struct buf bytes = {0};
    add_frame(&bytes, 0x01, "a", 1);
    add_frame(&bytes, 0x81, "a", 1);
    check_events(&bytes, "F1002", "");
}

TEST(text_must_be_utf8)
{
    struct buf bytes = {0};
    add_frame(&bytes, 0x81, "\xff", 1);
    check_events(&bytes, "F1007", "");
    add_frame(&bytes, 0x81, "\xed\xa0\x80", 3);
    check_events(&bytes, "F1007", "");
    add_frame(&bytes, 0x81, "\xe2\x82", 2);
    check_events(&bytes, "F1007", "");
}

TEST(a_close_is_read_with_its_code)
{
    struct buf bytes = {0};
    add_frame(&bytes, 0x88, "", 0);
    check_events(&bytes, "C1000", "");
    add_frame(&bytes, 0x88,
              "\x03\xe9"
              "bye",
              5);
    add_frame(&bytes, 0x81, "after", 5);
    check_events(&bytes, "C1001", "");
    add_frame(&bytes, 0x88, "\x03", 1);
    check_events(&bytes, "F1002", "");
    add_frame(&bytes, 0x88, "\x03\xed", 2); /* 1005 is never sent */
    check_events(&bytes, "F1002", "");
    add_frame(&bytes, 0x88, "\x03\xe8\xff", 3);
    check_events(&bytes, "F1007", "");
}

TEST(pieces_without_end_are_refused)
{
    struct buf bytes = {0};
    add_frame(&bytes, 0x01, "", 0);
    for (int i = 0; i < 5000; i++) {
        add_frame(&bytes, 0x00, "", 0);
    }
    check_events(&bytes, "F1008", "");
}

TEST(compressed_text_goes_there_and_back)
{
    struct buf bytes = {0};
    struct buf deflated = {0};
    static const char text[] =
        "{\"gpu\":0,\"util\":12},{\"gpu\":1,\"util\":12},{\"gpu\":2,\"util\":12}";
    wire_deflate(text, sizeof text - 1, &deflated);
    CHECK(deflated.length < sizeof text - 1);
    add_frame(&bytes, 0xc1, deflated.data, deflated.length);
    add_frame(&bytes, 0x41, deflated.data, 5);
    add_frame(&bytes, 0x80, deflated.data + 5, deflated.length - 5);
    check_events(&bytes, "TT", text);
    buf_fini(&deflated);
    /* The example of RFC 7692, 7.2.3.1. */
    add_frame(&bytes, 0xc1, "\xf2\x48\xcd\xc9\xc9\x07\x00", 7);
    check_events(&bytes, "T", "Hello");
}

TEST(a_bomb_does_not_go_off)
{
    struct buf bytes = {0};
    struct buf text = {0};
    struct buf deflated = {0};
    for (int i = 0; i < 100000; i++) {
        buf_char(&text, 'x');
    }
    wire_deflate(text.data, text.length, &deflated);
    CHECK(deflated.length < LIMIT_BYTES);
    add_frame(&bytes, 0xc1, deflated.data, deflated.length);
    check_events(&bytes, "F1009", "");
    buf_clear(&deflated);
    wire_deflate(text.data, LIMIT_BYTES, &deflated);
    add_frame(&bytes, 0xc1, deflated.data, deflated.length);
    text.data[LIMIT_BYTES] = '\0';
    check_events(&bytes, "T", text.data);
    add_frame(&bytes, 0xc1, "\xff\xff\xff", 3);
    check_events(&bytes, "F1007", "");
    buf_fini(&text);
    buf_fini(&deflated);
}

TEST(an_offer_of_compression_is_judged)
{
    CHECK(wire_offers_deflate("permessage-deflate"));
    CHECK(wire_offers_deflate("permessage-deflate; client_max_window_bits"));
    CHECK(wire_offers_deflate("permessage-deflate; client_max_window_bits=10"));
    CHECK(wire_offers_deflate("x-other, permessage-deflate; server_no_context_takeover"));
    CHECK(wire_offers_deflate("permessage-deflate; server_max_window_bits=10, permessage-deflate"));
    CHECK(!wire_offers_deflate(""));
    CHECK(!wire_offers_deflate("permessage-deflate; server_max_window_bits=10"));
    CHECK(!wire_offers_deflate("permessage-deflate; unknown"));
    CHECK(!wire_offers_deflate("x-webkit-deflate-frame"));
}

MAIN(RUN(a_message_may_come_in_pieces_with_pings_between), RUN(lengths_of_all_sizes_are_read),
     RUN(what_breaks_the_protocol_has_its_code), RUN(text_must_be_utf8),
     RUN(a_close_is_read_with_its_code), RUN(pieces_without_end_are_refused),
     RUN(compressed_text_goes_there_and_back), RUN(a_bomb_does_not_go_off),
     RUN(an_offer_of_compression_is_judged))
