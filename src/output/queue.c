/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/queue.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonout.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define MESSAGE_LIMIT_BYTES ((size_t)4 << 20)
#define NAMES_MAX 10000 /* of one folder; more than that is somebody else's */
#define LOCK_POLL_NS (50 * NS_PER_MS)
#define NAME_DIGITS 19

/* "0000001774164600000.json": a number, so that names sort as messages came. */
static bool is_message(const char *name)
{
    return strlen(name) == NAME_DIGITS + 5 && strspn(name, "0123456789") == NAME_DIGITS &&
           strcmp(name + NAME_DIGITS, ".json") == 0;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list(struct queue *queue, struct err *err)
{
    int copy = dup(queue->folder);
    OWN_DIR DIR *dir = copy >= 0 ? fdopendir(copy) : NULL;
    if (dir == NULL) {
        return err_errno(err, -errno, "cannot read %s", queue->path);
    }
    rewinddir(dir);
    size_t capacity = 0;
    const struct dirent *entry = NULL;
    while ((entry = readdir(dir)) != NULL && queue->count < NAMES_MAX) {
        if (is_message(entry->d_name)) {
            queue->name = mem_grow(queue->name, queue->count, &capacity, sizeof *queue->name);
            queue->name[queue->count++] = mem_copy_text(entry->d_name);
        }
    }
    if (queue->count > 0) {
        qsort(queue->name, queue->count, sizeof *queue->name, compare_names);
    }
    return 0;
}

static int take_lock(struct queue *queue, int64_t patience_ns, struct err *err)
{
    queue->lock = openat(queue->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (queue->lock < 0) {
        return err_errno(err, -errno, "cannot open %s/lock", queue->path);
    }
    struct stat status;
    if (geteuid() == 0 && fstat(queue->folder, &status) == 0) {
        (void)!fchown(queue->lock, status.st_uid, status.st_gid); /* as give_to_owner */
    }
    int64_t until_ns = clock_mono_ns() + patience_ns;
    while (flock(queue->lock, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return 0; /* a filesystem without locks: better sent by two than by nobody */
        }
        if (clock_mono_ns() >= until_ns) {
            return err_set(err, -EBUSY, "another run is sending");
        }
        clock_sleep_ns(LOCK_POLL_NS);
    }
    return 0;
}

int queue_open(struct queue *queue, const char *state_dir, int64_t patience_ns, struct err *err)
{
    *queue = (struct queue){.folder = -1, .lock = -1, .path = mem_format("%s/queue", state_dir)};
    queue->folder = open(queue->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue->folder < 0) {
        return errno == ENOENT ? 0 : err_errno(err, -errno, "cannot open %s", queue->path);
    }
    int code = take_lock(queue, patience_ns, err);
    if (code != 0) {
        return code;
    }
    file_remove_leftovers(queue->folder);
    return list(queue, err);
}

void queue_close(struct queue *queue)
{
    for (size_t i = 0; i < queue->count; i++) {
        free(queue->name[i]);
    }
    free(queue->name);
    free(queue->path);
    if (queue->lock >= 0) {
        (void)close(queue->lock);
    }
    if (queue->folder >= 0) {
        (void)close(queue->folder);
    }
    *queue = (struct queue){.folder = -1, .lock = -1};
}

int queue_read(const struct queue *queue, size_t i, struct kept *out, struct err *err)
{
    OWN_BUF struct buf text = {0};
    int code = file_read_at(queue->folder, queue->name[i], MESSAGE_LIMIT_BYTES, &text, err);
    if (code != 0) {
        return code;
    }
    json_t *json = json_loadb(buf_string(&text), text.length, 0, NULL);
    const char *body = json_string_value(json_object_get(json, "body"));
    const json_t *kept = json_object_get(json, "kept");
    if (body == NULL || !json_is_integer(kept)) {
        json_decref(json);
        return err_set(err, -EBADMSG, "%s/%s is no kept message", queue->path, queue->name[i]);
    }
    *out = (struct kept){json_integer_value(kept), mem_copy_text(body)};
    json_decref(json);
    return 0;
}

int queue_remove(const struct queue *queue, const char *name, struct err *err)
{
    errno = 0;
    if (file_fault("unlink") || unlinkat(queue->folder, name, 0) != 0) {
        return err_errno(err, errno != 0 ? -errno : -EIO, "cannot remove %s/%s", queue->path, name);
    }
    return 0;
}

void queue_set_aside(const struct queue *queue, size_t i)
{
    OWN_FREE char *aside = mem_format("%s.unreadable", queue->name[i]);
    (void)renameat(queue->folder, queue->name[i], queue->folder, aside);
}

/* What root makes belongs to whoever owns the folder above, or the service could not use it. */
static void give_to_owner(const char *path, const char *above)
{
    struct stat status;
    if (geteuid() == 0 && stat(above, &status) == 0) {
        (void)!lchown(path, status.st_uid, status.st_gid);
    }
}

static int make_folder(const char *state_dir, const char *path, struct err *err)
{
    if (access(path, F_OK) == 0) {
        return 0;
    }
    bool is_new = access(state_dir, F_OK) != 0;
    OWN_FREE char *above = mem_copy_text(state_dir);
    char *slash = strrchr(above, '/');
    int code = file_make_folders(state_dir, 0755, err);
    if (code == 0 && mkdir(path, 0700) != 0 && errno != EEXIST) {
        code = err_errno(err, -errno, "cannot make folder %s", path);
    }
    if (code == 0 && slash != NULL) {
        *slash = '\0';
        if (is_new) {
            give_to_owner(state_dir, above);
        }
        give_to_owner(path, state_dir);
    }
    return code;
}

int queue_make(const char *state_dir, struct err *err)
{
    OWN_FREE char *folder = mem_format("%s/queue", state_dir);
    return make_folder(state_dir, folder, err);
}

int queue_add(const char *state_dir, int64_t now_s, const char *body, char **out_name,
              struct err *err)
{
    OWN_FREE char *folder = mem_format("%s/queue", state_dir);
    int code = make_folder(state_dir, folder, err);
    OWN_BUF struct buf text = {0};
    struct jsonout json = {.out = &text};
    jsonout_begin_object(&json);
    jsonout_key(&json, "kept");
    jsonout_int(&json, now_s);
    jsonout_key(&json, "body");
    jsonout_string(&json, body);
    jsonout_end_object(&json);
    for (int64_t number = now_s * 1000; code == 0; number++) {
        OWN_FREE char *path = mem_format("%s/%0*lld.json", folder, NAME_DIGITS, (long long)number);
        code = file_write(path, text.data, text.length, 0600, FILE_NEW_ONLY, err);
        if (code == 0) {
            give_to_owner(path, folder);
            if (out_name != NULL) {
                *out_name = mem_copy_text(path + strlen(folder) + 1);
            }
            return 0;
        }
        code = code == -EEXIST ? 0 : code;
    }
    return code;
}

size_t queue_count(const char *state_dir)
{
    struct queue queue = {.folder = -1, .lock = -1, .path = mem_format("%s/queue", state_dir)};
    queue.folder = open(queue.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (queue.folder >= 0) {
        (void)list(&queue, NULL);
    }
    size_t count = queue.count;
    queue_close(&queue);
    return count;
}
