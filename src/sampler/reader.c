/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/reader.h"

#include "base/clock.h"
#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define EAGER_TRIES 3
#define BACK_OFF_FIRST_NS NS_PER_S
#define BACK_OFF_MOST_NS (30 * NS_PER_S)

/* Shared by the reader and its threads; the last one out frees it. A thread that was given up may
 * come back any time later: it closes its own source and touches nothing else. */
struct shared {
    pthread_mutex_t lock;
    pthread_cond_t done;
    int references;
    int stuck;
    bool is_closed;
    const struct source_ops *ops;
    struct source_options options;
    char *arg, *visible;
    bool has_tap;
    struct source_tap tap;       /* the caller's */
    struct source_tap forwarder; /* what sources call: it outlives the reader with them */
};

struct job {
    struct shared *shared;
    struct source *source; /* NULL: to be opened */
    int64_t now_ns;
    bool is_done, is_given_up;
    int code;
    struct err err;
    struct snapshot *snapshot;
};

struct reader {
    struct shared *shared;
    struct source *source;
    int failed_opens;
    int64_t next_open_ns; /* monotonic */
    struct err last_err;
};

/* With the lock held; unlocks. */
static void shared_unref(struct shared *shared)
{
    int left = --shared->references;
    (void)pthread_mutex_unlock(&shared->lock);
    if (left > 0) {
        return;
    }
    (void)pthread_cond_destroy(&shared->done);
    (void)pthread_mutex_destroy(&shared->lock);
    free(shared->arg);
    free(shared->visible);
    free(shared);
}

/* Passes text on while the reader is open. */
static void forward_text(void *arg, const char *origin, const char *text, size_t length)
{
    struct shared *shared = arg;
    (void)pthread_mutex_lock(&shared->lock);
    if (!shared->is_closed && shared->has_tap) {
        shared->tap.text(shared->tap.arg, origin, text, length);
    }
    (void)pthread_mutex_unlock(&shared->lock);
}

struct reader *reader_new(const struct source_ops *ops, const struct source_options *options)
{
    struct reader *reader = mem_new(1, sizeof *reader);
    struct shared *shared = mem_new(1, sizeof *shared);
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&shared->done, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    (void)pthread_mutex_init(&shared->lock, NULL);
    shared->references = 1;
    shared->ops = ops;
    shared->options = *options;
    shared->arg = options->arg != NULL ? mem_copy_text(options->arg) : NULL;
    shared->visible = options->visible != NULL ? mem_copy_text(options->visible) : NULL;
    shared->options.arg = shared->arg;
    shared->options.visible = shared->visible;
    if (options->tap != NULL) {
        shared->tap = *options->tap;
        shared->has_tap = true;
        shared->forwarder = (struct source_tap){forward_text, shared};
        shared->options.tap = &shared->forwarder;
    }
    reader->shared = shared;
    return reader;
}

static void open_and_read(struct job *job)
{
    struct shared *shared = job->shared;
    if (job->source == NULL) {
        job->code = shared->ops->open(&job->source, &shared->options, &job->err);
    }
    if (job->code == 0) {
        job->code = shared->ops->read(job->source, job->now_ns, &job->snapshot, &job->err);
    }
}

static void *run(void *arg)
{
    struct job *job = arg;
    struct shared *shared = job->shared;
    open_and_read(job);
    (void)pthread_mutex_lock(&shared->lock);
    job->is_done = true;
    bool is_given_up = job->is_given_up;
    if (is_given_up) {
        shared->stuck--;
    }
    (void)pthread_cond_broadcast(&shared->done);
    if (!is_given_up) {
        shared_unref(shared);
        return NULL;
    }
    /* Nobody waits any more: what was read is too old, and the source is ours to close. */
    (void)pthread_mutex_unlock(&shared->lock);
    snapshot_unref(job->snapshot);
    if (job->source != NULL) {
        shared->ops->close(job->source);
    }
    free(job);
    (void)pthread_mutex_lock(&shared->lock);
    shared_unref(shared);
    return NULL;
}

