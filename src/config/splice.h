/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Edits of config.toml in memory. `text` has no byte order mark. Each one changes as few bytes as
 * it can, reads the new text, and compares it with the old: unless exactly the intended values
 * changed, the text is left as it was and the edit refused (-ENOTSUP). Sentences do not name the
 * file. */
#ifndef CONFIG_SPLICE_H
#define CONFIG_SPLICE_H

#include "base/buf.h"
#include "config/edit.h"

int splice_set(struct buf *text, const struct config_change *change, struct err *err);
int splice_add_report(struct buf *text, const struct config_report *report, struct err *err);
int splice_remove_report(struct buf *text, const char *name, struct err *err);

/* A new file with every option explained, those of `changes` set. */
int splice_template(struct buf *out, const struct config_change *changes, size_t count,
                    struct err *err);

#endif
