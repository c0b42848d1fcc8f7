/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/driver.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define MEMORY_LIMIT_DEFAULT (INT64_C(512) << 20)
#define BACK_OFF_FIRST_NS NS_PER_S
#define BACK_OFF_MOST_NS (30 * NS_PER_S)
#define ARGV_WORDS 8

static const struct source_ops *const sources[] = {&source_nvml, &source_nvidia_smi,
                                                   &source_simulated, &source_replay};

struct driver {
    int fd;
    const struct driver_options *options;
    struct source_options source_options;
    struct source *source; /* NULL: to be opened */
    int64_t pause_ns, next_open_ns;
    struct err open_err;
    struct frame_reader *reader;
    struct buf out;
};

char **driver_argv(const char *program, const struct driver_options *options)
{
    const struct source_options *source = &options->source;
    char **argv = mem_new(ARGV_WORDS + 1, sizeof *argv);
    size_t at = 0;
    argv[at++] = mem_copy_text(program);
    argv[at++] = mem_copy_text("driver");
    argv[at++] = mem_copy_text(options->ops->name);
    if (source->arg != NULL) {
        argv[at++] = mem_format("arg=%s", source->arg);
    }
    if (source->visible != NULL) {
        argv[at++] = mem_format("visible=%s", source->visible);
    }
    if (source->depth == SOURCE_UTILIZATION) {
        argv[at++] = mem_copy_text("depth=utilization");
    }
    argv[at++] = mem_format("deadline_ns=%lld", (long long)source->deadline_ns);
    argv[at] = mem_format("memory_limit_bytes=%lld", (long long)options->memory_limit_bytes);
    return argv;
}

void driver_argv_free(char **argv)
{
    for (size_t i = 0; argv != NULL && argv[i] != NULL; i++) {
        free(argv[i]);
    }
    free(argv);
}

static int parse_word(const char *word, struct driver_options *options, struct err *err)
{
    struct span value = span_of(word);
    struct span key;
    (void)span_cut(&value, '=', &key);
    bool is_good = value.data != NULL;
    int64_t number = 0;
    if (is_good && span_equals(key, "arg")) {
        options->source.arg = value.data;
    } else if (is_good && span_equals(key, "visible")) {
        options->source.visible = value.data;
    } else if (is_good && span_equals(key, "depth")) {
        bool is_full = strcmp(value.data, "full") == 0;
        is_good = is_full || strcmp(value.data, "utilization") == 0;
        options->source.depth = is_full ? SOURCE_FULL : SOURCE_UTILIZATION;
    } else if (is_good && span_equals(key, "deadline_ns")) {
        is_good = text_to_int64(value, &number) && number >= 0;
        options->source.deadline_ns = number;
    } else if (is_good && span_equals(key, "memory_limit_bytes")) {
        is_good = text_to_int64(value, &number) && number >= 0;
        options->memory_limit_bytes = number;
    } else {
        is_good = false;
    }
    return is_good ? 0 : err_set(err, -EINVAL, "driver: '%s' is not understood", word);
}

int driver_parse(int argc, char *const *argv, struct driver_options *out, struct err *err)
{
    /* Programs that a driver runs stay in its process group, which is ended as a whole. */
    struct driver_options options = {.source = {.depth = SOURCE_FULL, .is_contained = true}};
    const char *name = argc > 0 ? argv[0] : "";
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        options.ops = strcmp(name, sources[i]->name) == 0 ? sources[i] : options.ops;
    }
    if (options.ops == NULL) {
        return err_set(err, -EINVAL, "driver: there is no source '%s'", name);
    }
    for (int i = 1; i < argc; i++) {
        int code = parse_word(argv[i], &options, err);
        if (code != 0) {
            return code;
        }
    }
    *out = options;
    return 0;
}

static int send_out(struct driver *driver, struct err *err)
{
    for (size_t at = 0; at < driver->out.length;) {
        ssize_t sent =
            send(driver->fd, driver->out.data + at, driver->out.length - at, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return err_errno(err, -errno, "cannot send what %s said", driver->options->ops->name);
        }
        at += sent > 0 ? (size_t)sent : 0;
    }
    buf_clear(&driver->out);
    return 0;
}

