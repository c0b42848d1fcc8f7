/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: the head of a request that is whole, split into its parts and judged. */
#ifndef HTTP_HEAD_H
#define HTTP_HEAD_H

#include "http/request.h"

/* The first refusal stands. */
void request_refuse(struct request *request, int status, const char *sentence);

/* Fills method, path, query and headers from `head`, or refuses. */
void head_parse(struct request *request);

/* The bytes so far could be the beginning of a method's name. */
bool head_is_method_begun(struct span seen);

/* The request line so far names a version of HTTP that exists, but not HTTP/1. */
bool head_is_other_version(struct span seen);

#endif
