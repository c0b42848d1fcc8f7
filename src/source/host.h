/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Figures of this machine from /proc and /sys (Linux; proc(5), Documentation/admin-guide/iostats).
 * What cannot be read stays unknown. Used by one thread. */
#ifndef SOURCE_HOST_H
#define SOURCE_HOST_H

#include "model/host.h"

struct host_reader;
struct host_reader *host_reader_new(void);
void host_reader_free(struct host_reader *reader); /* accepts NULL */

/* Reads everything now; rates are since the call before. */
void host_read(struct host_reader *reader, int64_t now_ns, struct host *out);

#endif
