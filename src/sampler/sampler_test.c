/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One take: which source is asked, how they complete each other, and what a deadline does. */
#include "sampler/sampler.h"

#include "base/clock.h"

#include "tests/check.h"
#include "tests/play.h"

#include <errno.h>

static struct snapshot *take(const struct sampler_options *options, struct err *err, int *code)
{
    struct sampler *sampler = NULL;
    struct snapshot *snapshot = NULL;
    *code = sampler_open(&sampler, options, err);
    if (*code == 0) {
        *code = sampler_take(sampler, &snapshot, err);
    }
    sampler_close(sampler);
    return snapshot != NULL ? snapshot : snapshot_new(0);
}

#define TWO_GPUS                                                                                   \
    "gpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu 10\nend\n"                              \
    "gpu\n index 1\n uuid GPU-b\n name B\n utilization.gpu 20\nend\n"

static int smi_calls(const char *log)
{
    FILE *file = fopen(log, "r");
    char line[4096];
    int count = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        count++;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return count;
}

TEST(nvml_alone_is_asked_when_it_knows_everything)
{
    char log[64];
    (void)snprintf(log, sizeof log, "/tmp/gpumanager-smilog-%d", (int)getpid());
    (void)setenv("FAKE_SMI_LOG", log, 1);
    (void)unlink(log);
    play_smi(1);
    play_text(TWO_GPUS);
    struct err err = {0};
    int code = 0;
    struct snapshot *snapshot = take(&(struct sampler_options){0}, &err, &code);
    CHECK_INT(code, 0);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_TEXT(snapshot->gpu[0].source, "nvml");
    CHECK_INT(smi_calls(log), 0);
    snapshot_unref(snapshot);
    /* GH-022 */
    snapshot = take(&(struct sampler_options){.is_smi_forced = true}, &err, &code);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_TEXT(snapshot->gpu[0].source, "nvidia-smi");
    CHECK_INT(smi_calls(log), 1);
    snapshot_unref(snapshot);
    (void)unsetenv("FAKE_SMI_LOG");
    (void)unlink(log);
}

/* GH-030, by UUID and not by index */
TEST(what_nvml_lacks_comes_from_nvidia_smi)
{
    play_smi(1);
    play_text(TWO_GPUS "0 nvmlDeviceGetUtilizationRates -> 3\n");
    struct err err = {0};
    int code = 0;
    struct snapshot *snapshot = take(&(struct sampler_options){0}, &err, &code);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_NEAR(snapshot->gpu[0].value[METRIC_UTILIZATION], 0.1, 1e-9);
    CHECK_TEXT(snapshot->gpu[0].source, "nvml+smi");
    CHECK_TEXT(snapshot->gpu[1].source, "nvml");
    snapshot_unref(snapshot);
}

TEST(a_gpu_that_neither_knows_is_not_asked_about_every_time)
{
    char log[64];
    (void)snprintf(log, sizeof log, "/tmp/gpumanager-smilog-%d", (int)getpid());
    (void)setenv("FAKE_SMI_LOG", log, 1);
    (void)unlink(log);
    play_smi(1);
    play_text("gpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu [N/A]\nend\n");
    struct sampler *sampler = NULL;
    REQUIRE(sampler_open(&sampler, &(struct sampler_options){0}, NULL) == 0);
    for (int i = 0; i < 5; i++) {
        struct snapshot *snapshot = NULL;
        CHECK_INT(sampler_take(sampler, &snapshot, NULL), 0);
        snapshot_unref(snapshot);
    }
    sampler_close(sampler);
    CHECK_INT(smi_calls(log), 1);
    (void)unsetenv("FAKE_SMI_LOG");
    (void)unlink(log);
}

TEST(an_nvml_that_hangs_is_given_up_and_nvidia_smi_answers)
{
    play_smi(1);
    play_text(TWO_GPUS "1 nvmlDeviceGetUtilizationRates -> hang\n");
    struct err err = {0};
    int code = 0;
    int64_t start = clock_mono_ns();
    struct snapshot *snapshot =
        take(&(struct sampler_options){.deadline_ns = 3 * NS_PER_S}, &err, &code);
    CHECK_INT(code, 0);
    CHECK(clock_mono_ns() - start < 5 * NS_PER_S);
    REQUIRE(snapshot->gpu_count == 2);
    CHECK_TEXT(snapshot->gpu[1].source, "nvidia-smi");
    snapshot_unref(snapshot);
    play_end();
}

/* Case NS13 */
TEST(when_everything_hangs_the_take_ends_at_its_deadline)
{
    play_smi(1);
    play_text("hang\n" TWO_GPUS);
    struct err err = {0};
    int code = 0;
    int64_t start = clock_mono_ns();
    snapshot_unref(
        take(&(struct sampler_options){.is_smi_forced = true, .deadline_ns = 2 * NS_PER_S}, &err,
             &code));
    CHECK_INT(code, -ETIMEDOUT);
    CHECK(clock_mono_ns() - start < 5 * NS_PER_S);
    CHECK(strstr(err.text, "did not answer") != NULL);
}

TEST(the_error_names_everything_that_was_tried)
{
    play_smi(0);
    play_text("* nvmlInit_v2 -> 9\n");
    struct err err = {0};
    int code = 0;
    snapshot_unref(
        take(&(struct sampler_options){.nvidia_smi_path = "/nonexistent/smi"}, &err, &code));
    CHECK_INT(code, -ENODEV);
    CHECK(strstr(err.text, "the driver is not loaded") != NULL);
    CHECK(strstr(err.text, "/nonexistent/smi") != NULL);
}

/* GH-026 */
TEST(only_visible_gpus_are_in_the_snapshot)
{
    play_smi(1);
    play_text(TWO_GPUS);
    struct err err = {0};
    int code = 0;
    struct snapshot *snapshot = take(&(struct sampler_options){.visible = "GPU-b"}, &err, &code);
    REQUIRE(snapshot->gpu_count == 1);
    CHECK_INT(snapshot->gpu[0].index, 1);
    snapshot_unref(snapshot);
}

TEST(a_simulated_machine_needs_no_driver)
{
    struct err err = {0};
    int code = 0;
    struct snapshot *snapshot =
        take(&(struct sampler_options){.simulate = "2xH100", .depth = SOURCE_FULL}, &err, &code);
    CHECK_INT(code, 0);
    CHECK_INT(snapshot->gpu_count, 2);
    snapshot_unref(snapshot);
    snapshot_unref(take(&(struct sampler_options){.simulate = "2xH1OO"}, &err, &code));
    CHECK_INT(code, -EINVAL);
    CHECK(strstr(err.text, "did you mean 'H100'") != NULL);
    snapshot_unref(take(&(struct sampler_options){.replay = "/nonexistent"}, &err, &code));
    CHECK_INT(code, -EINVAL);
}

/* A thread that hangs keeps the fake library loaded, so the tests with hangs come last. */
MAIN(RUN(nvml_alone_is_asked_when_it_knows_everything), RUN(what_nvml_lacks_comes_from_nvidia_smi),
     RUN(a_gpu_that_neither_knows_is_not_asked_about_every_time),
     RUN(the_error_names_everything_that_was_tried), RUN(only_visible_gpus_are_in_the_snapshot),
     RUN(a_simulated_machine_needs_no_driver),
     RUN(when_everything_hangs_the_take_ends_at_its_deadline),
     RUN(an_nvml_that_hangs_is_given_up_and_nvidia_smi_answers))
