/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Changes to config.toml that leave everything else as it was: bytes of other lines, comments,
 * order and line ends survive. Every change is checked by reading the new text before it replaces
 * the file, which is written whole or not at all: 0600, or 0640 where the group, and nobody
 * else, could read it before. A link stays a link; a second editor waits. */
#ifndef CONFIG_EDIT_H
#define CONFIG_EDIT_H

#include "config/config.h"

struct config_change {
    const char *section; /* "slack", "general", …; for a report: "report" with report_name */
    const char *report_name;
    const char *key;
    const char *value; /* the string to store */
};

/* Sets keys (adding sections, reports and keys that are missing). Creates the file and its folder
 * when there is none. */
int config_set(const char *path, const struct config_change *changes, size_t count,
               const struct config_checks *checks, struct err *err);

/* Whether the value could be stored under the key: what config_set would refuse is refused here. */
int config_check_value(const char *section, const char *key, const char *value,
                       const struct config_checks *checks, struct err *err);

/* Adds a [[report]] at the end of the reports. -EEXIST when the name is taken. A legacy single
 * [report] table is rewritten as [[report]] named "default". */
int config_add_report(const char *path, const struct config_report *report,
                      const struct config_checks *checks, struct err *err);

/* Removes the whole block with the comments directly above it. -ENOENT when there is none. */
int config_remove_report(const char *path, const char *name, const struct config_checks *checks,
                         struct err *err);

#endif
