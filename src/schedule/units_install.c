/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* First decide (struct plan), then act in an order in which every step can be taken again:
 * what is still to do is noted, files are written, obsolete timers go, systemd reads the folder
 * again, running timers start anew, new ones start, the note goes. */
#include "schedule/units.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "base/text.h"
#include "schedule/act.h"
#include "schedule/pending.h"
#include "schedule/run_user.h"
#include "schedule/unit_dir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wanted {
    char name[UNIT_NAME_SIZE];
    struct buf text;
    bool is_new, is_changed;
};

struct plan {
    struct wanted *unit; /* services before timers of the same name */
    size_t unit_count;
    struct words obsolete;  /* units */
    struct pending pending; /* what is to be enabled and re-armed */
    bool is_scheduling;     /* the page runs the schedules: timers stay off */
};

static void plan_fini(struct plan *plan)
{
    for (size_t i = 0; i < plan->unit_count; i++) {
        buf_fini(&plan->unit[i].text);
    }
    free(plan->unit);
    words_fini(&plan->obsolete);
    pending_fini(&plan->pending);
}

static void outcome_list(struct words *from, char ***list, size_t *count)
{
    *list = from->word;
    *count = from->count;
    *from = (struct words){0};
}

static void free_list(char **list, size_t count)
{
    struct words words = {.word = list, .count = count};
    words_fini(&words);
}

void units_outcome_fini(struct units_outcome *outcome)
{
    free_list(outcome->installed, outcome->installed_count);
    free_list(outcome->enabled, outcome->enabled_count);
    free_list(outcome->restarted, outcome->restarted_count);
    free_list(outcome->removed, outcome->removed_count);
    free_list(outcome->conflicting, outcome->conflicting_count);
    free_list(outcome->warning, outcome->warning_count);
    *outcome = (struct units_outcome){0};
}

/* --- deciding --- */

static int plan_unit(struct plan *plan, const struct units_options *options, const char *name,
                     struct err *err)
{
    struct wanted *unit = &plan->unit[plan->unit_count];
    text_copy(unit->name, sizeof unit->name, name);
    plan->unit_count++;
    int code = units_text(options, plan->pending.user, name, &unit->text, err);
    if (code != 0) {
        return code;
    }
    OWN_FREE char *path = unit_path(name);
    OWN_BUF struct buf current = {0};
    struct stat status;
    bool is_read = unit_read(name, &current);
    unit->is_new = lstat(path, &status) != 0;
    unit->is_changed =
        !unit->is_new && (!is_read || strcmp(buf_string(&current), buf_string(&unit->text)) != 0);
    return 0;
}

static int plan_pair(struct plan *plan, const struct units_options *options, const char *stem,
                     const char *report, struct err *err)
{
    OWN_FREE char *service = mem_format("%s%s.service", stem, report);
    OWN_FREE char *timer = mem_format("%s%s.timer", stem, report);
    int code = plan_unit(plan, options, service, err);
    return code == 0 ? plan_unit(plan, options, timer, err) : code;
}

static bool plan_has(const struct plan *plan, const char *unit)
{
    for (size_t i = 0; i < plan->unit_count; i++) {
        if (strcmp(plan->unit[i].name, unit) == 0) {
            return true;
        }
    }
    return false;
}

static void plan_obsolete(struct plan *plan)
{
    OWN_WORDS struct words installed = {0};
    unit_dir_installed(&installed);
    for (size_t i = 0; i < installed.count; i++) {
        if (!plan_has(plan, installed.word[i])) {
            words_add(&plan->obsolete, installed.word[i]);
        }
    }
}

/* Asked for now, by a change that was cut short, or by an earlier one. */
static bool is_serve_wanted(const struct plan *plan, const struct units_options *options)
{
    static const char unit[] = UNITS_SERVE ".service";
    const struct pending *pending = &plan->pending;
    OWN_FREE char *path = unit_path(unit);
    struct stat status;
    return options->is_serving || lstat(path, &status) == 0 || words_have(&pending->enable, unit) ||
           words_have(&pending->off, unit);
}

static int plan_units(struct plan *plan, const struct units_options *options, struct err *err)
{
    const struct config *config = options->config;
    plan->unit = mem_new(2 * config->report_count + 3, sizeof *plan->unit);
    int code = plan_pair(plan, options, UNITS_SAMPLE, "", err);
    for (size_t i = 0; code == 0 && i < config->report_count; i++) {
        code = plan_pair(plan, options, UNITS_REPORT_PREFIX, config->report[i].name, err);
    }
    if (code == 0 && is_serve_wanted(plan, options)) {
        code = plan_unit(plan, options, UNITS_SERVE ".service", err);
    }
    if (code == 0) {
        plan_obsolete(plan);
    }
    return code;
}

