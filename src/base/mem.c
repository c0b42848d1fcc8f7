/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void out_of_memory(size_t size)
{
    (void)fprintf(stderr, "Error: out of memory (%zu bytes wanted); stopping\n", size);
    abort();
}

void *mem_new(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (memory == NULL) {
        out_of_memory(count * size);
    }
    return memory;
}

void *mem_resize(void *memory, size_t size)
{
    void *moved = realloc(memory, size > 0 ? size : 1);
    if (moved == NULL) {
        out_of_memory(size);
    }
    return moved;
}

void *mem_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) {
        return array;
    }
    size_t more = *capacity == 0 ? 8 : *capacity * 2;
    if (more > SIZE_MAX / size) {
        out_of_memory(SIZE_MAX);
    }
    *capacity = more;
    return mem_resize(array, more * size);
}

char *mem_copy_text(const char *text)
{
    size_t length = strlen(text) + 1;
    char *copy = mem_new(length, 1);
    memcpy(copy, text, length);
    return copy;
}

char *mem_format(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    if (length < 0 || text == NULL) {
        out_of_memory(0);
    }
    return text;
}
