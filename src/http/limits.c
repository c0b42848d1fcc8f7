/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/limits.h"

#include "base/clock.h"

static void size_default(size_t *value, size_t standard)
{
    if (*value == 0) {
        *value = standard;
    }
}

static void duration_default(int64_t *value, int64_t standard)
{
    if (*value <= 0) {
        *value = standard;
    }
}

struct http_limits http_limits_filled(const struct http_limits *given)
{
    struct http_limits limits = {0};
    if (given != NULL) {
        limits = *given;
    }
    size_default(&limits.header_bytes, (size_t)16 * 1024);
    size_default(&limits.header_count, 100);
    size_default(&limits.body_bytes, (size_t)1024 * 1024);
    size_default(&limits.bodies_bytes, (size_t)64 * 1024 * 1024);
    size_default(&limits.connections, 4096);
    size_default(&limits.connections_each, 1024);
    size_default(&limits.message_bytes, (size_t)64 * 1024);
    duration_default(&limits.header_ns, 10 * NS_PER_S);
    duration_default(&limits.body_ns, 30 * NS_PER_S);
    duration_default(&limits.idle_ns, 60 * NS_PER_S);
    duration_default(&limits.ping_ns, 20 * NS_PER_S);
    duration_default(&limits.stalled_ns, 10 * NS_PER_S);
    return limits;
}
