/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Messages kept on disk: one file each under <state_dir>/queue, in the order of their names, 0600
 * because reports name machines. One run works on them at a time. docs/format.md describes them. */
#ifndef OUTPUT_QUEUE_H
#define OUTPUT_QUEUE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUE_MAX 100
#define QUEUE_AGE_MAX_S (INT64_C(7) * 86400)

struct queue {
    int folder;   /* -1 = there is none (yet) */
    int lock;     /* -1 = not held */
    char **name;  /* of the kept messages, oldest first */
    size_t count; /* of names */
    char *path;
};

/* Looks at the folder and takes its lock, waiting at most `patience_ns`. Without a folder the queue
 * is empty and nothing is made. -EBUSY: another run has it; -errno: it cannot be read. */
int queue_open(struct queue *queue, const char *state_dir, int64_t patience_ns, struct err *err);
void queue_close(struct queue *queue);

struct kept {
    int64_t kept_s; /* when it was kept, seconds since 1970 UTC */
    char *body;     /* JSON as it was to be sent; owned */
};

/* The i-th message. -EBADMSG: it cannot be understood. */
int queue_read(const struct queue *queue, size_t i, struct kept *out, struct err *err);
int queue_remove(const struct queue *queue, const char *name, struct err *err);

/* A message that cannot be understood goes out of the way, not away: its name gets ".unreadable".
 */
void queue_set_aside(const struct queue *queue, size_t i);

/* Keeps one more, behind all others; makes the folders. Needs no lock. `*out_name` (may be NULL) is
 * the caller's. */
int queue_add(const char *state_dir, int64_t now_s, const char *body, char **out_name,
              struct err *err);

/* Makes the folders, so that queue_open finds something to lock. */
int queue_make(const char *state_dir, struct err *err);

/* How many are kept. */
size_t queue_count(const char *state_dir);

#endif
