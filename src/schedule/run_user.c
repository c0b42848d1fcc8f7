/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/run_user.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENTRY_SIZE_MAX ((size_t)1024 * 1024) /* a directory service may say much of a person */

void run_user_fini(struct run_user *user)
{
    free(user->home);
    *user = (struct run_user){0};
}

/* The account by name, or by number for digits only. *out points into *memory. */
static int look_up(const char *name, struct passwd *entry, char **memory, struct passwd **out)
{
    int64_t uid = -1;
    bool is_number = text_to_int64(span_of(name), &uid) && uid >= 0 && uid < UINT32_MAX;
    for (size_t size = 4096; size <= ENTRY_SIZE_MAX; size *= 4) {
        *memory = mem_resize(*memory, size);
        int code = getpwnam_r(name, entry, *memory, size, out);
        if (code == 0 && *out == NULL && is_number) {
            code = getpwuid_r((uid_t)uid, entry, *memory, size, out);
        }
        if (code != ERANGE) {
            return *out != NULL ? 0 : -ENOENT;
        }
    }
    return -ENOENT;
}

/* Names that systemd refuses ("DOMAIN\user", blanks) are written as their number. */
static bool is_unit_name(const char *name)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_.-";
    size_t length = strlen(name);
    return length > 0 && length < 32 && strspn(name, allowed) == length && name[0] != '-' &&
           name[0] != '.' && (name[0] < '0' || name[0] > '9');
}

static void fill(struct run_user *out, const struct passwd *entry)
{
    OWN_BUF struct buf number = {0};
    buf_format(&number, "%lu", (unsigned long)entry->pw_uid);
    text_copy(out->name, sizeof out->name,
              is_unit_name(entry->pw_name) ? entry->pw_name : buf_string(&number));
    out->uid = entry->pw_uid;
    out->gid = entry->pw_gid;
    out->home = mem_copy_text(entry->pw_dir != NULL ? entry->pw_dir : "/");
}

static bool is_given(const char *name)
{
    return name != NULL && name[0] != '\0';
}

int run_user_find(const char *wanted, const char *pending, struct run_user *out, struct err *err)
{
    char installed[UNIT_USER_SIZE] = "";
    char caller[24];
    OWN_BUF struct buf number = {0};
    buf_format(&number, "%lu", (unsigned long)getuid());
    text_copy(caller, sizeof caller, buf_string(&number));
    const char *by_sudo = geteuid() == 0 ? getenv("SUDO_USER") : NULL;
    const char *name = caller;
    if (is_given(wanted)) {
        name = wanted;
    } else if (is_given(pending)) {
        name = pending;
    } else if (unit_dir_user(installed)) {
        name = installed;
    } else if (is_given(by_sudo) && strcmp(by_sudo, "root") != 0) {
        name = by_sudo;
    }
    struct passwd entry;
    struct passwd *found = NULL;
    char *memory = NULL;
    int code = look_up(name, &entry, &memory, &found);
    if (code == 0) {
        fill(out, found);
    }
    free(memory);
    if (code != 0) {
        return err_set(err, -EINVAL,
                       "there is no account '%.60s' that the services could run as; name one with "
                       "`gpumanager install-systemd --run-user USER`",
                       name);
    }
    return 0;
}

char *run_user_path(const struct run_user *user, const char *path)
{
    OWN_FREE char *home = file_expand_home("~");
    size_t length = strlen(home);
    bool is_below = length > 1 && text_starts(path, home) && path[length] == '/';
    if (!is_below || strcmp(home, user->home) == 0) {
        return NULL;
    }
    return mem_format("%s%s", user->home, path + length);
}

/* In the child: the exit status is the errno of what failed. */
static int become_and_do(const struct run_user *user, int (*step)(const char *arg), const char *arg)
{
    struct passwd entry;
    struct passwd *found = NULL;
    char *memory = NULL;
    if (look_up(user->name, &entry, &memory, &found) != 0 ||
        initgroups(entry.pw_name, user->gid) != 0 ||
        setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0) {
        return EPERM;
    }
    return -step(arg);
}

int run_user_do(const struct run_user *user, int (*step)(const char *arg), const char *arg)
{
    if (user->uid == geteuid()) {
        return step(arg);
    }
    if (geteuid() != 0) {
        return -EPERM;
    }
    pid_t child = fork();
    if (child == 0) {
        _exit(become_and_do(user, step, arg));
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    return child > 0 && WIFEXITED(status) ? -WEXITSTATUS(status) : -EPERM;
}
