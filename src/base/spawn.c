/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/spawn.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define DEADLINE_DEFAULT_NS (10 * NS_PER_S)
#define OUTPUT_LIMIT_DEFAULT ((size_t)1024 * 1024)
#define SEARCH_PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

extern char **environ;

void spawn_result_fini(struct spawn_result *result)
{
    buf_fini(&result->out);
    buf_fini(&result->error);
}

char *spawn_find(const char *name, const char *directories)
{
    struct span rest = span_of(directories);
    struct span part;
    while (span_cut(&rest, ':', &part)) {
        if (part.length == 0 || part.data[0] != '/') {
            continue;
        }
        OWN_FREE char *path = mem_format("%.*s/%s", (int)part.length, part.data, name);
        struct stat status;
        if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0) {
            return MOVE(path);
        }
    }
    return NULL;
}

struct pipes {
    int input[2], out[2], error[2];
};

static void close_end(int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
        *fd = -1;
    }
}

static void pipes_fini(struct pipes *pipes)
{
    for (int i = 0; i < 2; i++) {
        close_end(&pipes->input[i]);
        close_end(&pipes->out[i]);
        close_end(&pipes->error[i]);
    }
}

static int pipes_open(struct pipes *pipes, const struct spawn *spawn)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
    if (spawn->input != NULL && pipe2(pipes->input, O_CLOEXEC) != 0) {
        return -errno;
    }
    if (!spawn->is_inherited &&
        (pipe2(pipes->out, O_CLOEXEC) != 0 || pipe2(pipes->error, O_CLOEXEC) != 0)) {
        return -errno;
    }
    return 0;
}

/* A child that speaks to the terminal (sudo asking for a password) stays in our group. */
static bool is_leader(const struct spawn *spawn)
{
    return !spawn->is_inherited && !spawn->is_contained;
}

static int start(const char *path, const struct spawn *spawn, const struct pipes *pipes, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    if (pipes->input[0] >= 0) {
        (void)posix_spawn_file_actions_adddup2(&actions, pipes->input[0], 0);
    } else {
        (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    }
    if (pipes->out[1] >= 0) {
        (void)posix_spawn_file_actions_adddup2(&actions, pipes->out[1], 1);
        (void)posix_spawn_file_actions_adddup2(&actions, pipes->error[1], 2);
    }
    /* A child starts with default signals, whatever this program ignores or blocks. */
    sigset_t all;
    sigset_t none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    short flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    flags = (short)(flags | (is_leader(spawn) ? POSIX_SPAWN_SETPGROUP : 0));
    (void)posix_spawnattr_setflags(&attributes, flags);
    char *const *argv = (char *const *)(uintptr_t)spawn->argv;
    int code = posix_spawn(pid, path, &actions, &attributes, argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return -code;
}

/* Reads what is there; closes the end when the writer is gone. */
static void drain(int *fd, struct buf *to, size_t limit, bool *is_cut)
{
    char bytes[8192];
    ssize_t got = read(*fd, bytes, sizeof bytes);
    if (got <= 0) {
        if (got == 0 || errno != EINTR) {
            close_end(fd);
        }
        return;
    }
    size_t room = to->length < limit ? limit - to->length : 0;
    size_t take = (size_t)got < room ? (size_t)got : room;
    *is_cut = *is_cut || take < (size_t)got;
    buf_add(to, bytes, take);
}

static void feed(int *fd, const char **input)
{
    ssize_t wrote = write(*fd, *input, strlen(*input));
    if (wrote > 0) {
        *input += wrote;
    }
    if ((wrote < 0 && errno != EINTR) || **input == '\0') {
        close_end(fd);
    }
}

static int left_ms(int64_t end_ns)
{
    int64_t left = (end_ns - clock_mono_ns() + NS_PER_MS - 1) / NS_PER_MS;
    return left < 0 ? 0 : (int)left;
}

/* Moves bytes until both outputs are closed; false when the deadline passed first. */
static bool exchange(struct pipes *pipes, const char *input, size_t limit, int64_t end_ns,
                     struct spawn_result *result)
{
    while (pipes->out[0] >= 0 || pipes->error[0] >= 0 || pipes->input[1] >= 0) {
        struct pollfd polled[] = {{.fd = pipes->out[0], .events = POLLIN},
                                  {.fd = pipes->error[0], .events = POLLIN},
                                  {.fd = pipes->input[1], .events = POLLOUT}};
        int wait = left_ms(end_ns);
        int ready = poll(polled, 3, wait);
        if (ready == 0 && left_ms(end_ns) == 0) {
            return false;
        }
        if (ready <= 0) {
            continue;
        }
        if (polled[0].revents != 0) {
            drain(&pipes->out[0], &result->out, limit, &result->is_cut);
        }
        if (polled[1].revents != 0) {
            drain(&pipes->error[0], &result->error, limit, &result->is_cut);
        }
        if (polled[2].revents != 0 && input != NULL) {
            feed(&pipes->input[1], &input);
        }
    }
    return true;
}

/* Waits for the child itself: it may have closed its outputs and gone on. */
static bool reap(pid_t pid, int64_t end_ns, int *status)
{
    int64_t pause_ns = NS_PER_MS / 4;
    for (;;) {
        pid_t got = waitpid(pid, status, WNOHANG);
        if (got == pid || (got < 0 && errno != EINTR)) {
            return true;
        }
        if (left_ms(end_ns) == 0) {
            return false;
        }
        clock_sleep_ns(pause_ns);
        pause_ns = pause_ns < 20 * NS_PER_MS ? pause_ns * 2 : pause_ns;
    }
}

/* What runs now, as kill() takes it; 0 = free. A run that outlives these is only not killed. */
#define RUNNING_MAX 8
static _Atomic pid_t running[RUNNING_MAX];

void spawn_kill_running(void)
{
    for (size_t i = 0; i < RUNNING_MAX; i++) {
        pid_t target = running[i];
        if (target != 0) {
            (void)kill(target, SIGKILL);
        }
    }
}

static void note_running(pid_t target)
{
    static atomic_flag is_registered = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_registered)) {
        (void)atexit(spawn_kill_running);
    }
    for (size_t i = 0; i < RUNNING_MAX; i++) {
        pid_t none = 0;
        if (atomic_compare_exchange_strong(&running[i], &none, target)) {
            return;
        }
    }
}

