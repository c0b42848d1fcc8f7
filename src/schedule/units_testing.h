/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* For tests only: a machine in a temporary folder, with a systemctl of our own that notes what it
 * was asked and remembers which timers are enabled and run. As root nothing else is in PATH. */
#ifndef SCHEDULE_UNITS_TESTING_H
#define SCHEDULE_UNITS_TESTING_H

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"
#include "build_config.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct machine {
    char folder[32]; /* "" = the build has no test hooks */
};

static inline char *machine_path(const struct machine *machine, const char *name)
{
    return mem_format("%s/%s", machine->folder, name);
}

static inline void machine_write(const struct machine *machine, const char *name, const char *text)
{
    OWN_FREE char *path = machine_path(machine, name);
    CHECK_INT(file_write(path, text, strlen(text), 0755, FILE_REPLACE, NULL), 0);
}

static inline bool machine_has(const struct machine *machine, const char *name)
{
    OWN_FREE char *path = machine_path(machine, name);
    return access(path, F_OK) == 0;
}

static inline void machine_remove(const struct machine *machine, const char *name)
{
    OWN_FREE char *path = machine_path(machine, name);
    CHECK_INT(unlink(path), 0);
}

static const char machine_systemctl[] =
    "#!/bin/sh\n"
    "PATH=/usr/bin:/bin\n"
    "cd \"${0%/*}/..\" || exit 9\n"
    "[ \"$1\" = is-system-running ] && { echo running; exit 0; }\n"
    "echo \"$*\" >> log\n"
    "if [ -e \"fail-$1\" ]; then echo 'Access denied' >&2; exit 1; fi\n"
    "verb=$1; shift\n"
    "[ \"$1\" = --now ] && shift\n"
    "case $verb in\n"
    "is-enabled) [ -e \"enabled/$1\" ] ;;\n"
    "is-active) [ -e \"active/$1\" ] ;;\n"
    "enable) for u; do : > \"enabled/$u\"; : > \"active/$u\"; done ;;\n"
    "disable) for u; do rm -f \"enabled/$u\" \"active/$u\"; done ;;\n"
    "show) [ \"$TZ\" = UTC ] && cat show ;;\n"
    "esac\n";

/* Whoever is not root acts through sudo. */
static const char machine_sudo[] = "#!/bin/sh\nPATH=\"${0%/*}:/usr/bin:/bin\" exec \"$@\"\n";

static inline void machine_set(const struct machine *machine, const char *variable,
                               const char *name)
{
    OWN_FREE char *path = machine_path(machine, name);
    (void)setenv(variable, path, 1);
}

static inline bool machine_open(struct machine *machine)
{
    static const char *const folders[] = {"bin",     "empty",  "root/etc/systemd/system",
                                          "enabled", "active", "home/.config/systemd/user",
                                          "samples"};
    *machine = (struct machine){.folder = "/tmp/units-XXXXXX"};
    if (!HAVE_TEST_HOOKS || !CHECK(mkdtemp(machine->folder) != NULL)) {
        machine->folder[0] = '\0';
        return false;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        OWN_FREE char *path = machine_path(machine, folders[i]);
        CHECK_INT(file_make_folders(path, 0755, NULL), 0);
    }
    machine_write(machine, "bin/systemctl", machine_systemctl);
    if (geteuid() != 0) {
        machine_write(machine, "bin/sudo", machine_sudo);
    }
    machine_write(machine, "log", "");
    machine_set(machine, "PATH", "bin");
    machine_set(machine, "HOME", "home");
    machine_set(machine, "GPUMANAGER_ROOT", "root");
    (void)unsetenv("SUDO_USER");
    (void)unsetenv("DBUS_SYSTEM_BUS_ADDRESS");
    return true;
}

static inline void machine_close(struct machine *machine)
{
    if (machine->folder[0] == '\0') {
        return;
    }
    const char *const argv[] = {"/bin/rm", "-rf", machine->folder, NULL};
    OWN_SPAWN_RESULT struct spawn_result result;
    CHECK_INT(spawn_run(&(struct spawn){.argv = argv}, &result, NULL), 0);
}

#define OWN_MACHINE __attribute__((cleanup(machine_close)))

/* A file of the machine as text; the caller frees. */
static inline char *machine_read(const struct machine *machine, const char *name)
{
    OWN_FREE char *path = machine_path(machine, name);
    struct buf text = {0};
    (void)file_read(path, (size_t)1024 * 1024, &text, NULL);
    return buf_take(&text);
}

static inline int count_lines(const char *log, const char *line)
{
    int count = 0;
    struct span rest = span_of(log);
    struct span part;
    while (span_cut(&rest, '\n', &part)) {
        count += span_equals(part, line);
    }
    return count;
}

static inline bool is_said(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        printf("# not said: \"%s\" in \"%s\"\n", part, text);
        return false;
    }
    return true;
}

#endif
