/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* One value of the configuration: checked against its row of options.def and stored where the row
 * says. For config.c and edit.c. */
#ifndef CONFIG_VALUE_H
#define CONFIG_VALUE_H

#include "config/options.h"
#include "config/toml.h"

/* Stores the value of a node in `owner` (struct config or struct config_report), whose member is
 * still empty. -EINVAL with a sentence that begins with the key and never holds a secret. */
int value_read(const struct option_row *row, const struct toml_doc *doc, size_t node,
               const struct config_checks *checks, void *owner, struct err *err);

/* The same for text without its quotes; the words of a list have a comma between. */
int value_read_text(const struct option_row *row, const char *text,
                    const struct config_checks *checks, void *owner, struct err *err);

/* Frees what the row's member of `owner` holds. */
void value_free(const struct option_row *row, void *owner);

#endif
