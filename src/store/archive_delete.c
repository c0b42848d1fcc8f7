/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "base/file.h"
#include "base/own.h"
#include "store/archive.h"
#include "store/archive_lines.h"
#include "store/archive_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct deleting {
    const struct archive_request *request;
    bool is_dry;          /* only count */
    int64_t from_s, to_s; /* local, as if UTC: what the names say */
    struct archive_file file;
    struct archive_lines kept; /* rows of the merged file at hand that stay */
    int64_t inside;            /* its rows that do not */
    int64_t files;
};

static int64_t naive(const struct zone *zone, int64_t utc_s)
{
    struct civil at;
    zone_civil(zone, utc_s, &at);
    return utc_s + at.offset_s;
}

/* The local time of a row is that of the file name it once had: its offset is left aside. */
static int64_t naive_of_row(const struct archive_row *row)
{
    char text[20];
    int64_t time_s = row->time_s;
    int offset_s = 0;
    memcpy(text, row->field[ARCHIVE_TIMESTAMP].data, 19);
    text[19] = 'Z';
    (void)clock_parse_iso(text, sizeof text, &time_s, &offset_s);
    return time_s;
}

static void sort_out(void *arg, const struct archive_row *row)
{
    struct deleting *deleting = arg;
    int64_t at_s = naive_of_row(row);
    if (at_s >= deleting->from_s && at_s <= deleting->to_s) {
        deleting->inside++;
        return;
    }
    archive_lines_add(&deleting->kept, row);
}

static int remove_file(struct deleting *deleting, const char *name, struct err *err)
{
    int code = 0;
    if (!deleting->is_dry &&
        (file_fault("unlink") || unlinkat(deleting->file.dir_fd, name, 0) != 0)) {
        code = errno != 0 ? -errno : -EIO;
    }
    if (code != 0 && code != -ENOENT) {
        return err_errno(err, code, "cannot remove %s/%s; %lld files were removed before it",
                         deleting->request->csv_dir, name, (long long)deleting->files);
    }
    deleting->files += code == 0 ? 1 : 0;
    return 0;
}

static int delete_from_merged(struct deleting *deleting, int32_t day, struct err *err)
{
    char name[ARCHIVE_NAME_SIZE];
    struct archive_rows rows;
    struct stat status;
    archive_lines_clear(&deleting->kept);
    deleting->inside = 0;
    archive_name_format_day(day, name);
    archive_rows_init(&rows, sort_out, deleting);
    int code = archive_file_rows(&deleting->file, name, ARCHIVE_DAY_LIMIT, &rows, &status);
    if (code != 0 || rows.skipped > 0 || !rows.is_only_usual || deleting->inside == 0) {
        return 0;
    }
    if (deleting->kept.count == 0 || deleting->is_dry) {
        return remove_file(deleting, name, err);
    }
    OWN_BUF struct buf text = {0};
    archive_lines_format(&deleting->kept, &text);
    code = file_write_at(deleting->file.dir_fd, name, &text, 0644, FILE_REPLACE, err);
    if (code != 0) {
        err_prefix(err, "%s: ", deleting->request->csv_dir);
        return code;
    }
    deleting->files++;
    return 0;
}

static int delete_day(struct deleting *deleting, struct archive_list_day *day, struct err *err)
{
    int code = day->has_merged ? delete_from_merged(deleting, day->day, err) : 0;
    archive_list_sort_day(day);
    for (size_t i = 0; i < day->count && code == 0; i++) {
        int64_t at_s = archive_name_naive_s(day->day, day->key[i]);
        if (at_s >= deleting->from_s && at_s <= deleting->to_s) {
            char name[ARCHIVE_NAME_SIZE];
            archive_name_format(day->day, day->key[i], name);
            code = remove_file(deleting, name, err);
        }
    }
    return code;
}

static int walk(struct deleting *deleting, int dir_fd, struct err *err)
{
    struct archive_list list;
    /* A merged file can hold rows of a day beside its own, after a change of zone. */
    int32_t first = (int32_t)(deleting->from_s / 86400 - 2);
    int32_t last = (int32_t)(deleting->to_s / 86400 + 2);
    int code = archive_list_read(dir_fd, first, last, &list, err);
    if (code != 0) {
        return code;
    }
    archive_file_init(&deleting->file, dir_fd);
    for (size_t i = 0; i < list.day_count && code == 0; i++) {
        code = delete_day(deleting, &list.day[i], err);
        const struct archive_request *request = deleting->request;
        if (request->progress != NULL) {
            request->progress(request->progress_arg, (int64_t)i + 1, (int64_t)list.day_count);
        }
    }
    archive_file_fini(&deleting->file);
    archive_lines_fini(&deleting->kept);
    archive_list_fini(&list);
    return code;
}

static int go(const struct archive_request *request, bool is_dry, int64_t *out_files,
              struct err *err)
{
    struct deleting deleting = {.request = request, .is_dry = is_dry};
    OWN_FD int dir_fd = open(request->csv_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if ((dir_fd < 0 && errno == ENOENT) || request->to_s < request->from_s) {
        *out_files = 0;
        return 0;
    }
    if (dir_fd < 0) {
        return err_errno(err, -errno, "cannot read the CSV folder %s", request->csv_dir);
    }
    deleting.from_s = naive(request->zone, request->from_s);
    deleting.to_s = naive(request->zone, request->to_s);
    OWN_FD int lock_fd = is_dry ? archive_lock_shared(dir_fd) : archive_lock_exclusive(dir_fd, err);
    if (!is_dry && lock_fd < 0) {
        err_prefix(err, "%s: ", request->csv_dir);
        return lock_fd;
    }
    int code = walk(&deleting, dir_fd, err);
    if (code == 0) {
        *out_files = deleting.files;
    }
    return code;
}

int archive_count(const struct archive_request *request, int64_t *out_files, struct err *err)
{
    return go(request, true, out_files, err);
}

int archive_delete(const struct archive_request *request, int64_t *out_files, struct err *err)
{
    return go(request, false, out_files, err);
}
