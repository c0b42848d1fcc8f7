/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/wire.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

#define FRAGMENTS_MAX 4096 /* of one message; empty ones cost nobody anything but us */
#define BIT_FINAL 0x80
#define BIT_DEFLATED 0x40
#define BIT_MASKED 0x80
#define KEPT_BYTES ((size_t)1024)

void wire_reader_init(struct wire_reader *reader, size_t limit_bytes, bool is_deflate)
{
    *reader = (struct wire_reader){.limit_bytes = limit_bytes, .is_deflate = is_deflate};
}

void wire_reader_fini(struct wire_reader *reader)
{
    buf_fini(&reader->message);
    buf_fini(&reader->inflated);
}

static enum wire_event fault(struct wire_reader *reader, int code, const char *reason)
{
    reader->is_over = true;
    reader->code = code;
    reader->reason = reason;
    reader->payload = (struct span){"", 0};
    return WIRE_FAULT;
}

static int opcode_of(const struct wire_reader *reader)
{
    return reader->head[0] & 0x0f;
}

static bool is_control(const struct wire_reader *reader)
{
    return (reader->head[0] & 0x08) != 0;
}

static bool is_final(const struct wire_reader *reader)
{
    return (reader->head[0] & BIT_FINAL) != 0;
}

/* Bytes of the head, as far as those that are there can tell. */
static size_t head_size(const struct wire_reader *reader)
{
    if (reader->head_length < 2) {
        return 2;
    }
    int length = reader->head[1] & 0x7f;
    return length == 127 ? 14 : length == 126 ? 8 : 6;
}

/* Judges the first two bytes, before the rest of the head is waited for. */
static enum wire_event check_start(struct wire_reader *reader)
{
    int opcode = opcode_of(reader);
    bool is_deflated = (reader->head[0] & BIT_DEFLATED) != 0;
    bool is_start = opcode == WIRE_TEXT || opcode == WIRE_BINARY;
    if ((reader->head[0] & 0x30) != 0 || (is_deflated && !(reader->is_deflate && is_start))) {
        return fault(reader, 1002, "a reserved bit is set");
    }
    if ((reader->head[1] & BIT_MASKED) == 0) {
        return fault(reader, 1002, "a frame that is not masked");
    }
    if (is_control(reader)) {
        if (opcode > WIRE_PONG) {
            return fault(reader, 1002, "an unknown kind of frame");
        }
        if (!is_final(reader) || (reader->head[1] & 0x7f) > WIRE_CONTROL_BYTES) {
            return fault(reader, 1002, "a control frame that is too long or in pieces");
        }
        return WIRE_MORE;
    }
    if (opcode > WIRE_BINARY) {
        return fault(reader, 1002, "an unknown kind of frame");
    }
    if (is_start == reader->is_in_message) {
        return fault(reader, 1002, "a message within a message, or none to go on with");
    }
    if (opcode == WIRE_BINARY) {
        return fault(reader, 1003, "only text is taken");
    }
    return WIRE_MORE;
}

static enum wire_event begin_message(struct wire_reader *reader)
{
    if (opcode_of(reader) != WIRE_CONTINUATION) {
        reader->is_in_message = true;
        reader->is_message_deflated = (reader->head[0] & BIT_DEFLATED) != 0;
        reader->fragments = 0;
        if (reader->message.capacity > KEPT_BYTES) {
            buf_fini(&reader->message);
        }
        buf_clear(&reader->message);
    }
    if (++reader->fragments > FRAGMENTS_MAX) {
        return fault(reader, 1008, "a message in too many pieces");
    }
    if (reader->left > reader->limit_bytes - reader->message.length) {
        return fault(reader, 1009, "the message is too long");
    }
    return WIRE_MORE;
}

static enum wire_event end_head(struct wire_reader *reader)
{
    size_t bytes = reader->head_length == 14 ? 8 : reader->head_length == 8 ? 2 : 0;
    reader->left = bytes == 0 ? reader->head[1] & 0x7f : 0;
    for (size_t i = 0; i < bytes; i++) {
        reader->left = reader->left << 8 | reader->head[2 + i];
    }
    if ((bytes == 2 && reader->left < 126) || (bytes == 8 && reader->left < 65536) ||
        reader->left > INT64_MAX) {
        return fault(reader, 1002, "a length that is not written the shortest way");
    }
    reader->at = 0;
    reader->is_in_payload = true;
    if (is_control(reader)) {
        reader->control_length = 0;
        return WIRE_MORE;
    }
    return begin_message(reader);
}

