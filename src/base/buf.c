/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/buf.h"

#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUF_FIRST_CAPACITY 256

void buf_fini(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){0};
}

void buf_clear(struct buf *buf)
{
    buf->length = 0;
    if (buf->data != NULL) {
        buf->data[0] = '\0';
    }
}

void buf_reserve(struct buf *buf, size_t more)
{
    assert(more < SIZE_MAX / 4 && buf->length < SIZE_MAX / 4);
    size_t need = buf->length + more + 1;
    if (need <= buf->capacity) {
        return;
    }
    size_t capacity = buf->capacity == 0 ? BUF_FIRST_CAPACITY : buf->capacity;
    while (capacity < need) {
        capacity *= 2;
    }
    buf->data = mem_resize(buf->data, capacity);
    buf->capacity = capacity;
}

void buf_add(struct buf *buf, const void *data, size_t length)
{
    buf_reserve(buf, length);
    if (length > 0) {
        memcpy(buf->data + buf->length, data, length);
    }
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void buf_text(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_char(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_format(struct buf *buf, const char *format, ...)
{
    buf_reserve(buf, 128);
    for (;;) {
        size_t room = buf->capacity - buf->length;
        va_list args;
        va_start(args, format);
        int length = vsnprintf(buf->data + buf->length, room, format, args);
        va_end(args);
        assert(length >= 0);
        if ((size_t)length < room) {
            buf->length += (size_t)length;
            return;
        }
        buf_reserve(buf, (size_t)length);
    }
}

const char *buf_string(const struct buf *buf)
{
    return buf->data != NULL ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
    buf_reserve(buf, 0);
    buf->data[buf->length] = '\0';
    char *data = buf->data;
    *buf = (struct buf){0};
    return data;
}
