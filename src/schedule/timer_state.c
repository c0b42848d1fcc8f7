/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/units.h"

#include "base/clock.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"
#include "build_config.h"
#include "schedule/timer_facts.h"
#include "schedule/unit_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOW_DEADLINE_NS (5 * NS_PER_S)
#define NS_PER_US 1000
#define US_PER_S (NS_PER_S / NS_PER_US)

void units_timer_state_fini(struct units_timer_state *state)
{
    free(state->next_trigger);
    *state = (struct units_timer_state){0};
}

/* Under a test root the machine's own systemd has no say, unless a test names a bus. */
static bool is_bus_ours(void)
{
    return !HAVE_TEST_HOOKS || getenv("GPUMANAGER_ROOT") == NULL ||
           getenv("DBUS_SYSTEM_BUS_ADDRESS") != NULL;
}

/* With TZ=UTC every version of systemctl prints times that can be read back; --timestamp=unix is
 * younger than some that are in use. */
static int ask_systemctl(const char *timer, const struct zone *zone, struct timer_facts *out)
{
    static const char wanted[] = "--property=LoadState,UnitFileState,LastTriggerUSec,"
                                 "NextElapseUSecRealtime,NextElapseUSecMonotonic";
    const char *const argv[] = {"env",  "TZ=UTC", "LC_ALL=C", "systemctl",
                                "show", wanted,   timer,      NULL};
    OWN_SPAWN_RESULT struct spawn_result result;
    struct spawn spawn = {.argv = argv, .deadline_ns = SHOW_DEADLINE_NS};
    int code = spawn_run(&spawn, &result, NULL);
    if (code == 0 && result.exit_status != 0) {
        code = -EIO;
    }
    if (code == 0) {
        timer_facts_parse(buf_string(&result.out), zone, out);
    }
    return code;
}

/* Without an answer the link that `enable` makes still tells. */
static bool is_linked(const char *timer)
{
    OWN_BUF struct buf name = {0};
    buf_format(&name, "timers.target.wants/%s", timer);
    OWN_FREE char *path = unit_path(buf_string(&name));
    struct stat status;
    return lstat(path, &status) == 0;
}

void units_timer_state(const char *timer, const struct zone *zone, struct units_timer_state *out)
{
    *out = (struct units_timer_state){0};
    OWN_FREE char *path = unit_path(timer);
    struct stat status;
    out->is_installed = stat(path, &status) == 0;
    struct timer_facts facts = {0};
    int code = is_bus_ours() ? timer_facts_ask_bus(timer, &facts) : -ENOSYS;
    if (code != 0) {
        code = ask_systemctl(timer, zone, &facts);
    }
    if (code != 0 || facts.load_state[0] == '\0') {
        out->is_enabled = is_linked(timer);
        return;
    }
    OWN_BUF struct buf text = {0};
    if (strcmp(facts.load_state, "not-found") == 0) {
        buf_text(&text, "not found");
    } else {
        out->is_enabled = text_starts(facts.file_state, "enabled");
        int64_t now_us = clock_wall_ns() / NS_PER_US;
        int64_t next_us = timer_next(&facts, now_us, clock_mono_ns() / NS_PER_US);
        out->last_s = facts.last_us / US_PER_S;
        out->next_s = next_us / US_PER_S;
        timer_trigger(next_us, zone, now_us, &text);
    }
    out->next_trigger = buf_take(&text);
}
