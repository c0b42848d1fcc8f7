/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What was learned becomes a view; each message is made once for all who get it. A viewer that is
 * slow misses deltas and gets a full when it has caught up. */
#include "cmd/serve.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "output/gpu_hot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSE_POLICY 1008           /* RFC 6455, 7.4.1 */
#define PUBLISH_MOST_NS NS_PER_S    /* ages and troubles move on without new facts */
#define DETAILS_NS (2 * NS_PER_S)   /* /proc of processes is not read more often */
#define SLOW_PACE_NS (5 * NS_PER_S) /* of what costs a driver milliseconds (source/nvml) */

static bool are_pids_same(const struct serve *serve, const struct snapshot *snapshot)
{
    for (size_t i = 0;
         i < snapshot->process_count && serve->detail_count == snapshot->process_count; i++) {
        if (serve->detail[i].pid != snapshot->process[i].pid) {
            return false;
        }
    }
    return serve->detail_count == snapshot->process_count;
}

static void read_details(struct serve *serve, const struct snapshot *snapshot, int64_t now_ns)
{
    bool is_due = now_ns - serve->details_ns >= DETAILS_NS || serve->details_ns == 0;
    if (!is_due && are_pids_same(serve, snapshot)) {
        return;
    }
    int64_t wall_ns = clock_wall_ns();
    free(serve->detail);
    serve->detail_count = snapshot->process_count;
    serve->detail = mem_new(serve->detail_count + 1, sizeof *serve->detail);
    for (size_t i = 0; i < serve->detail_count; i++) {
        process_table_look(serve->processes, snapshot->process[i].pid, snapshot->process[i].name,
                           wall_ns, &serve->detail[i]);
    }
    process_table_sweep(serve->processes);
    host_read(serve->host_reader, wall_ns, &serve->host);
    serve->details_ns = now_ns;
}

static struct gpu_hot_input gpu_hot_input(const struct serve *serve, bool is_hidden)
{
    return (struct gpu_hot_input){.snapshot = board_snapshot(serve->board),
                                  .previous = serve->previous,
                                  .host = &serve->host,
                                  .details = serve->detail,
                                  .node_name = serve->node_name,
                                  .zone = &serve->context.zone,
                                  .is_name_hidden = is_hidden};
}

/* Messages of one publication for one kind of rights, made when the first viewer needs them. */
struct messages {
    struct live_rights rights;
    struct websocket_frame *full, *delta, *gpu_hot;
    bool has_no_delta;
};

static struct websocket_frame *frame_of(const struct buf *text)
{
    return websocket_frame_text(buf_string(text), text->length, true);
}

static struct websocket_frame *full_frame(const struct serve *serve, struct messages *messages)
{
    if (messages->full == NULL) {
        OWN_BUF struct buf text = {0};
        live_write_full(serve->view, &messages->rights, &text);
        messages->full = frame_of(&text);
    }
    return messages->full;
}

static struct websocket_frame *delta_frame(const struct serve *serve, struct messages *messages)
{
    if (messages->delta == NULL && !messages->has_no_delta) {
        OWN_BUF struct buf text = {0};
        messages->has_no_delta =
            serve->before == NULL ||
            !live_write_delta(serve->before, serve->view, &messages->rights, &text);
        messages->delta = messages->has_no_delta ? NULL : frame_of(&text);
    }
    return messages->delta;
}

static struct websocket_frame *gpu_hot_frame(const struct serve *serve, struct messages *messages)
{
    if (messages->gpu_hot == NULL) {
        OWN_BUF struct buf text = {0};
        struct gpu_hot_input input = gpu_hot_input(serve, messages->rights.is_process_hidden);
        gpu_hot_message(&input, &text);
        messages->gpu_hot = frame_of(&text);
    }
    return messages->gpu_hot;
}

