/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "build_config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

#define LEFTOVER_S 3600 /* a temporary file this old belongs to a writer that died */

bool file_fault(const char *step)
{
    static int64_t count;
    const char *hook = HAVE_TEST_HOOKS ? getenv("GPUMANAGER_FAULT") : NULL;
    if (hook == NULL) {
        return false;
    }
    (void)step;
    int64_t wanted = 0;
    bool is_kill = text_starts(hook, "kill:");
    if ((!is_kill && !text_starts(hook, "fail:")) || !text_to_int64(span_of(hook + 5), &wanted)) {
        return false;
    }
    count++;
    if (count != wanted) {
        return false;
    }
    if (is_kill) {
        (void)kill(getpid(), SIGKILL);
    }
    return true;
}

/* Everything from `fd` to its end, or -EFBIG. */
static int read_all(int fd, size_t limit, struct buf *out)
{
    size_t start = out->length;
    for (;;) {
        buf_reserve(out, 16384);
        ssize_t got = read(fd, out->data + out->length, out->capacity - out->length - 1);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return -errno;
        }
        if (got == 0) {
            out->data[out->length] = '\0';
            return 0;
        }
        out->length += (size_t)got;
        if (out->length - start > limit) {
            return -EFBIG;
        }
    }
}

int file_read_at(int dir_fd, const char *name, size_t limit_bytes, struct buf *out, struct err *err)
{
    /* O_NONBLOCK: a FIFO put in our way must not stop us. */
    OWN_FD int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return err_errno(err, -errno, "cannot open %s", name);
    }
    size_t start = out->length;
    int code = read_all(fd, limit_bytes, out);
    if (code == -EFBIG) {
        out->length = start;
        return err_set(err, code, "%s is larger than the %zu bytes we accept", name, limit_bytes);
    }
    if (code != 0) {
        out->length = start;
        return err_errno(err, code, "cannot read %s", name);
    }
    return 0;
}

int file_read(const char *path, size_t limit_bytes, struct buf *out, struct err *err)
{
    return file_read_at(AT_FDCWD, path, limit_bytes, out, err);
}

static int write_all(int fd, const char *data, size_t length)
{
    while (length > 0) {
        if (file_fault("write")) {
            /* Half a write and then a full disk: the worst that can be left behind. */
            (void)!write(fd, data, length / 2);
            return -ENOSPC;
        }
        ssize_t wrote = write(fd, data, length);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0) {
            return -errno;
        }
        data += wrote;
        length -= (size_t)wrote;
    }
    return 0;
}

void file_remove_leftovers(int dir_fd)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    OWN_DIR DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    int64_t now_s = clock_file_ns() / NS_PER_S;
    struct dirent *entry = NULL;
    if (dir == NULL && fd >= 0) {
        (void)close(fd);
    }
    while (dir != NULL && (entry = readdir(dir)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
        struct stat status;
        if (text_starts(entry->d_name, ".tmp-") && strlen(entry->d_name) == 21 &&
            fstatat(dir_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(status.st_mode) && status.st_mtim.tv_sec < now_s - LEFTOVER_S) {
            (void)unlinkat(dir_fd, entry->d_name, 0);
        }
    }
}

/* Opens ".tmp-<random>" in the folder; the name goes to `name`. */
static int open_temporary(int dir_fd, mode_t mode, char name[32])
{
    for (int attempt = 0; attempt < 8; attempt++) {
        uint64_t random = 0;
        if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
            return -errno;
        }
        (void)snprintf(name, 32, ".tmp-%016llx", (unsigned long long)random);
        int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST) {
            return fd >= 0 ? fd : -errno;
        }
    }
    return -EEXIST;
}

static int publish(int dir_fd, const char *temporary, const char *name, enum file_write_mode how)
{
    if (file_fault("rename")) {
        return -ENOSPC;
    }
    if (how == FILE_REPLACE) {
        return renameat(dir_fd, temporary, dir_fd, name) == 0 ? 0 : -errno;
    }
    /* RENAME_NOREPLACE is missing on some filesystems (NFS, FUSE); a link is refused by others. */
    if (renameat2(dir_fd, temporary, dir_fd, name, RENAME_NOREPLACE) == 0) {
        return 0;
    }
    if (errno != EINVAL && errno != ENOSYS) {
        return -errno;
    }
    if (linkat(dir_fd, temporary, dir_fd, name, 0) != 0) {
        return -errno;
    }
    (void)unlinkat(dir_fd, temporary, 0);
    return 0;
}

