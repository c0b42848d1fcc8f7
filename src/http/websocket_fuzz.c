/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Any bytes as a client's frames, with and without compression: the same messages come out however
 * the bytes are cut, no message is past the limit, and the end has a code. The first byte says
 * whether compression was agreed on; a text that is there is also sent through our own deflate. */
#include "http/wire.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LIMIT_BYTES 4096

struct outcome {
    size_t events;
    int code;
    uint64_t sum;
};

static struct outcome feed_all(const uint8_t *data, size_t size, size_t piece, bool is_deflate)
{
    struct outcome outcome = {0};
    struct wire_reader reader;
    wire_reader_init(&reader, LIMIT_BYTES, is_deflate);
    for (size_t at = 0; at < size;) {
        size_t length = size - at < piece ? size - at : piece;
        size_t used = 0;
        enum wire_event event = wire_read(&reader, data + at, length, &used);
        assert(used <= length && (used > 0 || event == WIRE_FAULT));
        at += used;
        if (event == WIRE_MORE) {
            continue;
        }
        outcome.events++;
        outcome.sum = outcome.sum * 31 + (unsigned)event;
        assert(reader.payload.length <= LIMIT_BYTES);
        for (size_t i = 0; i < reader.payload.length; i++) {
            outcome.sum = outcome.sum * 31 + (unsigned char)reader.payload.data[i];
        }
        if (event == WIRE_FAULT || event == WIRE_GOT_CLOSE) {
            assert(outcome.code == 0 && reader.code >= 1000 && reader.code < 5000);
            outcome.code = reader.code;
        }
    }
    wire_reader_fini(&reader);
    return outcome;
}

static void there_and_back(const uint8_t *data, size_t size)
{
    struct buf deflated = {0};
    wire_deflate((const char *)data, size, &deflated);
    unsigned char head[WIRE_HEAD_BYTES];
    size_t head_length = wire_head(head, WIRE_TEXT | 0x40, deflated.length);
    head[1] |= 0x80;
    struct buf frame = {0};
    buf_add(&frame, head, head_length);
    buf_add(&frame, "\0\0\0", 4);
    buf_add(&frame, deflated.data, deflated.length);
    struct wire_reader reader;
    wire_reader_init(&reader, (size_t)1 << 20, true);
    size_t used = 0;
    enum wire_event event = wire_read(&reader, frame.data, frame.length, &used);
    assert(event == WIRE_GOT_TEXT || (event == WIRE_FAULT && reader.code == 1007));
    if (event == WIRE_GOT_TEXT) {
        assert(reader.payload.length == size && memcmp(reader.payload.data, data, size) == 0);
    }
    wire_reader_fini(&reader);
    buf_fini(&frame);
    buf_fini(&deflated);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    bool is_deflate = (data[0] & 1) != 0;
    struct outcome whole = feed_all(data + 1, size - 1, SIZE_MAX, is_deflate);
    struct outcome bytes = feed_all(data + 1, size - 1, 1, is_deflate);
    assert(whole.events == bytes.events && whole.code == bytes.code && whole.sum == bytes.sum);
    char text[1024];
    memset(text, 0, sizeof text);
    memcpy(text, data, size < sizeof text ? size : sizeof text);
    (void)wire_offers_deflate(memchr(text, 0, sizeof text) != NULL ? text : "");
    there_and_back(data, size);
    return 0;
}
