/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/terminal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define ANSWER_MAX 4096

/* One line without its end and outer blanks, or NULL at the end of the input. */
static char *read_line(void)
{
    OWN_FREE char *line = NULL;
    size_t size = 0;
    ssize_t length = getline(&line, &size, stdin);
    if (length < 0) {
        return NULL;
    }
    struct span answer = span_trim((struct span){line, (size_t)length});
    answer.length = answer.length > ANSWER_MAX ? ANSWER_MAX : answer.length;
    return span_copy(answer);
}

#define WRONG_MAX 10 /* a pipe that never ends must not be asked for ever */

int terminal_ask(const struct terminal_question *question, char **out, struct err *err)
{
    const char *shown = question->shown != NULL ? question->shown : question->current;
    int wrong = 0;
    for (;;) {
        if (shown[0] != '\0') {
            (void)printf("%s [%s]: ", question->label, shown);
        } else {
            (void)printf("%s: ", question->label);
        }
        (void)fflush(stdout);
        OWN_FREE char *answer = read_line();
        if (answer == NULL) {
            (void)printf("\n");
            return err_set(err, -ENODATA,
                           "the input ended before '%s' was answered; nothing was changed",
                           question->label);
        }
        if (answer[0] == '\0') {
            free(answer);
            answer = mem_copy_text(question->current);
        }
        struct err why = {0};
        if (question->check == NULL || question->check(question->arg, answer, &why) == 0) {
            *out = MOVE(answer);
            return 0;
        }
        (void)printf("  %s\n", why.text);
        if (++wrong == WRONG_MAX && !isatty(STDIN_FILENO)) {
            return err_set(err, -EINVAL, "'%s' was not answered: %s; nothing was changed",
                           question->label, why.text);
        }
    }
}

bool terminal_confirm(const char *question)
{
    (void)printf("%s [y/N]: ", question);
    (void)fflush(stdout);
    OWN_FREE char *answer = read_line();
    return answer != NULL && (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0);
}

bool terminal_is_interactive(void)
{
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

#define BAR_WIDTH 30

void terminal_progress(void *arg, int64_t done, int64_t all)
{
    struct terminal_progress *progress = arg;
    int64_t now = clock_mono_ns();
    if (all <= 0 || now - progress->start_ns < NS_PER_S ||
        now - progress->drawn_ns < 100 * NS_PER_MS || !isatty(STDERR_FILENO)) {
        return;
    }
    progress->drawn_ns = now;
    int filled = (int)(done * BAR_WIDTH / all);
    (void)fprintf(stderr, "\r%s [%.*s%.*s] %3d%%", progress->label, filled,
                  "##############################", BAR_WIDTH - filled,
                  "                              ", (int)(done * 100 / all));
}

void terminal_progress_end(struct terminal_progress *progress)
{
    if (progress->drawn_ns != 0) {
        (void)fprintf(stderr, "\r\x1b[K");
    }
}
