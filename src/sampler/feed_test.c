/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Real child processes with a source that does what the test wants at the moment, and with the fake
 * driver. Nothing is measured more closely than "before the test loses patience". */
#include "sampler/feed.h"

#include "sampler/driver.h"

#include "base/clock.h"
#include "model/frame.h"

#include "tests/check.h"
#include "tests/play.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define PATIENCE_NS (20 * NS_PER_S)
#define MS NS_PER_MS

enum mode { MODE_GOOD, MODE_TROUBLE, MODE_HANG, MODE_CRASH, MODE_EXIT };

/* What test and children both see. */
struct shared {
    volatile int mode, reads, descriptors;
    volatile pid_t pid;
};

static struct shared *shared;

static int scripted_open(struct source **out, const struct source_options *options, struct err *err)
{
    (void)options;
    (void)err;
    static struct source source;
    *out = &source;
    return 0;
}

static int scripted_read(struct source *source, int64_t now_ns, struct snapshot **out,
                         struct err *err)
{
    (void)source;
    shared->reads++;
    shared->pid = getpid();
    while (shared->mode == MODE_HANG) {
        (void)poll(NULL, 0, 1000);
    }
    if (shared->mode == MODE_CRASH) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)raise(SIGSEGV);
    }
    if (shared->mode == MODE_EXIT) {
        _exit(3);
    }
    if (shared->mode == MODE_TROUBLE) {
        return err_set(err, -EIO, "the driver says no");
    }
    *out = snapshot_new(now_ns);
    (void)snapshot_add_gpu(*out);
    return 0;
}

static void scripted_close(struct source *source)
{
    (void)source;
}

static const struct source_ops scripted = {"scripted", scripted_open, scripted_read,
                                           scripted_close};

static int serve(int fd, void *arg)
{
    const struct source_ops *ops = arg;
    struct driver_options options = {.ops = ops,
                                     .source = {.depth = SOURCE_FULL, .is_contained = true}};
    return driver_run(fd, &options, NULL) == 0 ? 0 : 1;
}

static int serve_scripted(int fd, void *arg)
{
    (void)arg;
    return serve(fd, (void *)(uintptr_t)&scripted);
}

struct heard {
    int snapshots, troubles, code;
    size_t gpus;
    char sentence[ERR_TEXT_SIZE];
};

static void hear_snapshot(void *arg, struct snapshot *snapshot)
{
    struct heard *heard = arg;
    heard->snapshots++;
    heard->gpus = snapshot->gpu_count;
    snapshot_unref(snapshot);
}

static void hear_trouble(void *arg, int code, const char *sentence)
{
    struct heard *heard = arg;
    heard->troubles++;
    heard->code = code;
    (void)snprintf(heard->sentence, sizeof heard->sentence, "%s", sentence);
}

static struct feed *open_feed(struct heard *heard, int (*run)(int, void *), int64_t deadline_ns)
{
    struct feed_options options = {.name = "scripted",
                                   .run = run,
                                   .run_arg = (void *)(uintptr_t)&source_nvml,
                                   .handler = {hear_snapshot, hear_trouble, heard},
                                   .interval_ns = 10 * MS,
                                   .deadline_ns = deadline_ns,
                                   .first_deadline_ns = deadline_ns,
                                   .pause_first_ns = 5 * MS};
    struct feed *feed = NULL;
    CHECK_INT(feed_open(&feed, &options, NULL), 0);
    *heard = (struct heard){0};
    shared->mode = MODE_GOOD;
    shared->reads = 0;
    return feed;
}

static void step(struct feed *feed)
{
    int64_t next_ns = feed_tick(feed, clock_mono_ns());
    int64_t wait_ms = (next_ns - clock_mono_ns()) / MS;
    struct pollfd polled = {.fd = feed_fd(feed), .events = POLLIN};
    int wait = wait_ms < 0 ? 0 : wait_ms > 5 ? 5 : (int)wait_ms + 1;
    if (poll(&polled, 1, wait) > 0) {
        feed_on_readable(feed, clock_mono_ns());
    }
}

/* Plays the event loop until the claim holds; a claim that never does fails the test. */
#define PLAY(feed, claim)                                                                          \
    do {                                                                                           \
        int64_t end_ns = clock_mono_ns() + PATIENCE_NS;                                            \
        while (!(claim) && clock_mono_ns() < end_ns) {                                             \
            step(feed);                                                                            \
        }                                                                                          \
        CHECK(claim);                                                                              \
    } while (0)

