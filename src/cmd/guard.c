/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/guard.h"

#include "base/text.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define HOST_SIZE 256

/* The host without its port and brackets; false when it is none. */
static bool host_name(const char *host, char out[HOST_SIZE])
{
    size_t length = 0;
    if (host[0] == '[') {
        const char *close = strchr(host, ']');
        if (close == NULL || (close[1] != '\0' && close[1] != ':')) {
            return false;
        }
        host++;
        length = (size_t)(close - host);
    } else {
        length = strcspn(host, ":");
    }
    if (length == 0 || length >= HOST_SIZE) {
        return false;
    }
    memcpy(out, host, length);
    out[length] = '\0';
    return true;
}

static bool is_address(const char *name)
{
    unsigned char bytes[16];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_listed(const char *name, char *const *hosts)
{
    for (; hosts != NULL && *hosts != NULL; hosts++) {
        if (strcasecmp(*hosts, name) == 0) {
            return true;
        }
    }
    return false;
}

bool guard_host(const char *host, char *const *hosts)
{
    char name[HOST_SIZE];
    return host_name(host, name) &&
           (strcasecmp(name, "localhost") == 0 || is_address(name) || is_listed(name, hosts));
}

bool guard_origin(const char *origin, const char *host, char *const *hosts)
{
    if (origin[0] == '\0') {
        return true;
    }
    const char *scheme = strstr(origin, "://");
    char name[HOST_SIZE];
    if (scheme == NULL || !host_name(scheme + 3, name)) {
        return false; /* "null" too: a sandboxed page */
    }
    return strcasecmp(scheme + 3, host) == 0 || is_listed(name, hosts);
}

bool guard_is_loopback(const char *listen)
{
    char name[HOST_SIZE];
    unsigned char bytes[16];
    if (text_starts(listen, "unix:")) {
        return true;
    }
    if (!host_name(listen, name)) {
        return false;
    }
    return strcasecmp(name, "localhost") == 0 || strcmp(name, "::1") == 0 ||
           (inet_pton(AF_INET, name, bytes) == 1 && bytes[0] == 127);
}
