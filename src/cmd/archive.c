/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* delete-csv and compact: what happens to samples that nobody needs one by one any more. */
#include "store/archive.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "cmd/cmd.h"
#include "cmd/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "YYYY-MM-DD HH:MM:SS" in the zone; the first instant of a repeated hour, or the last one. */
static int parse_time(const struct zone *zone, const char *text, bool is_end, int64_t *out_s,
                      struct err *err)
{
    char iso[24];
    int64_t naive = 0;
    int offset = 0;
    if (strlen(text) == 19 && text[10] == ' ') {
        (void)snprintf(iso, sizeof iso, "%.10sT%sZ", text, text + 11);
        if (clock_parse_iso(iso, 20, &naive, &offset)) {
            struct zone utc = {.name = "UTC"};
            struct civil local;
            zone_civil(&utc, naive, &local);
            int64_t instants[2];
            int count = zone_instants(zone, &local, instants);
            *out_s = count == 0 ? zone_instant(zone, &local) : instants[is_end ? count - 1 : 0];
            return 0;
        }
    }
    return err_set(err, -EINVAL, "'%s' is not a date and time like 2026-03-22 16:30:00", text);
}

struct time_question {
    const struct zone *zone;
    bool is_end;
};

static int check_time(void *arg, const char *answer, struct err *err)
{
    const struct time_question *question = arg;
    int64_t ignored = 0;
    return parse_time(question->zone, answer, question->is_end, &ignored, err);
}

/* The option's value, or the answer to the question. */
static int get_time(const struct cmd *cmd, const struct zone *zone, bool is_end, int64_t *out_s,
                    struct err *err)
{
    const char *given = cmd_value(cmd, is_end ? "end" : "start");
    if (given != NULL) {
        return parse_time(zone, given, is_end, out_s, err);
    }
    struct time_question about = {zone, is_end};
    struct terminal_question question = {
        .label = is_end ? "End datetime   (YYYY-MM-DD HH:MM:SS)"
                        : "Start datetime (YYYY-MM-DD HH:MM:SS)",
        .current = "",
        .check = check_time,
        .arg = &about,
    };
    OWN_FREE char *answer = NULL;
    int code = terminal_ask(&question, &answer, err);
    return code != 0 ? code : parse_time(zone, answer, is_end, out_s, err);
}

static struct archive_request request_for(const struct cmd_context *context,
                                          struct terminal_progress *progress)
{
    return (struct archive_request){.csv_dir = context->config->csv_dir,
                                    .zone = &context->zone,
                                    .progress = terminal_progress,
                                    .progress_arg = progress};
}

int cmd_delete_csv(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    struct terminal_progress progress = {.label = "Deleting samples", .start_ns = clock_mono_ns()};
    struct archive_request request = request_for(&context, &progress);
    if (get_time(cmd, &context.zone, false, &request.from_s, &err) != 0 ||
        get_time(cmd, &context.zone, true, &request.to_s, &err) != 0) {
        return cmd_fail(&err);
    }
    if (request.to_s < request.from_s) {
        (void)err_set(&err, -EINVAL, "End datetime must be after start datetime");
        return cmd_fail(&err);
    }
    int64_t files = 0;
    if (archive_count(&request, &files, &err) != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Deleting %lld files.\n", (long long)files);
    if (cmd_value(cmd, "yes") == NULL && !terminal_confirm("Continue?")) {
        (void)printf("Deletion cancelled.\n");
        return CMD_OK;
    }
    progress.start_ns = clock_mono_ns();
    code = archive_delete(&request, &files, &err);
    terminal_progress_end(&progress);
    if (code != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Deleted %lld files.\n", (long long)files);
    return CMD_OK;
}

/* The start of a day in the zone. */
static int parse_date(const struct zone *zone, const char *text, int64_t *out_s, struct err *err)
{
    OWN_FREE char *midnight = mem_format("%s 00:00:00", text);
    if (strlen(text) != 10 || parse_time(zone, midnight, false, out_s, err) != 0) {
        return err_set(err, -EINVAL, "--before %s: expected a date like 2026-03-22", text);
    }
    return 0;
}

int cmd_compact(struct cmd *cmd)
{
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, false, &context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    int64_t before_s = context.now_s;
    const char *before = cmd_value(cmd, "before");
    if (before != NULL && parse_date(&context.zone, before, &before_s, &err) != 0) {
        return cmd_fail_usage(&err);
    }
    before_s = before_s < context.now_s ? before_s : context.now_s;
    (void)printf("Merging finished days in %s into one CSV file a day; the Python program, if it "
                 "shares the folder,\nreads such a day as one file.\n",
                 context.config->csv_dir);
    if (cmd_value(cmd, "yes") == NULL && terminal_is_interactive() &&
        !terminal_confirm("Continue?")) {
        (void)printf("Nothing was changed.\n");
        return CMD_OK;
    }
    struct terminal_progress progress = {.label = "Merging days", .start_ns = clock_mono_ns()};
    struct archive_request request = request_for(&context, &progress);
    struct archive_compacted done = {0};
    code = archive_compact(&request, before_s, &done, &err);
    terminal_progress_end(&progress);
    if (code != 0) {
        return cmd_fail(&err);
    }
    (void)printf("Merged %lld files into %lld days (%lld bytes before, %lld after).\n",
                 (long long)done.files_before, (long long)done.days, (long long)done.bytes_before,
                 (long long)done.bytes_after);
    return CMD_OK;
}
