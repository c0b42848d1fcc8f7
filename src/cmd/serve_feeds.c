/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "sampler/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ASKED_NS (10 * NS_PER_S) /* so long after a request for data somebody is watching */

static void take_snapshot(void *arg, struct snapshot *snapshot)
{
    struct serve_feed *feed = arg;
    if (feed->trouble_since_ns != 0) {
        log_info("%s answers again", feed->name);
        feed->trouble_since_ns = 0;
    }
    board_put(feed->serve->board, feed->position, snapshot);
}

static void take_trouble(void *arg, int code, const char *sentence)
{
    struct serve_feed *feed = arg;
    if (feed->trouble_since_ns == 0) {
        /* A machine without this driver is no news. */
        if (code != -ENODEV) {
            log_warning("%s: %s", feed->name, sentence);
        }
        feed->trouble_since_ns = clock_wall_ns();
    }
    board_trouble(feed->serve->board, feed->position, code, sentence);
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct serve_feed *feed = arg;
    feed_on_readable(feed->feed, clock_mono_ns());
    event_active(feed->serve->tick, EV_TIMEOUT, 0);
}

static int open_feed(struct serve *serve, const struct driver_options *driver, struct err *err)
{
    size_t position = serve->feed_count;
    struct serve_feed *feed = &serve->feed[position];
    *feed = (struct serve_feed){.serve = serve, .name = driver->ops->name, .position = position};
    OWN_FREE char *program = cmd_program_path();
    char **argv = driver_argv(program, driver);
    struct feed_options options = {.name = feed->name,
                                   .argv = (const char *const *)argv,
                                   .handler = {take_snapshot, take_trouble, feed},
                                   .interval_ns = serve->live_ns};
    int code = feed_open(&feed->feed, &options, err);
    driver_argv_free(argv);
    if (code != 0) {
        return code;
    }
    serve->feed_count++;
    feed->readable =
        event_new(serve->base, feed_fd(feed->feed), EV_READ | EV_PERSIST, on_readable, feed);
    return feed->readable != NULL && event_add(feed->readable, NULL) == 0
               ? 0
               : err_set(err, -ENOMEM, "cannot watch the driver's process");
}

int serve_feeds_open(struct serve *serve, const struct cmd *cmd, struct err *err)
{
    const char *simulate = cmd_value(cmd, "simulate");
    const char *replay = cmd_value(cmd, "replay");
    struct source_options source = {.depth = SOURCE_FULL,
                                    .visible = getenv("NVIDIA_VISIBLE_DEVICES")};
    struct driver_options drivers[SERVE_FEEDS_MAX] = {{.source = source}, {.source = source}};
    struct board_feed names[SERVE_FEEDS_MAX] = {{.completes = -1}, {.completes = 0}};
    size_t count = 1;
    if (simulate != NULL && replay != NULL) {
        return err_set(err, -EINVAL, "--simulate and --replay exclude each other");
    }
    if (simulate != NULL || replay != NULL) {
        drivers[0].ops = replay != NULL ? &source_replay : &source_simulated;
        drivers[0].source.arg = replay != NULL ? replay : simulate;
        /* The child would only tell each reader what is wrong; a person is told now. */
        struct source *source_now = NULL;
        int code = drivers[0].ops->open(&source_now, &drivers[0].source, err);
        if (code != 0) {
            return code;
        }
        drivers[0].ops->close(source_now);
    } else if (cmd_is_smi_forced()) {
        drivers[0].ops = &source_nvidia_smi;
        drivers[0].source.arg = serve->context.config->nvidia_smi;
    } else {
        drivers[0].ops = &source_nvml;
        drivers[1].ops = &source_nvidia_smi;
        drivers[1].source.arg = serve->context.config->nvidia_smi;
        count = 2;
    }
    for (size_t i = 0; i < count; i++) {
        names[i].name = drivers[i].ops->name;
    }
    serve->board = board_new(names, count);
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        code = open_feed(serve, &drivers[i], err);
    }
    return code;
}

void serve_feeds_close(struct serve *serve)
{
    for (size_t i = 0; i < serve->feed_count; i++) {
        if (serve->feed[i].readable != NULL) {
            event_free(serve->feed[i].readable);
        }
        feed_close(serve->feed[i].feed);
    }
    board_free(serve->board);
}

static int64_t cadence(const struct serve *serve, size_t feed, int64_t now_ns)
{
    bool is_watched = serve->viewer_count > 0 ||
                      (serve->asked_ns != 0 && now_ns - serve->asked_ns < ASKED_NS) ||
                      board_version(serve->board) == 0;
    int64_t pace_ns = is_watched ? serve->live_ns : serve->idle_ns;
    bool is_smi = strcmp(serve->feed[feed].name, source_nvidia_smi.name) == 0;
    if (is_smi && pace_ns != 0 && pace_ns < serve->smi_ns) {
        pace_ns = serve->smi_ns; /* a program is started each time */
    }
    return board_is_wanted(serve->board, feed) ? pace_ns : 0;
}

int64_t serve_feeds_tick(struct serve *serve, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    for (size_t i = 0; i < serve->feed_count; i++) {
        int64_t pace_ns = cadence(serve, i, now_ns);
        if (feed_status(serve->feed[i].feed).interval_ns != pace_ns) {
            feed_set_interval(serve->feed[i].feed, pace_ns);
        }
        int64_t due_ns = feed_tick(serve->feed[i].feed, now_ns);
        next_ns = due_ns < next_ns ? due_ns : next_ns;
    }
    return next_ns;
}

size_t serve_troubles(const struct serve *serve, struct live_trouble out[LIVE_TROUBLES_MAX])
{
    const struct snapshot *snapshot = board_snapshot(serve->board);
    bool has_gpus = snapshot != NULL && snapshot->gpu_count > 0;
    size_t count = 0;
    for (size_t i = 0; i < serve->feed_count; i++) {
        int code = board_feed_code(serve->board, i);
        /* Beside GPUs that are seen, a driver that is not there is no trouble. */
        if (code == 0 || (has_gpus && code == -ENODEV)) {
            continue;
        }
        struct live_trouble *trouble = &out[count++];
        *trouble = (struct live_trouble){.since_ns = serve->feed[i].trouble_since_ns};
        text_copy(trouble->source, sizeof trouble->source, serve->feed[i].name);
        text_copy(trouble->sentence, sizeof trouble->sentence,
                  board_feed_sentence(serve->board, i));
    }
    return count;
}