/* The successor of the predecessor's only report: on where that one is on, off where a person
 * switched it off (GM-102). */
enum legacy { LEGACY_NONE, LEGACY_OFF, LEGACY_ON };

static enum legacy find_legacy(const struct plan *plan)
{
    if (!words_have(&plan->obsolete, UNITS_LEGACY_REPORT ".timer")) {
        return LEGACY_NONE;
    }
    const char *const argv[] = {"systemctl", "is-enabled", UNITS_LEGACY_REPORT ".timer", NULL};
    OWN_SPAWN_RESULT struct spawn_result result;
    int code = spawn_run(&(struct spawn){.argv = argv}, &result, NULL);
    return code == 0 && result.exit_status != 0 ? LEGACY_OFF : LEGACY_ON;
}

static void add_once(struct words *words, const char *word)
{
    if (!words_have(words, word)) {
        words_add(words, word);
    }
}

/* A new timer is one without a file, so the note must say which of them stay off: once a change
 * that was cut short is taken up again, it cannot be told from the file. */
static void plan_timers(struct plan *plan, bool is_enabling_new, bool is_enabling_all)
{
    struct pending *pending = &plan->pending;
    enum legacy legacy = find_legacy(plan);
    for (size_t i = 0; i < plan->unit_count; i++) {
        const struct wanted *unit = &plan->unit[i];
        if (!unit_is_switched(unit->name)) {
            continue;
        }
        bool is_successor =
            legacy != LEGACY_NONE && strcmp(unit->name, UNITS_REPORT_PREFIX "default.timer") == 0;
        bool is_kept_off = plan->is_scheduling && text_ends(unit->name, ".timer");
        bool is_wanted = !is_kept_off && (is_successor ? legacy == LEGACY_ON : is_enabling_new);
        bool is_fresh = unit->is_new && !words_have(&pending->off, unit->name);
        if ((is_enabling_all && !is_kept_off) || (is_fresh && is_wanted)) {
            add_once(&pending->enable, unit->name);
        } else if (is_fresh && !words_have(&pending->enable, unit->name)) {
            words_add(&pending->off, unit->name);
        }
        if (unit->is_changed) {
            add_once(&pending->rearm, unit->name);
        }
    }
}

static bool plan_has_files(const struct plan *plan)
{
    bool has = plan->obsolete.count > 0;
    for (size_t i = 0; i < plan->unit_count; i++) {
        has = has || plan->unit[i].is_new || plan->unit[i].is_changed;
    }
    return has;
}

/* What an earlier change left to do for timers that are no longer wanted is dropped. */
static void keep_wanted(struct words *timers, const struct plan *plan)
{
    struct words kept = {0};
    for (size_t i = 0; i < timers->count; i++) {
        if (plan_has(plan, timers->word[i])) {
            words_add(&kept, timers->word[i]);
        }
    }
    words_fini(timers);
    *timers = kept;
}

/* --- acting --- */

static int write_units(const struct plan *plan, struct act *act, struct words *written,
                       struct err *err)
{
    for (size_t i = 0; i < plan->unit_count; i++) {
        const struct wanted *unit = &plan->unit[i];
        if (!unit->is_new && !unit->is_changed) {
            continue;
        }
        OWN_FREE char *path = unit_path(unit->name);
        int code = act_write(act, path, &unit->text, err);
        if (code != 0) {
            return code;
        }
        words_add(written, path);
    }
    return 0;
}

/* systemd's memory of when a report last ran. */
static char *stamp_path(const char *timer)
{
    OWN_FREE char *path = mem_format("/var/lib/systemd/timers/stamp-%s", timer);
    return file_rooted(path);
}

/* Stops and disables the timers among these units, and the page, then removes all files. Any other
 * service that is running just now is left to end. */
static int remove_units(const struct words *units, struct act *act, struct words *removed,
                        struct err *err)
{
    OWN_WORDS struct words timers = {0};
    OWN_WORDS struct words paths = {0};
    OWN_WORDS struct words stamps = {0};
    for (size_t i = 0; i < units->count; i++) {
        OWN_FREE char *path = unit_path(units->word[i]);
        words_add(&paths, path);
        OWN_FREE char *stamp = stamp_path(units->word[i]);
        if (!unit_is_switched(units->word[i])) {
            continue;
        }
        words_add(&timers, units->word[i]);
        if (access(stamp, F_OK) == 0) {
            words_add(&stamps, stamp);
        }
    }
    int code = act_systemctl(act, "disable", "--now", &timers, err);
    code = code == 0 ? act_delete(act, &paths, err) : code;
    for (size_t i = 0; code == 0 && i < paths.count; i++) {
        words_add(removed, paths.word[i]);
    }
    size_t deleted = act->deleted;
    code = code == 0 ? act_delete(act, &stamps, err) : code;
    act->deleted = deleted; /* not ours to count */
    return code;
}

