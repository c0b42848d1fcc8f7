/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_file.h"

#include "base/mem.h"
#include "base/own.h"
#include "store/archive_list.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#define FILE_BUFFER_SIZE ((size_t)256 << 10)

void archive_file_init(struct archive_file *file, int dir_fd)
{
    *file = (struct archive_file){.dir_fd = dir_fd, .buffer = mem_new(FILE_BUFFER_SIZE, 1)};
}

void archive_file_fini(struct archive_file *file)
{
    free(file->buffer);
    file->buffer = NULL;
}

static ssize_t read_some(int fd, char *to, size_t size)
{
    for (;;) {
        ssize_t got = read(fd, to, size);
        if (got >= 0 || errno != EINTR) {
            return got >= 0 ? got : -errno;
        }
    }
}

static int read_pieces(struct archive_file *file, int fd, int64_t size_bytes, int64_t limit_bytes,
                       struct archive_rows *rows)
{
    size_t held = 0;
    int64_t total = 0;
    for (;;) {
        ssize_t got = read_some(fd, file->buffer + held, FILE_BUFFER_SIZE - held);
        if (got < 0) {
            return (int)got;
        }
        total += got;
        held += (size_t)got;
        if (total > limit_bytes) {
            return -EFBIG;
        }
        /* A small file needs no second read to say that it has ended. */
        bool is_end = got == 0 || (total == size_bytes && held < FILE_BUFFER_SIZE);
        size_t used = 0;
        int code = archive_rows_parse(rows, file->buffer, held, is_end, &used);
        if (code != 0 || is_end) {
            return code;
        }
        held -= used;
        if (held > ARCHIVE_LINE_LIMIT) {
            return -EBADMSG;
        }
        memmove(file->buffer, file->buffer + used, held);
    }
}

int archive_file_rows(struct archive_file *file, const char *name, int64_t limit_bytes,
                      struct archive_rows *rows, struct stat *out_status)
{
    /* O_NONBLOCK: a FIFO in our way must not stop us. */
    OWN_FD int fd = openat(file->dir_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, out_status) != 0) {
        return -errno;
    }
    if (!S_ISREG(out_status->st_mode)) {
        return -EINVAL;
    }
    if (out_status->st_size > limit_bytes) {
        return -EFBIG;
    }
    return read_pieces(file, fd, out_status->st_size, limit_bytes, rows);
}

static uint64_t fingerprint(const struct archive_row *row)
{
    uint64_t word = (uint64_t)row->time_s;
    struct span uuid = row->field[ARCHIVE_UUID];
    for (size_t i = 0; i < uuid.length; i += 8) {
        uint64_t piece = 0;
        memcpy(&piece, uuid.data + i, uuid.length - i < 8 ? uuid.length - i : 8);
        word = archive_mix(word, piece | UINT64_C(0x2020202020202020));
    }
    return word | 1; /* 0 marks a free slot */
}

/* Where the fingerprint is, or would be. */
static size_t seat(const uint64_t *slot, size_t slot_count, uint64_t print)
{
    size_t at = (size_t)(print >> 1) & (slot_count - 1);
    while (slot[at] != 0 && slot[at] != print) {
        at = (at + 1) & (slot_count - 1);
    }
    return at;
}

static void seen_grow(struct archive_seen *seen)
{
    size_t count = seen->slot_count == 0 ? 1024 : seen->slot_count * 2;
    uint64_t *slot = mem_new(count, sizeof *slot);
    for (size_t i = 0; i < seen->slot_count; i++) {
        if (seen->slot[i] != 0) {
            slot[seat(slot, count, seen->slot[i])] = seen->slot[i];
        }
    }
    free(seen->slot);
    seen->slot = slot;
    seen->slot_count = count;
}

void archive_seen_add(struct archive_seen *seen, const struct archive_row *row)
{
    if (seen->count * 2 >= seen->slot_count) {
        seen_grow(seen);
    }
    uint64_t print = fingerprint(row);
    size_t at = seat(seen->slot, seen->slot_count, print);
    seen->count += seen->slot[at] == 0 ? 1 : 0;
    seen->slot[at] = print;
}

bool archive_seen_has(const struct archive_seen *seen, const struct archive_row *row)
{
    if (seen->count == 0) {
        return false;
    }
    uint64_t print = fingerprint(row);
    return seen->slot[seat(seen->slot, seen->slot_count, print)] == print;
}

void archive_seen_clear(struct archive_seen *seen)
{
    if (seen->count > 0) {
        memset(seen->slot, 0, seen->slot_count * sizeof *seen->slot);
        seen->count = 0;
    }
}

void archive_seen_fini(struct archive_seen *seen)
{
    free(seen->slot);
    *seen = (struct archive_seen){0};
}
