/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* GPUs as the nvidia-smi program tells them: one query with every field, without those that this
 * driver refuses. One child at a time, its whole process group killed at the deadline. */
#include "source/nvidia_smi_parse.h"
#include "source/source.h"
#include "source/unified.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KNOWN_PLACES                                                                               \
    "/usr/bin:/usr/local/bin:/usr/lib/nvidia/bin:/usr/lib/nvidia/current:/usr/local/nvidia/bin:"   \
    "/opt/nvidia/bin:/opt/bin:/run/nvidia/driver/usr/bin:/run/current-system/sw/bin:"              \
    "/usr/lib/wsl/lib:/snap/bin"
#define OUTPUT_LIMIT ((size_t)8 * 1024 * 1024) /* 1,024 GPUs of 70 fields are a tenth of it */
#define SMALL_FIELDS 9                         /* the first rows of smi_fields: GH-031's query */
#define TRIES_MAX 80                           /* each refused field costs one or two runs */

enum field_state { FIELD_USUAL, FIELD_ALIAS, FIELD_DROPPED };

struct smi {
    struct source source;
    struct source_options options;
    char *program;
    unsigned char state[SMI_FIELDS_MAX]; /* enum field_state: what this driver taught us */
};

/* The first place that has it; NULL with a sentence that names all that were searched. */
static char *find_program(const char *given, struct err *err)
{
    if (given != NULL && given[0] != '\0') {
        if (access(given, X_OK) == 0) {
            return mem_copy_text(given);
        }
        (void)err_errno(err, -ENODEV, "sample.nvidia_smi is %s, which cannot be run (%s)", given,
                        err_name(errno));
        return NULL;
    }
    const char *search = getenv("PATH");
    char *found = search != NULL ? spawn_find("nvidia-smi", search) : NULL;
    struct span rest = span_of(KNOWN_PLACES);
    struct span place;
    while (found == NULL && span_cut(&rest, ':', &place)) {
        OWN_FREE char *plain = span_copy(place);
        OWN_FREE char *rooted = file_rooted(plain);
        found = spawn_find("nvidia-smi", rooted);
    }
    if (found == NULL) {
        (void)err_set(err, -ENODEV,
                      "nvidia-smi not found in PATH (%s), nor in %s; sample.nvidia_smi in "
                      "config.toml can name it",
                      search != NULL ? search : "unset", KNOWN_PLACES);
    }
    return found;
}

static int smi_open(struct source **out, const struct source_options *options, struct err *err)
{
    char *program = find_program(options->arg, err);
    if (program == NULL) {
        return -ENODEV;
    }
    struct smi *smi = mem_new(1, sizeof *smi);
    smi->source.ops = &source_nvidia_smi;
    smi->options = *options;
    smi->options.arg = NULL;
    smi->program = program;
    *out = &smi->source;
    return 0;
}

static void smi_close(struct source *source)
{
    struct smi *smi = (struct smi *)source;
    if (smi != NULL) {
        free(smi->program);
        free(smi);
    }
}

/* Runs the program with one query argument, within what is left until `end_ns`. */
static int run(struct smi *smi, const char *query, int64_t end_ns, struct spawn_result *result,
               struct err *err)
{
    bool is_xml = query == NULL;
    const char *const argv[] = {smi->program, is_xml ? "-q" : query,
                                is_xml ? "-x" : "--format=csv,noheader,nounits", NULL};
    int64_t left = end_ns - clock_mono_ns();
    struct spawn spawn = {.argv = argv,
                          .deadline_ns = left > NS_PER_MS ? left : NS_PER_MS,
                          .output_limit_bytes = OUTPUT_LIMIT,
                          .is_contained = smi->options.is_contained};
    int code = spawn_run(&spawn, result, err);
    if (smi->options.tap != NULL && result->out.length > 0) {
        OWN_FREE char *origin = mem_format("nvidia-smi %s %s", argv[1], argv[2]);
        smi->options.tap->text(smi->options.tap->arg, origin, result->out.data, result->out.length);
    }
    return code;
}

static void write_query(const struct smi *smi, const struct smi_query *query, struct buf *out)
{
    buf_text(out, "--query-gpu=");
    for (size_t i = 0; i < query->count; i++) {
        size_t field = query->column[i];
        const char *name =
            smi->state[field] == FIELD_ALIAS ? smi_fields[field].alias : smi_fields[field].name;
        buf_format(out, "%s%s", i > 0 ? "," : "", name);
    }
}

/* The columns to ask for: GM-002's four, GH-031's few, or all that are not refused. */
static void choose_columns(const struct smi *smi, size_t limit, struct smi_query *out)
{
    out->count = 0;
    for (size_t i = 0; i < limit; i++) {
        if (smi->state[i] != FIELD_DROPPED) {
            out->column[out->count++] = i;
        }
    }
}

