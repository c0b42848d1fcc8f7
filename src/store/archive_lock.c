/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/own.h"
#include "store/archive_day.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

#define LOCK_NAME "lock"
#define LOCK_WAIT_NS (20 * NS_PER_MS)
#define LOCK_SHARED_TRIES 250
#define LOCK_EXCLUSIVE_TRIES 3000

/* Waits by asking again: a lock that somebody keeps must not keep us for ever. */
static int lock(int fd, int how, int tries)
{
    for (int i = 0; i < tries; i++) {
        if (flock(fd, how | LOCK_NB) == 0) {
            return 0;
        }
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return -errno;
        }
        clock_sleep_ns(LOCK_WAIT_NS);
    }
    return -EWOULDBLOCK;
}

int archive_lock_shared(int csv_dir_fd)
{
    OWN_FD int fd = openat(csv_dir_fd, ".gpumanager/" LOCK_NAME,
                           O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || lock(fd, LOCK_SH, LOCK_SHARED_TRIES) != 0) {
        return -1;
    }
    return MOVE_FD(fd);
}

int archive_lock_exclusive(int csv_dir_fd, struct err *err)
{
    OWN_FD int folder = archive_open_own(csv_dir_fd, NULL);
    if (folder < 0) {
        return err_errno(err, folder, "cannot make .gpumanager in the CSV folder");
    }
    OWN_FD int fd = openat(folder, LOCK_NAME, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
    int code = fd < 0 ? -errno : lock(fd, LOCK_EX, LOCK_EXCLUSIVE_TRIES);
    if (code != 0) {
        return err_errno(err, code, "cannot lock the CSV folder for a change");
    }
    return MOVE_FD(fd);
}