static void tell(struct viewer *viewer, struct messages *messages)
{
    const struct serve *serve = viewer->serve;
    if (viewer->is_gpu_hot) {
        websocket_send_newest(viewer->socket, gpu_hot_frame(serve, messages));
        return;
    }
    if (!websocket_is_drained(viewer->socket)) {
        return; /* and then it needs a full */
    }
    struct websocket_frame *delta =
        viewer->known + 1 == serve->sequence ? delta_frame(serve, messages) : NULL;
    websocket_send(viewer->socket, delta != NULL ? delta : full_frame(serve, messages));
    viewer->known = serve->sequence;
}

static void tell_all(struct serve *serve)
{
    struct messages messages[SERVE_RIGHTS] = {{.rights = {false}}, {.rights = {true}}};
    for (struct viewer *viewer = serve->viewers; viewer != NULL;) {
        struct viewer *next = viewer->next;
        if (!viewer->is_leaving) {
            tell(viewer, &messages[viewer->is_hidden]);
        }
        viewer = next;
    }
    for (size_t i = 0; i < SERVE_RIGHTS; i++) {
        websocket_frame_unref(messages[i].full);
        websocket_frame_unref(messages[i].delta);
        websocket_frame_unref(messages[i].gpu_hot);
    }
}

static void drop_blobs(struct serve *serve)
{
    for (size_t i = 0; i < SERVE_RIGHTS; i++) {
        http_blob_unref(serve->data[i]);
        http_blob_unref(serve->full[i]);
        serve->data[i] = NULL;
        serve->full[i] = NULL;
    }
}

void serve_publish(struct serve *serve, int64_t now_ns)
{
    uint64_t version = board_version(serve->board);
    bool is_newer = version != serve->seen_version || serve->sequence == 0;
    bool is_watched = serve->viewer_count > 0;
    if (!is_newer && !(is_watched && now_ns - serve->published_ns >= PUBLISH_MOST_NS)) {
        return;
    }
    struct snapshot *snapshot = board_snapshot(serve->board);
    read_details(serve, snapshot, now_ns);
    struct live_trouble troubles[LIVE_TROUBLES_MAX];
    int64_t pace_ns = serve->feed_count > 0 ? feed_status(serve->feed[0].feed).interval_ns : 0;
    struct live_input input = {.snapshot = snapshot,
                               .host = &serve->host,
                               .details = serve->detail,
                               .troubles = troubles,
                               .trouble_count = serve_troubles(serve, troubles),
                               .now_ns = clock_wall_ns(),
                               .pace_ns = {pace_ns > 0 ? pace_ns : serve->live_ns, SLOW_PACE_NS}};
    live_view_free(serve->before);
    serve->before = serve->view;
    serve->view = live_view_new(serve->memory, &input);
    serve->sequence++;
    serve->seen_version = version;
    serve->published_ns = now_ns;
    drop_blobs(serve);
    tell_all(serve);
    if (serve->previous != snapshot) {
        snapshot_unref(serve->previous);
        serve->previous = snapshot_ref(snapshot);
    }
}

static struct http_blob *blob_of(const struct buf *text)
{
    return http_blob_new(buf_string(text), text->length);
}

struct http_blob *serve_gpu_data(struct serve *serve, bool is_hidden)
{
    struct http_blob **blob = &serve->data[is_hidden];
    if (*blob == NULL) {
        OWN_BUF struct buf text = {0};
        struct gpu_hot_input input = gpu_hot_input(serve, is_hidden);
        gpu_hot_data(&input, &text);
        *blob = blob_of(&text);
    }
    return *blob;
}

struct http_blob *serve_full(struct serve *serve, bool is_hidden)
{
    struct http_blob **blob = &serve->full[is_hidden];
    if (*blob == NULL) {
        OWN_BUF struct buf text = {0};
        live_write_full(serve->view, &(struct live_rights){is_hidden}, &text);
        *blob = blob_of(&text);
    }
    return *blob;
}

struct live_greeting serve_greeting(const struct serve *serve, bool is_hidden)
{
    struct live_greeting greeting = serve->greeting;
    greeting.is_process_hidden = is_hidden;
    return greeting;
}

