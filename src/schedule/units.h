/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Our units under systemd: their text, and the steps that bring what is installed in line with the
 * configuration (GM-100 … GM-109, Part C 8-10). Root acts directly; others go through sudo. */
#ifndef SCHEDULE_UNITS_H
#define SCHEDULE_UNITS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/zone.h"
#include "config/config.h"

#include <stdbool.h>
#include <stdint.h>

#define UNITS_SAMPLE "gpumanager-sample"
#define UNITS_REPORT_PREFIX "gpumanager-report-"
#define UNITS_SERVE "gpumanager-serve"          /* the page; a service without a timer */
#define UNITS_LEGACY_REPORT "gpumanager-report" /* the predecessor's, of the report "default" */

struct units_options {
    const struct config *config;
    const char *program; /* absolute path of this program, for ExecStart= */
    const char
        *run_user;    /* --run-user, or NULL: the one the installed units name, else the caller */
    bool is_enabling; /* --enable-now: start what install leaves off otherwise */
    bool is_serving;  /* --serve: the page too; once installed it is kept without being asked */
    int64_t now_s;
};

/* What happened, as lists of words for the messages; fini frees. */
struct units_outcome {
    char **installed; /* paths written */
    size_t installed_count;
    char **enabled; /* timers (and the page) enabled and started */
    size_t enabled_count;
    char **restarted; /* the same, running with a new definition */
    size_t restarted_count;
    char **removed; /* paths removed */
    size_t removed_count;
    char **conflicting; /* user units of the same name */
    size_t conflicting_count;
    char **warning; /* sentences to show */
    size_t warning_count;
    char run_user[64];
};
void units_outcome_fini(struct units_outcome *outcome);

/* The text of one unit, by name ("gpumanager-sample.timer"); pure. -ENOENT: no such unit. */
int units_text(const struct units_options *options, const char *run_user, const char *unit,
               struct buf *out, struct err *err);

/* install-systemd: writes every unit, removes obsolete ones; enables when asked to. */
int units_install(const struct units_options *options, struct units_outcome *out, struct err *err);

/* reload, add-report, remove-report, init: only when something is installed (else 0 and an empty
 * outcome). New timers are enabled and started, obsolete ones disabled and removed, changed ones
 * rewritten and re-armed, the rest not touched; a timer the user disabled stays off. */
int units_reconcile(const struct units_options *options, struct units_outcome *out,
                    struct err *err);

/* uninstall-systemd: disables and removes every unit of ours, also legacy ones. */
int units_uninstall(struct units_outcome *out, struct err *err);

/* disable-sample, disable-report: stops and disables one timer, keeps its files. */
int units_disable(const char *timer, struct err *err);

/* -ENOENT with the sentence that names the ways out when there is no systemctl on this machine. */
int units_check_systemd(struct err *err);

struct units_timer_state {
    bool is_installed; /* its unit file exists */
    bool is_enabled;
    char *next_trigger; /* "Tue 2026-03-24 09:00:00 KST; 22h left"; "not found"; NULL = unknown */
    int64_t next_s;     /* 0 = unknown */
    int64_t last_s;     /* last run, 0 = never or unknown */
};
void units_timer_state_fini(struct units_timer_state *state);
/* Asks systemd over D-Bus, else `systemctl show`. Never fails: unknown stays unknown. */
void units_timer_state(const char *timer, const struct zone *zone, struct units_timer_state *out);

#endif
