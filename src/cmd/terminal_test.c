/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/terminal.h"

#include "base/clock.h"
#include "base/own.h"
#include "tests/check.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>

/* What one draw of a bar leaves on a terminal, or on a pipe. */
static void drawn(bool is_terminal, int64_t age_ns, char out[256])
{
    OWN_FD int reader = -1;
    OWN_FD int writer = -1;
    int ends[2];
    int made = is_terminal ? openpty(&ends[0], &ends[1], NULL, NULL, NULL) : pipe(ends);
    CHECK_INT(made, 0);
    reader = ends[0];
    writer = ends[1];
    (void)fflush(stderr);
    OWN_FD int kept = dup(STDERR_FILENO);
    (void)dup2(writer, STDERR_FILENO);
    struct terminal_progress progress = {.label = "Reading", .start_ns = clock_mono_ns() - age_ns};
    terminal_progress(&progress, 50, 100);
    terminal_progress(&progress, 51, 100); /* too soon after the first to be drawn */
    terminal_progress_end(&progress);
    (void)fflush(stderr);
    (void)dup2(kept, STDERR_FILENO);
    struct pollfd poll_fd = {.fd = reader, .events = POLLIN};
    ssize_t got = poll(&poll_fd, 1, 100) == 1 ? read(reader, out, 255) : 0;
    out[got > 0 ? got : 0] = '\0';
}

TEST(a_bar_is_drawn_on_a_terminal_after_a_second)
{
    char text[256];
    drawn(true, 2 * NS_PER_S, text);
    CHECK(strstr(text, "Reading [###############               ]  50%") != NULL);
    CHECK(strstr(text, "51%") == NULL);
    CHECK(strstr(text, "\x1b[K") != NULL); /* and is taken away at the end */
}

TEST(nothing_is_drawn_before_or_elsewhere)
{
    char text[256];
    drawn(true, NS_PER_S / 2, text);
    CHECK_TEXT(text, "");
    drawn(false, 2 * NS_PER_S, text);
    CHECK_TEXT(text, "");
}

MAIN(RUN(a_bar_is_drawn_on_a_terminal_after_a_second), RUN(nothing_is_drawn_before_or_elsewhere))
