/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* For unit tests of the real sources: plays a scenario (tests/fake/README.md) on both fakes. */
#ifndef TESTS_PLAY_H
#define TESTS_PLAY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A file under tests/cases. */
static inline void play_case(const char *name)
{
    char path[512];
    const char *root = getenv("SOURCE_ROOT");
    (void)snprintf(path, sizeof path, "%s/tests/cases/%s", root != NULL ? root : ".", name);
    (void)setenv("FAKE_GPU_SCENARIO", path, 1);
}

/* Literal lines. The file is written anew by the next call and removed by play_end. */
static inline const char *play_path(void)
{
    static char path[64];
    if (path[0] == '\0') {
        (void)snprintf(path, sizeof path, "/tmp/gpumanager-play-%d", (int)getpid());
    }
    return path;
}

static inline void play_text(const char *text)
{
    FILE *file = fopen(play_path(), "w");
    if (file != NULL) {
        (void)fputs(text, file);
        (void)fclose(file);
    }
    (void)setenv("FAKE_GPU_SCENARIO", play_path(), 1);
}

static inline void play_end(void)
{
    (void)unlink(play_path());
}

/* nvidia-smi of the fakes comes first in PATH; or is nowhere. */
static inline void play_smi(int is_there)
{
    char path[1024];
    const char *folder = getenv("FAKE_DIR");
    (void)snprintf(path, sizeof path, "%s%s/usr/bin:/bin", is_there && folder ? folder : "",
                   is_there ? ":" : "");
    (void)setenv("PATH", path, 1);
}

#endif
