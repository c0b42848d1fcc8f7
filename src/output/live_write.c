/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/live_view.h"

#include "base/jsonout.h"
#include "base/own.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S_D 1e9

/* Writes members, all of them or those that differ from another view; an object or array that
 * stays empty is taken back. */
struct writer {
    struct jsonout json;
    bool is_delta;
};

static void key_text(struct jsonout *json, const char *key, const char *text)
{
    jsonout_key(json, key);
    jsonout_string(json, text);
}

/* Wall time in seconds, to the millisecond. */
static void key_time(struct jsonout *json, const char *key, int64_t time_ns)
{
    jsonout_key(json, key);
    jsonout_number(json, round((double)time_ns / 1e6) / 1e3, -1);
}

/* As many decimals as people are shown: what cannot be seen is not sent. */
static double shown(enum metric_id id, double value)
{
    double scale = pow(10, metrics[id].decimals);
    return round(value * scale) / scale;
}

static bool is_same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void key_number(struct jsonout *json, const char *key, double value)
{
    jsonout_key(json, key);
    jsonout_number(json, value, -1);
}

/* The identity on the wire: a lost GPU that was never seen before has none of its own. */
struct wire_uuid {
    char text[GPU_UUID_SIZE];
};

static struct wire_uuid uuid_of(const struct gpu *gpu)
{
    struct wire_uuid out = {0};
    if (gpu->uuid[0] == '\0') {
        (void)snprintf(out.text, sizeof out.text, "lost-%d", gpu->index);
    } else {
        text_copy(out.text, sizeof out.text, gpu->uuid);
    }
    return out;
}

/* --- one GPU; `before` NULL: everything --- */

struct gpu_pair {
    const struct gpu *now, *before;
    const struct live_gpu *view, *view_before;
    const struct live_view *of;
};

static void write_values(struct jsonout *json, const struct gpu_pair *pair)
{
    bool is_open = false;
    for (int i = 0; i < METRIC_COUNT; i++) {
        double value = shown((enum metric_id)i, pair->now->value[i]);
        double before =
            pair->before != NULL ? shown((enum metric_id)i, pair->before->value[i]) : NAN;
        if (is_same(value, before)) {
            continue;
        }
        if (!is_open) {
            jsonout_key(json, "values");
            jsonout_begin_object(json);
            is_open = true;
        }
        key_number(json, metrics[i].key, value);
    }
    if (is_open) {
        jsonout_end_object(json);
    } else if (pair->before == NULL) {
        jsonout_key(json, "values");
        jsonout_begin_object(json);
        jsonout_end_object(json);
    }
}

static void write_fans(struct jsonout *json, const struct gpu *gpu)
{
    jsonout_key(json, "fans");
    jsonout_begin_array(json);
    for (int i = 0; i < gpu->fan_count; i++) {
        jsonout_number(json, gpu->fan_ratio[i], 2);
    }
    jsonout_end_array(json);
}

static void write_links(struct jsonout *json, const struct gpu *gpu)
{
    jsonout_key(json, "links");
    jsonout_begin_array(json);
    for (int i = 0; i < gpu->link_count; i++) {
        jsonout_begin_object(json);
        for (int m = 0; m < LINK_METRIC_COUNT; m++) {
            if (!isnan(gpu->link[i][m])) {
                key_number(json, link_metrics[m].key, gpu->link[i][m]);
            }
        }
        jsonout_end_object(json);
    }
    jsonout_end_array(json);
}

static bool are_links_same(const struct gpu *a, const struct gpu *b)
{
    for (int i = 0; i < a->link_count && a->link_count == b->link_count; i++) {
        for (int m = 0; m < LINK_METRIC_COUNT; m++) {
            if (!is_same(a->link[i][m], b->link[i][m])) {
                return false;
            }
        }
    }
    return a->link_count == b->link_count;
}

static bool are_fans_same(const struct gpu *a, const struct gpu *b)
{
    for (int i = 0; i < a->fan_count && a->fan_count == b->fan_count; i++) {
        if (!is_same(a->fan_ratio[i], b->fan_ratio[i])) {
            return false;
        }
    }
    return a->fan_count == b->fan_count;
}

static void write_health(struct jsonout *json, const struct live_gpu *view)
{
    static const char *const levels[] = {"ok", "warn", "bad"};
    jsonout_key(json, "health");
    jsonout_begin_object(json);
    key_text(json, "word", view->health.word);
    key_text(json, "detail", view->health.detail);
    key_time(json, "since", view->health_since_ns);
    key_text(json, "level", levels[view->health.level]);
    jsonout_end_object(json);
}