static bool is_gone(pid_t pid)
{
    return kill(pid, 0) != 0 && errno == ESRCH;
}

/* On a busy machine a killed process may outlive feed_close. */
static bool ends(pid_t pid)
{
    int64_t end_ns = clock_mono_ns() + PATIENCE_NS;
    while (!is_gone(pid) && clock_mono_ns() < end_ns) {
        (void)waitpid(pid, NULL, WNOHANG);
        clock_sleep_ns(MS);
    }
    return is_gone(pid);
}

TEST(a_source_is_read_at_its_interval)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
    CHECK_INT(feed_status(feed).state, FEED_STARTING);
    int fd = feed_fd(feed);
    PLAY(feed, heard.snapshots >= 3);
    CHECK_INT(heard.gpus, 1);
    CHECK_INT(heard.troubles, 0);
    struct feed_status status = feed_status(feed);
    CHECK_INT(status.state, FEED_RUNNING);
    CHECK_INT(status.restarts, 0);
    CHECK(status.pid > 0 && status.answered_ns > 0 && status.took_ns > 0);
    CHECK_TEXT(status.sentence, "");
    /* Nothing is asked beyond what was answered. */
    CHECK(shared->reads <= heard.snapshots + 1);
    CHECK_INT(feed_fd(feed), fd);
    feed_close(feed);
    CHECK(ends(status.pid));
}

TEST(nothing_runs_while_it_is_off)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
    feed_set_interval(feed, 0);
    CHECK(feed_tick(feed, clock_mono_ns()) == INT64_MAX);
    CHECK_INT(feed_status(feed).state, FEED_OFF);
    CHECK_INT(feed_status(feed).pid, -1);
    feed_set_interval(feed, MS);
    PLAY(feed, heard.snapshots >= 2);
    feed_set_interval(feed, 0);
    PLAY(feed, feed_tick(feed, clock_mono_ns()) == INT64_MAX);
    int reads = shared->reads;
    (void)feed_tick(feed, clock_mono_ns() + 3600 * NS_PER_S);
    CHECK_INT(shared->reads, reads);
    feed_close(feed);
}

TEST(what_the_source_cannot_read_is_told_and_costs_no_process)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
    shared->mode = MODE_TROUBLE;
    PLAY(feed, heard.troubles >= 3);
    CHECK_INT(heard.code, -EIO);
    CHECK_TEXT(heard.sentence, "the driver says no");
    CHECK_TEXT(feed_status(feed).sentence, "the driver says no");
    CHECK_INT(feed_status(feed).state, FEED_RUNNING);
    CHECK_INT(feed_status(feed).restarts, 0);
    shared->mode = MODE_GOOD;
    PLAY(feed, heard.snapshots >= 1);
    CHECK_TEXT(feed_status(feed).sentence, "");
    feed_close(feed);
}

/* What follows a child that was given up: trouble, another child, snapshots. */
static void check_recovery(struct feed *feed, struct heard *heard, pid_t old)
{
    CHECK(feed_status(feed).state == FEED_SILENT);
    shared->mode = MODE_GOOD;
    int before = heard->snapshots;
    PLAY(feed, heard->snapshots > before);
    struct feed_status status = feed_status(feed);
    CHECK_INT(status.state, FEED_RUNNING);
    CHECK(status.restarts >= 1);
    CHECK(status.pid != old);
    PLAY(feed, feed_status(feed).stuck_count == 0);
    CHECK(is_gone(old));
}

TEST(a_read_that_hangs_is_given_up_and_its_process_replaced)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, 300 * MS);
    PLAY(feed, heard.snapshots >= 1);
    pid_t old = feed_status(feed).pid;
    int64_t answered_ns = feed_status(feed).answered_ns;
    shared->mode = MODE_HANG;
    heard.code = 0;
    PLAY(feed, heard.code == -ETIMEDOUT);
    CHECK(strstr(heard.sentence, "scripted: the process that reads it did not answer within 0.") !=
          NULL);
    CHECK(feed_status(feed).answered_ns >= answered_ns);
    check_recovery(feed, &heard, old);
    feed_close(feed);
}

