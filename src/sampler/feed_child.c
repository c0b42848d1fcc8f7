/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "sampler/feed_child.h"

#include "sampler/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS_MOST 65536

/* Where the kernel cannot (before 5.9), one by one. */
static void close_from(unsigned first)
{
    if (close_range(first, ~0U, 0) == 0) {
        return;
    }
    for (int fd = (int)first; fd < DESCRIPTORS_MOST; fd++) {
        (void)close(fd);
    }
}

/* Only what a signal handler may call: other threads may have held any lock at the fork. */
static void become_driver(int fd, pid_t parent)
{
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    /* dup2 onto itself would leave the descriptor to be closed by exec. */
    if (fd == DRIVER_FD ? fcntl(fd, F_SETFD, 0) != 0 : dup2(fd, DRIVER_FD) < 0) {
        _exit(1);
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0) {
        _exit(1);
    }
    close_from(DRIVER_FD + 1);
    for (int i = 1; i < NSIG; i++) {
        (void)signal(i, SIG_DFL);
    }
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

int feed_child_start(const struct feed_child *child, int *fd, pid_t *pid, struct err *err)
{
    int ends[2] = {-1, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        return err_errno(err, -errno, "cannot make a socket");
    }
    /* A signal between fork and exec must not run our handlers in the child. */
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t parent = getpid();
    pid_t started = fork();
    if (started == 0) {
        become_driver(ends[1], parent);
        if (child->run != NULL) {
            _exit(child->run(DRIVER_FD, child->arg));
        }
        (void)execv(child->argv[0], (char *const *)(uintptr_t)child->argv);
        _exit(127);
    }
    int code = started < 0 ? -errno : 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    (void)close(ends[1]);
    if (code != 0) {
        (void)close(ends[0]);
        return err_errno(err, code, "cannot start a process");
    }
    /* Both do it, so that it is done whoever comes first. */
    (void)setpgid(started, started);
    *fd = ends[0];
    *pid = started;
    return 0;
}

void feed_child_say_end(const siginfo_t *end, char *out, size_t size)
{
    if (end->si_code == CLD_EXITED) {
        (void)snprintf(out, size, "ended with exit status %d", end->si_status);
        return;
    }
    const char *name = sigdescr_np(end->si_status);
    (void)snprintf(out, size, "was ended by signal %d (%s)", end->si_status,
                   name != NULL ? name : "unknown");
}
