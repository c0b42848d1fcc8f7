/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* [server] schedules = true: where there are no timers, the daemon starts this program for each
 * sample and each report, as the timers would. Nothing here waits. */
#include "cmd/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "schedule/due.h"
#include "schedule/units.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SAMPLE_DEADLINE_NS (60 * NS_PER_S)
#define REPORT_DEADLINE_NS (900 * NS_PER_S)
#define END_NS (200 * NS_PER_MS) /* so long a killed run is waited for when the daemon ends */

extern char **environ;

/* The sample (no name), or one report. */
struct job {
    struct job *next;
    char report[64];
    struct cron cron;
    struct due due;
    int64_t next_ns; /* of the sample */
    pid_t pid;       /* of its run; 0 = none */
    int64_t deadline_ns;
    bool is_wanted, is_killed;
};

struct serve_schedules {
    bool is_on;
    int64_t interval_s; /* of samples, since when they are planned */
    struct zone zone;
    struct job *jobs;
};

static const char *name_of(const struct job *job)
{
    return job->report[0] != '\0' ? job->report : "sample";
}

/* --- which there are --- */

static struct job *find_job(struct serve_schedules *schedules, const char *report)
{
    struct job **link = &schedules->jobs;
    while (*link != NULL && strcmp((*link)->report, report) != 0) {
        link = &(*link)->next;
    }
    if (*link == NULL) {
        *link = mem_new(1, sizeof **link);
        text_copy((*link)->report, sizeof(*link)->report, report);
    }
    (*link)->is_wanted = true;
    return *link;
}

static void drop_unwanted(struct serve_schedules *schedules)
{
    struct job **link = &schedules->jobs;
    while (*link != NULL) {
        struct job *job = *link;
        if (job->is_wanted || job->pid != 0) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        free(job);
    }
}

static int check_timer(const char *timer, const struct zone *zone, struct err *err)
{
    struct units_timer_state state = {0};
    units_timer_state(timer, zone, &state);
    bool is_on = state.is_installed && state.is_enabled;
    units_timer_state_fini(&state);
    return !is_on ? 0
                  : err_set(err, -EPERM,
                            "[server] schedules = true and %s is on: everything would run twice; "
                            "switch one of them off (gpumanager disable-sample, disable-report)",
                            timer);
}

/* Never both at once. */
static int check_timers(const struct config *config, const struct zone *zone, struct err *err)
{
    int code = check_timer(UNITS_SAMPLE ".timer", zone, err);
    for (size_t i = 0; code == 0 && i < config->report_count; i++) {
        OWN_FREE char *timer = mem_format(UNITS_REPORT_PREFIX "%s.timer", config->report[i].name);
        code = check_timer(timer, zone, err);
    }
    return code;
}

static int take_reports(struct serve_schedules *schedules, const struct config *config,
                        struct err *err)
{
    for (size_t i = 0; i < config->report_count; i++) {
        struct cron cron;
        int code = cron_parse(config->report[i].report_time, &cron, err);
        if (code != 0) {
            err_prefix(err, "report '%s': ", config->report[i].name);
            return code;
        }
        struct job *job = find_job(schedules, config->report[i].name);
        job->cron = cron;
        schedule_replan(&job->due, &cron, &schedules->zone);
    }
    return 0;
}

static int take(struct serve *serve, struct err *err)
{
    const struct config *config = serve->context.config;
    struct serve_schedules *schedules = serve->schedules;
    int code = zone_open(&schedules->zone, config->timezone, err);
    code = code == 0 && !schedules->is_on ? check_timers(config, &schedules->zone, err) : code;
    if (code != 0) {
        return code;
    }
    struct job *sample = find_job(schedules, "");
    if (!schedules->is_on || schedules->interval_s != config->sample_interval_s) {
        sample->next_ns = 0;
        schedules->interval_s = config->sample_interval_s;
    }
    return take_reports(schedules, config, err);
}

int serve_schedules_take(struct serve *serve, struct err *err)
{
    if (serve->schedules == NULL) {
        serve->schedules = mem_new(1, sizeof *serve->schedules);
    }
    struct serve_schedules *schedules = serve->schedules;
    bool is_wanted = serve->context.config->is_scheduling;
    if (is_wanted && serve->is_playing) {
        log_warning("[server] schedules = true is left out with --simulate and --replay: the "
                    "samples would not be this machine's");
        is_wanted = false;
    }
    for (struct job *job = schedules->jobs; job != NULL; job = job->next) {
        job->is_wanted = false;
    }
    int code = is_wanted ? take(serve, err) : 0;
    schedules->is_on = is_wanted && code == 0;
    if (schedules->is_on) {
        log_info("samples are taken every %s and %zu report(s) sent by this program (schedules)",
                 serve->context.config->sample_interval, serve->context.config->report_count);
    }
    drop_unwanted(schedules);
    return code;
}

