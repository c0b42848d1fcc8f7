/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Simulated machines, and recordings of them. */
#include "source/recording.h"
#include "source/source.h"

#include "base/own.h"

#include "tests/check.h"

#include <errno.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define MOMENT (INT64_C(1774164600) * SECOND)

static struct snapshot *simulate(const char *machine, enum source_depth depth, int64_t now_ns)
{
    struct source *source = NULL;
    struct snapshot *snapshot = NULL;
    struct err err = {0};
    struct source_options options = {.arg = machine, .depth = depth};
    if (!CHECK(source_simulated.open(&source, &options, &err) == 0)) {
        printf("# %s\n", err.text);
        return snapshot_new(0);
    }
    CHECK_INT(source_simulated.read(source, now_ns, &snapshot, &err), 0);
    source_simulated.close(source);
    return snapshot;
}

TEST(the_same_moment_is_always_the_same)
{
    OWN_BUF struct buf one = {0};
    OWN_BUF struct buf two = {0};
    struct snapshot *a = simulate("8xH100,1xGB10:seed=7", SOURCE_FULL, MOMENT);
    struct snapshot *b = simulate("8xH100,1xGB10:seed=7", SOURCE_FULL, MOMENT);
    recording_format_snapshot(a, &one);
    recording_format_snapshot(b, &two);
    CHECK_TEXT(buf_string(&one), buf_string(&two));
    CHECK_INT(a->gpu_count, 9);
    CHECK(a->gpu[8].is_unified);
    snapshot_unref(a);
    snapshot_unref(b);
}

TEST(a_simulated_week_is_believable)
{
    double sum = 0;
    double energy = 0;
    int count = 0;
    for (int64_t minute = 0; minute < 7 * 1440; minute += 7) {
        struct snapshot *snapshot = simulate("1xH100", SOURCE_FULL, MOMENT + minute * 60 * SECOND);
        const double *value = snapshot->gpu[0].value;
        CHECK(value[METRIC_UTILIZATION] >= 0 && value[METRIC_UTILIZATION] <= 1);
        CHECK(value[METRIC_POWER_DRAW] >= 60 && value[METRIC_POWER_DRAW] <= 700);
        CHECK(value[METRIC_TEMPERATURE] > 20 && value[METRIC_TEMPERATURE] < 87);
        CHECK(value[METRIC_MEMORY_USED] <= value[METRIC_MEMORY_TOTAL]);
        CHECK(value[METRIC_ENERGY] > energy);
        energy = value[METRIC_ENERGY];
        CHECK_INT(snapshot->dropped, 0);
        sum += value[METRIC_UTILIZATION];
        count++;
        snapshot_unref(snapshot);
    }
    CHECK(sum / count > 0.2 && sum / count < 0.8);
}

TEST(faults_come_when_asked_for)
{
    struct snapshot *snapshot = simulate(
        "4xH100:fault=lost@1:fault=silent@2:fault=impossible@3:fault=xid", SOURCE_FULL, MOMENT);
    REQUIRE(snapshot->gpu_count == 4);
    CHECK_INT(snapshot->gpu[1].state, GPU_STATE_LOST);
    CHECK(isnan(snapshot->gpu[2].value[METRIC_UTILIZATION]));
    CHECK(isnan(snapshot->gpu[3].value[METRIC_UTILIZATION]));
    CHECK_INT(snapshot->dropped, 2);
    CHECK_INT(snapshot->event_count, 1);
    snapshot_unref(snapshot);
}

TEST(a_wrong_machine_is_refused_with_what_was_meant)
{
    const char *wrong[] = {"",
                           "8xH1000000",
                           "0xH100",
                           "9999xH100",
                           "8xH100:seed=x",
                           "8xH100:fault=fire",
                           "8xH100:fault=lost@8",
                           "8xH100:mig=9",
                           "8x"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct source *source = NULL;
        struct err err = {0};
        struct source_options options = {.arg = wrong[i]};
        CHECK_INT(source_simulated.open(&source, &options, &err), -EINVAL);
        CHECK(strstr(err.text, "--simulate") != NULL);
    }
}

TEST(a_recording_holds_everything_to_the_last_bit)
{
    struct snapshot *snapshot =
        simulate("2xA100,1xRTX4090:mig=3:fault=xid:fault=ecc@1", SOURCE_FULL, MOMENT + 12345);
    OWN_BUF struct buf first = {0};
    OWN_BUF struct buf second = {0};
    recording_format_snapshot(snapshot, &first);
    struct recording_line line;
    REQUIRE(recording_parse_line(first.data, first.length - 1, &line, NULL) == 0);
    REQUIRE(line.kind == RECORDING_SNAPSHOT);
    CHECK_INT(line.snapshot->gpu_count, snapshot->gpu_count);
    CHECK_INT(line.snapshot->process_count, snapshot->process_count);
    CHECK_INT(line.snapshot->event_count, 1);
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        for (size_t j = 0; j < METRIC_COUNT; j++) {
            double was = snapshot->gpu[i].value[j];
            double is = line.snapshot->gpu[i].value[j];
            CHECK(was == is || (isnan(was) && isnan(is)));
        }
    }
    recording_format_snapshot(line.snapshot, &second);
    CHECK_TEXT(buf_string(&second), buf_string(&first));
    recording_line_fini(&line);
    snapshot_unref(snapshot);
}

