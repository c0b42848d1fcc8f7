/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: WebSocket frames out of a client's bytes and the heads of our own (RFC 6455,
 * permessage-deflate of RFC 7692 without context takeover). Pure: no sockets, no clocks. The
 * caller owns the reader (frame_reader_init, frame_reader_fini). */
#ifndef HTTP_FRAME_H
#define HTTP_FRAME_H

#include "base/buf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_opcode {
    FRAME_CONTINUATION = 0,
    FRAME_TEXT = 1,
    FRAME_BINARY = 2,
    FRAME_CLOSE = 8,
    FRAME_PING = 9,
    FRAME_PONG = 10,
};

#define FRAME_CONTROL_BYTES 125
#define FRAME_HEAD_BYTES 10 /* the longest head of a server's frame */

enum frame_event {
    FRAME_MORE,     /* all bytes used, nothing whole yet */
    FRAME_GOT_TEXT, /* a whole message, valid UTF-8 */
    FRAME_GOT_PING,
    FRAME_GOT_PONG,
    FRAME_GOT_CLOSE, /* `code` is what to answer with */
    FRAME_FAULT,     /* close with `code`; the reader takes no more */
};

struct frame_reader {
    size_t limit_bytes;  /* of one message, also after it was inflated */
    bool is_deflate;     /* permessage-deflate was agreed on */
    struct span payload; /* of the last event; until the next read */
    int code;            /* of FRAME_GOT_CLOSE and FRAME_FAULT */
    const char *reason;  /* of FRAME_FAULT; static */
    /* private */
    unsigned char head[14];
    size_t head_length;
    uint64_t left; /* payload bytes that are still to come */
    uint64_t at;   /* payload bytes that came */
    size_t fragments;
    bool is_in_payload, is_in_message, is_message_deflated, is_over;
    unsigned char control[FRAME_CONTROL_BYTES];
    size_t control_length;
    struct buf message;
    struct buf inflated;
};

void frame_reader_init(struct frame_reader *reader, size_t limit_bytes, bool is_deflate);
void frame_reader_fini(struct frame_reader *reader);

/* Takes bytes up to the end of the next event; `*used` says how many. */
enum frame_event frame_read(struct frame_reader *reader, const void *data, size_t length,
                            size_t *used);

/* The head of a final server frame; returns its length. */
size_t frame_head(unsigned char head[FRAME_HEAD_BYTES], int first_byte, uint64_t length);

/* Raw deflate as permessage-deflate wants it, added to `out`. */
void frame_deflate(const char *text, size_t length, struct buf *out);

/* The client's Sec-WebSocket-Extensions offers permessage-deflate in a form we can keep. */
bool frame_offers_deflate(const char *extensions);

#endif
