/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A child's life: started → asked → answered → asked …; at a missed deadline killed, at its own end
 * waited for a moment to learn why, and either way replaced after a pause. */
#include "sampler/feed.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "model/frame.h"
#include "sampler/feed_child.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEADLINE_DEFAULT_NS (10 * NS_PER_S)
#define DEADLINE_FIRST_NS (30 * NS_PER_S)
#define PAUSE_FIRST_NS NS_PER_S
#define PAUSE_MOST_NS (30 * NS_PER_S)
#define PROVEN_NS (60 * NS_PER_S)      /* who lived this long is replaced soon again */
#define ENDING_NS (200 * NS_PER_MS)    /* between the socket's end and the process's */
#define ENDING_LOOK_NS (5 * NS_PER_MS) /* how often we look for the latter */
#define STUCK_LOOK_NS NS_PER_S
#define CLOSE_NS (60 * NS_PER_MS)
#define READ_BYTES 65536
#define READ_AT_ONCE 16              /* then the loop has its turn */
#define KEEP_BYTES ((size_t)1 << 20) /* a larger buffer is given back when it is empty */

struct feed {
    struct feed_options options;
    char *name;
    char **argv;
    int epoll; /* holds the socket, so that the loop's descriptor stays the same */
    int64_t interval_ns;
    enum feed_state state;
    /* the child */
    int fd;
    pid_t pid;
    bool is_greeted, is_awaiting, has_answered;
    int64_t started_ns, asked_ns;
    int64_t ending_ns; /* the socket ended at this time, the process has not been seen to; or 0 */
    struct frame_reader *reader;
    struct buf in;
    /* its predecessors */
    pid_t stuck[FEED_STUCK_MAX];
    int stuck_count;
    int64_t pause_ns, next_start_ns;
    int64_t answered_ns, took_ns, restarts;
    struct err last_err;
};

static char **copy_argv(const char *const *argv)
{
    size_t count = 0;
    while (argv[count] != NULL) {
        count++;
    }
    char **copy = mem_new(count + 1, sizeof *copy);
    for (size_t i = 0; i < count; i++) {
        copy[i] = mem_copy_text(argv[i]);
    }
    return copy;
}

int feed_open(struct feed **out, const struct feed_options *options, struct err *err)
{
    assert((options->argv != NULL) != (options->run != NULL));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (epoll < 0) {
        return err_errno(err, -errno, "cannot watch the process for %s", options->name);
    }
    struct feed *feed = mem_new(1, sizeof *feed);
    feed->options = *options;
    feed->name = mem_copy_text(options->name);
    feed->argv = options->argv != NULL ? copy_argv(options->argv) : NULL;
    feed->epoll = epoll;
    feed->interval_ns = options->interval_ns;
    feed->fd = -1;
    feed->pid = -1;
    feed->state = feed->interval_ns > 0 ? FEED_STARTING : FEED_OFF;
    *out = feed;
    return 0;
}

int feed_fd(const struct feed *feed)
{
    return feed->epoll;
}

static int64_t or_default(int64_t given, int64_t otherwise)
{
    return given > 0 ? given : otherwise;
}

static int64_t deadline_of(const struct feed *feed)
{
    int64_t deadline_ns = or_default(feed->options.deadline_ns, DEADLINE_DEFAULT_NS);
    int64_t first_ns = or_default(feed->options.first_deadline_ns, DEADLINE_FIRST_NS);
    bool is_first = !feed->has_answered && first_ns > deadline_ns;
    return feed->asked_ns + (is_first ? first_ns : deadline_ns);
}

/* Forgets children that are gone by now. */
static void reap(struct feed *feed)
{
    int left = 0;
    for (int i = 0; i < feed->stuck_count; i++) {
        pid_t got = waitpid(feed->stuck[i], NULL, WNOHANG);
        if (got == 0) {
            feed->stuck[left++] = feed->stuck[i];
        }
    }
    feed->stuck_count = left;
}

/* The socket is ours no more; the process may still be there. */
static void close_socket(struct feed *feed)
{
    if (feed->fd >= 0) {
        (void)close(feed->fd); /* leaves the epoll by itself */
    }
    feed->fd = -1;
    feed->is_awaiting = false;
    frame_reader_free(feed->reader);
    feed->reader = NULL;
    buf_fini(&feed->in);
}

static void kill_child(struct feed *feed)
{
    if (feed->pid <= 0) {
        return;
    }
    int signal_number = feed->options.kill_signal != 0 ? feed->options.kill_signal : SIGKILL;
    /* The number cannot have gone to another: we have not waited for it. */
    (void)kill(-feed->pid, signal_number);
    assert(feed->stuck_count < FEED_STUCK_MAX);
    feed->stuck[feed->stuck_count++] = feed->pid;
    feed->pid = -1;
    reap(feed);
}

static void tell_trouble(struct feed *feed, int code, const char *sentence)
{
    (void)err_set(&feed->last_err, code, "%s", sentence);
    if (feed->options.handler.trouble != NULL) {
        feed->options.handler.trouble(feed->options.handler.arg, code, sentence);
    }
}