/* Persistent= makes up for a run that was missed since the stamp. A report that is new, or whose
 * time was changed, missed none: without this, moving 09:00 to 10:00 at noon would send at once. */
static int stamp_reports(const struct words *timers, struct act *act, struct err *err)
{
    OWN_WORDS struct words stamps = {0};
    for (size_t i = 0; i < timers->count; i++) {
        if (text_starts(timers->word[i], UNITS_REPORT_PREFIX)) {
            OWN_FREE char *stamp = stamp_path(timers->word[i]);
            words_add(&stamps, stamp);
        }
    }
    return act_touch(act, &stamps, err);
}

static bool is_active(const char *unit)
{
    const char *const argv[] = {"systemctl", "is-active", unit, NULL};
    OWN_SPAWN_RESULT struct spawn_result result;
    return spawn_run(&(struct spawn){.argv = argv}, &result, NULL) == 0 && result.exit_status == 0;
}

/* try-restart: what somebody stopped stays stopped (Part C 9). */
static int start_timers(const struct plan *plan, struct act *act, struct words *restarted,
                        struct err *err)
{
    const struct words *rearm = &plan->pending.rearm;
    const struct words *enable = &plan->pending.enable;
    int code = stamp_reports(rearm, act, err);
    code = code == 0 ? act_systemctl(act, "try-restart", NULL, rearm, err) : code;
    for (size_t i = 0; code == 0 && i < rearm->count; i++) {
        if (is_active(rearm->word[i])) {
            words_add(restarted, rearm->word[i]);
        }
    }
    code = code == 0 ? stamp_reports(enable, act, err) : code;
    return code == 0 ? act_systemctl(act, "enable", "--now", enable, err) : code;
}

struct done {
    struct words written, removed, restarted;
};

static int carry_out(const struct plan *plan, struct act *act, struct done *done, struct err *err)
{
    bool has_files = plan_has_files(plan) || plan->pending.is_present;
    int code = pending_write(&plan->pending, act, err);
    act->written = 0; /* the note is no unit */
    code = code == 0 ? write_units(plan, act, &done->written, err) : code;
    code = code == 0 ? remove_units(&plan->obsolete, act, &done->removed, err) : code;
    code = code == 0 && has_files ? act_daemon_reload(act, err) : code;
    code = code == 0 ? start_timers(plan, act, &done->restarted, err) : code;
    return code == 0 ? pending_clear(act, err) : code;
}

/* GM-083 */
static void say_partial(const struct act *act, struct err *err)
{
    if (err == NULL) {
        return;
    }
    struct err cause = *err;
    if (act->written + act->deleted == 0) {
        (void)err_set(err, cause.code,
                      "%.700s; no unit file was changed; `gpumanager reload` finishes the job",
                      cause.text);
        return;
    }
    (void)err_set(err, cause.code,
                  "%.700s; %zu unit files were written and %zu removed before that; `gpumanager "
                  "reload` finishes the job",
                  cause.text, act->written, act->deleted);
}

static int make_folder(const char *path)
{
    return file_make_folders(path, 0755, NULL);
}

/* The folder for samples must be there before systemd can open it to the service. Made as the run
 * user where that is allowed, so that nothing in a home belongs to somebody else. */
static void make_csv_dir(const char *csv_dir, const struct run_user *user, struct act *act,
                         struct words *warnings)
{
    OWN_FREE char *other = run_user_path(user, csv_dir);
    const char *path = other != NULL ? other : csv_dir;
    struct stat status;
    if (stat(path, &status) == 0 || errno != ENOENT || run_user_do(user, make_folder, path) == 0) {
        return;
    }
    const char *const argv[] = {"install", "-d", "-m", "0755", "-o", user->name, path, NULL};
    struct err err = {0};
    if (act_run(act, argv, &err) != 0) {
        OWN_FREE char *text =
            mem_format("the folder for samples could not be made: %s; make it, writable for %s",
                       err.text, user->name);
        words_add(warnings, text);
    }
}

