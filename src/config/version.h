/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Two versions of a TOML text, compared: what an edit must not have changed. Values are the same
 * when they are written with the same bytes under the same keys, wherever they stand. */
#ifndef CONFIG_VERSION_H
#define CONFIG_VERSION_H

#include "config/toml.h"

struct version {
    const char *text;
    const struct toml_doc *doc;
};

bool version_is_same(const struct version *old, size_t old_node, const struct version *new,
                     size_t new_node);

/* The same for two tables but for the members with these keys (NULL: none). */
bool version_is_same_except(const struct version *old, size_t old_table, const struct version *new,
                            size_t new_table, const char *const except[2]);

#endif