/* The next child waits, longer each time, unless this one had done well. */
static void plan_restart(struct feed *feed, int64_t now_ns)
{
    bool is_proven = feed->has_answered && now_ns - feed->started_ns >= PROVEN_NS;
    int64_t first_ns = or_default(feed->options.pause_first_ns, PAUSE_FIRST_NS);
    int64_t pause_ns = feed->pause_ns > 0 && !is_proven ? 2 * feed->pause_ns : first_ns;
    feed->pause_ns = pause_ns < PAUSE_MOST_NS ? pause_ns : PAUSE_MOST_NS;
    feed->next_start_ns = now_ns + feed->pause_ns;
}

/* Gives the child up. `what` it did goes on after its name. */
static void fail(struct feed *feed, int64_t now_ns, int code, const char *what)
{
    kill_child(feed);
    close_socket(feed);
    plan_restart(feed, now_ns);
    feed->ending_ns = 0;
    feed->state = FEED_SILENT;
    struct err err = {0};
    (void)err_set(&err, code, "%s: the process that reads it %s; another is started", feed->name,
                  what);
    tell_trouble(feed, code, err.text);
}

static void start(struct feed *feed, int64_t now_ns)
{
    struct feed_child child = {.argv = (const char *const *)feed->argv,
                               .run = feed->options.run,
                               .arg = feed->options.run_arg};
    struct err err = {0};
    int code = feed->stuck_count < FEED_STUCK_MAX
                   ? feed_child_start(&child, &feed->fd, &feed->pid, &err)
                   : err_set(&err, -EBUSY, "%d earlier processes still hang in the driver",
                             FEED_STUCK_MAX);
    struct epoll_event event = {.events = EPOLLIN};
    if (code == 0 && epoll_ctl(feed->epoll, EPOLL_CTL_ADD, feed->fd, &event) != 0) {
        code = err_errno(&err, -errno, "cannot watch a process");
        kill_child(feed);
        close_socket(feed);
    }
    if (code != 0) {
        bool is_news = feed->last_err.code != code || feed->state != FEED_SILENT;
        plan_restart(feed, now_ns);
        feed->state = FEED_SILENT;
        err_prefix(&err, "%s: no process is started: ", feed->name);
        if (is_news) {
            tell_trouble(feed, code, err.text);
        }
        return;
    }
    bool is_first = feed->started_ns == 0;
    feed->restarts += is_first ? 0 : 1;
    feed->state = is_first ? FEED_STARTING : FEED_RESTARTING;
    feed->started_ns = now_ns;
    feed->asked_ns = 0;
    feed->is_greeted = false;
    feed->has_answered = false;
    feed->reader = frame_reader_new();
}

static void ask(struct feed *feed, int64_t now_ns)
{
    OWN_BUF struct buf request = {0};
    frame_format_request(&request);
    /* It always fits: a child has at most one request to read. Who has closed is seen as
     * readable.*/
    (void)!send(feed->fd, request.data, request.length, MSG_DONTWAIT | MSG_NOSIGNAL);
    feed->is_awaiting = true;
    feed->asked_ns = now_ns;
}

static void take_answer(struct feed *feed, struct frame *frame, int64_t now_ns)
{
    feed->is_awaiting = false;
    feed->has_answered = true;
    feed->answered_ns = now_ns;
    feed->took_ns = now_ns - feed->asked_ns;
    feed->state = FEED_RUNNING;
    if (frame->kind == FRAME_TROUBLE) {
        tell_trouble(feed, frame->code, frame->text);
        return;
    }
    feed->last_err = (struct err){0};
    if (feed->options.handler.snapshot != NULL) {
        feed->options.handler.snapshot(feed->options.handler.arg, frame->snapshot);
    } else {
        snapshot_unref(frame->snapshot);
    }
}

/* One frame; false when it ended the child. */
static bool take_frame(struct feed *feed, struct frame *frame, int64_t now_ns)
{
    if (frame->kind == FRAME_GREETING && !feed->is_greeted) {
        feed->is_greeted = true;
        return true;
    }
    bool is_answer = frame->kind == FRAME_SNAPSHOT || frame->kind == FRAME_TROUBLE;
    if (!is_answer || !feed->is_greeted || !feed->is_awaiting) {
        snapshot_unref(frame->snapshot);
        fail(feed, now_ns, -EPROTO, "said what it was not asked");
        return false;
    }
    take_answer(feed, frame, now_ns);
    return true;
}

static void take_frames(struct feed *feed, int64_t now_ns)
{
    size_t at = 0;
    for (;;) {
        size_t used = 0;
        struct frame frame = {0};
        struct err err = {0};
        int code =
            frame_read(feed->reader, feed->in.data + at, feed->in.length - at, &used, &frame, &err);
        if (code < 0) {
            char what[ERR_TEXT_SIZE];
            (void)snprintf(what, sizeof what, "cannot be understood (%.500s)", err.text);
            fail(feed, now_ns, -EPROTO, what);
            return;
        }
        if (code == 0) {
            break;
        }
        at += used;
        if (!take_frame(feed, &frame, now_ns)) {
            return;
        }
    }
    if (at == feed->in.length && feed->in.capacity > KEEP_BYTES) {
        buf_fini(&feed->in);
    } else if (at > 0) {
        memmove(feed->in.data, feed->in.data + at, feed->in.length - at);
        feed->in.length -= at;
    }
}

