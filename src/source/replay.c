/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* A recording as a source: each read gives the next snapshot, as if it were taken now (stored
 * samples carry the time of the replay, so that windows find them). A recording that holds only
 * nvidia-smi's text, as somebody may paste it into a report, is parsed again. */
#include "source/nvidia_smi_parse.h"
#include "source/recording.h"
#include "source/source.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct replay {
    struct source source;
    FILE *file;
    char *path;
    bool is_text_only; /* no snapshot in it */
    int64_t line, bad;
};

static void replay_close(struct source *source)
{
    struct replay *replay = (struct replay *)source;
    if (replay != NULL) {
        if (replay->file != NULL) {
            (void)fclose(replay->file);
        }
        free(replay->path);
        free(replay);
    }
}

/* Reads the file once: is it ours, and does it hold snapshots or only text? */
static int look_through(struct replay *replay, struct err *err)
{
    bool has_snapshot = false;
    bool has_text = false;
    int version = RECORDING_VERSION;
    struct recording_line line;
    while (!has_snapshot && recording_next(replay->file, &replay->line, &replay->bad, &line) > 0) {
        has_snapshot = line.kind == RECORDING_SNAPSHOT;
        has_text = has_text || line.kind == RECORDING_TEXT;
        version = line.kind == RECORDING_HEADER ? line.version : version;
        recording_line_fini(&line);
    }
    if (version != RECORDING_VERSION) {
        return err_set(err, -EINVAL,
                       "--replay %s: a recording of version %d; this program reads version %d",
                       replay->path, version, RECORDING_VERSION);
    }
    if (!has_snapshot && !has_text) {
        return err_set(err, -EINVAL,
                       "--replay %s: not a recording: %lld line(s), none with a snapshot or text",
                       replay->path, (long long)replay->line);
    }
    replay->is_text_only = !has_snapshot;
    rewind(replay->file);
    replay->line = 0;
    replay->bad = 0;
    return 0;
}

static int replay_open(struct source **out, const struct source_options *options, struct err *err)
{
    struct replay *replay = mem_new(1, sizeof *replay);
    replay->source.ops = &source_replay;
    replay->path = mem_copy_text(options->arg);
    replay->file = fopen(options->arg, "re");
    struct stat status;
    int code = 0;
    if (replay->file == NULL) {
        code = err_set(err, -EINVAL, "--replay: cannot open %s: %s", options->arg, err_name(errno));
    } else if (fstat(fileno(replay->file), &status) != 0 || !S_ISREG(status.st_mode)) {
        code = err_set(err, -EINVAL, "--replay: %s is no regular file", options->arg);
    }
    code = code == 0 ? look_through(replay, err) : code;
    if (code != 0) {
        replay_close(&replay->source);
        return code;
    }
    *out = &replay->source;
    return 0;
}

/* The columns of "nvidia-smi --query-gpu=index,uuid,… --format=…"; false when it is none. */
static bool read_query(const char *origin, struct smi_query *out)
{
    static const char option[] = "--query-gpu=";
    const char *at = strstr(origin, option);
    if (at == NULL) {
        return false;
    }
    at += strlen(option);
    struct span rest = {at, strcspn(at, " ")};
    struct span name;
    out->count = 0;
    while (span_cut(&rest, ',', &name)) {
        size_t field = 0;
        while (field < smi_field_count && !span_equals(name, smi_fields[field].name) &&
               (smi_fields[field].alias == NULL || !span_equals(name, smi_fields[field].alias))) {
            field++;
        }
        if (field == smi_field_count || out->count == SMI_FIELDS_MAX) {
            return false;
        }
        out->column[out->count++] = field;
    }
    return out->count > 0;
}

/* The snapshot that a line stands for, or NULL. */
static struct snapshot *snapshot_of(const struct replay *replay, struct recording_line *line)
{
    if (line->kind == RECORDING_SNAPSHOT) {
        return MOVE(line->snapshot);
    }
    struct smi_query query;
    if (line->kind != RECORDING_TEXT || !replay->is_text_only ||
        !read_query(line->origin, &query)) {
        return NULL;
    }
    struct snapshot *snapshot = snapshot_new(line->time_ns);
    struct smi_answer answer;
    smi_parse_gpus(buf_string(&line->text), line->text.length, &query, true, snapshot, &answer);
    return snapshot;
}

/* Everything in the snapshot happens `by` later. */
static void move_times(struct snapshot *snapshot, int64_t now_ns)
{
    int64_t by = now_ns - snapshot->time_ns;
    for (size_t i = 0; i < snapshot->gpu_count; i++) {
        for (size_t j = 0; j < PACE_COUNT; j++) {
            int64_t *at = &snapshot->gpu[i].read_ns[j];
            int64_t moved = 0;
            *at = *at != 0 && !__builtin_add_overflow(*at, by, &moved) ? moved : 0;
        }
    }
    for (size_t i = 0; i < snapshot->event_count; i++) {
        int64_t moved = 0;
        bool is_fine = !__builtin_add_overflow(snapshot->event[i].time_ns, by, &moved);
        snapshot->event[i].time_ns = is_fine ? moved : now_ns;
    }
    snapshot->time_ns = now_ns;
}

static int replay_read(struct source *source, int64_t now_ns, struct snapshot **out,
                       struct err *err)
{
    struct replay *replay = (struct replay *)source;
    struct recording_line line;
    while (recording_next(replay->file, &replay->line, &replay->bad, &line) > 0) {
        struct snapshot *snapshot = snapshot_of(replay, &line);
        recording_line_fini(&line);
        if (snapshot != NULL) {
            move_times(snapshot, now_ns);
            *out = snapshot;
            return 0;
        }
    }
    return err_set(err, -ENODATA, "the recording %s is at its end (%lld lines, %lld unreadable)",
                   replay->path, (long long)replay->line, (long long)replay->bad);
}

const struct source_ops source_replay = {"replay", replay_open, replay_read, replay_close};
