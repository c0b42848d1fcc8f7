/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Files, read under a limit and written whole or not at all. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Adds the whole file to `out`. -ENOENT when there is none, -EFBIG past the limit; sentences name
 * the path. */
int file_read(const char *path, size_t limit_bytes, struct buf *out, struct err *err);

/* As file_read relative to a folder; the sentence names `name` only. */
int file_read_at(int dir_fd, const char *name, size_t limit_bytes, struct buf *out,
                 struct err *err);

/* How a whole file replaces, or does not replace, what is at its name. */
enum file_write_mode { FILE_REPLACE, FILE_NEW_ONLY };

/* Temporary name in the same folder, fsync of the file, rename (FILE_NEW_ONLY: link, -EEXIST when
 * the name is taken), fsync of the folder. On failure nothing of the new content is left, and the
 * old file is as it was. When root replaces a file, its owner stays. A temporary file that a crash
 * left behind starts with ".tmp-". */
int file_write(const char *path, const void *data, size_t length, mode_t mode,
               enum file_write_mode how, struct err *err);

/* Removes the temporary files of writers that were killed more than an hour ago. */
void file_remove_leftovers(int dir_fd);

/* As file_write, in a folder that is open: nobody can put another one in its place meanwhile. */
int file_write_at(int dir_fd, const char *name, const struct buf *text, mode_t mode,
                  enum file_write_mode how, struct err *err);

/* mkdir -p with this mode for what is missing. */
int file_make_folders(const char *path, mode_t mode, struct err *err);

/* "~/x" → "$HOME/x" (without HOME: the user's folder in the system's list); others, and "~" where
 * no home is known, are copied. Caller frees. */
char *file_expand_home(const char *path);

/* A path under the test root: GPUMANAGER_ROOT + path in a build with test hooks, else a copy. */
char *file_rooted(const char *path);

/* Test hook: true when the step about to be taken is the one that must fail or kill. Steps are
 * counted over the process; GPUMANAGER_FAULT="kill:N" or "fail:N" picks the N-th (from 1).
 * Always false in a build without hooks. `fail` makes the caller act as on ENOSPC. */
bool file_fault(const char *step);

#endif
