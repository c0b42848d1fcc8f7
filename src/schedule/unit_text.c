/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What our units say. Paths come from a person, so every one is quoted by the rules of the
 * setting it stands in: they differ between ExecStart= and ReadWritePaths=. */
#include "schedule/units.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "schedule/cron.h"
#include "schedule/run_user.h"
#include "schedule/unit_dir.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLE_TIMEOUT_S 60
/* A year of samples on a slow disk, a kept message and the retries of a delivery. */
#define REPORT_TIMEOUT_S 900
/* Below this an accuracy of one second would be felt. */
#define SHORT_INTERVAL_S 5

/* The absolute paths a service touches; all owned. */
struct paths {
    char *program;
    char *config; /* NULL when there is no file */
    char *csv_dir;
    char *run_csv_dir; /* NULL, or what the same "~" means for the run user */
    char *nvidia_smi;  /* NULL: searched */
};

static void paths_fini(struct paths *paths)
{
    free(paths->program);
    free(paths->config);
    free(paths->csv_dir);
    free(paths->run_csv_dir);
    free(paths->nvidia_smi);
}

/* systemd quotes and escapes what it runs like any word, but then refuses these in its path. */
static int check_program(const char *path, struct err *err)
{
    if (strpbrk(path, "\"'\\") != NULL) {
        return err_set(err, -EINVAL,
                       "systemd runs no program whose path holds a quote or a backslash: %s", path);
    }
    return 0;
}

static int check_path(const char *path, const char *what, struct err *err)
{
    for (const char *at = path; at != NULL && *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7f) {
            return err_set(err, -EINVAL,
                           "the path of %s holds a control character: a unit file cannot name it",
                           what);
        }
    }
    return 0;
}

/* A service starts in "/", so a path relative to here means something else there. */
static char *absolute(const char *path)
{
    if (path == NULL || path[0] == '/') {
        return path != NULL ? mem_copy_text(path) : NULL;
    }
    OWN_FREE char *here = getcwd(NULL, 0);
    return mem_format("%s/%s", here != NULL ? here : "", path);
}

static int paths_find(const struct units_options *options, const char *run_user, struct paths *out,
                      struct err *err)
{
    const struct config *config = options->config;
    out->program = absolute(options->program);
    out->config = absolute(config->path);
    out->csv_dir = absolute(config->csv_dir);
    __attribute__((cleanup(run_user_fini))) struct run_user user = {0};
    if (run_user_find(run_user, NULL, &user, NULL) == 0) {
        out->run_csv_dir = run_user_path(&user, out->csv_dir);
    }
    bool is_smi_path = config->nvidia_smi != NULL && strchr(config->nvidia_smi, '/') != NULL;
    out->nvidia_smi = is_smi_path ? absolute(config->nvidia_smi) : NULL;
    int code = check_path(out->program, "this program", err);
    code = code == 0 ? check_program(out->program, err) : code;
    code = code == 0 ? check_path(out->config, "the configuration", err) : code;
    code = code == 0 ? check_path(out->csv_dir, "storage.csv_dir", err) : code;
    return code == 0 ? check_path(out->nvidia_smi, "sample.nvidia_smi", err) : code;
}

static bool is_plain(const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "/._+=:,@-";
    return text[0] != '\0' && strspn(text, plain) == strlen(text);
}

/* One word of ExecStart=. "%" is a specifier everywhere; "$" a variable in all but the first word,
 * which is the program's path and is taken as it is. */
static void exec_word(struct buf *out, const char *text, bool is_program)
{
    if (is_plain(text)) {
        buf_text(out, text);
        return;
    }
    buf_char(out, '"');
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            buf_char(out, '\\');
        } else if (*at == '%' || (*at == '$' && !is_program)) {
            buf_char(out, *at);
        }
        buf_char(out, *at);
    }
    buf_char(out, '"');
}

/* One path in a list such as ReadWritePaths=: a backslash takes the special meaning from whatever
 * follows, "\n" is no new line there, and "$" is itself. */
static void list_path(struct buf *out, const char *path)
{
    buf_text(out, "\"-"); /* a folder that is gone is told by the program, in clearer words */
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\') {
            buf_char(out, '\\');
        } else if (*at == '%') {
            buf_char(out, '%');
        }
        buf_char(out, *at);
    }
    buf_char(out, '"');
}

static bool is_below(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Does one of our paths, or the place its links lead to, lie in one of these folders? */
static bool is_any_below(const struct paths *paths, const char *const *folders)
{
    const char *const all[] = {paths->program, paths->config, paths->csv_dir, paths->run_csv_dir,
                               paths->nvidia_smi};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        OWN_FREE char *real = all[i] != NULL ? realpath(all[i], NULL) : NULL;
        for (const char *const *folder = folders; all[i] != NULL && *folder != NULL; folder++) {
            if (is_below(all[i], *folder) || (real != NULL && is_below(real, *folder))) {
                return true;
            }
        }
    }
    return false;
}

