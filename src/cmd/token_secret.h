/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Secrets made and hashed. Call lazy_open before token_hash. */
#ifndef CMD_TOKEN_SECRET_H
#define CMD_TOKEN_SECRET_H

#include "base/text.h"
#include "cmd/token.h"

#define SECRET_BYTES 16
#define TOKEN_TEXT_SIZE (4 + 2 * SECRET_BYTES + 1) /* "gpm_", hex, NUL */

int secret_random(uint8_t out[SECRET_BYTES], struct err *err);

/* SHA-256. */
void token_hash(struct span text, uint8_t out[TOKEN_HASH_BYTES]);

#endif
