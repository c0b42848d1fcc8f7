/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Who is behind a pid, from /proc/PID. A driver tells pids of the host's namespace: in a container
 * with a namespace of its own they are not ours, and are never looked up, because another process
 * may have that number here. Used by one thread. */
#ifndef SOURCE_PROCESS_INFO_H
#define SOURCE_PROCESS_INFO_H

#include "model/host.h"

#include <stddef.h>

struct process_table;
struct process_table *process_table_new(void);
void process_table_free(struct process_table *table); /* accepts NULL */

/* Fills `out` for the pid; what cannot be known stays unknown. `driver_name` is what the driver
 * says, "" for nothing. Rates are since the look before. */
void process_table_look(struct process_table *table, uint32_t pid, const char *driver_name,
                        int64_t now_ns, struct process_detail *out);

/* Forgets those that were not looked at since the call before. */
void process_table_sweep(struct process_table *table);

/* The readable name and the shown command of an argument list as /proc/PID/cmdline has it
 * (arguments closed by NUL): the script's name for interpreters, never the text after -c or -e;
 * values that look secret (--token X, PASSWORD=X, URLs with passwords) masked as ****. Pure. */
void process_words(const char *arguments, size_t length, char name[PROCESS_NAME_SIZE],
                   char command[PROCESS_COMMAND_SIZE]);

#endif
