/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: the limits with their defaults filled in. */
#ifndef HTTP_LIMITS_H
#define HTTP_LIMITS_H

#include "http/http.h"

struct http_limits http_limits_filled(const struct http_limits *given); /* NULL = all defaults */

#endif
