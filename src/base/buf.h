/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Bytes that grow. The caller owns the struct (= {0}) and ends it with buf_fini. `data` is always
 * followed by a NUL once anything was added, so it can be read as a string. Growth is for output
 * that is bounded by what we already hold: running out of memory ends the process with a message.
 * Bytes from outside must meet a limit before they are added. Not for several threads. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t length;   /* bytes, without the closing NUL */
    size_t capacity; /* bytes */
};

void buf_fini(struct buf *buf);
void buf_clear(struct buf *buf); /* forgets the content, keeps the memory */
void buf_reserve(struct buf *buf, size_t more);
void buf_add(struct buf *buf, const void *data, size_t length);
void buf_text(struct buf *buf, const char *text);
void buf_char(struct buf *buf, char c);
void buf_format(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The content as a string ("" when empty); borrowed until the next change. */
const char *buf_string(const struct buf *buf);

/* The content becomes the caller's, to free(); the buffer is empty again. Never NULL. */
char *buf_take(struct buf *buf);

#define OWN_BUF __attribute__((cleanup(buf_fini)))

#endif