static const char *path(void)
{
    static char name[64];
    (void)snprintf(name, sizeof name, "/tmp/gpumanager-recording-%d", (int)getpid());
    return name;
}

static void write_file(const char *text, size_t length)
{
    FILE *file = fopen(path(), "w");
    if (CHECK(file != NULL)) {
        (void)fwrite(text, 1, length, file);
        (void)fclose(file);
    }
}

static int replay(struct source **out, struct err *err)
{
    struct source_options options = {.arg = path()};
    return source_replay.open(out, &options, err);
}

TEST(a_replay_gives_each_snapshot_once_at_the_present_time)
{
    OWN_BUF struct buf text = {0};
    recording_format_header(&text);
    for (int i = 0; i < 2; i++) {
        struct snapshot *snapshot = simulate("1xT4", SOURCE_FULL, MOMENT + i * SECOND);
        recording_format_snapshot(snapshot, &text);
        snapshot_unref(snapshot);
        buf_text(&text, "{\"kind\":\"future\"}\nnot json\n");
    }
    buf_text(&text, "{\"kind\":\"snapshot\",\"torn");
    write_file(text.data, text.length);
    struct source *source = NULL;
    struct snapshot *snapshot = NULL;
    struct err err = {0};
    REQUIRE(replay(&source, &err) == 0);
    for (int i = 0; i < 2; i++) {
        REQUIRE(source_replay.read(source, 5000 + i, &snapshot, &err) == 0);
        CHECK_INT(snapshot->time_ns, 5000 + i);
        CHECK_INT(snapshot->gpu[0].read_ns[PACE_FAST], 5000 + i);
        CHECK_TEXT(snapshot->gpu[0].name, "Tesla T4");
        snapshot_unref(snapshot);
    }
    CHECK_INT(source_replay.read(source, 1, &snapshot, &err), -ENODATA);
    CHECK(strstr(err.text, "3 unreadable") != NULL);
    source_replay.close(source);
    (void)unlink(path());
}

TEST(a_recording_of_text_alone_is_parsed_again)
{
    OWN_BUF struct buf text = {0};
    static const char answer[] = "0, GPU-aa, A \xff card, 35\n";
    recording_format_text(MOMENT,
                          "nvidia-smi --query-gpu=index,uuid,name,utilization.gpu --format=csv",
                          answer, strlen(answer), &text);
    write_file(text.data, text.length);
    struct source *source = NULL;
    struct snapshot *snapshot = NULL;
    struct err err = {0};
    REQUIRE(replay(&source, &err) == 0);
    REQUIRE(source_replay.read(source, 1, &snapshot, &err) == 0);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK_TEXT(snapshot->gpu[0].name, "A ? card");
    CHECK_NEAR(snapshot->gpu[0].value[METRIC_UTILIZATION], 0.35, 1e-9);
    snapshot_unref(snapshot);
    source_replay.close(source);
    (void)unlink(path());
}

TEST(what_is_no_recording_is_refused)
{
    struct source *source = NULL;
    struct err err = {0};
    CHECK_INT(replay(&source, &err), -EINVAL);
    write_file("hello\nworld\n", 12);
    CHECK_INT(replay(&source, &err), -EINVAL);
    CHECK(strstr(err.text, "not a recording") != NULL);
    static const char future[] = "{\"kind\":\"recording\",\"version\":99}\n{\"kind\":\"text\"}\n";
    write_file(future, strlen(future));
    CHECK_INT(replay(&source, &err), -EINVAL);
    CHECK(strstr(err.text, "version 99") != NULL);
    (void)unlink(path());
}

TEST(hostile_lines_stay_inside_the_limits)
{
    static const char line[] =
        "{\"kind\":\"snapshot\",\"time_ns\":-5,\"gpus\":[{\"index\":99999999,\"parent\":7,"
        "\"values\":{\"utilization\":1e308,\"temperature\":\"hot\"},\"fans\":[1,1,1,1,1,1,1,1,1,1,"
        "1,1,1,1,1,1,1,1,1,1],\"links\":[1,2,{}]},7,null],\"processes\":[{\"gpu\":55},{\"gpu\":0,"
        "\"pid\":-1}],\"events\":[{\"gpu\":-1}]}";
    struct recording_line out;
    REQUIRE(recording_parse_line(line, strlen(line), &out, NULL) == 0);
    REQUIRE(out.snapshot->gpu_count == 3);
    CHECK_INT(out.snapshot->gpu[0].index, -1);
    CHECK_INT(out.snapshot->gpu[0].parent, -1);
    CHECK(isnan(out.snapshot->gpu[0].value[METRIC_UTILIZATION]));
    CHECK_INT(out.snapshot->gpu[0].fan_count, GPU_FANS_MAX);
    CHECK_INT(out.snapshot->process_count, 1);
    CHECK_INT(out.snapshot->event_count, 0);
    recording_line_fini(&out);
}

MAIN(RUN(the_same_moment_is_always_the_same), RUN(a_simulated_week_is_believable),
     RUN(faults_come_when_asked_for), RUN(a_wrong_machine_is_refused_with_what_was_meant),
     RUN(a_recording_holds_everything_to_the_last_bit),
     RUN(a_replay_gives_each_snapshot_once_at_the_present_time),
     RUN(a_recording_of_text_alone_is_parsed_again), RUN(what_is_no_recording_is_refused),
     RUN(hostile_lines_stay_inside_the_limits))
