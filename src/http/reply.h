/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: the pure parts of a reply, for their tests. */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void reply_date(int64_t now_s, char *text, size_t size);
bool reply_matches_etag(const char *list, const char *etag); /* `etag` with quotes, not weak */
bool reply_takes_gzip(const char *accept_encoding);

#endif