void feed_on_readable(struct feed *feed, int64_t now_ns)
{
    for (int i = 0; i < READ_AT_ONCE && feed->fd >= 0; i++) {
        char bytes[READ_BYTES];
        ssize_t got = recv(feed->fd, bytes, sizeof bytes, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0 && errno == EAGAIN) {
            return;
        }
        if (got <= 0) {
            close_socket(feed);
            feed->ending_ns = now_ns;
            return;
        }
        buf_add(&feed->in, bytes, (size_t)got);
        take_frames(feed, now_ns);
    }
}

/* The socket ended. Why is known once the process has, too: mostly at the first look. */
static void finish_ending(struct feed *feed, int64_t now_ns)
{
    siginfo_t end = {0};
    /* It stays waitable, so that its number is still that of its group when that is killed. */
    (void)waitid(P_PID, (id_t)feed->pid, &end, WEXITED | WNOHANG | WNOWAIT);
    if (end.si_pid == 0 && now_ns - feed->ending_ns < ENDING_NS) {
        return;
    }
    char what[128] = "closed its end";
    if (end.si_pid == feed->pid) {
        feed_child_say_end(&end, what, sizeof what);
    }
    fail(feed, now_ns, -EPIPE, what);
}

/* An answer that came in time while we were late to look is no missed deadline. */
static void check_deadline(struct feed *feed, int64_t now_ns)
{
    if (!feed->is_awaiting || feed->fd < 0 || now_ns < deadline_of(feed)) {
        return;
    }
    feed_on_readable(feed, now_ns);
    if (feed->is_awaiting && feed->fd >= 0) {
        char what[64];
        (void)snprintf(what, sizeof what, "did not answer within %.1f s",
                       (double)(now_ns - feed->asked_ns) / (double)NS_PER_S);
        fail(feed, now_ns, -ETIMEDOUT, what);
    }
}

static int64_t next_ask_ns(const struct feed *feed)
{
    return feed->asked_ns > 0 ? feed->asked_ns + feed->interval_ns : feed->started_ns;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t next_tick_ns(const struct feed *feed, int64_t now_ns)
{
    int64_t next_ns = feed->stuck_count > 0 ? now_ns + STUCK_LOOK_NS : INT64_MAX;
    if (feed->ending_ns != 0) {
        return earlier(next_ns, now_ns + ENDING_LOOK_NS);
    }
    if (feed->is_awaiting) {
        return earlier(next_ns, deadline_of(feed));
    }
    if (feed->interval_ns == 0) {
        return next_ns;
    }
    return earlier(next_ns, feed->fd >= 0 ? next_ask_ns(feed) : feed->next_start_ns);
}

int64_t feed_tick(struct feed *feed, int64_t now_ns)
{
    reap(feed);
    check_deadline(feed, now_ns);
    if (feed->ending_ns != 0) {
        finish_ending(feed, now_ns);
    }
    bool is_on = feed->interval_ns > 0;
    if (is_on && feed->fd < 0 && feed->ending_ns == 0 && now_ns >= feed->next_start_ns) {
        start(feed, now_ns);
    }
    if (is_on && feed->fd >= 0 && !feed->is_awaiting && now_ns >= next_ask_ns(feed)) {
        ask(feed, now_ns);
    }
    return next_tick_ns(feed, now_ns);
}

void feed_set_interval(struct feed *feed, int64_t interval_ns)
{
    feed->interval_ns = interval_ns;
}

struct feed_status feed_status(const struct feed *feed)
{
    struct feed_status status = {.state = feed->interval_ns > 0 ? feed->state : FEED_OFF,
                                 .answered_ns = feed->answered_ns,
                                 .interval_ns = feed->interval_ns,
                                 .took_ns = feed->took_ns,
                                 .restarts = feed->restarts,
                                 .pid = feed->pid,
                                 .stuck_count = feed->stuck_count,
                                 .sentence = feed->last_err.text};
    memcpy(status.stuck, feed->stuck, sizeof status.stuck);
    return status;
}

const char *feed_state_name(enum feed_state state)
{
    static const char *const names[] = {"off", "starting", "running", "not answering",
                                        "restarting"};
    return names[state];
}

void feed_close(struct feed *feed)
{
    if (feed == NULL) {
        return;
    }
    kill_child(feed);
    close_socket(feed);
    int64_t end_ns = clock_mono_ns() + CLOSE_NS;
    while (feed->stuck_count > 0 && clock_mono_ns() < end_ns) {
        reap(feed);
        clock_sleep_ns(NS_PER_MS);
    }
    (void)close(feed->epoll);
    for (size_t i = 0; feed->argv != NULL && feed->argv[i] != NULL; i++) {
        free(feed->argv[i]);
    }
    free((void *)feed->argv);
    free(feed->name);
    free(feed);
}
