/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/live.h"

#include "base/own.h"
#include "base/text.h"
#include "tests/check.h"

#include <jansson.h>

#define NOW_NS INT64_C(1774164600000000000)
#define SECOND INT64_C(1000000000)

static const struct live_rights all_rights;

static unsigned random_state = 1;

static unsigned next_random(unsigned below)
{
    random_state = random_state * 1103515245U + 12345U;
    return (random_state >> 16) % below;
}

/* A machine of two GPUs whose values depend on `seed`; a third of them are unknown. */
static struct snapshot *machine(unsigned seed, int64_t now_ns)
{
    struct snapshot *snapshot = snapshot_new(now_ns);
    random_state = seed;
    for (int i = 0; i < 2; i++) {
        struct gpu *gpu = snapshot_add_gpu(snapshot);
        gpu->index = i;
        gpu->parent = -1;
        gpu->gpu_instance = -1;
        (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%d", i);
        text_copy(gpu->name, sizeof gpu->name, "<b>H100</b>");
        text_copy(gpu->source, sizeof gpu->source, "nvml");
        gpu->read_ns[PACE_FAST] = now_ns;
        gpu->fan_count = 1;
        gpu->fan_ratio[0] = next_random(3) / 10.0;
        for (int m = 0; m < METRIC_COUNT; m++) {
            if (next_random(3) != 0) {
                gpu->value[m] = next_random(4) / 3.0;
            }
        }
    }
    for (int i = 0; i < 2; i++) {
        struct process *process = snapshot_add_process(snapshot);
        process->gpu = i;
        process->pid = (uint32_t)(40 + i);
        process->kinds = PROCESS_COMPUTE;
        process->memory_bytes = next_random(3) * 1e6;
    }
    return snapshot;
}

static struct live_view *view_of(struct live_memory *memory, struct snapshot *snapshot,
                                 int64_t now_ns)
{
    struct live_input input = {
        .snapshot = snapshot, .now_ns = now_ns, .pace_ns = {SECOND / 2, 5 * SECOND}};
    struct live_view *view = live_view_new(memory, &input);
    snapshot_unref(snapshot);
    return view;
}

static json_t *parsed(const struct buf *text)
{
    json_error_t why;
    json_t *json = json_loadb(text->data, text->length, 0, &why);
    if (!CHECK(json != NULL)) {
        printf("# %s in %s\n", why.text, text->data);
    }
    return json;
}

static json_t *full_of(const struct live_view *view)
{
    OWN_BUF struct buf out = {0};
    live_write_full(view, &all_rights, &out);
    return parsed(&out);
}

/* Takes the members of `changes` over; null removes one of values or texts. */
static void merge(json_t *into, json_t *changes)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(changes, key, value)
    {
        if (json_is_null(value)) {
            (void)json_object_del(into, key);
        } else {
            (void)json_object_set(into, key, value);
        }
    }
}

static json_t *gpu_named(json_t *full, const char *uuid)
{
    size_t i = 0;
    json_t *gpu = NULL;
    json_array_foreach(json_object_get(full, "gpus"), i, gpu)
    {
        if (strcmp(json_string_value(json_object_get(gpu, "uuid")), uuid) == 0) {
            return gpu;
        }
    }
    return NULL;
}

/* What a page does with a delta. */
static void apply(json_t *full, json_t *delta)
{
    const char *uuid = NULL;
    json_t *changes = NULL;
    json_object_foreach(json_object_get(delta, "gpus"), uuid, changes)
    {
        json_t *gpu = gpu_named(full, uuid);
        json_t *values = json_object_get(changes, "values");
        if (values != NULL) {
            merge(json_object_get(gpu, "values"), values);
            (void)json_object_del(changes, "values");
        }
        merge(gpu, changes);
    }
    size_t i = 0;
    json_t *pair = NULL;
    json_array_foreach(json_object_get(delta, "process_values"), i, pair)
    {
        size_t at = (size_t)json_integer_value(json_array_get(pair, 0));
        merge(json_array_get(json_object_get(full, "processes"), at), json_array_get(pair, 1));
    }
    static const char *const whole[] = {"time", "processes", "trouble"};
    for (size_t k = 0; k < 3; k++) {
        if (json_object_get(delta, whole[k]) != NULL) {
            (void)json_object_set(full, whole[k], json_object_get(delta, whole[k]));
        }
    }
}

TEST(what_a_viewer_knows_after_deltas_is_what_a_full_says)
{
    struct live_memory *memory = live_memory_new();
    struct live_view *before = view_of(memory, machine(1, NOW_NS), NOW_NS);
    json_t *known = full_of(before);
    for (unsigned seed = 2; seed < 40; seed++) {
        int64_t now_ns = NOW_NS + seed * SECOND;
        struct live_view *after = view_of(memory, machine(seed, now_ns), now_ns);
        OWN_BUF struct buf out = {0};
        REQUIRE(live_write_delta(before, after, &all_rights, &out));
        json_t *delta = parsed(&out);
        json_t *wanted = full_of(after);
        apply(known, delta);
        if (!CHECK(json_equal(known, wanted))) {
            char *a = json_dumps(known, JSON_SORT_KEYS);
            char *b = json_dumps(wanted, JSON_SORT_KEYS);
            printf("# %.1500s\n# %.1500s\n", a, b);
            free(a);
            free(b);
        }
        json_decref(delta);
        json_decref(wanted);
        live_view_free(before);
        before = after;
    }
    json_decref(known);
    live_view_free(before);
    live_memory_free(memory);
}

