/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Speaking with a person: questions on stdin and stdout, a progress bar on stderr. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* 0 when the answer is right; else the sentence that is shown before asking again. May print what
 * the answer means. */
typedef int terminal_check_fn(void *arg, const char *answer, struct err *err);

struct terminal_question {
    const char *label;
    const char *current; /* taken when the answer is empty; "" = there is none */
    const char *shown;   /* shown instead of `current` (a secret); NULL = current itself */
    terminal_check_fn *check;
    void *arg;
};

/* "Label [current]: ", again until the answer is right. -ENODATA when the input ends first.
 * `*out` is the caller's. */
int terminal_ask(const struct terminal_question *question, char **out, struct err *err);

/* "Question [y/N]: "; y and yes are yes, everything else and the end of the input is no. */
bool terminal_confirm(const char *question);

bool terminal_is_interactive(void); /* stdin and stdout are a terminal */

/* Draws at most ten times a second, only on a terminal, and not in the first second. */
struct terminal_progress {
    const char *label;
    int64_t start_ns, drawn_ns; /* set start_ns to clock_mono_ns() */
};
/* `arg` is a struct terminal_progress; the type is that of archive_request.progress. */
void terminal_progress(void *arg, int64_t done, int64_t all);
void terminal_progress_end(struct terminal_progress *progress);

#endif
