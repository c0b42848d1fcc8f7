/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* test-report: averages the CSV samples of each report's window, posts the message, then prints it
 * (GM-060 … GM-067); or prints it in another form. What the report timers run. */
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "build_config.h"
#include "cmd/cmd.h"
#include "cmd/terminal.h"
#include "output/slack.h"
#include "query/window.h"
#include "report/report.h"
#include "store/archive.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COURSE_BUCKETS 120 /* points at most of the course over the window in html and svg */

struct format {
    const char *name;
    void (*write)(const struct report *report, struct buf *out);
    size_t buckets;
    const char *open, *between, *close; /* around several reports */
};

static const struct format formats[] = {
    {"text", report_text, 0, "", "\n", ""},
    {"json", report_json, 0, "[\n", ",\n", "]\n"},
    {"csv", report_csv, 0, "", "", ""},
    {"html", report_html, COURSE_BUCKETS, "", "", ""},
    {"svg", report_svg, COURSE_BUCKETS, "", "", ""},
};

static const struct format *find_format(const char *name, struct err *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(formats[i].name, name) == 0) {
            return &formats[i];
        }
    }
    (void)err_set(err, -EINVAL, "--output %s: expected text, json, csv, html or svg", name);
    return NULL;
}

static bool includes(const struct config_report *report, const char *word)
{
    for (char **at = report->include; at != NULL && *at != NULL; at++) {
        if (strcmp(*at, word) == 0) {
            return true;
        }
    }
    return false;
}

/* What could not be read is told once a report, on stderr: the message itself stays GM's. */
static void tell_skipped(const struct archive_result *result)
{
    for (int64_t i = 0; i < result->unreadable_count && i < 20; i++) {
        (void)fprintf(stderr, "Warning: %s is not a readable sample file and was left out\n",
                      result->unreadable[i]);
    }
    if (result->unreadable_count > 20) {
        (void)fprintf(stderr, "Warning: %lld more files were not readable and were left out\n",
                      (long long)result->unreadable_count - 20);
    }
    if (result->skipped_lines > 0) {
        (void)fprintf(stderr, "Warning: %lld skipped lines (torn or malformed) in the window\n",
                      (long long)result->skipped_lines);
    }
}

/* One report with its data; the members borrow from the context. */
struct work {
    struct report report;
    struct archive_result result;
};

/* No more points than two samples each fill, or the course would have gaps that are none. */
static size_t course_buckets(const struct report *report, size_t most)
{
    int64_t expected = usage_expected(&report->window, report->sample_interval_s);
    size_t filled = expected >= 2 ? (size_t)(expected / 2) : 1;
    return filled < most ? filled : most;
}

static int build(const struct cmd *cmd, const struct cmd_context *context,
                 const struct config_report *wanted, size_t buckets, struct work *out,
                 struct err *err)
{
    struct work work = {.report = {.server_name = context->config->server_name,
                                   .report_name = wanted->name,
                                   .zone = &context->zone,
                                   .now_s = context->now_s,
                                   .sample_interval_s = context->config->sample_interval_s,
                                   .bucket_count = buckets,
                                   .has_coverage = includes(wanted, "coverage")}};
    int code =
        window_resolve(wanted->interval, &context->zone, context->now_s, &work.report.window, err);
    if (code != 0) {
        return code;
    }
    buckets = course_buckets(&work.report, buckets);
    work.report.bucket_count = buckets;
    struct terminal_progress progress = {.label = "Reading samples", .start_ns = clock_mono_ns()};
    struct archive_request request = {.csv_dir = context->config->csv_dir,
                                      .zone = &context->zone,
                                      .from_s = work.report.window.from_s,
                                      .to_s = work.report.window.to_s,
                                      .bucket_count = buckets,
                                      .is_cache_off = cmd_value(cmd, "no-cache") != NULL,
                                      .progress = terminal_progress,
                                      .progress_arg = &progress};
    code = archive_read(&request, &work.result, err);
    terminal_progress_end(&progress);
    if (code == 0) {
        *out = work;
        tell_skipped(&work.result);
    }
    return code;
}

static void tell_outcome(const struct slack_outcome *outcome)
{
    if (outcome->sent_late > 0) {
        (void)fprintf(stderr, "Sent %d kept message(s) of earlier runs first\n",
                      outcome->sent_late);
    }
    if (outcome->dropped > 0) {
        (void)fprintf(stderr, "Warning: %d kept message(s) were given up\n", outcome->dropped);
    }
    if (outcome->trouble.text[0] != '\0') {
        (void)fprintf(stderr, "Warning: kept messages: %s\n", outcome->trouble.text);
    }
}

/* Tests must not wait a minute for a server that never comes. */
static int64_t patience_ns(void)
{
    const char *text = HAVE_TEST_HOOKS ? getenv("GPUMANAGER_PATIENCE_MS") : NULL;
    int64_t patience_ms = 0;
    return text != NULL && text_to_int64(span_of(text), &patience_ms) ? patience_ms * NS_PER_MS : 0;
}

static int post(const struct cmd_context *context, const struct config_report *wanted,
                const struct report *report, int64_t patience, struct err *err)
{
    OWN_BUF struct buf body = {0};
    report_slack_body(report, strcmp(wanted->format, "blocks") == 0, &body);
    OWN_FREE char *state_dir = cmd_state_dir(context->config);
    struct slack_options options = {.webhook_url = context->config->webhook_url,
                                    .state_dir = state_dir,
                                    .now_s = context->now_s,
                                    .patience_ns = patience};
    struct slack_outcome outcome = {0};
    int code = slack_deliver(&options, buf_string(&body), &outcome, err);
    tell_outcome(&outcome);
    return code;
}