static int check_readable(const char *path)
{
    return access(path, R_OK) == 0 ? 0 : -errno;
}

static void warn_unreadable(const char *config, const struct run_user *user, struct words *warnings)
{
    if (config != NULL && run_user_do(user, check_readable, config) == -EACCES) {
        OWN_FREE char *text =
            mem_format("%s cannot be read by %s, as whom the services run; give it to that account "
                       "(chown %s) or name another one with --run-user",
                       config, user->name, user->name);
        words_add(warnings, text);
    }
}

static void warn_kept_off(const struct plan *plan, bool is_enabling, struct words *warnings)
{
    if (plan->is_scheduling && is_enabling) {
        words_add(warnings, "the timers were not switched on: with schedules = true under [server] "
                            "`gpumanager serve` takes the samples and sends the reports");
    }
}

/* A page that runs the schedules reads them again. */
static int tell_page(const struct plan *plan, const struct done *done, struct err *err)
{
    static const char unit[] = UNITS_SERVE ".service";
    bool is_fresh = words_have(&done->restarted, unit) || words_have(&plan->pending.enable, unit);
    if (!plan->is_scheduling || !plan_has(plan, unit) || is_fresh || !is_active(unit)) {
        return 0;
    }
    struct act act;
    OWN_WORDS struct words units = {0};
    words_add(&units, unit);
    int code = act_open(&act, err);
    return code == 0 ? act_systemctl(&act, "reload", NULL, &units, err) : code;
}

static void find_conflicts(const struct run_user *user, struct words *out)
{
    const char *home = getenv("HOME");
    if (home != NULL && home[0] == '/') {
        unit_dir_user_units(home, out);
    }
    unit_dir_user_units(user->home, out);
}

/* What distinguishes install-systemd from reload. */
struct manner {
    bool is_install;  /* also when nothing is installed yet; every unit is named in the outcome */
    bool is_enabling; /* every timer and the page, not only new ones */
};

static void fill_outcome(const struct plan *plan, struct manner manner, struct done *done,
                         struct units_outcome *out)
{
    if (manner.is_install) {
        words_fini(&done->written);
        for (size_t i = 0; i < plan->unit_count; i++) {
            OWN_FREE char *path = unit_path(plan->unit[i].name);
            words_add(&done->written, path);
        }
    }
    OWN_WORDS struct words enabled = {0};
    for (size_t i = 0; i < plan->pending.enable.count; i++) {
        words_add(&enabled, plan->pending.enable.word[i]);
    }
    outcome_list(&done->written, &out->installed, &out->installed_count);
    outcome_list(&enabled, &out->enabled, &out->enabled_count);
    outcome_list(&done->restarted, &out->restarted, &out->restarted_count);
    outcome_list(&done->removed, &out->removed, &out->removed_count);
    text_copy(out->run_user, sizeof out->run_user, plan->pending.user);
}

static int make_plan(struct plan *plan, const struct units_options *options, struct manner manner,
                     struct err *err)
{
    plan->is_scheduling = options->config->is_scheduling;
    int code = plan_units(plan, options, err);
    if (code == 0) {
        keep_wanted(&plan->pending.enable, plan);
        keep_wanted(&plan->pending.rearm, plan);
        keep_wanted(&plan->pending.off, plan);
        plan_timers(plan, !manner.is_install, manner.is_enabling);
    }
    return code;
}

static bool plan_has_steps(const struct plan *plan)
{
    return plan_has_files(plan) || plan->pending.is_present || plan->pending.enable.count > 0;
}

static int prepare(const struct units_options *options, struct manner manner, struct plan *plan,
                   struct run_user *user, struct err *err)
{
    pending_read(&plan->pending);
    /* install names a missing systemd or sudo even where it would change nothing. */
    struct act act;
    int code = manner.is_install ? act_open(&act, err) : 0;
    code = code == 0 ? run_user_find(options->run_user, plan->pending.user, user, err) : code;
    if (code != 0) {
        return code;
    }
    text_copy(plan->pending.user, sizeof plan->pending.user, user->name);
    return make_plan(plan, options, manner, err);
}

