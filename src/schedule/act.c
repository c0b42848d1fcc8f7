/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/act.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"
#include "schedule/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_DEADLINE_NS (90 * NS_PER_S)
#define SUDO_DEADLINE_NS (300 * NS_PER_S) /* somebody looks for the password */
#define ARGUMENTS_MAX 600

int act_open(struct act *act, struct err *err)
{
    *act = (struct act){.is_root = geteuid() == 0};
    int code = units_check_systemd(err);
    if (code != 0 || act->is_root) {
        return code;
    }
    const char *search = getenv("PATH");
    OWN_FREE char *sudo = search != NULL ? spawn_find("sudo", search) : NULL;
    return sudo != NULL ? 0 : err_set(err, -ENOENT, "sudo not found");
}

static void join(struct buf *out, const char *const *argv)
{
    for (; *argv != NULL; argv++) {
        buf_format(out, "%s%s", out->length > 0 ? " " : "", *argv);
    }
}

/* "systemctl command failed: systemctl enable x: exit status 1: Access denied" */
static int tell_failure(const char *const *argv, const struct spawn_result *result, struct err *err)
{
    const char *program = strcmp(argv[0], "sudo") == 0 && argv[1] != NULL ? argv[1] : argv[0];
    OWN_BUF struct buf line = {0};
    join(&line, argv);
    struct span said = span_trim(span_of(buf_string(&result->error)));
    char clean[256];
    text_clean(clean, sizeof clean, said.length > 0 ? said.data : "", said.length);
    return err_set(err, -EIO, "%s command failed: %.200s: exit status %d%s%s", program,
                   buf_string(&line), result->exit_status, said.length > 0 ? ": " : "", clean);
}

static int run_command(const char *const *argv, bool is_sudo, struct err *err)
{
    /* sudo speaks to the person: its prompt, and what the command says, stay on the terminal. */
    struct spawn spawn = {.argv = argv,
                          .deadline_ns = is_sudo ? SUDO_DEADLINE_NS : STEP_DEADLINE_NS,
                          .is_inherited = is_sudo};
    OWN_SPAWN_RESULT struct spawn_result result;
    int code = spawn_run(&spawn, &result, err);
    if (code != 0 || result.exit_status == 0) {
        return code;
    }
    return tell_failure(argv, &result, err);
}

int act_run(struct act *act, const char *const *argv, struct err *err)
{
    const char *with_sudo[ARGUMENTS_MAX + 2] = {"sudo"};
    if (act->is_root) {
        return run_command(argv, false, err);
    }
    size_t count = 1;
    for (; *argv != NULL; argv++) {
        if (count > ARGUMENTS_MAX) {
            return err_set(err, -E2BIG, "too many units for one command");
        }
        with_sudo[count++] = *argv;
    }
    return run_command(with_sudo, true, err);
}

static int act_words(struct act *act, const struct words *line, struct err *err)
{
    const char **argv = mem_new(line->count + 1, sizeof *argv);
    for (size_t i = 0; i < line->count; i++) {
        argv[i] = line->word[i];
    }
    int code = act_run(act, argv, err);
    free(argv);
    return code;
}

int act_systemctl(struct act *act, const char *verb, const char *flag, const struct words *units,
                  struct err *err)
{
    OWN_WORDS struct words line = {0};
    words_add(&line, "systemctl");
    words_add(&line, verb);
    if (flag != NULL) {
        words_add(&line, flag);
    }
    for (size_t i = 0; i < units->count; i++) {
        words_add(&line, units->word[i]);
    }
    return units->count > 0 ? act_words(act, &line, err) : 0;
}

int act_daemon_reload(struct act *act, struct err *err)
{
    const char *const argv[] = {"systemctl", "daemon-reload", NULL};
    return act_run(act, argv, err);
}

/* Others cannot write there themselves: sudo's install takes a copy from a file of theirs. */
static int write_through_sudo(struct act *act, const char *path, const struct buf *text,
                              struct err *err)
{
    char copy[] = "/tmp/gpumanager-unit-XXXXXX";
    OWN_FD int fd = mkostemp(copy, O_CLOEXEC);
    if (fd < 0) {
        return err_errno(err, -errno, "cannot make a temporary file for %s", path);
    }
    int code = write(fd, text->data, text->length) == (ssize_t)text->length ? 0 : -EIO;
    if (code != 0) {
        (void)err_errno(err, code, "cannot write %s", copy);
    }
    /* -T: a folder of that name is an error and not the place to put the copy in. */
    const char *const argv[] = {"install", "-m", "0644", "-T", copy, path, NULL};
    code = code == 0 ? act_run(act, argv, err) : code;
    (void)unlink(copy);
    return code;
}

int act_write(struct act *act, const char *path, const struct buf *text, struct err *err)
{
    int code = act->is_root ? file_write(path, text->data, text->length, 0644, FILE_REPLACE, err)
                            : write_through_sudo(act, path, text, err);
    act->written += code == 0;
    return code;
}

static int touch_as_root(const struct words *paths, struct err *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        OWN_FD int fd = open(paths->word[i], O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
        if (fd < 0 || futimens(fd, NULL) != 0) {
            return err_errno(err, -errno, "cannot touch %s", paths->word[i]);
        }
    }
    return 0;
}

static int touch_through_sudo(struct act *act, const struct words *paths, struct err *err)
{
    OWN_WORDS struct words line = {0};
    words_add(&line, "touch");
    for (size_t i = 0; i < paths->count; i++) {
        words_add(&line, paths->word[i]);
    }
    return act_words(act, &line, err);
}

int act_touch(struct act *act, const struct words *paths, struct err *err)
{
    if (paths->count == 0) {
        return 0;
    }
    const char *slash = strrchr(paths->word[0], '/');
    size_t length = slash != NULL ? (size_t)(slash - paths->word[0]) : 0;
    OWN_FREE char *folder = span_copy((struct span){paths->word[0], length});
    const char *const make[] = {"mkdir", "-p", folder, NULL};
    int code = act->is_root                ? file_make_folders(folder, 0755, err)
               : access(folder, F_OK) != 0 ? act_run(act, make, err)
                                           : 0;
    if (code != 0) {
        return code;
    }
    return act->is_root ? touch_as_root(paths, err) : touch_through_sudo(act, paths, err);
}

static int delete_as_root(const struct words *paths, struct err *err)
{
    for (size_t i = 0; i < paths->count; i++) {
        if (unlink(paths->word[i]) != 0 && errno != ENOENT) {
            return err_errno(err, -errno, "cannot remove %s", paths->word[i]);
        }
    }
    return 0;
}

int act_delete(struct act *act, const struct words *paths, struct err *err)
{
    OWN_WORDS struct words line = {0};
    words_add(&line, "rm");
    words_add(&line, "-f");
    for (size_t i = 0; i < paths->count; i++) {
        words_add(&line, paths->word[i]);
    }
    int code = 0;
    if (paths->count > 0) {
        code = act->is_root ? delete_as_root(paths, err) : act_words(act, &line, err);
    }
    act->deleted += code == 0 ? paths->count : 0;
    return code;
}