static enum wire_event read_head(struct wire_reader *reader, const unsigned char *data,
                                 size_t length, size_t *used)
{
    while (*used < length) {
        reader->head[reader->head_length++] = data[(*used)++];
        if (reader->head_length == 2 && check_start(reader) == WIRE_FAULT) {
            return WIRE_FAULT;
        }
        if (reader->head_length == head_size(reader)) {
            return end_head(reader);
        }
    }
    return WIRE_MORE;
}

static void read_payload(struct wire_reader *reader, const unsigned char *data, size_t length,
                         size_t *used)
{
    size_t count = length - *used;
    if (count > reader->left) {
        count = (size_t)reader->left;
    }
    if (count == 0) {
        return;
    }
    char *to = NULL;
    if (is_control(reader)) {
        to = (char *)reader->control + reader->control_length;
        reader->control_length += count;
    } else {
        buf_reserve(&reader->message, count);
        buf_add(&reader->message, data + *used, count);
        to = reader->message.data + reader->message.length - count;
    }
    const unsigned char *mask = reader->head + reader->head_length - 4;
    for (size_t i = 0; i < count; i++) {
        to[i] = (char)(data[*used + i] ^ mask[(reader->at + i) % 4]);
    }
    reader->at += count;
    reader->left -= count;
    *used += count;
}

static bool is_utf8(struct span text)
{
    for (size_t at = 0; at < text.length;) {
        size_t step = text_utf8_length(text.data + at, text.length - at);
        if (step == 0) {
            return false;
        }
        at += step;
    }
    return true;
}

/* 0, or the code to close with. */
static int inflate_message(struct wire_reader *reader)
{
    static const unsigned char tail[] = {0, 0, 0xff, 0xff};
    z_stream stream = {0};
    if (inflateInit2(&stream, -15) != Z_OK) {
        return 1011;
    }
    buf_add(&reader->message, tail, sizeof tail);
    stream.next_in = (unsigned char *)reader->message.data;
    stream.avail_in = (unsigned)reader->message.length;
    buf_clear(&reader->inflated);
    unsigned char piece[4096];
    int code = Z_OK;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        code = inflate(&stream, Z_SYNC_FLUSH);
        size_t count = sizeof piece - stream.avail_out;
        if (count > reader->limit_bytes - reader->inflated.length) {
            (void)inflateEnd(&stream);
            return 1009;
        }
        buf_add(&reader->inflated, piece, count);
    } while (code == Z_OK && stream.avail_out == 0);
    (void)inflateEnd(&stream);
    /* Z_BUF_ERROR: the last piece was filled exactly and there is no more. */
    bool is_whole = (code == Z_OK || code == Z_BUF_ERROR) && stream.avail_in == 0;
    return is_whole || code == Z_STREAM_END ? 0 : 1007;
}

static enum wire_event end_message(struct wire_reader *reader)
{
    reader->is_in_message = false;
    struct buf *content = &reader->message;
    if (reader->is_message_deflated) {
        int code = inflate_message(reader);
        if (code != 0) {
            return fault(reader, code,
                         code == 1009 ? "the message is too long"
                                      : "the message cannot be inflated");
        }
        content = &reader->inflated;
    }
    reader->payload = (struct span){buf_string(content), content->length};
    if (!is_utf8(reader->payload)) {
        return fault(reader, 1007, "the text is no UTF-8");
    }
    return WIRE_GOT_TEXT;
}

