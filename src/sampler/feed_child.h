/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The start of a child process that holds one socket and nothing else of ours. */
#ifndef SAMPLER_FEED_CHILD_H
#define SAMPLER_FEED_CHILD_H

#include "base/err.h"

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

struct feed_child {
    const char *const *argv;       /* the program, or … */
    int (*run)(int fd, void *arg); /* … this, in the forked child */
    void *arg;
};

/* `*fd` is our end. The child leads a process group of its own number. */
int feed_child_start(const struct feed_child *child, int *fd, pid_t *pid, struct err *err);

/* "was ended by signal 11 (Segmentation fault)", "ended with exit status 1". */
void feed_child_say_end(const siginfo_t *end, char *out, size_t size);

#endif
