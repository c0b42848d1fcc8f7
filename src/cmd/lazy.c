/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/lazy.h"

#include "build_config.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* Made by tools/lazy_stubs.py: for each library its name and the functions wanted of it, each
 * closed by NUL, an empty word behind the last; an empty library at the end. */
extern const char lazy_names[];
extern void *lazy_table[];

int lazy_open(struct err *err)
{
    static bool is_open;
    size_t at = 0;
    for (const char *name = lazy_names; !is_open && *name != '\0'; name++) {
        const char *soname = name;
        /* RTLD_GLOBAL: one of them may look for another's. */
        void *library = dlopen(soname, RTLD_NOW | RTLD_GLOBAL);
        if (library == NULL) {
            return err_set(err, -ENOENT,
                           "cannot serve: %s is not on this machine (install "
                           "libevent-core-2.1-7 libevent-openssl-2.1-7 libssl3 zlib1g)",
                           soname);
        }
        for (name += strlen(name) + 1; *name != '\0'; name += strlen(name) + 1) {
            lazy_table[at] = dlsym(library, name);
            if (lazy_table[at++] == NULL) {
                return err_set(err, -ENOENT, "cannot serve: %s has no %s", soname, name);
            }
        }
    }
    is_open = true;
    return 0;
}
