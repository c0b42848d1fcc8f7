/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The newest snapshot of each feed, put together into the one that is published. A feed that does
 * not answer costs only its own GPUs: they stay, as not answering, and the others go on. Used by
 * one thread; published snapshots go to any (snapshot_ref). */
#ifndef SAMPLER_BOARD_H
#define SAMPLER_BOARD_H

#include "base/err.h"
#include "model/snapshot.h"

#include <stdbool.h>

/* What a completing feed said this long ago is not used any more. */
#define BOARD_AGE_MOST_NS (INT64_C(30) * 1000000000)

struct board_feed {
    const char *name; /* for sentences; copied */
    int completes;    /* position of the feed of which it completes GPUs (nvidia-smi that of NVML),
                       * or replaces them while that one is silent; -1 = it has GPUs of its own */
};

struct board;

struct board *board_new(const struct board_feed *feeds, size_t count);
void board_free(struct board *board); /* accepts NULL */

/* What a feed says. The snapshot becomes the board's. Each publishes anew. */
void board_put(struct board *board, size_t feed, struct snapshot *snapshot);
void board_trouble(struct board *board, size_t feed, int code, const char *sentence);

/* The newest published snapshot, borrowed until the next change; empty before there was any. An
 * event is in exactly one of those that were published. */
struct snapshot *board_snapshot(const struct board *board);
uint64_t board_version(const struct board *board); /* grows with each that is published */

/* Whether a feed is worth asking now: always, but one that completes only while it is needed. */
bool board_is_wanted(const struct board *board, size_t feed);

/* The feed's own trouble ("" = none): code 0 and "" after a snapshot. */
int board_feed_code(const struct board *board, size_t feed);
const char *board_feed_sentence(const struct board *board, size_t feed);

/* A sentence with everything that was tried while no feed has any GPU. */
void board_say_nothing_found(const struct board *board, struct err *err);

#endif
