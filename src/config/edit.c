/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/edit.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "config/draft.h"
#include "config/options.h"
#include "config/splice.h"
#include "config/value.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT_BYTES ((size_t)1 << 20)
#define BOM "\xef\xbb\xbf"

/* The file while it is being changed: one writer at a time, by a lock on its folder. */
struct edit {
    const char *name; /* as the caller named it, for messages */
    char *path;       /* what a link leads to: the link stays */
    int folder;
    bool is_new, has_bom;
    struct buf text;
    struct buf before;
    struct config *config; /* what the file says now; NULL when there is none */
    const struct config_checks *checks;
};

static void edit_fini(struct edit *edit)
{
    free(edit->path);
    if (edit->folder >= 0) {
        (void)close(edit->folder); /* the lock goes with it */
    }
    buf_fini(&edit->text);
    buf_fini(&edit->before);
    config_free(edit->config);
}

#define OWN_EDIT __attribute__((cleanup(edit_fini)))

static int lock_folder(struct edit *edit, struct err *err)
{
    const char *slash = strrchr(edit->path, '/');
    size_t length = slash == NULL ? 0 : slash == edit->path ? 1 : (size_t)(slash - edit->path);
    OWN_FREE char *folder =
        slash == NULL ? mem_copy_text(".") : span_copy((struct span){edit->path, length});
    if (access(folder, F_OK) != 0) {
        int code = file_make_folders(folder, 0755, err);
        if (code != 0) {
            return code;
        }
    }
    edit->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (edit->folder < 0) {
        return err_errno(err, -errno, "cannot open folder %s", folder);
    }
    (void)flock(edit->folder, LOCK_EX); /* where a filesystem has no locks, one person edits */
    return 0;
}

static int read_text(struct edit *edit, struct err *err)
{
    int code = file_read(edit->path, FILE_LIMIT_BYTES, &edit->text, err);
    edit->is_new = code == -ENOENT;
    if (code != 0) {
        return edit->is_new ? 0 : code;
    }
    buf_add(&edit->before, buf_string(&edit->text), edit->text.length);
    /* What cannot be read cannot be edited; this also refuses UTF-16 and absurd nesting. */
    code = config_parse(buf_string(&edit->text), edit->text.length, edit->name, edit->checks,
                        &edit->config, err);
    edit->has_bom =
        edit->text.length >= 3 && memcmp(edit->text.data, BOM, 3) == 0; /* kept, but not edited */
    if (code == 0 && edit->has_bom) {
        memmove(edit->text.data, edit->text.data + 3, edit->text.length - 3);
        edit->text.length -= 3;
        edit->text.data[edit->text.length] = '\0';
    }
    return code;
}