static bool is_close_code(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static enum wire_event end_close(struct wire_reader *reader)
{
    reader->code = 1000;
    if (reader->control_length == 1) {
        return fault(reader, 1002, "half a close code");
    }
    if (reader->control_length >= 2) {
        reader->code = reader->control[0] << 8 | reader->control[1];
        if (!is_close_code(reader->code)) {
            return fault(reader, 1002, "no such close code");
        }
        struct span reason = {(const char *)reader->control + 2, reader->control_length - 2};
        if (!is_utf8(reason)) {
            return fault(reader, 1007, "the reason is no UTF-8");
        }
    }
    reader->is_over = true;
    return WIRE_GOT_CLOSE;
}

static enum wire_event end_frame(struct wire_reader *reader)
{
    reader->is_in_payload = false;
    reader->head_length = 0;
    if (is_control(reader)) {
        reader->payload = (struct span){(const char *)reader->control, reader->control_length};
        switch (opcode_of(reader)) {
        case WIRE_PING:
            return WIRE_GOT_PING;
        case WIRE_PONG:
            return WIRE_GOT_PONG;
        default:
            return end_close(reader);
        }
    }
    return is_final(reader) ? end_message(reader) : WIRE_MORE;
}

enum wire_event wire_read(struct wire_reader *reader, const void *data, size_t length, size_t *used)
{
    *used = 0;
    while (!reader->is_over) {
        if (!reader->is_in_payload) {
            enum wire_event event = read_head(reader, data, length, used);
            if (event != WIRE_MORE || !reader->is_in_payload) {
                return event;
            }
        }
        read_payload(reader, data, length, used);
        if (reader->left > 0) {
            return WIRE_MORE;
        }
        enum wire_event event = end_frame(reader);
        if (event != WIRE_MORE) {
            return event;
        }
    }
    *used = length; /* after the end everything is thrown away */
    return WIRE_MORE;
}

size_t wire_head(unsigned char head[WIRE_HEAD_BYTES], int first_byte, uint64_t length)
{
    head[0] = (unsigned char)(BIT_FINAL | first_byte);
    size_t bytes = length < 126 ? 0 : length < 65536 ? 2 : 8;
    head[1] = (unsigned char)(bytes == 0 ? length : bytes == 2 ? 126 : 127);
    for (size_t i = 0; i < bytes; i++) {
        head[2 + i] = (unsigned char)(length >> (8 * (bytes - 1 - i)));
    }
    return 2 + bytes;
}

void wire_deflate(const char *text, size_t length, struct buf *out)
{
    z_stream stream = {0};
    assert(length <= UINT32_MAX / 2);
    /* Level 1: a fifth of the time of level 6 for a tenth more bytes of JSON. */
    int code = deflateInit2(&stream, 1, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    assert(code == Z_OK);
    size_t bound = deflateBound(&stream, length) + 16;
    buf_reserve(out, bound);
    size_t start = out->length;
    unsigned char *room = (unsigned char *)out->data + start;
    memcpy(&stream.next_in, &text, sizeof text);
    stream.avail_in = (unsigned)length;
    stream.next_out = room;
    stream.avail_out = (unsigned)bound;
    code = deflate(&stream, Z_SYNC_FLUSH);
    assert(code == Z_OK && stream.avail_in == 0 && stream.avail_out > 0);
    size_t made = bound - stream.avail_out;
    (void)deflateEnd(&stream);
    assert(made >= 4 && memcmp(room + made - 4, "\0\0\xff\xff", 4) == 0);
    out->length = start + made - 4;
    out->data[out->length] = '\0';
}

/* One parameter of an offer: false when we cannot keep what it asks. */
static bool is_kept(struct span parameter)
{
    struct span value;
    struct span name = {NULL, 0};
    value = parameter;
    (void)span_cut(&value, '=', &name);
    name = span_trim(name);
    bool has_value = value.data != NULL;
    if (span_equals(name, "client_max_window_bits")) {
        return true; /* we inflate with the largest window */
    }
    if (span_equals(name, "server_max_window_bits")) {
        /* The shared frame was made with the largest window. */
        value = has_value ? span_trim(value) : span_of("");
        return span_equals(value, "15") || span_equals(value, "\"15\"");
    }
    return !has_value && (span_equals(name, "server_no_context_takeover") ||
                          span_equals(name, "client_no_context_takeover"));
}

bool wire_offers_deflate(const char *extensions)
{
    struct span rest = span_of(extensions);
    struct span offer;
    while (span_cut(&rest, ',', &offer)) {
        struct span part;
        (void)span_cut(&offer, ';', &part);
        bool is_kept_all = span_equals(span_trim(part), "permessage-deflate");
        while (is_kept_all && span_cut(&offer, ';', &part)) {
            is_kept_all = is_kept(span_trim(part));
        }
        if (is_kept_all) {
            return true;
        }
    }
    return false;
}