static void write_use(struct jsonout *json, const struct live_gpu *view)
{
    jsonout_key(json, "use");
    jsonout_begin_object(json);
    key_text(json, "word", health_use_name(view->use));
    key_time(json, "since", view->use_since_ns);
    jsonout_end_object(json);
}

static void write_age(struct jsonout *json, const struct live_gpu *view)
{
    jsonout_key(json, "age");
    jsonout_begin_object(json);
    jsonout_key(json, "fast");
    jsonout_int(json, view->age_s[PACE_FAST]);
    jsonout_key(json, "slow");
    jsonout_int(json, view->age_s[PACE_SLOW]);
    jsonout_end_object(json);
}

/* Health, use, age, fans and links: whole, when something in them changed. */
static void write_groups(struct jsonout *json, const struct gpu_pair *pair)
{
    const struct live_gpu *now = pair->view;
    const struct live_gpu *before = pair->view_before;
    bool is_all = before == NULL;
    if (is_all || now->health.word != before->health.word ||
        strcmp(now->health.detail, before->health.detail) != 0) {
        write_health(json, now);
    }
    if (is_all || now->use != before->use) {
        write_use(json, now);
    }
    if (is_all || memcmp(now->age_s, before->age_s, sizeof now->age_s) != 0) {
        write_age(json, now);
    }
    if (is_all || !are_fans_same(pair->now, pair->before)) {
        write_fans(json, pair->now);
    }
    if (is_all || !are_links_same(pair->now, pair->before)) {
        write_links(json, pair->now);
    }
}

static void write_texts(struct jsonout *json, const struct gpu_pair *pair)
{
    const struct snapshot *snapshot = pair->of->snapshot;
    jsonout_key(json, "texts");
    jsonout_begin_object(json);
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        if (pair->now->text[i][0] != '\0') {
            key_text(json, gpu_texts[i].key, pair->now->text[i]);
        }
    }
    if (snapshot->driver_version[0] != '\0') {
        key_text(json, "driver_version", snapshot->driver_version);
    }
    if (snapshot->cuda_version[0] != '\0') {
        key_text(json, "cuda_version", snapshot->cuda_version);
    }
    jsonout_end_object(json);
}

static void write_pace(struct jsonout *json, const struct live_view *view)
{
    jsonout_key(json, "pace");
    jsonout_begin_object(json);
    key_number(json, "fast", (double)view->pace_ns[PACE_FAST] / NS_PER_S_D);
    key_number(json, "slow", (double)view->pace_ns[PACE_SLOW] / NS_PER_S_D);
    jsonout_end_object(json);
}

static void write_identity(struct jsonout *json, const struct gpu_pair *pair)
{
    const struct gpu *gpu = pair->now;
    key_text(json, "uuid", uuid_of(gpu).text);
    jsonout_key(json, "index");
    jsonout_int(json, gpu->index);
    key_text(json, "name", gpu->name);
    bool has_parent = gpu->parent >= 0 && (size_t)gpu->parent < pair->of->snapshot->gpu_count;
    key_text(json, "parent",
             has_parent ? uuid_of(&pair->of->snapshot->gpu[gpu->parent]).text : NULL);
    if (gpu->gpu_instance >= 0) {
        jsonout_key(json, "instance");
        jsonout_begin_array(json);
        jsonout_int(json, gpu->gpu_instance);
        jsonout_int(json, gpu->compute_instance);
        jsonout_end_array(json);
    }
    jsonout_key(json, "unified");
    jsonout_bool(json, gpu->is_unified);
    write_pace(json, pair->of);
    write_texts(json, pair);
}

static void write_gpu(struct jsonout *json, const struct gpu_pair *pair)
{
    if (pair->before == NULL) {
        write_identity(json, pair);
    }
    if (pair->before == NULL || pair->now->state != pair->before->state) {
        key_text(json, "state", gpu_state_name(pair->now->state));
    }
    if (pair->before == NULL || strcmp(pair->now->source, pair->before->source) != 0) {
        key_text(json, "source", pair->now->source);
    }
    write_groups(json, pair);
    write_values(json, pair);
}

/* --- processes --- */

static void key_known(struct jsonout *json, const char *key, double value)
{
    if (!isnan(value)) {
        key_number(json, key, value);
    }
}

static void write_kinds(struct jsonout *json, unsigned kinds)
{
    static const struct {
        unsigned kind;
        const char *name;
    } names[] = {
        {PROCESS_COMPUTE, "compute"}, {PROCESS_GRAPHICS, "graphics"}, {PROCESS_MPS, "mps"}};
    jsonout_key(json, "kinds");
    jsonout_begin_array(json);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if ((kinds & names[i].kind) != 0) {
            jsonout_string(json, names[i].name);
        }
    }
    jsonout_end_array(json);
}

