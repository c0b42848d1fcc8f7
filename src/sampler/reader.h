/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One source behind a deadline. Each read runs in a thread of its own; one that does not come back
 * is left behind together with its source, and the next read opens a fresh one. */
#ifndef SAMPLER_READER_H
#define SAMPLER_READER_H

#include "base/err.h"
#include "source/source.h"

/* Threads that may be stuck in a driver at the same time; then no more are started. */
#define READER_STUCK_MAX 4

struct reader;

/* Copies what the options point to, except the tap's argument, which is not touched any more after
 * reader_close. Nothing is opened yet. */
struct reader *reader_new(const struct source_ops *ops, const struct source_options *options);

/* A snapshot by deadline_ns from now. What the source says, or -ETIMEDOUT; -EBUSY while too many
 * earlier reads are stuck; -EAGAIN while opening is backed off (the sentence is that of the last
 * failure). */
int reader_take(struct reader *reader, int64_t now_ns, int64_t deadline_ns, struct snapshot **out,
                struct err *err);

void reader_close(struct reader *reader); /* accepts NULL */

#endif
