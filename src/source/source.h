/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Where facts come from. A source is three verbs: open, read, close; everything vendor-specific
 * stays behind them. Used by one thread at a time. `read` may block for as long as a driver likes:
 * the sampler gives it a deadline. To add one: a file or folder here, and a line in source_list. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include "base/err.h"
#include "model/snapshot.h"

enum source_depth {
    SOURCE_UTILIZATION, /* identity and utilization only: what one CSV sample needs, cheaply */
    SOURCE_FULL,        /* everything the driver gives */
};

/* Receives what a source reads as text (nvidia-smi's answer, a file of /proc or /sys), before it
 * is parsed; for recordings. `origin` says what it is: the command line, or the path. */
struct source_tap {
    void (*text)(void *arg, const char *origin, const char *text, size_t length);
    void *arg;
};

struct source_options {
    const char
        *arg; /* simulated: the machine; replay: the file; nvidia_smi: program path or NULL */
    enum source_depth depth;
    const char
        *visible; /* as NVIDIA_VISIBLE_DEVICES: indices, UUIDs, prefixes, all, none; NULL = all */
    int64_t deadline_ns;          /* for programs it runs; 0 = 10 s */
    const struct source_tap *tap; /* NULL = nobody listens; must outlive the source */
    bool is_contained; /* programs it runs stay in our process group, which somebody ends whole */
};

struct source;

struct source_ops {
    const char *name;
    /* -ENODEV: none of ours on this machine (no library, no driver, no program): try the next.
     * -EINVAL: `arg` is wrong. The sentence says what was tried. */
    int (*open)(struct source **out, const struct source_options *options, struct err *err);
    /* A snapshot with one reference, the caller's. A GPU that fails costs only itself: it is in the
     * snapshot as lost or with values missing. Negative only when nothing could be read at all;
     * the source stays open and may be read again. -ENODATA: a replay is at its end. */
    int (*read)(struct source *source, int64_t now_ns, struct snapshot **out, struct err *err);
    void (*close)(struct source *source); /* accepts NULL */
};

/* First member of every source's own struct. */
struct source {
    const struct source_ops *ops;
};

extern const struct source_ops source_nvml;
extern const struct source_ops source_nvidia_smi;
extern const struct source_ops source_simulated;
extern const struct source_ops source_replay;

/* Whether NVIDIA_VISIBLE_DEVICES (`visible`, NULL = all) names this GPU: by index, full UUID, or
 * a prefix of the UUID ("GPU-1a2b"). "none" and "void" and "" name none; unknown words name none.
 * A MIG instance is visible with its parent or by its own UUID. */
bool source_is_visible(const char *visible, const struct snapshot *snapshot, const struct gpu *gpu);

/* Removes what is not visible, with its processes and events; positions are renumbered. */
void source_filter_visible(struct snapshot *snapshot, const char *visible);

#endif
