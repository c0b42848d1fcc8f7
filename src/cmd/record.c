/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* record: all that the drivers say, for a while, into one file. */
#include "base/buf.h"
#include "base/clock.h"
#include "base/own.h"
#include "cmd/cmd.h"
#include "source/recording.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Where a recording goes, and how long it takes. */
struct recorded {
    FILE *file;
    const char *path;
    int64_t for_ns, interval_ns;
};

/* What is to be written. Texts come from the source's thread: usually it has ended when the
 * snapshot is there, but one that was given up may still speak. */
struct pending {
    pthread_mutex_t lock;
    struct buf text;
};

static void add_text(void *arg, const char *origin, const char *text, size_t length)
{
    struct pending *pending = arg;
    (void)pthread_mutex_lock(&pending->lock);
    recording_format_text(clock_wall_ns(), origin, text, length, &pending->text);
    (void)pthread_mutex_unlock(&pending->lock);
}

/* Writes the texts that came, then the snapshot (NULL: there is none). */
static int write_out(const struct recorded *to, struct pending *pending,
                     const struct snapshot *snapshot, struct err *err)
{
    (void)pthread_mutex_lock(&pending->lock);
    struct buf *text = &pending->text;
    if (snapshot != NULL) {
        recording_format_snapshot(snapshot, text);
    }
    bool is_written = fwrite(buf_string(text), 1, text->length, to->file) == text->length &&
                      fflush(to->file) == 0;
    buf_clear(text);
    (void)pthread_mutex_unlock(&pending->lock);
    return is_written ? 0 : err_errno(err, -errno, "cannot write %s", to->path);
}

/* Takes snapshots until the time is over; a take that fails is told and does not end it. */
static int record(struct sampler *sampler, const struct recorded *to, struct pending *pending,
                  struct err *err)
{
    int64_t start_ns = clock_mono_ns();
    int64_t count = 0;
    int code = 0;
    for (int64_t next_ns = start_ns; code == 0 && next_ns - start_ns < to->for_ns;
         next_ns += to->interval_ns) {
        clock_sleep_ns(next_ns - clock_mono_ns());
        struct snapshot *snapshot = NULL;
        int taken = sampler_take(sampler, &snapshot, err);
        if (taken == -ENODATA) {
            break;
        }
        if (taken != 0) {
            (void)fprintf(stderr, "Warning: %s\n", err->text);
        }
        code = write_out(to, pending, snapshot, err);
        count += snapshot != NULL;
        snapshot_unref(snapshot);
    }
    if (code == 0) {
        (void)printf("Wrote %lld snapshots to %s\n", (long long)count, to->path);
    }
    return code == 0 && count == 0
               ? err_set(err, -ENODATA, "no snapshot could be taken: %s", err->text)
               : code;
}

static int read_time(const struct cmd *cmd, const char *option, const char *fallback,
                     int64_t *out_ns, struct err *err)
{
    const char *text = cmd_value(cmd, option);
    int64_t seconds = 0;
    int code = config_parse_duration(option, text != NULL ? text : fallback, &seconds, err);
    *out_ns = seconds * NS_PER_S;
    return code;
}

int cmd_record(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, true, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    struct recorded to = {.path = cmd->argument[0]};
    if (read_time(cmd, "for", "1m", &to.for_ns, &err) != 0 ||
        read_time(cmd, "interval", "1s", &to.interval_ns, &err) != 0) {
        return cmd_fail_usage(&err);
    }
    static struct pending pending = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct source_tap tap = {add_text, &pending};
    struct sampler *sampler = NULL;
    if (cmd_sampler_open(cmd, context.config, SOURCE_FULL, &tap, &sampler, &err) != 0) {
        return cmd_fail_usage(&err);
    }
    OWN_FILE FILE *file = fopen(to.path, "wxe");
    if (file == NULL) {
        (void)err_errno(&err, -errno, "cannot write %s", to.path);
        sampler_close(sampler);
        return cmd_fail(&err);
    }
    /* Names of processes are in it. */
    (void)fchmod(fileno(file), 0600);
    recording_format_header(&pending.text);
    to.file = file;
    code = write_out(&to, &pending, NULL, &err);
    code = code != 0 ? code : record(sampler, &to, &pending, &err);
    sampler_close(sampler);
    return code == 0 ? CMD_OK : cmd_fail(&err);
}
