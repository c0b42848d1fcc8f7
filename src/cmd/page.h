/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The page's files, made part of the program by tools/embed.py. */
#ifndef CMD_PAGE_H
#define CMD_PAGE_H

#include <stddef.h>

struct page_file {
    const char *name; /* "index.html" */
    const char *type; /* Content-Type */
    const char *etag; /* with quotes */
    const unsigned char *data, *gzip;
    size_t length, gzip_length;
};

extern const struct page_file page_files[];
extern const size_t page_file_count;

#endif
