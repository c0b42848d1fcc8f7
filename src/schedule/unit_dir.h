/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Which units of ours are on this machine. Only names that we write are ours: a unit that somebody
 * else named gpumanager-something is never touched. */
#ifndef SCHEDULE_UNIT_DIR_H
#define SCHEDULE_UNIT_DIR_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define UNIT_NAME_SIZE 64
#define UNIT_USER_SIZE 64

/* Texts in the order they were added; = {0} to begin. */
struct words {
    char **word;
    size_t count;
    size_t capacity;
};
void words_add(struct words *words, const char *word);
bool words_have(const struct words *words, const char *word);
void words_drop(struct words *words, const char *word); /* every one that is the same */
void words_fini(struct words *words);

#define OWN_WORDS __attribute__((cleanup(words_fini)))

bool unit_is_ours(const char *unit);     /* also the predecessor's gpumanager-report.* */
bool unit_is_switched(const char *unit); /* what is enabled and disabled: timers and the page */
bool unit_is_of_report(const char *unit, const char *report, const char *suffix);

/* /etc/systemd/system/<unit>, under the test root; caller frees. */
char *unit_path(const char *unit);

/* Units of ours in the folder, sorted; a folder that cannot be read has none. */
void unit_dir_list(const char *folder, struct words *out);
void unit_dir_installed(struct words *out);

/* What the installed services say after User=; false when none says anything. */
bool unit_dir_user(char out[UNIT_USER_SIZE]);

/* The whole installed file; false when it is missing or cannot be read. */
bool unit_read(const char *unit, struct buf *out);

/* Names of ours in ~/.config/systemd/user of this home; adds those that `out` does not have yet
 * (GM-108). */
void unit_dir_user_units(const char *home, struct words *out);

#endif
