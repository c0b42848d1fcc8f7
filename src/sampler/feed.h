/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The daemon's side of one driver that lives in a child process: asks it at an interval, gives it
 * up at its deadline, starts another with pauses that grow. Nothing here waits. Used by the loop
 * thread alone: it calls feed_on_readable when feed_fd is readable, and feed_tick when that is due;
 * times are of clock_mono_ns. The child gets a socket (DRIVER_FD) and our stderr, nothing else; it
 * leads a process group, which is killed as a whole, and dies with the thread that ticked. */
#ifndef SAMPLER_FEED_H
#define SAMPLER_FEED_H

#include "base/err.h"
#include "model/snapshot.h"

#include <sys/types.h>

/* Killed children that are not gone yet (they hang in the driver); then no more are started. */
#define FEED_STUCK_MAX 4

/* What comes of it, inside feed_on_readable and feed_tick. Of the feed's functions these may call
 * feed_status and feed_set_interval. */
struct feed_handler {
    void (*snapshot)(void *arg, struct snapshot *snapshot); /* with one reference, the handler's */
    /* The source could not read, the child did not answer (-ETIMEDOUT), ended (-EPIPE), sent what
     * is no frame (-EPROTO), or could not be started (-EBUSY: too many are stuck). */
    void (*trouble)(void *arg, int code, const char *sentence);
    void *arg;
};

struct feed_options {
    const char *name;              /* for sentences: "nvml" */
    const char *const *argv;       /* driver_argv; argv[0] is a path; copied */
    int (*run)(int fd, void *arg); /* instead of argv: called in the forked child, for tests */
    void *run_arg;
    struct feed_handler handler;
    int64_t interval_ns;       /* between the starts of two reads; 0 = off */
    int64_t deadline_ns;       /* of a read; 0 = 10 s */
    int64_t first_deadline_ns; /* of the first, which opens the driver; 0 = 30 s */
    int64_t pause_first_ns;    /* before a child is replaced; doubles up to 30 s; 0 = 1 s */
    int kill_signal;           /* 0 = SIGKILL; another is for tests of children that do not end */
};

enum feed_state {
    FEED_OFF,        /* nothing is asked: the interval is 0 */
    FEED_STARTING,   /* no answer was due yet */
    FEED_RUNNING,    /* it answers; its last answer may be a trouble */
    FEED_SILENT,     /* given up or ended, and not replaced yet */
    FEED_RESTARTING, /* replaced; the new one has not answered yet */
};

struct feed_status {
    enum feed_state state;
    int64_t answered_ns; /* monotonic, of the last answer: "not answering since"; 0 = never */
    int64_t interval_ns;
    int64_t took_ns;  /* the last answer */
    int64_t restarts; /* children that were replaced */
    pid_t pid;        /* -1 = none */
    pid_t stuck[FEED_STUCK_MAX];
    int stuck_count;
    const char
        *sentence; /* of the last trouble; "" after a snapshot; borrowed until the next call */
};

struct feed;

/* Copies the options. The child is started by the first tick that wants an answer. */
int feed_open(struct feed **out, const struct feed_options *options, struct err *err);

/* For the event loop: the same number until feed_close, whatever becomes of children. */
int feed_fd(const struct feed *feed);

void feed_on_readable(struct feed *feed, int64_t now_ns);

/* Does what is due, and returns when it wants to be called again (INT64_MAX = not before something
 * is readable or the interval changes). */
int64_t feed_tick(struct feed *feed, int64_t now_ns);

/* Takes effect at the next tick, which is to be called at once. A read under way goes on. */
void feed_set_interval(struct feed *feed, int64_t interval_ns);

struct feed_status feed_status(const struct feed *feed);
const char *feed_state_name(enum feed_state state); /* "running", … */

/* Kills the child and returns within 100 ms, also when it does not end: then it is left to whoever
 * reaps after us, and holds nothing of ours. Accepts NULL. */
void feed_close(struct feed *feed);

#endif
