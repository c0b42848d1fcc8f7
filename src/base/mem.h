/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Memory for what is small and bounded: running out ends the process with a message (systemd
 * starts it again; what is on disk is whole). For sizes from outside check a limit first. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>

/* Zeroed memory for `count` things of `size` bytes; never NULL; the product is checked. */
void *mem_new(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *mem_resize(void *memory, size_t size) __attribute__((returns_nonnull));

/* Room for one more thing in an array that doubles: `*capacity` counts things. */
void *mem_grow(void *array, size_t count, size_t *capacity, size_t size)
    __attribute__((returns_nonnull));

char *mem_copy_text(const char *text) __attribute__((malloc, returns_nonnull));
char *mem_format(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#endif