static double hundredth(double value)
{
    return round(value * 100) / 100;
}

static void write_process(struct jsonout *json, const struct live_view *view, size_t i,
                          const struct live_rights *rights)
{
    const struct process *process = &view->snapshot->process[i];
    const struct process_detail *detail = &view->detail[i];
    jsonout_begin_object(json);
    key_text(json, "gpu", uuid_of(&view->snapshot->gpu[process->gpu]).text);
    jsonout_key(json, "pid");
    jsonout_int(json, process->pid);
    if (!rights->is_process_hidden) {
        key_text(json, "user", detail->user);
        key_text(json, "name", detail->name[0] != '\0' ? detail->name : process->name);
        key_text(json, "command", detail->command);
    }
    if (detail->started_ns != 0) {
        jsonout_key(json, "started");
        jsonout_int(json, detail->started_ns / 1000000000);
    }
    key_known(json, "memory", process->memory_bytes);
    key_known(json, "sm", hundredth(process->sm_ratio));
    key_known(json, "encoder", hundredth(process->encoder_ratio));
    key_known(json, "decoder", hundredth(process->decoder_ratio));
    key_known(json, "cpu", hundredth(detail->cpu_ratio));
    key_known(json, "host_memory", detail->memory_bytes);
    write_kinds(json, process->kinds);
    jsonout_end_object(json);
}

static void write_processes(struct jsonout *json, const struct live_view *view,
                            const struct live_rights *rights)
{
    jsonout_key(json, "processes");
    jsonout_begin_array(json);
    for (size_t i = 0; i < view->snapshot->process_count; i++) {
        write_process(json, view, i, rights);
    }
    jsonout_end_array(json);
}

static bool is_same_process(const struct live_view *a, const struct live_view *b, size_t i)
{
    const struct process *left = &a->snapshot->process[i];
    const struct process *right = &b->snapshot->process[i];
    return left->pid == right->pid && left->kinds == right->kinds &&
           a->detail[i].started_ns == b->detail[i].started_ns &&
           strcmp(a->snapshot->gpu[left->gpu].uuid, b->snapshot->gpu[right->gpu].uuid) == 0 &&
           strcmp(a->detail[i].command, b->detail[i].command) == 0;
}

static bool are_processes_same(const struct live_view *a, const struct live_view *b)
{
    if (a->snapshot->process_count != b->snapshot->process_count) {
        return false;
    }
    for (size_t i = 0; i < a->snapshot->process_count; i++) {
        if (!is_same_process(a, b, i)) {
            return false;
        }
    }
    return true;
}

/* The figures of a process that may change, beside each other in both views. */
struct figure {
    const char *key;
    double now, before;
};

static size_t list_figures(const struct live_view *before, const struct live_view *after, size_t i,
                           struct figure out[6])
{
    const struct process *now = &after->snapshot->process[i];
    const struct process *was = &before->snapshot->process[i];
    const struct figure all[] = {
        {"memory", now->memory_bytes, was->memory_bytes},
        {"sm", hundredth(now->sm_ratio), hundredth(was->sm_ratio)},
        {"encoder", hundredth(now->encoder_ratio), hundredth(was->encoder_ratio)},
        {"decoder", hundredth(now->decoder_ratio), hundredth(was->decoder_ratio)},
        {"cpu", hundredth(after->detail[i].cpu_ratio), hundredth(before->detail[i].cpu_ratio)},
        {"host_memory", after->detail[i].memory_bytes, before->detail[i].memory_bytes},
    };
    size_t count = 0;
    for (size_t f = 0; f < sizeof all / sizeof all[0]; f++) {
        if (!is_same(all[f].now, all[f].before)) {
            out[count++] = all[f];
        }
    }
    return count;
}

static void write_process_values(struct jsonout *json, const struct live_view *before,
                                 const struct live_view *after)
{
    bool is_open = false;
    for (size_t i = 0; i < after->snapshot->process_count; i++) {
        struct figure figures[6];
        size_t count = list_figures(before, after, i, figures);
        if (count == 0) {
            continue;
        }
        if (!is_open) {
            jsonout_key(json, "process_values");
            jsonout_begin_array(json);
            is_open = true;
        }
        jsonout_begin_array(json);
        jsonout_int(json, (int64_t)i);
        jsonout_begin_object(json);
        for (size_t f = 0; f < count; f++) {
            key_number(json, figures[f].key, figures[f].now);
        }
        jsonout_end_object(json);
        jsonout_end_array(json);
    }
    if (is_open) {
        jsonout_end_array(json);
    }
}

