/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Ownership said in the declaration: OWN_FREE char *line = NULL; return MOVE(line);
 * A variable marked OWN_… must be initialised; it is released when its scope ends. */
#ifndef BASE_OWN_H
#define BASE_OWN_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void own_free(void *pointer)
{
    free(*(void **)pointer);
}

static inline void own_fd(const int *fd)
{
    if (*fd >= 0) {
        (void)close(*fd);
    }
}

static inline void own_file(FILE **file)
{
    if (*file != NULL) {
        (void)fclose(*file);
    }
}

static inline void own_dir(DIR **dir)
{
    if (*dir != NULL) {
        (void)closedir(*dir);
    }
}

#define OWN_FREE __attribute__((cleanup(own_free)))
#define OWN_FD __attribute__((cleanup(own_fd)))
#define OWN_FILE __attribute__((cleanup(own_file)))
#define OWN_DIR __attribute__((cleanup(own_dir)))

/* Gives the pointer away: the variable becomes NULL, so its cleanup does nothing. */
#define MOVE(pointer)                                                                              \
    __extension__({                                                                                \
        __typeof__(pointer) moved_ = (pointer);                                                    \
        (pointer) = NULL;                                                                          \
        moved_;                                                                                    \
    })

/* The same for a descriptor. */
#define MOVE_FD(fd)                                                                                \
    __extension__({                                                                                \
        int moved_ = (fd);                                                                         \
        (fd) = -1;                                                                                 \
        moved_;                                                                                    \
    })

#endif