/* Once a report had to be kept, those behind it are tried once: the patience is one run's. */
static int send_one(const struct cmd *cmd, const struct cmd_context *context,
                    const struct config_report *wanted, bool *is_slack_away)
{
    struct err err = {0};
    struct work work;
    int code = build(cmd, context, wanted, 0, &work, &err);
    if (code == 0) {
        work.report.result = &work.result;
        code = post(context, wanted, &work.report, *is_slack_away ? 1 : patience_ns(), &err);
        *is_slack_away |= code == -EAGAIN;
        OWN_BUF struct buf text = {0};
        report_text(&work.report, &text);
        if (code == 0) {
            (void)printf("%s\n", buf_string(&text));
        } else if (code != -EAGAIN) {
            /* Neither delivered nor kept: it must not be lost. */
            (void)fprintf(stderr, "The message that was not sent:\n%s\n", buf_string(&text));
        }
        archive_result_fini(&work.result);
    }
    if (code != 0) {
        err_prefix(&err, "report '%s': ", wanted->name);
        return cmd_fail(&err);
    }
    return CMD_OK;
}

static int print_one(const struct cmd *cmd, const struct cmd_context *context,
                     const struct config_report *wanted, const struct format *format,
                     struct buf *out)
{
    struct err err = {0};
    struct work work;
    if (build(cmd, context, wanted, format->buckets, &work, &err) != 0) {
        err_prefix(&err, "report '%s': ", wanted->name);
        return cmd_fail(&err);
    }
    work.report.result = &work.result;
    format->write(&work.report, out);
    archive_result_fini(&work.result);
    if (out->length > 0 && out->data[out->length - 1] != '\n') {
        buf_char(out, '\n');
    }
    return CMD_OK;
}

/* A regular file is replaced whole, behind a link too and with its mode; anything else (a pipe, a
 * terminal, /dev/null) is written into and stays what it is. */
static int write_file(const char *path, const struct buf *text, struct err *err)
{
    struct stat status;
    bool is_there = stat(path, &status) == 0;
    if (!is_there || S_ISREG(status.st_mode)) {
        OWN_FREE char *real = realpath(path, NULL);
        return file_write(real != NULL ? real : path, buf_string(text), text->length,
                          is_there ? status.st_mode & 0777 : 0644, FILE_REPLACE, err);
    }
    OWN_FILE FILE *file = fopen(path, "we");
    bool is_written = file != NULL &&
                      fwrite(buf_string(text), 1, text->length, file) == text->length &&
                      fflush(file) == 0;
    return is_written ? 0 : err_errno(err, -errno, "cannot write %s", path);
}

static int print_all(const struct cmd *cmd, const struct cmd_context *context, size_t first,
                     size_t count)
{
    struct err err = {0};
    const struct format *format = find_format(cmd_value(cmd, "output"), &err);
    if (format == NULL) {
        return cmd_fail_usage(&err);
    }
    if (count > 1 && format->buckets > 0) {
        (void)err_set(&err, -EINVAL, "--output %s holds one report: choose it with --report",
                      format->name);
        return cmd_fail_usage(&err);
    }
    OWN_BUF struct buf out = {0};
    buf_text(&out, count > 1 ? format->open : "");
    int failed = CMD_OK;
    bool is_first = true;
    for (size_t i = 0; i < count; i++) {
        size_t mark = out.length;
        buf_text(&out, is_first ? "" : format->between);
        const struct config_report *wanted = &context->config->report[first + i];
        int code = print_one(cmd, context, wanted, format, &out);
        if (code == CMD_OK) {
            is_first = false;
            continue;
        }
        failed = code; /* the others can still be read */
        out.length = mark;
    }
    buf_text(&out, count > 1 ? format->close : "");
    if (cmd->argument_count == 0) {
        (void)fwrite(buf_string(&out), 1, out.length, stdout);
        return failed;
    }
    if (write_file(cmd->argument[0], &out, &err) != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Wrote %s\n", cmd->argument[0]);
    return failed;
}

/* storage.compact_after: merging is done where the folder is read anyway. */
static void compact_if_due(const struct cmd_context *context)
{
    const struct config *config = context->config;
    if (config->compact_after_s < 0) {
        return;
    }
    struct archive_request request = {.csv_dir = config->csv_dir, .zone = &context->zone};
    struct archive_compacted done = {0};
    struct err err = {0};
    if (archive_compact(&request, context->now_s - config->compact_after_s, &done, &err) != 0) {
        (void)fprintf(stderr, "Warning: storage.compact_after: %s; the samples stay as they are\n",
                      err.text);
    }
}

int cmd_test_report(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    size_t first = 0;
    size_t count = 0;
    int code = cmd_reports_open(cmd, &context, &first, &count);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    if (cmd_value(cmd, "output") != NULL) {
        return print_all(cmd, &context, first, count);
    }
    if (cmd->argument_count > 0) {
        (void)err_set(&err, -EINVAL, "FILE goes with --output");
        return cmd_fail_usage(&err);
    }
    if (context.config->webhook_url[0] == '\0') {
        (void)err_set(&err, -EINVAL, "Slack webhook URL is not configured");
        return cmd_fail(&err);
    }
    if (count > 1 && cmd_value(cmd, "yes") == NULL && terminal_is_interactive()) {
        OWN_FREE char *question = mem_format("Send %zu reports now?", count);
        if (!terminal_confirm(question)) {
            (void)printf("Nothing was sent.\n");
            return CMD_OK;
        }
    }
    bool is_slack_away = false;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            (void)printf("\n");
        }
        int sent = send_one(cmd, &context, &context.config->report[first + i], &is_slack_away);
        code = sent != CMD_OK ? sent : code;
    }
    compact_if_due(&context);
    return code;
}
