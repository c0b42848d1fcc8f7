/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The child's side, without a child: what it is asked lies in the socket before it starts. */
#include "sampler/driver.h"

#include "base/own.h"
#include "model/frame.h"

#include "tests/check.h"
#include "tests/play.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#define ANSWERS_MOST 8

struct answers {
    int count;
    struct frame frame[ANSWERS_MOST]; /* the greeting first */
    int code;                         /* of driver_run */
    struct err err;
};

static void answers_fini(struct answers *answers)
{
    for (int i = 0; i < answers->count; i++) {
        snapshot_unref(answers->frame[i].snapshot);
    }
}

static void read_answers(int fd, struct answers *out)
{
    OWN_BUF struct buf bytes = {0};
    char some[4096];
    for (ssize_t got = 1; got > 0;) {
        got = recv(fd, some, sizeof some, MSG_DONTWAIT);
        buf_add(&bytes, some, got > 0 ? (size_t)got : 0);
    }
    struct frame_reader *reader = frame_reader_new();
    size_t at = 0;
    size_t used = 0;
    while (out->count < ANSWERS_MOST && frame_read(reader, bytes.data + at, bytes.length - at,
                                                   &used, &out->frame[out->count], NULL) == 1) {
        at += used;
        out->count++;
    }
    CHECK_INT(at, bytes.length);
    frame_reader_free(reader);
}

/* Asks `requests` times, closes, and collects what was answered. */
static struct answers ask(const struct driver_options *options, int requests)
{
    struct answers answers = {0};
    int ends[2];
    if (!CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0)) {
        return answers;
    }
    OWN_FD int ours = ends[0];
    OWN_FD int theirs = ends[1];
    (void)setsockopt(theirs, SOL_SOCKET, SO_SNDBUF, &(int){1 << 21}, sizeof(int));
    OWN_BUF struct buf request = {0};
    for (int i = 0; i < requests; i++) {
        frame_format_request(&request);
    }
    CHECK_INT(send(ours, request.data, request.length, 0), request.length);
    (void)shutdown(ours, SHUT_WR);
    answers.code = driver_run(theirs, options, &answers.err);
    read_answers(ours, &answers);
    return answers;
}

/* The same moment of a simulated machine is always the same. */
TEST(whole_machines_arrive_to_the_last_bit)
{
    static const char *const machines[] = {"4xH100", "1xGB10,2xRTX4090:seed=3",
                                           "2xA100,1xT4:mig=3:fault=xid:fault=ecc@1",
                                           "3xH100:fault=lost@1:fault=silent@2"};
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        struct driver_options options = {.ops = &source_simulated,
                                         .source = {.arg = machines[i], .depth = SOURCE_FULL}};
        struct answers answers = ask(&options, 2);
        CHECK_INT(answers.code, 0);
        REQUIRE(answers.count == 3);
        CHECK_INT(answers.frame[0].kind, FRAME_GREETING);
        CHECK_TEXT(answers.frame[0].text, "simulated");
        const struct snapshot *got = answers.frame[2].snapshot;
        REQUIRE(got != NULL);
        struct source *source = NULL;
        struct snapshot *wanted = NULL;
        REQUIRE(source_simulated.open(&source, &options.source, NULL) == 0);
        REQUIRE(source_simulated.read(source, got->time_ns, &wanted, NULL) == 0);
        OWN_BUF struct buf one = {0};
        OWN_BUF struct buf two = {0};
        wanted->dropped = got->dropped; /* counts over reads */
        frame_format_snapshot(wanted, &one);
        frame_format_snapshot(got, &two);
        CHECK(one.length == two.length && memcmp(one.data, two.data, one.length) == 0);
        source_simulated.close(source);
        snapshot_unref(wanted);
        answers_fini(&answers);
    }
}

TEST(only_what_is_visible_is_sent)
{
    struct driver_options options = {.ops = &source_simulated,
                                     .source = {.arg = "4xH100", .visible = "2"}};
    struct answers answers = ask(&options, 1);
    REQUIRE(answers.count == 2 && answers.frame[1].snapshot != NULL);
    REQUIRE(answers.frame[1].snapshot->gpu_count == 1);
    CHECK_INT(answers.frame[1].snapshot->gpu[0].index, 2);
    answers_fini(&answers);
}

static int opens;

static int open_nothing(struct source **out, const struct source_options *options, struct err *err)
{
    (void)out;
    (void)options;
    opens++;
    return err_set(err, -ENODEV, "no driver (%d)", opens);
}

TEST(a_source_that_cannot_be_opened_is_not_tried_each_time)
{
    static const struct source_ops nothing = {"nothing", open_nothing, NULL, NULL};
    struct driver_options options = {.ops = &nothing};
    struct answers answers = ask(&options, 3);
    CHECK_INT(answers.code, 0);
    REQUIRE(answers.count == 4);
    for (int i = 1; i < 4; i++) {
        CHECK_INT(answers.frame[i].kind, FRAME_TROUBLE);
        CHECK_INT(answers.frame[i].code, -ENODEV);
        CHECK_TEXT(answers.frame[i].text, "no driver (1)");
    }
    CHECK_INT(opens, 1);
}

