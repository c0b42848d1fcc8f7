/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What the page is told (docs/page-protocol.md): the registry once, everything once, then only what
 * changed. A view is one published moment with what was concluded from it; it never changes, and
 * two views give a delta. Base units; unknown is null or absent. Used by one thread. */
#ifndef OUTPUT_LIVE_H
#define OUTPUT_LIVE_H

#include "base/buf.h"
#include "model/host.h"
#include "model/snapshot.h"

#include <stdbool.h>

#define LIVE_PROTOCOL 1
#define LIVE_TROUBLES_MAX 16

struct live_trouble {
    char source[32];
    char sentence[1024];
    int64_t since_ns;
};

struct live_input {
    struct snapshot *snapshot; /* a reference is taken */
    const struct host *host;
    const struct process_detail *details; /* one a process of the snapshot */
    const struct live_trouble *troubles;
    size_t trouble_count;
    int64_t now_ns;     /* wall */
    int64_t pace_ns[2]; /* of fast and slow values */
};

/* Remembers since when a word has been true. */
struct live_memory;
struct live_memory *live_memory_new(void);
void live_memory_free(struct live_memory *memory); /* accepts NULL */

struct live_view;
struct live_view *live_view_new(struct live_memory *memory, const struct live_input *input);
void live_view_free(struct live_view *view); /* accepts NULL */

/* What a viewer may see. */
struct live_rights {
    bool is_process_hidden; /* names, users and commands of processes are left out */
};

struct live_greeting {
    const char *version, *server_name;
    double interval_s;
    bool is_simulated, is_process_hidden;
};

/* Each adds one JSON text. */
void live_write_hello(const struct live_greeting *greeting, struct buf *out);
void live_write_full(const struct live_view *view, const struct live_rights *rights,
                     struct buf *out);

/* False, with nothing added, when only a full will do: GPUs came, went or changed their places. */
bool live_write_delta(const struct live_view *before, const struct live_view *after,
                      const struct live_rights *rights, struct buf *out);

#endif