/* What the services are denied. Reasons for what is left out: ProcSubset=pid hides
 * /proc/driver/nvidia; ProtectProc= hides from the page whose processes are on a GPU; PrivateUsers=
 * would take the groups away that own devices and folders. */
static const char hardening[] = "CapabilityBoundingSet=%s\n"
                                "NoNewPrivileges=yes\n"
                                "ProtectSystem=strict\n"
                                "ProtectHome=%s\n"
                                "PrivateTmp=%s\n"
                                "ProtectProc=%s\n"
                                "ProtectClock=yes\n"
                                "ProtectHostname=yes\n"
                                "ProtectKernelTunables=yes\n"
                                "ProtectKernelModules=yes\n"
                                "ProtectKernelLogs=yes\n"
                                "ProtectControlGroups=yes\n"
                                "LockPersonality=yes\n"
                                "RestrictRealtime=yes\n"
                                "RestrictSUIDSGID=yes\n"
                                "RestrictNamespaces=yes\n"
                                "RemoveIPC=yes\n"
                                "SystemCallArchitectures=native\n"
                                "SystemCallErrorNumber=EPERM\n"
                                "SystemCallFilter=@system-service\n"
                                "SystemCallFilter=~@privileged\n";

static void add_hardening(struct buf *out, const struct paths *paths, const char *run_user,
                          const char *protect_proc)
{
    static const char *const homes[] = {"/home", "/root", "/run/user", NULL};
    static const char *const shared[] = {"/tmp", "/var/tmp", NULL};
    /* Root keeps what makes it read and write a person's files: they are 0600. */
    bool is_root = strcmp(run_user, "root") == 0 || strcmp(run_user, "0") == 0;
    buf_format(out, hardening, is_root ? "CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH" : "",
               is_any_below(paths, homes) ? "read-only" : "yes",
               is_any_below(paths, shared) ? "no" : "yes", protect_proc);
}

static void add_writable(struct buf *out, const struct paths *paths)
{
    buf_text(out, "ReadWritePaths=");
    list_path(out, paths->csv_dir);
    if (paths->run_csv_dir != NULL) {
        buf_char(out, ' ');
        list_path(out, paths->run_csv_dir);
    }
    buf_char(out, '\n');
}

static void add_exec(struct buf *out, const struct paths *paths, const char *run_user,
                     const char *command)
{
    buf_format(out, "User=%s\nExecStart=", run_user);
    exec_word(out, paths->program, true);
    if (paths->config != NULL) {
        buf_text(out, " --config ");
        exec_word(out, paths->config, false);
    }
    buf_format(out, " %s\nEnvironmentFile=-/etc/default/gpumanager\n", command);
}

static void add_head(struct buf *out, const char *description)
{
    buf_format(out,
               "# Written by gpumanager; `gpumanager reload` writes it again. Changes of your own "
               "go into\n# a drop-in: systemctl edit.\n[Unit]\nDescription=%s\n",
               description);
}

/* The driver's devices are named by their kind: numbers differ between machines, and a kind that is
 * not there (yet) is no error. */
static void sample_service(struct buf *out, const struct paths *paths, const char *run_user)
{
    add_head(out, "Sample NVIDIA GPU utilization");
    buf_text(out, "StartLimitIntervalSec=0\n\n"); /* an interval of 1 s is no start loop */
    buf_text(out, "[Service]\nType=oneshot\n");
    add_exec(out, paths, run_user, "test-sample");
    buf_format(out, "TimeoutStartSec=%d\n", SAMPLE_TIMEOUT_S);
    add_hardening(out, paths, run_user, "invisible");
    add_writable(out, paths);
    buf_text(out, "DevicePolicy=closed\nDeviceAllow=char-nvidia* rw\n"
                  "PrivateNetwork=yes\nIPAddressDeny=any\nRestrictAddressFamilies=AF_UNIX\n");
}