/* --- the host and troubles --- */

struct host_row {
    const char *key;
    double value;
};

#define HOST_ROWS 16

static void host_rows(const struct live_view *view, struct host_row rows[HOST_ROWS])
{
    const struct host *host = &view->host;
    const struct host_row all[HOST_ROWS] = {
        {"cpu", round(host->cpu_ratio * 1000) / 1000},
        {"cores", host->cpu_count},
        {"cpu_hz", round(host->cpu_hz / 1e6) * 1e6},
        {"cpu_max_hz", host->cpu_max_hz},
        {"memory_total", host->memory_total_bytes},
        {"memory_used", host->memory_used_bytes},
        {"memory_available", host->memory_available_bytes},
        {"swap_total", host->swap_total_bytes},
        {"swap_used", host->swap_used_bytes},
        {"load1", host->load[0]},
        {"load5", host->load[1]},
        {"load15", host->load[2]},
        {"net_tx", host->network_sent_bytes},
        {"net_rx", host->network_received_bytes},
        {"disk_read", host->disk_read_bytes},
        {"disk_write", host->disk_written_bytes},
    };
    memcpy(rows, all, sizeof all);
}

static void write_system(struct jsonout *json, const struct live_view *before,
                         const struct live_view *after)
{
    struct host_row now[HOST_ROWS];
    struct host_row was[HOST_ROWS];
    bool is_open = false;
    host_rows(after, now);
    host_rows(before != NULL ? before : after, was);
    for (size_t i = 0; i < HOST_ROWS && after->has_host; i++) {
        if (isnan(now[i].value) ? before == NULL || isnan(was[i].value)
                                : before != NULL && is_same(now[i].value, was[i].value)) {
            continue;
        }
        if (!is_open) {
            jsonout_key(json, "system");
            jsonout_begin_object(json);
            is_open = true;
        }
        key_number(json, now[i].key, now[i].value);
    }
    if (is_open) {
        jsonout_end_object(json);
    }
}

static void write_troubles(struct jsonout *json, const struct live_view *view)
{
    jsonout_key(json, "trouble");
    jsonout_begin_array(json);
    for (size_t i = 0; i < view->trouble_count; i++) {
        jsonout_begin_object(json);
        key_text(json, "source", view->trouble[i].source);
        key_text(json, "sentence", view->trouble[i].sentence);
        key_time(json, "since", view->trouble[i].since_ns);
        jsonout_end_object(json);
    }
    jsonout_end_array(json);
}

static bool are_troubles_same(const struct live_view *a, const struct live_view *b)
{
    for (size_t i = 0; i < a->trouble_count && a->trouble_count == b->trouble_count; i++) {
        if (strcmp(a->trouble[i].source, b->trouble[i].source) != 0 ||
            strcmp(a->trouble[i].sentence, b->trouble[i].sentence) != 0) {
            return false;
        }
    }
    return a->trouble_count == b->trouble_count;
}

/* --- messages --- */

void live_write_full(const struct live_view *view, const struct live_rights *rights,
                     struct buf *out)
{
    struct jsonout json = {.out = out};
    const struct snapshot *snapshot = view->snapshot;
    jsonout_begin_object(&json);
    key_text(&json, "type", "full");
    key_time(&json, "time", view->now_ns);
    jsonout_key(&json, "gpus");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        struct gpu_pair pair = {.now = &snapshot->gpu[i], .view = &view->gpu[i], .of = view};
        jsonout_begin_object(&json);
        write_gpu(&json, &pair);
        jsonout_end_object(&json);
    }
    jsonout_end_array(&json);
    write_processes(&json, view, rights);
    write_system(&json, NULL, view);
    write_troubles(&json, view);
    jsonout_end_object(&json);
}

/* The same GPUs in the same places, with the same words that do not change. */
static bool is_same_machine(const struct live_view *a, const struct live_view *b)
{
    const struct snapshot *left = a->snapshot;
    const struct snapshot *right = b->snapshot;
    bool is_same_size = left->gpu_count == right->gpu_count &&
                        memcmp(a->pace_ns, b->pace_ns, sizeof a->pace_ns) == 0 &&
                        strcmp(left->driver_version, right->driver_version) == 0;
    for (size_t i = 0; is_same_size && i < left->gpu_count; i++) {
        const struct gpu *one = &left->gpu[i];
        const struct gpu *other = &right->gpu[i];
        if (one->index != other->index || one->parent != other->parent ||
            strcmp(one->uuid, other->uuid) != 0 || strcmp(one->name, other->name) != 0 ||
            memcmp(one->text, other->text, sizeof one->text) != 0) {
            return false;
        }
    }
    return is_same_size;
}

