/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Private to http/: the certificate of one listener, read again when its files change. A pair that
 * does not fit, as between the writing of the two files, leaves the old one in use. */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include "base/err.h"

#include <stdint.h>

struct tls;

int tls_open(const char *certificate, const char *key, struct tls **out, struct err *err);
void tls_close(struct tls *tls); /* accepts NULL */

/* An SSL of OpenSSL for one connection, the caller's; looks at the files at most once a second.
 * NULL when OpenSSL gives none. */
void *tls_session(struct tls *tls, int64_t now_ns);

#endif