TEST(a_process_that_holds_too_much_ends_after_its_answer)
{
    struct driver_options options = {
        .ops = &source_simulated, .source = {.arg = "1xT4"}, .memory_limit_bytes = 1};
    struct answers answers = ask(&options, 3);
    CHECK_INT(answers.code, -ENOMEM);
    CHECK_INT(answers.count, 2);
    answers_fini(&answers);
}

TEST(nonsense_ends_it)
{
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    OWN_FD int ours = ends[0];
    OWN_FD int theirs = ends[1];
    struct driver_options options = {.ops = &source_simulated, .source = {.arg = "1xT4"}};
    struct err err = {0};
    CHECK_INT(send(ours, "GET / HTTP/1.1", 14, 0), 14);
    CHECK_INT(driver_run(theirs, &options, &err), -EPROTO);
    /* A greeting is a frame, but no request. */
    OWN_BUF struct buf frame = {0};
    frame_format_trouble(1, -EIO, "", &frame);
    CHECK(send(ours, frame.data, frame.length, 0) > 0);
    CHECK(driver_run(theirs, &options, &err) < 0);
}

/* A command line and back. */
TEST(the_command_line_says_everything)
{
    struct driver_options given = {.ops = &source_nvidia_smi,
                                   .source = {.arg = "/opt/n smi=1",
                                              .visible = "",
                                              .depth = SOURCE_UTILIZATION,
                                              .deadline_ns = 1234},
                                   .memory_limit_bytes = 99};
    char **argv = driver_argv("/usr/bin/gpumanager", &given);
    int argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    CHECK_TEXT(argv[0], "/usr/bin/gpumanager");
    CHECK_TEXT(argv[1], "driver");
    struct driver_options got = {0};
    struct err err = {0};
    CHECK_INT(driver_parse(argc - 2, argv + 2, &got, &err), 0);
    CHECK(got.ops == &source_nvidia_smi);
    CHECK_TEXT(got.source.arg, "/opt/n smi=1");
    CHECK_TEXT(got.source.visible, "");
    CHECK_INT(got.source.depth, SOURCE_UTILIZATION);
    CHECK_INT(got.source.deadline_ns, 1234);
    CHECK_INT(got.memory_limit_bytes, 99);
    CHECK(got.source.is_contained);
    driver_argv_free(argv);
    driver_argv_free(NULL);
    argv = driver_argv("x",
                       &(struct driver_options){.ops = &source_nvml, .source.depth = SOURCE_FULL});
    CHECK_INT(driver_parse(3, argv + 2, &got, &err), 0);
    CHECK(got.source.arg == NULL && got.source.visible == NULL);
    CHECK_INT(got.source.depth, SOURCE_FULL);
    driver_argv_free(argv);
}

TEST(a_wrong_command_line_is_refused)
{
    struct driver_options got = {0};
    struct err err = {0};
    static const char *const wrong[] = {"arg",           "depth=deep",          "deadline_ns=-1",
                                        "deadline_ns=x", "memory_limit_bytes=", "visib=1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        char name[] = "NVML";
        char *word = strdup(wrong[i]);
        char *argv[] = {name, word};
        CHECK_INT(driver_parse(2, argv, &got, &err), -EINVAL);
        CHECK(strstr(err.text, wrong[i]) != NULL);
        free(word);
    }
    char other[] = "cuda";
    char *argv[] = {other};
    CHECK_INT(driver_parse(1, argv, &got, &err), -EINVAL);
    CHECK_INT(driver_parse(0, argv, &got, &err), -EINVAL);
}

/* NVML and nvidia-smi through the whole of it, by the fakes. */
TEST(the_real_sources_answer)
{
    play_smi(1);
    play_text("gpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu 10\nend\n");
    static const struct source_ops *const all[] = {&source_nvml, &source_nvidia_smi};
    for (size_t i = 0; i < 2; i++) {
        struct driver_options options = {.ops = all[i], .source.depth = SOURCE_FULL};
        struct answers answers = ask(&options, 2);
        REQUIRE(answers.count == 3 && answers.frame[2].snapshot != NULL);
        REQUIRE(answers.frame[2].snapshot->gpu_count == 1);
        const struct gpu *gpu = answers.frame[2].snapshot->gpu;
        CHECK_NEAR(gpu->value[METRIC_UTILIZATION], 0.1, 1e-9);
        CHECK_TEXT(gpu->uuid, "GPU-a");
        answers_fini(&answers);
    }
    play_end();
}

MAIN(RUN(whole_machines_arrive_to_the_last_bit), RUN(only_what_is_visible_is_sent),
     RUN(a_source_that_cannot_be_opened_is_not_tried_each_time),
     RUN(a_process_that_holds_too_much_ends_after_its_answer), RUN(nonsense_ends_it),
     RUN(the_command_line_says_everything), RUN(a_wrong_command_line_is_refused),
     RUN(the_real_sources_answer))