static int edit_open(struct edit *edit, const char *path, const struct config_checks *checks,
                     struct err *err)
{
    *edit = (struct edit){.name = path, .folder = -1, .checks = checks};
    edit->path = realpath(path, NULL);
    if (edit->path == NULL) {
        edit->path = mem_copy_text(path);
    }
    struct stat status;
    if (stat(edit->path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return err_set(err, -EINVAL, "%s is no regular file", path);
    }
    int code = lock_folder(edit, err);
    return code == 0 ? read_text(edit, err) : code;
}

/* Nobody else may read it, as it holds the webhook; a group that alone could still can. */
static mode_t mode_of(const struct edit *edit)
{
    struct stat status;
    bool is_there = !edit->is_new && stat(edit->path, &status) == 0;
    bool is_for_group = is_there && (status.st_mode & 0044) == 0040;
    return is_for_group ? 0640 : 0600;
}

/* Reads the new text as every command will, then puts it in place of the old. */
static int edit_save(struct edit *edit, struct err *err)
{
    if (edit->has_bom) {
        OWN_BUF struct buf with = {0};
        buf_add(&with, BOM, 3);
        buf_add(&with, buf_string(&edit->text), edit->text.length);
        struct buf old = edit->text;
        edit->text = with;
        with = old;
    }
    struct config *config = NULL;
    int code = config_parse(buf_string(&edit->text), edit->text.length, edit->name, edit->checks,
                            &config, err);
    config_free(config);
    if (code != 0) {
        err_prefix(err, "nothing was changed: ");
        return code;
    }
    file_remove_leftovers(edit->folder); /* they hold the webhook, too */
    bool is_same =
        !edit->is_new && edit->text.length == edit->before.length &&
        memcmp(buf_string(&edit->text), buf_string(&edit->before), edit->text.length) == 0;
    return is_same ? 0
                   : file_write(edit->path, buf_string(&edit->text), edit->text.length,
                                mode_of(edit), FILE_REPLACE, err);
}

/* A splice's sentence says what and why; the file is ours to name. */
static int name_file(const struct edit *edit, int code, struct err *err)
{
    if (code != 0) {
        err_prefix(err, "%s: ", edit->name);
    }
    return code;
}

struct wanted {
    const struct config_change *change;
    bool is_set_so; /* the file says it already, perhaps in other words */
};

static void compare_value(void *arg, const struct option_value *value)
{
    struct wanted *wanted = arg;
    const struct config_change *change = wanted->change;
    bool is_report_same =
        value->report == NULL ||
        (change->report_name != NULL && strcmp(value->report->name, change->report_name) == 0);
    if (value->line != 0 && is_report_same && strcmp(value->row->section, change->section) == 0 &&
        strcmp(value->row->key, change->key) == 0) {
        wanted->is_set_so = strcmp(value->text, change->value) == 0;
    }
}

/* "~/samples" stays as it is written when the answer is what it stands for. */
static bool is_set_so(const struct config *config, const struct config_change *change)
{
    const struct option_row *row = option_find(change->section, change->key);
    if (row != NULL && (row->flags & OPTION_SECRET) != 0) {
        return config->webhook_url[0] != '\0' && strcmp(config->webhook_url, change->value) == 0;
    }
    struct wanted wanted = {change, false};
    option_each_value(config, compare_value, &wanted);
    return wanted.is_set_so;
}

static int set_all(struct edit *edit, const struct config_change *changes, size_t count,
                   struct err *err)
{
    if (edit->is_new) {
        return splice_template(&edit->text, changes, count, err);
    }
    assert(edit->config != NULL); /* read_text parsed what is there */
    int code = 0;
    for (size_t i = 0; code == 0 && i < count; i++) {
        if (!is_set_so(edit->config, &changes[i])) {
            code = splice_set(&edit->text, &changes[i], err);
        }
    }
    return code;
}

int config_set(const char *path, const struct config_change *changes, size_t count,
               const struct config_checks *checks, struct err *err)
{
    OWN_EDIT struct edit edit;
    int code = edit_open(&edit, path, checks, err);
    code = code != 0 ? code : name_file(&edit, set_all(&edit, changes, count, err), err);
    return code != 0 ? code : edit_save(&edit, err);
}

/* A file without reports means the report "default": it stays beside the first one that is added.
 */
static int keep_implied(struct edit *edit, const struct config_report *added, struct err *err)
{
    static char name[] = "default";
    const struct config *config = edit->config;
    bool is_implied = config != NULL && config->report_count == 1 && config->report[0].line == 0 &&
                      strcmp(added->name, name) != 0;
    const struct config_report implied = {.name = name};
    return is_implied ? name_file(edit, splice_add_report(&edit->text, &implied, err), err) : 0;
}

int config_check_value(const char *section, const char *key, const char *value,
                       const struct config_checks *checks, struct err *err)
{
    const struct option_row *row = option_find(section, key);
    if (row == NULL) {
        return err_set(err, -EINVAL, "there is no option %s.%s", section, key);
    }
    union {
        struct config config;
        struct config_report report;
    } scratch = {0};
    OWN_BUF struct buf toml = {0};
    int code = draft_format_value(row, value, &toml, err);
    code = code != 0 ? code : value_read_text(row, value, checks, &scratch, err);
    if (code == 0) {
        value_free(row, &scratch);
    }
    return code;
}

int config_add_report(const char *path, const struct config_report *report,
                      const struct config_checks *checks, struct err *err)
{
    OWN_EDIT struct edit edit;
    int code = config_check_report_name(report->name, err);
    code = code != 0 ? code : edit_open(&edit, path, checks, err);
    if (code == 0 && edit.is_new) {
        code = splice_template(&edit.text, NULL, 0, err);
    }
    code = code != 0 ? code : keep_implied(&edit, report, err);
    code = code != 0 ? code : name_file(&edit, splice_add_report(&edit.text, report, err), err);
    return code != 0 ? code : edit_save(&edit, err);
}

int config_remove_report(const char *path, const char *name, const struct config_checks *checks,
                         struct err *err)
{
    OWN_EDIT struct edit edit;
    int code = edit_open(&edit, path, checks, err);
    if (code == 0 && edit.is_new) {
        return err_set(err, -ENOENT, "Config file not found: %s", path);
    }
    code = code != 0 ? code : name_file(&edit, splice_remove_report(&edit.text, name, err), err);
    return code != 0 ? code : edit_save(&edit, err);
}