TEST(nothing_new_is_next_to_nothing_on_the_wire)
{
    struct live_memory *memory = live_memory_new();
    struct live_view *a = view_of(memory, machine(7, NOW_NS), NOW_NS);
    struct live_view *b = view_of(memory, machine(7, NOW_NS), NOW_NS);
    OWN_BUF struct buf out = {0};
    CHECK(live_write_delta(a, b, &all_rights, &out));
    CHECK_TEXT(out.data, "{\"type\":\"delta\",\"time\":1774164600}");
    live_view_free(a);
    live_view_free(b);
    live_memory_free(memory);
}

TEST(another_machine_needs_a_full)
{
    struct live_memory *memory = live_memory_new();
    struct live_view *a = view_of(memory, machine(7, NOW_NS), NOW_NS);
    struct snapshot *other = machine(7, NOW_NS);
    other->gpu[1].index = 5;
    struct live_view *b = view_of(memory, other, NOW_NS);
    OWN_BUF struct buf out = {0};
    CHECK(!live_write_delta(a, b, &all_rights, &out));
    CHECK_INT(out.length, 0);
    live_view_free(a);
    live_view_free(b);
    live_memory_free(memory);
}

TEST(a_silent_gpu_is_said_to_be_silent_since_when)
{
    struct live_memory *memory = live_memory_new();
    live_view_free(view_of(memory, machine(7, NOW_NS), NOW_NS));
    struct snapshot *old = machine(7, NOW_NS);
    for (int i = 0; i < 2; i++) {
        old->gpu[i].read_ns[PACE_FAST] = NOW_NS;
    }
    struct live_view *view = view_of(memory, snapshot_ref(old), NOW_NS + 20 * SECOND);
    json_t *full = full_of(view);
    const json_t *gpu = gpu_named(full, "GPU-0");
    const json_t *health = json_object_get(gpu, "health");
    CHECK_TEXT(json_string_value(json_object_get(health, "word")), "not answering");
    CHECK_TEXT(json_string_value(json_object_get(health, "level")), "bad");
    CHECK_NEAR(json_number_value(json_object_get(health, "since")), 1774164620, 1e-3);
    CHECK_INT(json_integer_value(json_object_get(json_object_get(gpu, "age"), "fast")), 20);
    json_decref(full);
    live_view_free(view);
    /* Ten seconds on, it is the same silence. */
    view = view_of(memory, old, NOW_NS + 30 * SECOND);
    full = full_of(view);
    health = json_object_get(gpu_named(full, "GPU-0"), "health");
    CHECK_NEAR(json_number_value(json_object_get(health, "since")), 1774164620, 1e-3);
    json_decref(full);
    live_view_free(view);
    live_memory_free(memory);
}

TEST(memory_that_is_held_for_ten_minutes_without_work_is_held_idle)
{
    struct live_memory *memory = live_memory_new();
    static const struct {
        int minute;
        double load;
        const char *word;
    } rows[] = {{0, 0.5, "busy"},     {1, 0, "busy"},    {9, 0, "busy"},
                {12, 0, "held idle"}, {13, 0.9, "busy"}, {14, 0, "busy"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t now_ns = NOW_NS + rows[i].minute * 60 * SECOND;
        struct snapshot *snapshot = machine(3, now_ns);
        snapshot->gpu[0].value[METRIC_UTILIZATION] = rows[i].load;
        struct live_view *view = view_of(memory, snapshot, now_ns);
        json_t *full = full_of(view);
        const json_t *use = json_object_get(gpu_named(full, "GPU-0"), "use");
        CHECK_TEXT(json_string_value(json_object_get(use, "word")), rows[i].word);
        json_decref(full);
        live_view_free(view);
    }
    live_memory_free(memory);
}

TEST(what_a_viewer_may_not_see_is_not_sent)
{
    struct live_memory *memory = live_memory_new();
    struct snapshot *snapshot = machine(3, NOW_NS);
    struct process_detail details[2] = {
        {.pid = 40, .user = "anna", .name = "train.py", .command = "python train.py"}};
    struct live_input input = {
        .snapshot = snapshot, .details = details, .now_ns = NOW_NS, .pace_ns = {SECOND, SECOND}};
    struct live_view *view = live_view_new(memory, &input);
    OWN_BUF struct buf out = {0};
    live_write_full(view, &(struct live_rights){.is_process_hidden = true}, &out);
    CHECK(strstr(out.data, "anna") == NULL && strstr(out.data, "train.py") == NULL);
    CHECK(strstr(out.data, "\"pid\":40") != NULL);
    buf_clear(&out);
    live_write_full(view, &all_rights, &out);
    CHECK(strstr(out.data, "\"command\":\"python train.py\"") != NULL);
    snapshot_unref(snapshot);
    live_view_free(view);
    live_memory_free(memory);
}

TEST(the_greeting_holds_the_registry)
{
    struct live_greeting greeting = {"1.0.0", "<box>", 0.5, true};
    OWN_BUF struct buf out = {0};
    live_write_hello(&greeting, &out);
    json_t *hello = parsed(&out);
    CHECK_INT(json_array_size(json_object_get(hello, "metrics")), METRIC_COUNT);
    CHECK(json_is_true(json_object_get(hello, "simulated")));
    json_decref(hello);
}

MAIN(RUN(what_a_viewer_knows_after_deltas_is_what_a_full_says),
     RUN(nothing_new_is_next_to_nothing_on_the_wire), RUN(another_machine_needs_a_full),
     RUN(a_silent_gpu_is_said_to_be_silent_since_when),
     RUN(memory_that_is_held_for_ten_minutes_without_work_is_held_idle),
     RUN(what_a_viewer_may_not_see_is_not_sent), RUN(the_greeting_holds_the_registry))