TEST(a_frozen_process_is_replaced)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, 300 * MS);
    PLAY(feed, heard.snapshots >= 1);
    pid_t old = feed_status(feed).pid;
    (void)kill(old, SIGSTOP);
    heard.code = 0;
    PLAY(feed, heard.code == -ETIMEDOUT);
    check_recovery(feed, &heard, old);
    feed_close(feed);
}

TEST(a_crash_in_a_library_is_told_and_its_process_replaced)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
    PLAY(feed, heard.snapshots >= 1);
    pid_t old = feed_status(feed).pid;
    shared->mode = MODE_CRASH;
    PLAY(feed, heard.code == -EPIPE);
    CHECK(strstr(heard.sentence, "was ended by signal 11 (Segmentation fault)") != NULL);
    check_recovery(feed, &heard, old);
    shared->mode = MODE_EXIT;
    heard.code = 0;
    PLAY(feed, heard.code == -EPIPE);
    CHECK(strstr(heard.sentence, "ended with exit status 3") != NULL);
    feed_close(feed);
}

/* Between two looks at a process that keeps crashing the pause doubles. */
TEST(a_process_that_keeps_crashing_is_started_less_and_less_often)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
    shared->mode = MODE_EXIT;
    int64_t start_ns = clock_mono_ns();
    PLAY(feed, heard.troubles >= 6);
    /* 5 + 10 + 20 + 40 + 80 */
    CHECK(clock_mono_ns() - start_ns >= 155 * MS);
    feed_close(feed);
}

static int speak_garbage(int fd, void *arg)
{
    (void)arg;
    static const char text[] = "Traceback (most recent call last):\n";
    (void)!send(fd, text, sizeof text, MSG_NOSIGNAL);
    (void)poll(NULL, 0, 100000);
    return 0;
}

/* A greeting of the size of a film, and no end. */
static int speak_endlessly(int fd, void *arg)
{
    (void)arg;
    static char zeros[65536];
    (void)!send(fd, "\x00\x00\x00\x01\x01\x01\x00\x00", 8, MSG_NOSIGNAL);
    while (send(fd, zeros, sizeof zeros, MSG_NOSIGNAL) > 0) {
    }
    return 0;
}

static int speak_unasked(int fd, void *arg)
{
    (void)arg;
    OWN_BUF struct buf out = {0};
    frame_format_greeting("x", &out);
    frame_format_trouble(1, -EIO, "x", &out);
    frame_format_trouble(1, -EIO, "x", &out);
    (void)!send(fd, out.data, out.length, MSG_NOSIGNAL);
    (void)poll(NULL, 0, 100000);
    return 0;
}

