/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One source as a process of its own: the other end of sampler/feed.h. It answers each request on a
 * socket with one snapshot or one sentence (docs/protocol.md) and ends when the other end closes.
 * The hidden command `gpumanager driver` is driver_parse and driver_run. */
#ifndef SAMPLER_DRIVER_H
#define SAMPLER_DRIVER_H

#include "base/err.h"
#include "source/source.h"

#define DRIVER_FD 3 /* where the process finds its socket */

struct driver_options {
    const struct source_ops *ops;
    struct source_options source; /* `tap` is not used */
    int64_t memory_limit_bytes;   /* the process ends when it holds more; 0 = 512 MiB */
};

/* The command line for a process that does this, to be freed with driver_argv_free. */
char **driver_argv(const char *program, const struct driver_options *options);
void driver_argv_free(char **argv); /* accepts NULL */

/* The words behind `gpumanager driver`; the options borrow from them. -EINVAL for a wrong one. */
int driver_parse(int argc, char *const *argv, struct driver_options *out, struct err *err);

/* Opens the source with the first request (opening may hang as reading may), and anew, with pauses,
 * while that fails. 0 when the other end closed; negative when it speaks nonsense or the memory
 * limit was reached. The socket stays the caller's. */
int driver_run(int fd, const struct driver_options *options, struct err *err);

#endif
