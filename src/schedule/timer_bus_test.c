/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Our side of D-Bus against a child that plays both the bus and systemd, or keeps silent. */
#include "schedule/units.h"

#include "base/clock.h"
#include "base/text.h"

#include "tests/check.h"

#include "schedule/units_testing.h"

#if HAVE_SYSTEMD

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>

#define NOW_HOOK "@1774231200" /* Mon 2026-03-23 11:00:00 KST */
#define OWN_STATE __attribute__((cleanup(units_timer_state_fini)))

struct library {
    void *handle;
};

static void *find(const struct library *library, const char *name)
{
    void *found = dlsym(library->handle, name);
    if (found == NULL) {
        _exit(3);
    }
    return found;
}

/* A function of libsystemd, called by its own type: nothing links it. */
#define CALL(library, name, ...)                                                                   \
    (*(__typeof__(name) **)(void *[]){find((library), #name)})(__VA_ARGS__)

struct answer {
    const char *name, *text; /* text NULL: the number */
    uint64_t number;
};

static const struct answer answers[] = {
    {.name = "LoadState", .text = "loaded"},
    {.name = "UnitFileState", .text = "enabled"},
    {.name = "LastTriggerUSec", .number = UINT64_C(1774224001000000)},
    {.name = "NextElapseUSecRealtime", .number = UINT64_C(1774310400000000)},
    {.name = "NextElapseUSecMonotonic", .number = UINT64_MAX},
};

static int answer_get(const struct library *library, sd_bus_message *message)
{
    const char *interface = NULL;
    const char *name = NULL;
    (void)CALL(library, sd_bus_message_read, message, "ss", &interface, &name);
    for (size_t i = 0; name != NULL && i < sizeof answers / sizeof answers[0]; i++) {
        const struct answer *answer = &answers[i];
        if (strcmp(answer->name, name) == 0 && answer->text != NULL) {
            return CALL(library, sd_bus_reply_method_return, message, "v", "s", answer->text);
        }
        if (strcmp(answer->name, name) == 0) {
            return CALL(library, sd_bus_reply_method_return, message, "v", "t", answer->number);
        }
    }
    return 0;
}

static int on_message(sd_bus_message *message, void *argument, sd_bus_error *error)
{
    const struct library *library = argument;
    (void)error;
    if (CALL(library, sd_bus_message_is_method_call, message, NULL, "Hello") > 0) {
        return CALL(library, sd_bus_reply_method_return, message, "s", ":1.1");
    }
    if (CALL(library, sd_bus_message_is_method_call, message, NULL, "LoadUnit") > 0) {
        return CALL(library, sd_bus_reply_method_return, message, "o",
                    "/org/freedesktop/systemd1/unit/x");
    }
    return answer_get(library, message);
}

static void serve(int listener)
{
    struct library library = {dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL)};
    int fd = accept(listener, NULL, NULL);
    sd_bus *bus = NULL;
    sd_id128_t id = {.bytes = {1}};
    (void)CALL(&library, sd_bus_new, &bus);
    (void)CALL(&library, sd_bus_set_fd, bus, fd, fd);
    (void)CALL(&library, sd_bus_set_server, bus, 1, id);
    (void)CALL(&library, sd_bus_add_filter, bus, NULL, on_message, &library);
    int code = CALL(&library, sd_bus_start, bus);
    while (code >= 0) {
        code = CALL(&library, sd_bus_process, bus, NULL);
        if (code == 0) {
            code = CALL(&library, sd_bus_wait, bus, UINT64_MAX);
        }
    }
    _exit(0);
}

/* Listens where DBUS_SYSTEM_BUS_ADDRESS says from now on. */
static int open_bus(const struct machine *machine)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    OWN_FREE char *path = machine_path(machine, "bus");
    text_copy(address.sun_path, sizeof address.sun_path, path);
    OWN_FREE char *name = mem_format("unix:path=%s", path);
    (void)setenv("DBUS_SYSTEM_BUS_ADDRESS", name, 1);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK_INT(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    CHECK_INT(listen(fd, 4), 0);
    return fd;
}

static void ask(struct units_timer_state *out)
{
    struct zone zone;
    CHECK_INT(zone_open(&zone, "Asia/Seoul", NULL), 0);
    (void)setenv("GPUMANAGER_NOW", NOW_HOOK, 1);
    units_timer_state("gpumanager-report-default.timer", &zone, out);
}

TEST(the_bus_tells_the_next_run)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_FD int listener = open_bus(&machine);
    pid_t child = fork();
    if (child == 0) {
        (void)alarm(20);
        serve(listener);
    }
    OWN_STATE struct units_timer_state state;
    ask(&state);
    CHECK(state.is_enabled && !state.is_installed);
    CHECK_TEXT(state.next_trigger, "Tue 2026-03-24 09:00:00 KST; 22h left");
    CHECK_INT(state.next_s, 1774310400);
    CHECK_INT(state.last_s, 1774224001);
    OWN_FREE char *log = machine_read(&machine, "log");
    CHECK_TEXT(log, ""); /* systemctl was not needed */
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(status, 0);
}

TEST(a_bus_that_keeps_silent_is_given_up_for_systemctl)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_FREE char *search = mem_format("%s/bin:/usr/bin:/bin", machine.folder);
    (void)setenv("PATH", search, 1);
    machine_write(&machine, "show", "LoadState=not-found\n");
    OWN_FD int listener = open_bus(&machine); /* nobody accepts */
    CHECK(listener >= 0);
    int64_t start_ns = clock_mono_ns();
    OWN_STATE struct units_timer_state state;
    ask(&state);
    CHECK_TEXT(state.next_trigger, "not found");
    CHECK(clock_mono_ns() - start_ns < 8 * NS_PER_S);
}

MAIN(RUN(the_bus_tells_the_next_run), RUN(a_bus_that_keeps_silent_is_given_up_for_systemctl))

#else

TEST(without_libsystemd_there_is_no_bus)
{
    CHECK(!HAVE_SYSTEMD);
}

MAIN(RUN(without_libsystemd_there_is_no_bus))

#endif