/* --- running them --- */

/* What it says goes to our stderr, the log; it leads a process group of its own. */
static int start_program(const char *const *argv, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all;
    sigset_t none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    (void)posix_spawnattr_setsigdefault(&attributes, &all);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETPGROUP);
    int code =
        posix_spawn(pid, argv[0], &actions, &attributes, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    return -code;
}

static void start_job(const struct serve *serve, struct job *job, int64_t now_ns)
{
    if (job->pid != 0) {
        log_warning("%s: the run before has not ended; this one is left out", name_of(job));
        return;
    }
    OWN_FREE char *program = cmd_program_path();
    const char *argv[8] = {program};
    size_t count = 1;
    if (serve->context.config->path != NULL) {
        argv[count++] = "--config";
        argv[count++] = serve->context.config->path;
    }
    bool is_report = job->report[0] != '\0';
    argv[count++] = is_report ? "test-report" : "test-sample";
    if (is_report) {
        argv[count++] = "--report";
        argv[count++] = job->report;
        argv[count++] = "--yes";
    }
    int code = start_program(argv, &job->pid);
    if (code != 0) {
        job->pid = 0;
        struct err err = {0};
        (void)err_errno(&err, code, "cannot start %s", program);
        log_error("%s: %s", name_of(job), err.text);
        return;
    }
    job->is_killed = false;
    job->deadline_ns = now_ns + (is_report ? REPORT_DEADLINE_NS : SAMPLE_DEADLINE_NS);
}

static void look_after(struct job *job, int64_t now_ns)
{
    int status = 0;
    pid_t ended = waitpid(job->pid, &status, WNOHANG);
    if (ended == job->pid || (ended < 0 && errno == ECHILD)) {
        job->pid = 0;
        if (ended > 0 && status != 0 && !job->is_killed) {
            log_warning("%s: the run ended with %s %d", name_of(job),
                        WIFEXITED(status) ? "exit status" : "signal",
                        WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        }
        return;
    }
    if (now_ns >= job->deadline_ns && !job->is_killed) {
        log_error("%s: the run did not end in time and is killed", name_of(job));
        (void)kill(-job->pid, SIGKILL);
        job->is_killed = true;
    }
}

static bool is_due(const struct serve *serve, struct job *job, int64_t now_ns)
{
    const struct serve_schedules *schedules = serve->schedules;
    if (!schedules->is_on || !job->is_wanted || serve->is_stopping) {
        return false;
    }
    if (job->report[0] == '\0') {
        int64_t interval_ns = serve->context.config->sample_interval_s * NS_PER_S;
        return schedule_interval_due(&job->next_ns, interval_ns, now_ns);
    }
    return schedule_due(&job->due, &job->cron, &schedules->zone, clock_wall_ns() / NS_PER_S);
}

int64_t serve_schedules_tick(struct serve *serve, int64_t now_ns)
{
    int64_t next_ns = INT64_MAX;
    for (struct job *job = serve->schedules->jobs; job != NULL; job = job->next) {
        if (job->pid != 0) {
            look_after(job, now_ns);
        }
        if (is_due(serve, job, now_ns)) {
            start_job(serve, job, now_ns);
        }
        bool is_sample = job->report[0] == '\0' && job->next_ns != 0;
        next_ns = is_sample && job->next_ns < next_ns ? job->next_ns : next_ns;
    }
    drop_unwanted(serve->schedules);
    return serve->schedules->is_on ? next_ns : INT64_MAX;
}

void serve_schedules_close(struct serve *serve)
{
    struct serve_schedules *schedules = serve->schedules;
    if (schedules == NULL) {
        return;
    }
    for (struct job *job = schedules->jobs; job != NULL; job = job->next) {
        job->is_wanted = false;
        if (job->pid != 0) {
            (void)kill(-job->pid, SIGKILL);
        }
    }
    int64_t end_ns = clock_mono_ns() + END_NS;
    for (struct job *job = schedules->jobs; job != NULL; job = job->next) {
        while (job->pid != 0 && waitpid(job->pid, NULL, WNOHANG) == 0 && clock_mono_ns() < end_ns) {
            clock_sleep_ns(2 * NS_PER_MS);
        }
        job->pid = 0;
    }
    drop_unwanted(schedules);
    free(schedules);
    serve->schedules = NULL;
}