TEST(a_process_that_speaks_nonsense_is_replaced)
{
    struct {
        int (*run)(int, void *);
        const char *said;
    } cases[] = {{speak_garbage, "cannot be understood (what came is no frame)"},
                 {speak_endlessly, "cannot be understood (frames of version 0"},
                 {speak_unasked, "said what it was not asked"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct heard heard = {0};
        struct feed *feed = open_feed(&heard, cases[i].run, PATIENCE_NS);
        PLAY(feed, heard.code == -EPROTO);
        CHECK(strstr(heard.sentence, cases[i].said) != NULL);
        PLAY(feed, feed_status(feed).restarts >= 1);
        feed_close(feed);
    }
}

static struct feed *open_program(struct heard *heard, const char *const *argv, int64_t deadline_ns)
{
    struct feed_options options = {.name = "program",
                                   .argv = argv,
                                   .handler = {hear_snapshot, hear_trouble, heard},
                                   .interval_ns = 10 * MS,
                                   .deadline_ns = deadline_ns,
                                   .first_deadline_ns = deadline_ns,
                                   .pause_first_ns = 5 * MS};
    struct feed *feed = NULL;
    CHECK_INT(feed_open(&feed, &options, NULL), 0);
    *heard = (struct heard){0};
    return feed;
}

TEST(a_program_that_is_none_of_ours_is_told)
{
    struct heard heard = {0};
    struct feed *feed =
        open_program(&heard, (const char *const[]){"/nonexistent", NULL}, PATIENCE_NS);
    PLAY(feed, heard.troubles >= 1);
    CHECK(strstr(heard.sentence, "ended with exit status 127") != NULL);
    feed_close(feed);
    feed = open_program(&heard, (const char *const[]){"/bin/sleep", "100", NULL}, 100 * MS);
    PLAY(feed, heard.code == -ETIMEDOUT);
    feed_close(feed);
}

static int ignore_the_end(int fd, void *arg)
{
    (void)signal(SIGTERM, SIG_IGN);
    return serve_scripted(fd, arg);
}

TEST(processes_that_do_not_end_are_counted_and_limited)
{
    struct heard heard = {0};
    struct feed_options options = {.name = "scripted",
                                   .run = ignore_the_end,
                                   .handler = {hear_snapshot, hear_trouble, &heard},
                                   .interval_ns = 10 * MS,
                                   .deadline_ns = 200 * MS,
                                   .first_deadline_ns = 200 * MS,
                                   .pause_first_ns = MS,
                                   .kill_signal = SIGTERM};
    shared->mode = MODE_HANG;
    struct feed *feed = NULL;
    REQUIRE(feed_open(&feed, &options, NULL) == 0);
    PLAY(feed, heard.code == -EBUSY);
    CHECK(strstr(heard.sentence, "no process is started: 4 earlier processes still hang") != NULL);
    struct feed_status status = feed_status(feed);
    CHECK_INT(status.stuck_count, FEED_STUCK_MAX);
    CHECK_INT(status.state, FEED_SILENT);
    for (int i = 0; i < status.stuck_count; i++) {
        CHECK(!is_gone(status.stuck[i]));
        (void)kill(status.stuck[i], SIGKILL);
    }
    shared->mode = MODE_GOOD;
    PLAY(feed, heard.snapshots >= 1);
    PLAY(feed, feed_status(feed).stuck_count == 0);
    feed_close(feed);
}

TEST(closing_does_not_wait_for_a_process_that_does_not_end)
{
    struct heard heard = {0};
    struct feed_options options = {.name = "scripted",
                                   .run = ignore_the_end,
                                   .handler = {hear_snapshot, hear_trouble, &heard},
                                   .interval_ns = MS,
                                   .deadline_ns = PATIENCE_NS,
                                   .kill_signal = SIGTERM};
    shared->mode = MODE_HANG;
    int reads = shared->reads;
    struct feed *feed = NULL;
    REQUIRE(feed_open(&feed, &options, NULL) == 0);
    PLAY(feed, shared->reads > reads);
    pid_t pid = feed_status(feed).pid;
    int64_t start_ns = clock_mono_ns();
    feed_close(feed);
    /* The promise is 100 ms; the rest is for a busy machine. */
    CHECK(clock_mono_ns() - start_ns < 1000 * MS);
    CHECK(!is_gone(pid));
    (void)kill(pid, SIGKILL);
    CHECK_INT(waitpid(pid, NULL, 0), pid);
}

static int count_descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL) {
        count++;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return count - 3; /* ".", ".." and the folder's own */
}

static int tell_descriptors(int fd, void *arg)
{
    shared->descriptors = count_descriptors();
    return serve_scripted(fd, arg);
}

TEST(a_child_inherits_its_socket_and_stderr_and_nothing_is_left_open)
{
    int before = count_descriptors();
    int listening = socket(AF_UNIX, SOCK_STREAM, 0);
    int high = fcntl(listening, F_DUPFD, 500);
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, tell_descriptors, 300 * MS);
    PLAY(feed, heard.snapshots >= 1);
    CHECK_INT(shared->descriptors, 4);
    shared->mode = MODE_CRASH;
    PLAY(feed, heard.troubles >= 2);
    shared->mode = MODE_HANG;
    heard.code = 0;
    PLAY(feed, heard.code == -ETIMEDOUT);
    feed_close(feed);
    feed_close(NULL);
    (void)close(listening);
    (void)close(high);
    CHECK_INT(count_descriptors(), before);
}

