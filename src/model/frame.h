/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Snapshots as bytes between processes and machines (docs/protocol.md): what a driver's child
 * process sends to the daemon, and later a node to a hub. Metrics travel under numbers that the
 * greeting names once, so that both ends may have different tables. Bytes are parsed as if an enemy
 * wrote them. Little-endian; absent values are not sent. */
#ifndef MODEL_FRAME_H
#define MODEL_FRAME_H

#include "base/buf.h"
#include "base/err.h"
#include "model/snapshot.h"

#define FRAME_VERSION 1
#define FRAME_BYTES_MAX ((size_t)32 << 20) /* twice the largest snapshot there can be */
#define FRAME_HEAD_BYTES 8 /* length of what follows (u32), kind (u8), version (u8), two zeros */
#define FRAME_NUMBERS_MAX 4096 /* numbers a greeting may give to metrics, words, link metrics */

enum frame_kind {
    FRAME_GREETING = 1, /* the registry: number, unit and key of each metric */
    FRAME_SNAPSHOT = 2,
    FRAME_TROUBLE = 3, /* a sentence: nothing could be read this time */
    FRAME_REQUEST = 4, /* the other way: one snapshot or trouble, please */
};

/* Each adds one whole frame. */
void frame_format_greeting(const char *source, struct buf *out);
void frame_format_snapshot(const struct snapshot *snapshot, struct buf *out);
void frame_format_trouble(int64_t time_ns, int code, const char *sentence, struct buf *out);
void frame_format_request(struct buf *out);

/* Reads one sender's frames. */
struct frame_reader;
struct frame_reader *frame_reader_new(void);
void frame_reader_free(struct frame_reader *reader); /* accepts NULL */

struct frame {
    enum frame_kind kind;
    struct snapshot *snapshot; /* of FRAME_SNAPSHOT, the caller's */
    int64_t time_ns;           /* of FRAME_TROUBLE */
    int code;                  /* of FRAME_TROUBLE: negative errno */
    char text[1024];           /* of FRAME_TROUBLE: the sentence; of FRAME_GREETING: the source */
};

/* The first whole frame at `data`: 1 and the bytes used in `*used`; 0 when more bytes are needed;
 * -EPROTO when the sender cannot be understood (nothing more can be read from it), -ENOTSUP for
 * another version. A snapshot before the greeting is -EPROTO. Looks only at the head until the
 * frame is whole, so that it may be asked after every read. */
int frame_read(struct frame_reader *reader, const void *data, size_t length, size_t *used,
               struct frame *out, struct err *err);

#endif
