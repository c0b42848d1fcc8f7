/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The libraries behind src/http (libevent, OpenSSL, zlib), opened when serving begins
 * (tools/lazy_stubs.py). Before that no function of src/http may be called. */
#ifndef CMD_LAZY_H
#define CMD_LAZY_H

#include "base/err.h"

/* -ENOENT with the library that is missing, and the package to install. */
int lazy_open(struct err *err);

#endif