static void report_service(struct buf *out, const struct paths *paths, const char *run_user,
                           const char *report)
{
    add_head(out, "Send NVIDIA GPU utilization report");
    buf_text(out, "Wants=network-online.target\nAfter=network-online.target\n\n");
    OWN_FREE char *command = mem_format("test-report --report %s --yes", report);
    buf_text(out, "[Service]\nType=oneshot\n");
    add_exec(out, paths, run_user, command);
    buf_format(out, "TimeoutStartSec=%d\n", REPORT_TIMEOUT_S);
    add_hardening(out, paths, run_user, "invisible");
    add_writable(out, paths);
    buf_text(out, "SystemCallFilter=~@resources\nPrivateDevices=yes\nMemoryDenyWriteExecute=yes\n"
                  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n");
}

/* What the page needs: the network, the driver's devices, the names of processes; it writes samples
 * only where it runs the schedules. A port that is taken or a driver in trouble is tried again for
 * ever; what a person must put right (exit status 2) is not. Drivers' processes go with it. */
static void serve_service(struct buf *out, const struct paths *paths, const char *run_user,
                          bool is_writing)
{
    add_head(out, "Show NVIDIA GPUs live on a page");
    buf_text(out, "Wants=network-online.target\nAfter=network-online.target\n"
                  "StartLimitIntervalSec=0\n\n[Service]\nType=notify\n");
    add_exec(out, paths, run_user, "serve");
    buf_text(out, "ExecReload=/bin/kill -HUP $MAINPID\n"
                  "WatchdogSec=30\nRestart=on-failure\nRestartSec=2\n"
                  "RestartPreventExitStatus=2\nKillMode=mixed\nTimeoutStopSec=5\n"
                  "RuntimeDirectory=gpumanager\n");
    add_hardening(out, paths, run_user, "default");
    if (is_writing) {
        add_writable(out, paths);
    }
    buf_text(out, "DevicePolicy=closed\nDeviceAllow=char-nvidia* rw\n"
                  "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n\n"
                  "[Install]\nWantedBy=multi-user.target\n");
}

/* OnActiveSec= starts the chain whenever the timer starts; OnUnitActiveSec= alone never would, and
 * Persistent= means nothing without a calendar (case TM19). */
static void sample_timer(struct buf *out, int64_t interval_s)
{
    add_head(out, "Run gpumanager sampling on a fixed interval");
    buf_format(out,
               "StartLimitIntervalSec=0\n\n[Timer]\nOnActiveSec=10\nOnUnitActiveSec=%lld\n"
               "AccuracySec=%s\n\n[Install]\nWantedBy=timers.target\n",
               (long long)interval_s, interval_s < SHORT_INTERVAL_S ? "100ms" : "1s");
}

/* The start of the year stands for now: the dates of gaps in the text then change once a year, and
 * not from one reload to the next. */
static int64_t year_start(const struct zone *zone, int64_t now_s)
{
    struct civil civil;
    zone_civil(zone, now_s, &civil);
    struct civil start = {.year = civil.year, .month = 1, .day = 1};
    return zone_instant(zone, &start);
}

static int report_timer(struct buf *out, const struct units_options *options,
                        const struct config_report *report, struct err *err)
{
    struct zone zone;
    struct cron cron;
    int code = zone_open(&zone, options->config->timezone, err);
    code = code == 0 ? cron_parse(report->report_time, &cron, err) : code;
    if (code != 0) {
        err_prefix(err, "report '%s': ", report->name);
        return code;
    }
    add_head(out, "Run gpumanager report schedule");
    buf_text(out, "StartLimitIntervalSec=0\n\n[Timer]\n");
    OWN_BUF struct buf calendar = {0};
    cron_to_calendar(&cron, &zone, year_start(&zone, options->now_s), &calendar);
    struct span rest = span_of(buf_string(&calendar));
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        if (line.length > 0) {
            buf_format(out, "OnCalendar=%.*s\n", (int)line.length, line.data);
        }
    }
    buf_text(out, "Persistent=true\nAccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n");
    return 0;
}

int units_text(const struct units_options *options, const char *run_user, const char *unit,
               struct buf *out, struct err *err)
{
    __attribute__((cleanup(paths_fini))) struct paths paths = {0};
    int code = paths_find(options, run_user, &paths, err);
    if (code != 0) {
        return code;
    }
    if (strcmp(unit, UNITS_SAMPLE ".service") == 0) {
        sample_service(out, &paths, run_user);
        return 0;
    }
    if (strcmp(unit, UNITS_SAMPLE ".timer") == 0) {
        sample_timer(out, options->config->sample_interval_s);
        return 0;
    }
    if (strcmp(unit, UNITS_SERVE ".service") == 0) {
        serve_service(out, &paths, run_user, options->config->is_scheduling);
        return 0;
    }
    for (size_t i = 0; i < options->config->report_count; i++) {
        const struct config_report *report = &options->config->report[i];
        if (unit_is_of_report(unit, report->name, ".service")) {
            report_service(out, &paths, run_user, report->name);
            return 0;
        }
        if (unit_is_of_report(unit, report->name, ".timer")) {
            return report_timer(out, options, report, err);
        }
    }
    return err_set(err, -ENOENT, "the configuration has no unit called %s", unit);
}
