/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What a person writes: config.toml, read whole and checked before anything happens. All members
 * are owned by the struct. The file is changed only by splicing (config/edit.h), so that comments
 * and order survive. */
#ifndef CONFIG_CONFIG_H
#define CONFIG_CONFIG_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct config_report {
    char *name;        /* [a-z0-9_-]{1,32}, unique */
    char *report_time; /* cron, as written */
    char *interval;    /* window, as written */
    char *format;      /* "text" or "blocks" */
    char **include;    /* words, NULL ends it */
    int line;          /* of its [[report]] in the file, from 1; 0 when made up */
    /* private */
    int *option_line; /* by row of options.def: the line of the value; 0 = the default */
};

struct config {
    char *path;              /* the file it came from; NULL when there is none */
    char *webhook_url;       /* slack.webhook_url, "" when unset; a secret: never printed */
    char *csv_dir;           /* storage.csv_dir, ~ expanded */
    int64_t compact_after_s; /* storage.compact_after; -1 = never */
    char *sample_interval;   /* as written, "1m" */
    int64_t sample_interval_s;
    char *nvidia_smi;       /* sample.nvidia_smi, NULL when unset */
    char *timezone;         /* general.timezone, "" = the system's */
    char *server_name;      /* general.server_name, "" when unset */
    bool is_strict;         /* general.strict: unknown keys are errors (default) or warnings */
    char **listen, **hosts; /* server.listen, server.hosts; NULL ends them */
    char *base_path;        /* server.base_path, "" when unset */
    char *tls_certificate, *tls_key; /* server.tls_…, NULL when unset */
    char *token_file;                /* server.token_file, NULL when unset */
    bool is_process_hidden;          /* server.hide_processes */
    bool is_scheduling;              /* server.schedules */
    int64_t live_interval_ns;        /* live.interval */
    int64_t idle_interval_ns;        /* live.idle_interval; 0 = off */
    struct config_report *report;
    size_t report_count; /* at least 1: a config without [[report]] has the report "default" */
    char **warning;      /* sentences to show, NULL ends it */
    /* private */
    int *option_line; /* as in struct config_report */
};

/* Checks for texts whose grammar lives in other folders; each returns 0 or -EINVAL with a sentence
 * that does not name the key. */
struct config_checks {
    int (*cron)(const char *text, struct err *err);
    int (*window)(const char *text, struct err *err);
    int (*zone)(const char *text, struct err *err);
};

/* The file to use: `explicit_path` (--config), else GPUMANAGER_CONFIG, else the first that exists
 * of ~/.config/gpumanager/config.toml and /etc/gpumanager/config.toml (GM-020). An explicit or
 * environment path is returned whether or not the file exists: another one is never used in its
 * place (Part C 12). NULL only when nothing is named and none exists. Caller frees. */
char *config_find(const char *explicit_path);

/* Where `init` writes when nothing exists: the explicit or environment path, else the one in the
 * home folder (root without HOME: /etc). Caller frees. */
char *config_default_path(const char *explicit_path);

/* -ENOENT "Config file not found: P"; -EINVAL with file, line, column and, for an unknown key, the
 * nearest known one. path NULL gives the defaults. Free with config_free. */
int config_load(const char *path, const struct config_checks *checks, struct config **out,
                struct err *err);
/* The same for text in memory; `name` stands for the path in messages. */
int config_parse(const char *text, size_t length, const char *name,
                 const struct config_checks *checks, struct config **out, struct err *err);
void config_free(struct config *config); /* accepts NULL */

const struct config_report *config_report_find(const struct config *config, const char *name);

/* "7s", "2m", "1h", "1d" → seconds; -EINVAL with GM's sentence, beginning with `key`. */
int config_parse_duration(const char *key, const char *text, int64_t *out_s, struct err *err);

/* [a-z0-9_-], 1 to 32 characters, because it becomes part of a unit's name. */
int config_check_report_name(const char *name, struct err *err);

#endif
