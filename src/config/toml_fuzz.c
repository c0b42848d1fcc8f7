/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Any bytes as config.toml: refused with a sentence, or read; and what is read can be edited, or
 * the edit is refused and the text stays. An edited text is read again. */
#include "config/config.h"
#include "config/splice.h"

#include "base/own.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int edit_fn(struct buf *text, struct err *err);

static int set_name(struct buf *text, struct err *err)
{
    const struct config_change change = {"general", NULL, "server_name", "x\"\\\n"};
    return splice_set(text, &change, err);
}

static int set_time(struct buf *text, struct err *err)
{
    const struct config_change change = {"report", "default", "report_time", "1 2 * * *"};
    return splice_set(text, &change, err);
}

static int add_report(struct buf *text, struct err *err)
{
    char name[] = "added";
    const struct config_report report = {.name = name};
    return splice_add_report(text, &report, err);
}

static int remove_report(struct buf *text, struct err *err)
{
    return splice_remove_report(text, "default", err);
}

static void check_edit(edit_fn *edit, const char *data, size_t size)
{
    static const struct config_checks no_checks;
    OWN_BUF struct buf text = {0};
    buf_add(&text, data, size);
    struct err err = {0};
    if (edit(&text, &err) != 0) {
        assert(err.text[0] != '\0');
        assert(text.length == size && memcmp(text.data, data, size) == 0);
        return;
    }
    struct config *config = NULL;
    int code = config_parse(text.data, text.length, "config.toml", &no_checks, &config, &err);
    assert(code == 0 || code == -EINVAL);
    config_free(config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct config_checks no_checks;
    static edit_fn *const edits[] = {set_name, set_time, add_report, remove_report};
    struct config *config = NULL;
    struct err err = {0};
    const char *text = (const char *)data;
    if (size > 65536) {
        return 0;
    }
    if (config_parse(text, size, "config.toml", &no_checks, &config, &err) != 0) {
        assert(err.code < 0 && err.text[0] != '\0' && config == NULL);
        return 0;
    }
    assert(config->report_count > 0);
    config_free(config);
    bool has_bom = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    for (size_t i = 0; size > 0 && !has_bom && i < sizeof edits / sizeof edits[0]; i++) {
        check_edit(edits[i], text, size);
    }
    return 0;
}