static int bring_in_line(const struct units_options *options, struct manner manner,
                         struct units_outcome *out, struct err *err)
{
    __attribute__((cleanup(plan_fini))) struct plan plan = {0};
    __attribute__((cleanup(run_user_fini))) struct run_user user = {0};
    int code = prepare(options, manner, &plan, &user, err);
    if (code != 0) {
        return code;
    }
    struct done done = {0};
    OWN_WORDS struct words warnings = {0};
    OWN_WORDS struct words conflicts = {0};
    if (plan_has_steps(&plan)) {
        struct act act;
        code = act_open(&act, err);
        if (code == 0) {
            make_csv_dir(options->config->csv_dir, &user, &act, &warnings);
            warn_unreadable(options->config->path, &user, &warnings);
            code = carry_out(&plan, &act, &done, err);
        }
        if (code != 0) {
            say_partial(&act, err);
        }
    }
    code = code == 0 ? tell_page(&plan, &done, err) : code;
    if (code == 0) {
        warn_kept_off(&plan, manner.is_enabling, &warnings);
        find_conflicts(&user, &conflicts);
        outcome_list(&conflicts, &out->conflicting, &out->conflicting_count);
        outcome_list(&warnings, &out->warning, &out->warning_count);
        fill_outcome(&plan, manner, &done, out);
    }
    words_fini(&done.written);
    words_fini(&done.removed);
    words_fini(&done.restarted);
    return code;
}

int units_install(const struct units_options *options, struct units_outcome *out, struct err *err)
{
    *out = (struct units_outcome){0};
    return bring_in_line(options, (struct manner){true, options->is_enabling}, out, err);
}

int units_reconcile(const struct units_options *options, struct units_outcome *out, struct err *err)
{
    *out = (struct units_outcome){0};
    OWN_WORDS struct words installed = {0};
    OWN_PENDING struct pending pending;
    unit_dir_installed(&installed);
    pending_read(&pending);
    if (installed.count == 0 && !pending.is_present) {
        return 0;
    }
    return bring_in_line(options, (struct manner){false, false}, out, err);
}

int units_uninstall(struct units_outcome *out, struct err *err)
{
    *out = (struct units_outcome){0};
    OWN_WORDS struct words installed = {0};
    OWN_WORDS struct words removed = {0};
    OWN_PENDING struct pending pending;
    unit_dir_installed(&installed);
    pending_read(&pending);
    if (installed.count == 0 && !pending.is_present) {
        return 0;
    }
    struct act act;
    int code = act_open(&act, err);
    if (code != 0) {
        return code;
    }
    /* The note goes first: left behind, it would make `reload` install everything again. */
    code = pending.is_present ? pending_clear(&act, err) : 0;
    code = code == 0 ? remove_units(&installed, &act, &removed, err) : code;
    code = code == 0 ? act_daemon_reload(&act, err) : code;
    if (code != 0) {
        err_prefix(err, "the units are not all removed: ");
        return code;
    }
    outcome_list(&removed, &out->removed, &out->removed_count);
    return 0;
}

/* What a change that was cut short would still start must not come back at the next reload. */
static int forget_enable(const char *timer, struct act *act, struct err *err)
{
    OWN_PENDING struct pending pending;
    pending_read(&pending);
    if (!words_have(&pending.enable, timer)) {
        return 0;
    }
    words_drop(&pending.enable, timer);
    add_once(&pending.off, timer);
    return pending_write(&pending, act, err);
}

int units_disable(const char *timer, struct err *err)
{
    OWN_FREE char *path = unit_path(timer);
    if (!unit_is_ours(timer) || access(path, F_OK) != 0) {
        return err_set(err, -ENOENT, "%s is not installed", timer);
    }
    struct act act;
    OWN_WORDS struct words timers = {0};
    words_add(&timers, timer);
    int code = act_open(&act, err);
    code = code == 0 ? forget_enable(timer, &act, err) : code;
    return code == 0 ? act_systemctl(&act, "disable", "--now", &timers, err) : code;
}

int units_check_systemd(struct err *err)
{
    const char *search = getenv("PATH");
    OWN_FREE char *systemctl = search != NULL ? spawn_find("systemctl", search) : NULL;
    const char *why = "systemctl not found";
    if (systemctl != NULL && access("/run/systemd/system", F_OK) == 0) {
        return 0;
    }
    if (systemctl != NULL) {
        /* Installed, but not in charge: a container. It says so itself. */
        const char *const argv[] = {systemctl, "is-system-running", NULL};
        OWN_SPAWN_RESULT struct spawn_result result;
        int code = spawn_run(&(struct spawn){.argv = argv}, &result, NULL);
        if (code == 0 && !span_equals(span_trim(span_of(buf_string(&result.out))), "offline")) {
            return 0;
        }
        why = "systemd does not run this machine";
    }
    return err_set(err, -ENOENT,
                   "%s; without it, `gpumanager serve` with schedules = true under [server] runs "
                   "the schedules itself, or cron can (install-systemd prints its lines)",
                   why);
}