static void write_gpu_deltas(struct jsonout *json, const struct live_view *before,
                             const struct live_view *after)
{
    struct buf *out = json->out;
    bool is_open = false;
    for (size_t i = 0; i < after->snapshot->gpu_count; i++) {
        struct gpu_pair pair = {.now = &after->snapshot->gpu[i],
                                .before = &before->snapshot->gpu[i],
                                .view = &after->gpu[i],
                                .view_before = &before->gpu[i],
                                .of = after};
        OWN_BUF struct buf one = {0};
        struct jsonout inner = {.out = &one};
        jsonout_begin_object(&inner);
        write_gpu(&inner, &pair);
        jsonout_end_object(&inner);
        if (one.length <= 2) { /* {} */
            continue;
        }
        buf_text(out, is_open ? "," : ",\"gpus\":{");
        is_open = true;
        buf_format(out, "\"%s\":", uuid_of(pair.now).text);
        buf_add(out, one.data, one.length);
    }
    buf_text(out, is_open ? "}" : "");
}

/* A uuid comes from a driver and stands as a key: only what needs no escaping may. */
static bool are_uuids_plain(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        for (const char *at = snapshot->gpu[i].uuid; *at != '\0'; at++) {
            if (!isalnum((unsigned char)*at) && strchr("-_/.:", *at) == NULL) {
                return false;
            }
        }
    }
    return true;
}

bool live_write_delta(const struct live_view *before, const struct live_view *after,
                      const struct live_rights *rights, struct buf *out)
{
    if (!is_same_machine(before, after) || !are_uuids_plain(after->snapshot)) {
        return false;
    }
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    key_text(&json, "type", "delta");
    key_time(&json, "time", after->now_ns);
    write_gpu_deltas(&json, before, after);
    if (!are_processes_same(before, after)) {
        write_processes(&json, after, rights);
    } else {
        write_process_values(&json, before, after);
    }
    write_system(&json, before, after);
    if (!are_troubles_same(before, after)) {
        write_troubles(&json, after);
    }
    jsonout_end_object(&json);
    return true;
}

void live_write_hello(const struct live_greeting *greeting, struct buf *out)
{
    struct jsonout json = {.out = out};
    jsonout_begin_object(&json);
    key_text(&json, "type", "hello");
    jsonout_key(&json, "protocol");
    jsonout_int(&json, LIVE_PROTOCOL);
    key_text(&json, "version", greeting->version);
    key_text(&json, "server_name", greeting->server_name);
    key_number(&json, "interval", greeting->interval_s);
    jsonout_key(&json, "simulated");
    jsonout_bool(&json, greeting->is_simulated);
    jsonout_key(&json, "hides_commands");
    jsonout_bool(&json, greeting->is_process_hidden);
    jsonout_key(&json, "metrics");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        jsonout_begin_object(&json);
        key_text(&json, "key", metrics[i].key);
        key_text(&json, "unit", metric_unit_name(metrics[i].unit));
        key_text(&json, "kind", metric_kind_name(metrics[i].kind));
        key_text(&json, "pace", metric_pace_name(metrics[i].pace));
        jsonout_key(&json, "decimals");
        jsonout_int(&json, metrics[i].decimals);
        key_text(&json, "help", metrics[i].help);
        jsonout_end_object(&json);
    }
    jsonout_end_array(&json);
    jsonout_key(&json, "texts");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < GPU_TEXT_COUNT; i++) {
        jsonout_begin_object(&json);
        key_text(&json, "key", gpu_texts[i].key);
        key_text(&json, "help", gpu_texts[i].help);
        jsonout_end_object(&json);
    }
    jsonout_end_array(&json);
    jsonout_key(&json, "link_metrics");
    jsonout_begin_array(&json);
    for (size_t i = 0; i < LINK_METRIC_COUNT; i++) {
        jsonout_begin_object(&json);
        key_text(&json, "key", link_metrics[i].key);
        key_text(&json, "unit", metric_unit_name(link_metrics[i].unit));
        key_text(&json, "kind", metric_kind_name(link_metrics[i].kind));
        key_text(&json, "help", link_metrics[i].help);
        jsonout_end_object(&json);
    }
    jsonout_end_array(&json);
    jsonout_end_object(&json);
}