static void note_ended(pid_t target)
{
    for (size_t i = 0; i < RUNNING_MAX; i++) {
        pid_t expected = target;
        (void)atomic_compare_exchange_strong(&running[i], &expected, 0);
    }
}

/* SIGKILL to the group. A child in uninterruptible sleep does not end; it is left to init. */
static void kill_group(pid_t pid, bool is_group)
{
    (void)kill(is_group ? -pid : pid, SIGKILL);
    int status = 0;
    (void)reap(pid, clock_mono_ns() + NS_PER_S, &status);
}

static char *find_program(const char *name)
{
    if (strchr(name, '/') != NULL) {
        return access(name, X_OK) == 0 ? mem_copy_text(name) : NULL;
    }
    const char *search = getenv("PATH");
    return spawn_find(name, search != NULL ? search : SEARCH_PATH_DEFAULT);
}

int spawn_run(const struct spawn *spawn, struct spawn_result *out, struct err *err)
{
    *out = (struct spawn_result){0};
    const char *name = spawn->argv[0];
    OWN_FREE char *path = find_program(name);
    if (path == NULL) {
        return err_set(err, -ENOENT, "%s not found", name);
    }
    __attribute__((cleanup(pipes_fini))) struct pipes pipes;
    int code = pipes_open(&pipes, spawn);
    pid_t pid = -1;
    code = code == 0 ? start(path, spawn, &pipes, &pid) : code;
    if (code != 0) {
        return err_errno(err, code, "cannot run %s", path);
    }
    close_end(&pipes.input[0]);
    close_end(&pipes.out[1]);
    close_end(&pipes.error[1]);
    int64_t limit_ns = spawn->deadline_ns > 0 ? spawn->deadline_ns : DEADLINE_DEFAULT_NS;
    int64_t end_ns = clock_mono_ns() + limit_ns;
    size_t limit = spawn->output_limit_bytes > 0 ? spawn->output_limit_bytes : OUTPUT_LIMIT_DEFAULT;
    int status = 0;
    pid_t target = is_leader(spawn) ? -pid : pid;
    note_running(target);
    bool is_over = exchange(&pipes, spawn->input, limit, end_ns, out) && reap(pid, end_ns, &status);
    if (!is_over) {
        kill_group(pid, is_leader(spawn));
    }
    note_ended(target);
    if (!is_over) {
        out->is_timed_out = true;
        out->exit_status = 128 + SIGKILL;
        return err_set(err, -ETIMEDOUT, "%s did not answer within %lld s and was killed", path,
                       (long long)(limit_ns / NS_PER_S));
    }
    out->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return 0;
}