/* Waits until the job is done; false at the deadline, and then the job belongs to its thread. */
static bool wait_for(struct job *job, int64_t deadline_ns)
{
    struct shared *shared = job->shared;
    int64_t end_ns = clock_mono_ns() + deadline_ns;
    struct timespec end = {.tv_sec = (time_t)(end_ns / NS_PER_S),
                           .tv_nsec = (long)(end_ns % NS_PER_S)};
    (void)pthread_mutex_lock(&shared->lock);
    int code = 0;
    while (!job->is_done && code != ETIMEDOUT) {
        code = pthread_cond_timedwait(&shared->done, &shared->lock, &end);
    }
    bool is_done = job->is_done;
    if (!is_done) {
        job->is_given_up = true;
        shared->stuck++;
    }
    (void)pthread_mutex_unlock(&shared->lock);
    return is_done;
}

static int start(struct reader *reader, int64_t now_ns, struct job **out, struct err *err)
{
    struct shared *shared = reader->shared;
    (void)pthread_mutex_lock(&shared->lock);
    bool is_busy = shared->stuck >= READER_STUCK_MAX;
    shared->references += is_busy ? 0 : 1;
    (void)pthread_mutex_unlock(&shared->lock);
    if (is_busy) {
        return err_set(err, -EBUSY,
                       "%s: %d earlier reads still hang in the driver; none is started",
                       shared->ops->name, READER_STUCK_MAX);
    }
    struct job *job = mem_new(1, sizeof *job);
    *job = (struct job){.shared = shared, .source = reader->source, .now_ns = now_ns};
    reader->source = NULL;
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run, job);
    if (code != 0) {
        reader->source = job->source;
        free(job);
        (void)pthread_mutex_lock(&shared->lock);
        code = err_errno(err, -code, "cannot start a thread for %s", shared->ops->name);
        shared_unref(shared);
        return code;
    }
    (void)pthread_detach(thread);
    *out = job;
    return 0;
}

/* After a failed open the next tries wait, so that a machine without a driver costs nothing. */
static void note_open(struct reader *reader, const struct job *job)
{
    if (job->source != NULL) {
        reader->failed_opens = 0;
        return;
    }
    reader->failed_opens++;
    reader->last_err = job->err;
    int64_t pause_ns = 0;
    if (reader->failed_opens > EAGER_TRIES) {
        int doublings = reader->failed_opens - EAGER_TRIES - 1;
        pause_ns = doublings > 5 ? BACK_OFF_MOST_NS : BACK_OFF_FIRST_NS << doublings;
        pause_ns = pause_ns < BACK_OFF_MOST_NS ? pause_ns : BACK_OFF_MOST_NS;
    }
    reader->next_open_ns = clock_mono_ns() + pause_ns;
}

int reader_take(struct reader *reader, int64_t now_ns, int64_t deadline_ns, struct snapshot **out,
                struct err *err)
{
    const char *name = reader->shared->ops->name;
    if (reader->source == NULL && clock_mono_ns() < reader->next_open_ns) {
        return err_set(err, -EAGAIN, "%s", reader->last_err.text);
    }
    struct job *job = NULL;
    int code = start(reader, now_ns, &job, err);
    if (code != 0 || job == NULL) { /* the second never is: gcc -O2 cannot tell */
        return code;
    }
    assert(job != NULL);
    if (!wait_for(job, deadline_ns)) {
        return err_set(err, -ETIMEDOUT, "%s did not answer within %.1f s", name,
                       (double)deadline_ns / (double)NS_PER_S);
    }
    note_open(reader, job);
    reader->source = job->source;
    code = job->code;
    if (code == 0) {
        *out = job->snapshot;
    } else {
        (void)err_set(err, code, "%s", job->err.text);
    }
    free(job);
    return code;
}

void reader_close(struct reader *reader)
{
    if (reader == NULL) {
        return;
    }
    struct shared *shared = reader->shared;
    if (reader->source != NULL) {
        shared->ops->close(reader->source);
    }
    (void)pthread_mutex_lock(&shared->lock);
    shared->is_closed = true;
    shared_unref(shared);
    free(reader);
}
