/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* libsystemd is opened when first needed: `test-sample` never does, and a machine without it can
 * still ask `systemctl`. One deadline holds for everything, also for the greeting: a bus that
 * accepts and then says nothing must not hang `status`. */
#include "schedule/timer_facts.h"

#include "build_config.h"

#include <errno.h>

#if HAVE_SYSTEMD

#include "base/clock.h"
#include "base/own.h"
#include "base/text.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#define DEADLINE_NS (2 * NS_PER_S)
#define SERVICE "org.freedesktop.systemd1"
#define MANAGER "org.freedesktop.systemd1.Manager"
#define UNIT "org.freedesktop.systemd1.Unit"
#define TIMER "org.freedesktop.systemd1.Timer"

struct library {
    void *handle;
    __typeof__(sd_bus_open_system) *open_system;
    __typeof__(sd_bus_is_ready) *is_ready;
    __typeof__(sd_bus_process) *process;
    __typeof__(sd_bus_wait) *wait;
    __typeof__(sd_bus_set_method_call_timeout) *set_timeout;
    __typeof__(sd_bus_call_method) *call_method;
    __typeof__(sd_bus_message_read) *message_read;
    __typeof__(sd_bus_message_unref) *message_unref;
    __typeof__(sd_bus_get_property_trivial) *get_trivial;
    __typeof__(sd_bus_get_property_string) *get_string;
    __typeof__(sd_bus_close_unref) *close_unref;
};

static const struct {
    const char *name;
    size_t offset;
} symbols[] = {
    {"sd_bus_open_system", offsetof(struct library, open_system)},
    {"sd_bus_is_ready", offsetof(struct library, is_ready)},
    {"sd_bus_process", offsetof(struct library, process)},
    {"sd_bus_wait", offsetof(struct library, wait)},
    {"sd_bus_set_method_call_timeout", offsetof(struct library, set_timeout)},
    {"sd_bus_call_method", offsetof(struct library, call_method)},
    {"sd_bus_message_read", offsetof(struct library, message_read)},
    {"sd_bus_message_unref", offsetof(struct library, message_unref)},
    {"sd_bus_get_property_trivial", offsetof(struct library, get_trivial)},
    {"sd_bus_get_property_string", offsetof(struct library, get_string)},
    {"sd_bus_close_unref", offsetof(struct library, close_unref)},
};

static void library_close(struct library *library)
{
    if (library->handle != NULL) {
        (void)dlclose(library->handle);
    }
}

static int library_open(struct library *library)
{
    library->handle = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *found = library->handle != NULL ? dlsym(library->handle, symbols[i].name) : NULL;
        if (found == NULL) {
            return -ENOSYS;
        }
        memcpy((char *)library + symbols[i].offset, &found, sizeof found);
    }
    return 0;
}

/* One conversation. */
struct talk {
    struct library library;
    sd_bus *bus;
    char *path; /* the unit's object; owned */
    int64_t end_ns;
};

static void talk_fini(struct talk *talk)
{
    if (talk->bus != NULL) {
        (void)talk->library.close_unref(talk->bus);
    }
    free(talk->path);
    library_close(&talk->library);
}

static uint64_t left_us(const struct talk *talk)
{
    int64_t left_ns = talk->end_ns - clock_mono_ns();
    return left_ns > 1000 ? (uint64_t)left_ns / 1000 : 0;
}

static int give_time(struct talk *talk)
{
    uint64_t left = left_us(talk);
    return left > 0 ? talk->library.set_timeout(talk->bus, left) : -ETIMEDOUT;
}

/* The calls below would greet the bus by themselves, but without a deadline. */
static int greet(struct talk *talk)
{
    int code = talk->library.open_system(&talk->bus);
    while (code >= 0) {
        code = talk->library.is_ready(talk->bus);
        if (code != 0) {
            return code < 0 ? code : 0;
        }
        code = talk->library.process(talk->bus, NULL);
        uint64_t left = left_us(talk);
        if (code == 0 && left == 0) {
            return -ETIMEDOUT;
        }
        code = code == 0 ? talk->library.wait(talk->bus, left) : code;
    }
    return code;
}

/* GetUnit knows only what is in memory; LoadUnit looks at the files too. */
static int find_unit(struct talk *talk, const char *timer)
{
    sd_bus_message *reply = NULL;
    const char *path = NULL;
    int code = give_time(talk);
    if (code >= 0) {
        code = talk->library.call_method(talk->bus, SERVICE, "/org/freedesktop/systemd1", MANAGER,
                                         "LoadUnit", NULL, &reply, "s", timer);
    }
    code = code >= 0 ? talk->library.message_read(reply, "o", &path) : code;
    if (code > 0 && path != NULL) {
        talk->path = span_copy(span_of(path));
    }
    (void)talk->library.message_unref(reply);
    return talk->path != NULL ? 0 : code < 0 ? code : -EPROTO;
}

static int get_text(struct talk *talk, const char *name, char *out, size_t size)
{
    char *value = NULL;
    int code = give_time(talk);
    if (code >= 0) {
        code = talk->library.get_string(talk->bus, SERVICE, talk->path, UNIT, name, NULL, &value);
    }
    if (code >= 0) {
        text_clean(out, size, value, strlen(value));
    }
    free(value);
    return code < 0 ? code : 0;
}

/* systemd's "never" is the largest number. */
static int get_us(struct talk *talk, const char *name, int64_t *out_us)
{
    uint64_t value = 0;
    int code = give_time(talk);
    if (code >= 0) {
        code = talk->library.get_trivial(talk->bus, SERVICE, talk->path, TIMER, name, NULL, 't',
                                         &value);
    }
    if (code >= 0) {
        *out_us = value <= INT64_MAX ? (int64_t)value : 0;
    }
    return code < 0 ? code : 0;
}

int timer_facts_ask_bus(const char *timer, struct timer_facts *out)
{
    __attribute__((cleanup(talk_fini))) struct talk talk = {
        .end_ns = clock_mono_ns() + DEADLINE_NS,
    };
    struct timer_facts facts = {0};
    int code = library_open(&talk.library);
    code = code == 0 ? greet(&talk) : code;
    code = code == 0 ? find_unit(&talk, timer) : code;
    if (code == 0) {
        code = get_text(&talk, "LoadState", facts.load_state, sizeof facts.load_state);
    }
    if (code == 0) {
        code = get_text(&talk, "UnitFileState", facts.file_state, sizeof facts.file_state);
    }
    code = code == 0 ? get_us(&talk, "LastTriggerUSec", &facts.last_us) : code;
    code = code == 0 ? get_us(&talk, "NextElapseUSecRealtime", &facts.next_real_us) : code;
    code = code == 0 ? get_us(&talk, "NextElapseUSecMonotonic", &facts.next_mono_us) : code;
    if (code == 0) {
        *out = facts;
    }
    return code;
}

#else

int timer_facts_ask_bus(const char *timer, struct timer_facts *out)
{
    (void)timer;
    (void)out;
    return -ENOSYS;
}

#endif
