/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Other programs, run with a deadline. A child is the leader of its own process group, and the
 * whole group is killed when the deadline passes, so that nothing it started is left behind.
 * Nothing goes through a shell. */
#ifndef BASE_SPAWN_H
#define BASE_SPAWN_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct spawn {
    const char *const *argv;   /* argv[0] is a path, or a name searched in PATH; NULL ends it */
    const char *input;         /* bytes for its stdin, or NULL for /dev/null */
    int64_t deadline_ns;       /* from the start; 0 = 10 s */
    size_t output_limit_bytes; /* of stdout and stderr each; 0 = 1 MiB; more is cut */
    bool is_inherited;         /* stdout and stderr are ours: nothing is captured */
    bool is_contained;         /* it stays in our process group, which somebody ends as a whole */
};

struct spawn_result {
    int exit_status;   /* 0-255, or 128 + signal */
    bool is_timed_out; /* the group was killed at the deadline */
    bool is_cut;       /* output went over the limit */
    struct buf out;
    struct buf error;
};

/* 0 when the program ran, whatever its exit status; -ENOENT not found; -ETIMEDOUT the deadline
 * passed (what it wrote until then is in the result). End the result with spawn_result_fini. */
int spawn_run(const struct spawn *spawn, struct spawn_result *out, struct err *err);

/* Kills what still runs, with its group. Called at exit by itself; async-signal-safe, for handlers
 * that end the process otherwise. */
void spawn_kill_running(void);

void spawn_result_fini(struct spawn_result *result);

/* The path of an executable file called `name` in `directories` (colon-separated, "" and relative
 * parts skipped); caller frees; NULL when there is none. */
char *spawn_find(const char *name, const char *directories);

#define OWN_SPAWN_RESULT __attribute__((cleanup(spawn_result_fini)))

#endif
