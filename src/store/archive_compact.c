/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A day at a time: gather the rows of its merged file (when there is one) and of its single files,
 * write the merged file whole, and only then remove the single files. A crash in between leaves
 * both, and readers take a row that is in both once (by time and UUID). */
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "store/archive.h"
#include "store/archive_lines.h"
#include "store/archive_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct compacting {
    const struct archive_request *request;
    struct archive_file file;
    struct archive_lines lines;
    struct archive_seen seen;
    bool is_merged; /* the file at hand is a merged one */
    struct archive_compacted done;
};

struct taken {
    uint32_t key;
    uint64_t stamp;
};

static void gather(void *arg, const struct archive_row *row)
{
    struct compacting *compacting = arg;
    if (compacting->is_merged) {
        archive_seen_add(&compacting->seen, row);
    } else if (archive_seen_has(&compacting->seen, row)) {
        return; /* merged before, by a run that did not get to the removal */
    }
    archive_lines_add(&compacting->lines, row);
}

static void leave(struct compacting *compacting, const char *name)
{
    compacting->done.left_files++;
    if (compacting->done.left_name[0] == '\0') {
        text_copy(compacting->done.left_name, sizeof compacting->done.left_name, name);
    }
}

/* All rows of a file, or none of it: false when a part of it would be lost. */
static bool gather_file(struct compacting *compacting, const char *name, int64_t limit_bytes,
                        struct stat *status)
{
    struct archive_rows rows;
    size_t before = compacting->lines.count;
    archive_rows_init(&rows, gather, compacting);
    int code = archive_file_rows(&compacting->file, name, limit_bytes, &rows, status);
    if (code == 0 && rows.skipped == 0 && rows.is_only_usual) {
        return true;
    }
    archive_lines_cut(&compacting->lines, before);
    if (code != -ENOENT) {
        leave(compacting, name);
    }
    return false;
}

static size_t gather_samples(struct compacting *compacting, struct archive_list_day *day,
                             struct taken *taken)
{
    size_t count = 0;
    archive_list_sort_day(day);
    for (size_t i = 0; i < day->count; i++) {
        char name[ARCHIVE_NAME_SIZE];
        struct stat status = {0};
        archive_name_format(day->day, day->key[i], name);
        if (compacting->lines.text.length < (size_t)ARCHIVE_DAY_LIMIT - ARCHIVE_SAMPLE_LIMIT &&
            gather_file(compacting, name, ARCHIVE_SAMPLE_LIMIT, &status)) {
            taken[count++] = (struct taken){day->key[i], archive_stamp(day->key[i], &status)};
            compacting->done.bytes_before += status.st_size;
        }
    }
    return count;
}

/* Removes what is in the merged file now; a file that was changed since it was read stays. */
static int remove_samples(struct compacting *compacting, int32_t day, const struct taken *taken,
                          size_t count, struct err *err)
{
    int dir_fd = compacting->file.dir_fd;
    for (size_t i = 0; i < count; i++) {
        char name[ARCHIVE_NAME_SIZE];
        struct stat status;
        archive_name_format(day, taken[i].key, name);
        if (fstatat(dir_fd, name, &status, 0) != 0 ||
            archive_stamp(taken[i].key, &status) != taken[i].stamp) {
            continue;
        }
        if (file_fault("unlink") || unlinkat(dir_fd, name, 0) != 0) {
            int code = errno != 0 ? -errno : -EIO;
            return err_errno(err, code,
                             "cannot remove %s/%s, whose rows are in the merged file of the day "
                             "now; reports count them once",
                             compacting->request->csv_dir, name);
        }
        compacting->done.files_before++;
    }
    return 0;
}

static int write_merged(struct compacting *compacting, int32_t day, struct err *err)
{
    OWN_BUF struct buf text = {0};
    char name[ARCHIVE_NAME_SIZE];
    archive_lines_format(&compacting->lines, &text);
    archive_name_format_day(day, name);
    int code = file_write_at(compacting->file.dir_fd, name, &text, 0644, FILE_REPLACE, err);
    if (code != 0) {
        err_prefix(err, "%s: the day stays as it was: ", compacting->request->csv_dir);
        return code;
    }
    compacting->done.bytes_after += (int64_t)text.length;
    return 0;
}

static int compact_day(struct compacting *compacting, struct archive_list_day *day, struct err *err)
{
    struct stat status = {0};
    char name[ARCHIVE_NAME_SIZE];
    archive_lines_clear(&compacting->lines);
    archive_seen_clear(&compacting->seen);
    archive_name_format_day(day->day, name);
    compacting->is_merged = true;
    if (day->has_merged && !gather_file(compacting, name, ARCHIVE_DAY_LIMIT, &status)) {
        return 0;
    }
    compacting->is_merged = false;
    size_t merged = compacting->lines.count;
    int64_t bytes_before = compacting->done.bytes_before;
    OWN_FREE struct taken *taken = mem_new(day->count, sizeof *taken);
    size_t count = gather_samples(compacting, day, taken);
    if (count == 0) {
        return 0;
    }
    if (day->has_merged) {
        compacting->done.bytes_before += status.st_size;
    }
    int code = 0;
    if (compacting->lines.count > merged) {
        code = write_merged(compacting, day->day, err);
    }
    if (code != 0) {
        compacting->done.bytes_before = bytes_before;
        return code;
    }
    compacting->done.days++;
    return remove_samples(compacting, day->day, taken, count, err);
}

/* The first instant after the local day. */
static int64_t end_of_day(const struct zone *zone, int32_t day)
{
    struct civil local = {.year = 1970, .month = 1, .day = 1};
    civil_add_days(&local, (int64_t)day + 1);
    return zone_instant(zone, &local);
}

static int compact_days(struct compacting *compacting, struct archive_list *list, int64_t before_s,
                        struct err *err)
{
    const struct archive_request *request = compacting->request;
    int code = 0;
    for (size_t i = 0; i < list->day_count && code == 0; i++) {
        struct archive_list_day *day = &list->day[i];
        if (day->count > 0 && end_of_day(request->zone, day->day) <= before_s) {
            code = compact_day(compacting, day, err);
        }
        if (request->progress != NULL) {
            request->progress(request->progress_arg, (int64_t)i + 1, (int64_t)list->day_count);
        }
    }
    return code;
}

int archive_compact(const struct archive_request *request, int64_t before_s,
                    struct archive_compacted *out, struct err *err)
{
    struct compacting compacting = {.request = request};
    struct archive_list list;
    OWN_FD int dir_fd = open(request->csv_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir_fd < 0 && errno == ENOENT) {
        *out = compacting.done;
        return 0;
    }
    if (dir_fd < 0) {
        return err_errno(err, -errno, "cannot read the CSV folder %s", request->csv_dir);
    }
    OWN_FD int lock_fd = archive_lock_exclusive(dir_fd, err);
    int code = lock_fd < 0 ? lock_fd : archive_list_read(dir_fd, INT32_MIN, INT32_MAX, &list, err);
    if (code != 0) {
        err_prefix(err, "%s: ", request->csv_dir);
        return code;
    }
    archive_file_init(&compacting.file, dir_fd);
    code = compact_days(&compacting, &list, before_s, err);
    file_remove_leftovers(dir_fd);
    archive_file_fini(&compacting.file);
    archive_lines_fini(&compacting.lines);
    archive_seen_fini(&compacting.seen);
    archive_list_fini(&list);
    if (code == 0) {
        *out = compacting.done;
    }
    return code;
}