/* 1 when the other end wants an answer, 0 when it closed. Nothing but requests comes, one at a
 * time, so there is never more than a head to hold. */
static int wait_for_request(struct driver *driver, struct err *err)
{
    char bytes[FRAME_HEAD_BYTES];
    size_t length = 0;
    while (length < sizeof bytes) {
        ssize_t got = recv(driver->fd, bytes + length, sizeof bytes - length, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return 0;
        }
        length += (size_t)got;
    }
    size_t used = 0;
    struct frame frame = {0};
    int code = frame_read(driver->reader, bytes, length, &used, &frame, err);
    if (code == 1 && frame.kind == FRAME_REQUEST) {
        return 1;
    }
    snapshot_unref(frame.snapshot);
    return code < 0 ? code : err_set(err, -EPROTO, "a driver's process is only sent requests");
}

/* After a failed open the next tries wait, so that a machine without a driver costs nothing. */
static int open_source(struct driver *driver, struct err *err)
{
    if (driver->source != NULL) {
        return 0;
    }
    if (clock_mono_ns() < driver->next_open_ns) {
        return err_set(err, driver->open_err.code, "%s", driver->open_err.text);
    }
    driver->open_err = (struct err){0};
    int code =
        driver->options->ops->open(&driver->source, &driver->source_options, &driver->open_err);
    if (code == 0) {
        driver->pause_ns = 0;
        return 0;
    }
    driver->open_err.code = code;
    int64_t pause_ns = driver->pause_ns > 0 ? 2 * driver->pause_ns : BACK_OFF_FIRST_NS;
    driver->pause_ns = pause_ns < BACK_OFF_MOST_NS ? pause_ns : BACK_OFF_MOST_NS;
    driver->next_open_ns = clock_mono_ns() + driver->pause_ns;
    return err_set(err, code, "%s", driver->open_err.text);
}

static int answer(struct driver *driver, struct err *err)
{
    int64_t now_ns = clock_wall_ns();
    struct snapshot *snapshot = NULL;
    struct err trouble = {0};
    int code = open_source(driver, &trouble);
    if (code == 0) {
        code = driver->options->ops->read(driver->source, now_ns, &snapshot, &trouble);
    }
    if (code == 0) {
        source_filter_visible(snapshot, driver->options->source.visible);
        frame_format_snapshot(snapshot, &driver->out);
        snapshot_unref(snapshot);
    } else {
        frame_format_trouble(now_ns, code, trouble.text, &driver->out);
    }
    return send_out(driver, err);
}

/* A vendor's library that leaks is not our memory to mend: the process is replaced. */
static int check_memory(const struct driver *driver, struct err *err)
{
    int64_t limit = driver->options->memory_limit_bytes;
    limit = limit > 0 ? limit : MEMORY_LIMIT_DEFAULT;
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0 || (int64_t)usage.ru_maxrss * 1024 <= limit) {
        return 0;
    }
    return err_set(err, -ENOMEM, "%s: the process held %lld MiB and is replaced",
                   driver->options->ops->name, (long long)usage.ru_maxrss / 1024);
}

int driver_run(int fd, const struct driver_options *options, struct err *err)
{
    struct driver driver = {.fd = fd,
                            .options = options,
                            .source_options = options->source,
                            .reader = frame_reader_new()};
    driver.source_options.tap = NULL;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    frame_format_greeting(options->ops->name, &driver.out);
    int code = send_out(&driver, err);
    while (code == 0 && (code = wait_for_request(&driver, err)) == 1) {
        code = answer(&driver, err);
        code = code == 0 ? check_memory(&driver, err) : code;
    }
    if (driver.source != NULL) {
        options->ops->close(driver.source);
    }
    frame_reader_free(driver.reader);
    buf_fini(&driver.out);
    return code;
}