/* Whoever owned the file keeps it when root replaces it: an edit through sudo must not lock its
 * owner out. */
static int keep_owner(int dir_fd, const char *name, int fd)
{
    struct stat status;
    if (geteuid() != 0 || fstatat(dir_fd, name, &status, 0) != 0) {
        return 0;
    }
    return fchown(fd, status.st_uid, status.st_gid) == 0 ? 0 : -errno;
}

static int write_in_folder(int dir_fd, const char *name, const struct span data, mode_t mode,
                           enum file_write_mode how)
{
    char temporary[32];
    OWN_FD int fd = file_fault("create") ? -ENOSPC : open_temporary(dir_fd, mode, temporary);
    if (fd < 0) {
        return fd;
    }
    int code = write_all(fd, data.data, data.length);
    if (code == 0 && (file_fault("fsync") || fsync(fd) != 0)) {
        code = errno != 0 ? -errno : -EIO;
    }
    if (code == 0 && how == FILE_REPLACE) {
        code = keep_owner(dir_fd, name, fd);
    }
    if (code == 0 && fchmod(fd, mode) != 0) {
        code = -errno;
    }
    code = code == 0 ? publish(dir_fd, temporary, name, how) : code;
    if (code != 0) {
        (void)unlinkat(dir_fd, temporary, 0);
        return code;
    }
    (void)file_fault("fsync folder");
    (void)fsync(dir_fd); /* some filesystems refuse it for a folder; the file itself is safe */
    return 0;
}

int file_write(const char *path, const void *data, size_t length, mode_t mode,
               enum file_write_mode how, struct err *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    OWN_FREE char *folder =
        slash == NULL ? mem_copy_text(".")
                      : span_copy((struct span){path, slash == path ? 1 : (size_t)(slash - path)});
    OWN_FD int dir_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0) {
        return err_errno(err, -errno, "cannot write %s: folder %s", path, folder);
    }
    errno = 0;
    int code = write_in_folder(dir_fd, name, (struct span){data, length}, mode, how);
    if (code != 0) {
        return err_errno(err, code, "cannot write %s", path);
    }
    return 0;
}

int file_write_at(int dir_fd, const char *name, const struct buf *text, mode_t mode,
                  enum file_write_mode how, struct err *err)
{
    errno = 0;
    int code =
        write_in_folder(dir_fd, name, (struct span){buf_string(text), text->length}, mode, how);
    return code == 0 ? 0 : err_errno(err, code, "cannot write %s", name);
}

int file_make_folders(const char *path, mode_t mode, struct err *err)
{
    OWN_FREE char *copy = mem_copy_text(path);
    for (char *at = copy + 1;; at++) {
        if (*at != '/' && *at != '\0') {
            continue;
        }
        char was = *at;
        *at = '\0';
        if (mkdir(copy, mode) != 0 && errno != EEXIST) {
            return err_errno(err, -errno, "cannot make folder %s", copy);
        }
        if (was == '\0') {
            return 0;
        }
        *at = was;
    }
}

/* HOME, or what the system says of the user where there is none, as in a cron job; caller frees. */
static char *home_folder(void)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] != '\0') {
        return mem_copy_text(home);
    }
    char text[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || found == NULL ||
        found->pw_dir == NULL || found->pw_dir[0] != '/') {
        return NULL;
    }
    return mem_copy_text(found->pw_dir);
}

char *file_expand_home(const char *path)
{
    bool is_home = path[0] == '~' && (path[1] == '/' || path[1] == '\0');
    OWN_FREE char *home = is_home ? home_folder() : NULL;
    return home != NULL ? mem_format("%s%s", home, path + 1) : mem_copy_text(path);
}

char *file_rooted(const char *path)
{
    const char *root = HAVE_TEST_HOOKS ? getenv("GPUMANAGER_ROOT") : NULL;
    return mem_format("%s%s", root != NULL ? root : "", path);
}
