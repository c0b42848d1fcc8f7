/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The daemon: one loop thread for everything on the network; each driver in a process of its own.
 * serve.c begins and ends it, serve_feeds.c takes facts, serve_publish.c tells viewers,
 * serve_routes.c answers requests, serve_signin.c knows who may ask, and serve_schedules.c stands
 * in for timers. Private to these files. */
#ifndef CMD_SERVE_H
#define CMD_SERVE_H

#include "cmd/cmd.h"
#include "cmd/serve_signin.h"
#include "http/http.h"
#include "model/host.h"
#include "output/live.h"
#include "sampler/board.h"
#include "sampler/feed.h"
#include "source/host.h"
#include "source/process_info.h"

#include <event2/event.h>

#define SERVE_FEEDS_MAX 2
#define SERVE_RIGHTS 2 /* all, and without what processes are called */

#define SERVE_CSP                                                                                  \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "                \
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

struct serve;
struct serve_signin;

/* One driver's process. */
struct serve_feed {
    struct serve *serve;
    struct feed *feed;
    const char *name;
    size_t position;
    struct event *readable;
    int64_t trouble_since_ns; /* wall; 0 = none */
};

/* One WebSocket, of the page or in gpu-hot's dialect. */
struct viewer {
    struct viewer *next, *previous;
    struct serve *serve;
    struct websocket *socket;
    bool is_gpu_hot, is_leaving;
    bool is_hidden; /* which of the two rights it has */
    struct visitor visitor;
    uint64_t known; /* sequence of the view it knows; 0 = none */
};

struct serve {
    struct cmd_context context;
    struct live_greeting greeting;
    char node_name[256];
    int64_t live_ns, idle_ns, smi_ns; /* cadences; idle 0 = off */

    struct event_base *base;
    struct event *tick;
    struct event *signals[3];
    struct http_server *http;
    struct serve_signin *signin;

    struct board *board;
    struct serve_feed feed[SERVE_FEEDS_MAX];
    size_t feed_count;
    uint64_t seen_version; /* of the board, when last published */
    int64_t asked_ns;      /* monotonic, of the last request for data; 0 = never */
    bool is_stopping;
    bool is_playing; /* --simulate or --replay: not this machine's GPUs */
    struct serve_schedules *schedules;

    struct host_reader *host_reader;
    struct process_table *processes;
    struct host host;
    struct process_detail *detail;
    size_t detail_count;
    int64_t details_ns, published_ns; /* monotonic */

    struct live_memory *memory;
    struct live_view *view, *before;
    struct snapshot *previous; /* of the publication before, for rates */
    uint64_t sequence;         /* of `view`; 0 = none yet */
    /* Of this sequence, by rights, made when first asked for. */
    struct http_blob *data[SERVE_RIGHTS], *full[SERVE_RIGHTS];
    struct viewer *viewers;
    size_t viewer_count;
};

/* Starts the drivers' processes; -errno with a sentence. */
int serve_feeds_open(struct serve *serve, const struct cmd *cmd, struct err *err);
void serve_feeds_close(struct serve *serve);
/* Sets the cadence that fits, asks what is due, and says when to be called again (monotonic). */
int64_t serve_feeds_tick(struct serve *serve, int64_t now_ns);
size_t serve_troubles(const struct serve *serve, struct live_trouble out[LIVE_TROUBLES_MAX]);

/* Begins, changes or ends the schedules as [server] schedules says; -EPERM: the timers are on. */
int serve_schedules_take(struct serve *serve, struct err *err);
/* Starts what is due, and says when to be called again (monotonic). */
int64_t serve_schedules_tick(struct serve *serve, int64_t now_ns);
void serve_schedules_close(struct serve *serve);

/* Makes the newest facts public when there are newer ones, or the last are a second old. */
void serve_publish(struct serve *serve, int64_t now_ns);
/* Other rights or names: whoever watches gets a hello and a full. */
void serve_publish_anew(struct serve *serve);
void serve_add_viewer(struct serve *serve, struct http_request *request, bool is_gpu_hot,
                      const struct visitor *visitor);
/* Sends those away who lost their access, and greets those anew whose rights are others now. */
void serve_check_viewers(struct serve *serve);
/* Borrowed. */
struct http_blob *serve_gpu_data(struct serve *serve, bool is_hidden);
struct http_blob *serve_full(struct serve *serve, bool is_hidden);
struct live_greeting serve_greeting(const struct serve *serve, bool is_hidden);
void serve_publish_fini(struct serve *serve);

void serve_handle(void *arg, struct http_request *request); /* an http_handler_fn */

/* The description of the routes (OpenAPI 3.0), made from their table. */
void serve_describe(const struct serve *serve, struct buf *out);

#endif