/* Steps the refused field on: to its alias, then out. False when it is none of ours, or one that
 * nothing works without. */
static bool learn_refusal(struct smi *smi, const char *refused)
{
    for (size_t i = 0; i < smi_field_count; i++) {
        const struct smi_field *field = &smi_fields[i];
        bool is_alias = smi->state[i] == FIELD_ALIAS;
        const char *asked = is_alias ? field->alias : field->name;
        if (smi->state[i] == FIELD_DROPPED || strcmp(asked, refused) != 0) {
            continue;
        }
        bool is_needed = field->kind == SMI_INDEX || field->kind == SMI_UUID;
        if (field->alias != NULL && !is_alias) {
            smi->state[i] = FIELD_ALIAS;
            return true;
        }
        smi->state[i] = FIELD_DROPPED;
        return !is_needed;
    }
    return false;
}

static int tell_no_row(const struct smi *smi, const struct smi_answer *answer,
                       const struct spawn_result *result, struct err *err)
{
    const char *why = answer->message[0] != '\0' ? answer->message : answer->refused;
    bool is_stderr = why[0] == '\0' && result->error.length > 0;
    char said[200];
    text_clean(said, sizeof said, is_stderr ? result->error.data : why,
               is_stderr ? result->error.length : strlen(why));
    return err_set(err, -EIO, "%s ended with status %d and no GPU row%s%s", smi->program,
                   result->exit_status, said[0] != '\0' ? ": " : "", said);
}

/* Asks until no field is refused; what the last answer said is in `answer`. */
static int ask(struct smi *smi, size_t limit, int64_t end_ns, struct snapshot *snapshot,
               struct smi_answer *answer, struct err *err)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        struct smi_query query;
        choose_columns(smi, limit, &query);
        OWN_BUF struct buf text = {0};
        write_query(smi, &query, &text);
        OWN_SPAWN_RESULT struct spawn_result result = {0};
        int code = run(smi, buf_string(&text), end_ns, &result, err);
        smi_parse_gpus(buf_string(&result.out), result.out.length, &query, code == 0, snapshot,
                       answer);
        if (answer->rows > 0 || answer->has_no_devices) {
            return 0;
        }
        if (code != 0) {
            return code;
        }
        if (answer->refused[0] == '\0' || !learn_refusal(smi, answer->refused)) {
            return tell_no_row(smi, answer, &result, err);
        }
    }
    return err_set(err, -EIO, "%s refuses every query", smi->program);
}

static void read_processes(struct smi *smi, int64_t end_ns, struct snapshot *snapshot)
{
    OWN_SPAWN_RESULT struct spawn_result result = {0};
    int code = run(smi, "--query-compute-apps=gpu_uuid,pid,process_name,used_memory", end_ns,
                   &result, NULL);
    smi_parse_processes(buf_string(&result.out), result.out.length, code == 0, snapshot);
}

/* The ways to ask, best first. */
static int read_gpus(struct smi *smi, int64_t end_ns, struct snapshot *snapshot, struct err *err)
{
    struct smi_answer answer = {0};
    if (smi->options.depth == SOURCE_UTILIZATION) {
        return ask(smi, 4, end_ns, snapshot, &answer, err);
    }
    int code = ask(smi, smi_field_count, end_ns, snapshot, &answer, err);
    if (code == -EIO) {
        code = ask(smi, SMALL_FIELDS, end_ns, snapshot, &answer, NULL) == 0 ? 0 : code;
    }
    if (code == -EIO) {
        OWN_SPAWN_RESULT struct spawn_result result = {0};
        if (run(smi, NULL, end_ns, &result, NULL) == 0 &&
            smi_parse_xml(buf_string(&result.out), result.out.length, snapshot) > 0) {
            code = 0;
        }
    }
    return code;
}

static int smi_read(struct source *source, int64_t now_ns, struct snapshot **out, struct err *err)
{
    struct smi *smi = (struct smi *)source;
    int64_t limit_ns = smi->options.deadline_ns > 0 ? smi->options.deadline_ns : 10 * NS_PER_S;
    int64_t end_ns = clock_mono_ns() + limit_ns;
    struct snapshot *snapshot = snapshot_new(now_ns);
    int code = read_gpus(smi, end_ns, snapshot, err);
    if (code != 0) {
        snapshot_unref(snapshot);
        return code;
    }
    if (smi->options.depth == SOURCE_FULL && snapshot->gpu_count > 0) {
        read_processes(smi, end_ns, snapshot);
        for (size_t i = 0; i < snapshot->gpu_count; i++) {
            unified_fill(snapshot, &snapshot->gpu[i], smi->options.tap);
        }
    }
    *out = snapshot;
    return 0;
}

const struct source_ops source_nvidia_smi = {"nvidia-smi", smi_open, smi_read, smi_close};
