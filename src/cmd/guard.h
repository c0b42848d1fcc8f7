/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Who may ask: rules over the Host and Origin headers that keep other pages in the viewer's browser
 * out (DNS rebinding, cross-site requests). Pure. */
#ifndef CMD_GUARD_H
#define CMD_GUARD_H

#include <stdbool.h>

/* A Host header ("localhost:1312", "[::1]:1312", "gpu.example.org"): localhost, an address, or one
 * of `hosts` (NULL ends it). A name that leads here by somebody else's DNS is none of these. */
bool guard_host(const char *host, char *const *hosts);

/* An Origin header beside the Host header: absent ("") comes from no page; else it must name the
 * same host and port, or one of `hosts`. */
bool guard_origin(const char *origin, const char *host, char *const *hosts);

/* True for addresses that only this machine reaches: loopback and unix sockets. */
bool guard_is_loopback(const char *listen);

#endif
