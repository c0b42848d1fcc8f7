/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: WebSocket frames out of a client's bytes and the heads of our own (RFC 6455,
 * permessage-deflate of RFC 7692 without context takeover). Pure: no sockets, no clocks. The
 * caller owns the reader (wire_reader_init, wire_reader_fini). */
#ifndef HTTP_WIRE_H
#define HTTP_WIRE_H

#include "base/buf.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum frame_opcode {
    WIRE_CONTINUATION = 0,
    WIRE_TEXT = 1,
    WIRE_BINARY = 2,
    WIRE_CLOSE = 8,
    WIRE_PING = 9,
    WIRE_PONG = 10,
};

#define WIRE_CONTROL_BYTES 125
#define WIRE_HEAD_BYTES 10 /* the longest head of a server's frame */

enum wire_event {
    WIRE_MORE,     /* all bytes used, nothing whole yet */
    WIRE_GOT_TEXT, /* a whole message, valid UTF-8 */
    WIRE_GOT_PING,
    WIRE_GOT_PONG,
    WIRE_GOT_CLOSE, /* `code` is what to answer with */
    WIRE_FAULT,     /* close with `code`; the reader takes no more */
};

struct wire_reader {
    size_t limit_bytes;  /* of one message, also after it was inflated */
    bool is_deflate;     /* permessage-deflate was agreed on */
    struct span payload; /* of the last event; until the next read */
    int code;            /* of WIRE_GOT_CLOSE and WIRE_FAULT */
    const char *reason;  /* of WIRE_FAULT; static */
    /* private */
    unsigned char head[14];
    size_t head_length;
    uint64_t left; /* payload bytes that are still to come */
    uint64_t at;   /* payload bytes that came */
    size_t fragments;
    bool is_in_payload, is_in_message, is_message_deflated, is_over;
    unsigned char control[WIRE_CONTROL_BYTES];
    size_t control_length;
    struct buf message;
    struct buf inflated;
};

void wire_reader_init(struct wire_reader *reader, size_t limit_bytes, bool is_deflate);
void wire_reader_fini(struct wire_reader *reader);

/* Takes bytes up to the end of the next event; `*used` says how many. */
enum wire_event wire_read(struct wire_reader *reader, const void *data, size_t length,
                          size_t *used);

/* The head of a final server frame; returns its length. */
size_t wire_head(unsigned char head[WIRE_HEAD_BYTES], int first_byte, uint64_t length);

/* Raw deflate as permessage-deflate wants it, added to `out`. */
void wire_deflate(const char *text, size_t length, struct buf *out);

/* The client's Sec-WebSocket-Extensions offers permessage-deflate in a form we can keep. */
bool wire_offers_deflate(const char *extensions);

#endif