/* --- viewers --- */

static void viewer_closed(void *arg, struct websocket *socket)
{
    (void)socket;
    struct viewer *viewer = arg;
    struct serve *serve = viewer->serve;
    if (viewer->previous != NULL) {
        viewer->previous->next = viewer->next;
    } else {
        serve->viewers = viewer->next;
    }
    if (viewer->next != NULL) {
        viewer->next->previous = viewer->previous;
    }
    serve->viewer_count--;
    free(viewer);
}

/* Nothing that a viewer says is wanted (GH-006). */
static void viewer_message(void *arg, struct websocket *socket, struct span text)
{
    (void)arg;
    (void)socket;
    (void)text;
}

static const struct websocket_ops viewer_ops = {viewer_message, viewer_closed};

static void greet(struct viewer *viewer)
{
    const struct serve *serve = viewer->serve;
    struct messages messages = {.rights = {viewer->is_hidden}};
    if (!viewer->is_gpu_hot) {
        OWN_BUF struct buf hello = {0};
        struct live_greeting greeting = serve_greeting(serve, viewer->is_hidden);
        live_write_hello(&greeting, &hello);
        struct websocket_frame *frame = frame_of(&hello);
        websocket_send(viewer->socket, frame);
        websocket_frame_unref(frame);
    }
    if (serve->sequence > 0) {
        struct websocket_frame *newest =
            viewer->is_gpu_hot ? gpu_hot_frame(serve, &messages) : full_frame(serve, &messages);
        websocket_send(viewer->socket, newest);
        viewer->known = serve->sequence;
        websocket_frame_unref(newest);
    }
}

void serve_publish_anew(struct serve *serve)
{
    drop_blobs(serve);
    for (struct viewer *viewer = serve->viewers; viewer != NULL;) {
        struct viewer *next = viewer->next;
        viewer->is_hidden = serve_signin_is_hidden(serve, &viewer->visitor);
        if (!viewer->is_leaving) {
            greet(viewer);
        }
        viewer = next;
    }
}

void serve_check_viewers(struct serve *serve)
{
    for (struct viewer *viewer = serve->viewers; viewer != NULL;) {
        struct viewer *next = viewer->next;
        bool is_hidden = serve_signin_is_hidden(serve, &viewer->visitor);
        bool is_other = is_hidden != viewer->is_hidden;
        viewer->is_hidden = is_hidden;
        if (!viewer->is_leaving && !serve_signin_holds(serve, &viewer->visitor)) {
            viewer->is_leaving = true;
            websocket_close(viewer->socket, CLOSE_POLICY, "signed out");
        } else if (!viewer->is_leaving && is_other) {
            greet(viewer);
        }
        viewer = next;
    }
}

void serve_add_viewer(struct serve *serve, struct http_request *request, bool is_gpu_hot,
                      const struct visitor *visitor)
{
    struct viewer *viewer = mem_new(1, sizeof *viewer);
    *viewer = (struct viewer){.serve = serve,
                              .is_gpu_hot = is_gpu_hot,
                              .is_hidden = serve_signin_is_hidden(serve, visitor),
                              .visitor = *visitor};
    viewer->socket = http_upgrade(request, &viewer_ops, viewer);
    if (viewer->socket == NULL) {
        free(viewer);
        http_reply_error(request, 426, "this address speaks WebSocket");
        return;
    }
    viewer->next = serve->viewers;
    if (serve->viewers != NULL) {
        serve->viewers->previous = viewer;
    }
    serve->viewers = viewer;
    serve->viewer_count++;
    greet(viewer);
    event_active(serve->tick, EV_TIMEOUT, 0);
}

void serve_publish_fini(struct serve *serve)
{
    drop_blobs(serve);
    live_view_free(serve->view);
    live_view_free(serve->before);
    live_memory_free(serve->memory);
    snapshot_unref(serve->previous);
    host_reader_free(serve->host_reader);
    process_table_free(serve->processes);
    free(serve->detail);
}