/* The daemon between, which is killed, and its child, which hangs in a read. */
TEST(a_child_ends_with_the_daemon)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    shared->pid = 0;
    pid_t daemon = fork();
    if (daemon == 0) {
        struct heard heard = {0};
        struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
        shared->mode = MODE_HANG;
        for (;;) {
            step(feed);
        }
    }
    int64_t end_ns = clock_mono_ns() + PATIENCE_NS;
    while (shared->pid == 0 && clock_mono_ns() < end_ns) {
        clock_sleep_ns(MS);
    }
    CHECK(shared->pid != 0);
    (void)kill(daemon, SIGKILL);
    CHECK_INT(waitpid(daemon, NULL, 0), daemon);
    int status = 0;
    pid_t got = 0;
    while (got == 0 && clock_mono_ns() < end_ns) {
        got = waitpid(shared->pid, &status, WNOHANG);
        clock_sleep_ns(MS);
    }
    CHECK_INT(got, shared->pid);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(an_answer_in_time_counts_although_the_loop_was_late)
{
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_scripted, PATIENCE_NS);
    PLAY(feed, heard.snapshots >= 1);
    int64_t end_ns = clock_mono_ns() + PATIENCE_NS;
    int reads = shared->reads;
    while (shared->reads == reads && clock_mono_ns() < end_ns) {
        (void)feed_tick(feed, clock_mono_ns());
        clock_sleep_ns(MS);
    }
    struct pollfd polled = {.fd = feed_fd(feed), .events = POLLIN};
    CHECK(poll(&polled, 1, 20000) == 1);
    (void)feed_tick(feed, clock_mono_ns() + 3600 * NS_PER_S);
    CHECK_INT(heard.troubles, 0);
    CHECK(heard.snapshots >= 2);
    feed_close(feed);
}

#define ONE_GPU "gpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu 10\nend\n"

TEST(a_call_into_nvml_that_hangs_is_given_up)
{
    play_text(ONE_GPU "0 nvmlDeviceGetUtilizationRates -> hang\n");
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve, 1500 * MS);
    PLAY(feed, heard.code == -ETIMEDOUT);
    CHECK_INT(heard.snapshots, 0);
    play_text(ONE_GPU);
    PLAY(feed, heard.snapshots >= 1);
    CHECK_INT(heard.gpus, 1);
    feed_close(feed);
    play_end();
}

static int serve_smi(int fd, void *arg)
{
    (void)arg;
    shared->pid = getpid();
    return serve(fd, (void *)(uintptr_t)&source_nvidia_smi);
}

/* nvidia-smi is a child of the child, and must not outlive it. */
TEST(an_nvidia_smi_that_hangs_goes_with_its_driver)
{
    play_smi(1);
    play_text("hang\n" ONE_GPU);
    struct heard heard = {0};
    struct feed *feed = open_feed(&heard, serve_smi, 1000 * MS);
    PLAY(feed, heard.code == -ETIMEDOUT);
    pid_t group = shared->pid;
    int64_t end_ns = clock_mono_ns() + PATIENCE_NS;
    feed_close(feed);
    /* Who was reparented is a zombie until init looks; so we look for it in the meantime. */
    while (!(kill(-group, 0) != 0 && errno == ESRCH) && clock_mono_ns() < end_ns) {
        (void)waitpid(-group, NULL, WNOHANG);
        clock_sleep_ns(MS);
    }
    CHECK(kill(-group, 0) != 0);
    play_end();
}

TEST(tests_and_children_share_memory)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
}

MAIN(RUN(tests_and_children_share_memory), RUN(a_source_is_read_at_its_interval),
     RUN(nothing_runs_while_it_is_off),
     RUN(what_the_source_cannot_read_is_told_and_costs_no_process),
     RUN(a_read_that_hangs_is_given_up_and_its_process_replaced), RUN(a_frozen_process_is_replaced),
     RUN(a_crash_in_a_library_is_told_and_its_process_replaced),
     RUN(a_process_that_keeps_crashing_is_started_less_and_less_often),
     RUN(a_process_that_speaks_nonsense_is_replaced), RUN(a_program_that_is_none_of_ours_is_told),
     RUN(processes_that_do_not_end_are_counted_and_limited),
     RUN(closing_does_not_wait_for_a_process_that_does_not_end),
     RUN(a_child_inherits_its_socket_and_stderr_and_nothing_is_left_open),
     RUN(a_child_ends_with_the_daemon), RUN(an_answer_in_time_counts_although_the_loop_was_late),
     RUN(a_call_into_nvml_that_hangs_is_given_up),
     RUN(an_nvidia_smi_that_hangs_goes_with_its_driver))
