/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Any text: refused with a sentence by both functions, or a window that ends now. */
#include "query/window.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#define NOW_S INT64_C(1796083200) /* 2026-12-01T00:00:00Z */
#define TEXT_SIZE 256

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_SIZE];
    if (size >= sizeof text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    struct zone zone = {.name = "UTC"};
    struct window window = {0};
    struct err err = {0};
    int code = window_check(text, &err);
    assert((code == 0) == (err.text[0] == '\0'));
    struct err resolve_err = {0};
    int resolved = window_resolve(text, &zone, NOW_S, &window, &resolve_err);
    assert(code == 0 || resolved != 0);
    if (resolved == 0) {
        assert(window.from_s <= window.to_s && window.to_s == NOW_S);
        assert(strncmp(window.label, "last ", 5) == 0 || strncmp(window.label, "since ", 6) == 0);
    } else {
        assert(resolve_err.text[0] != '\0');
    }
    return 0;
}
