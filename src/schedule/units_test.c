/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "schedule/units.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "schedule/cron.h"

#include "tests/check.h"

#include <errno.h>

#define PATH "/etc/gpumanager/config.toml"
#define TWO_REPORTS                                                                                \
    "[[report]]\nname = 'default'\n[[report]]\nname = 'weekly'\nreport_time = '0 9 * * 1'\n"

static const char plain[] = "[general]\ntimezone = 'Asia/Seoul'\n"
                            "[storage]\ncsv_dir = '/var/lib/gpumanager'\n" TWO_REPORTS;

static struct config *parsed(const char *text, const char *path)
{
    struct config *config = NULL;
    struct err err = {0};
    const struct config_checks checks = {.cron = cron_check};
    if (!CHECK_INT(config_parse(text, strlen(text), path, &checks, &config, &err), 0)) {
        printf("# %s\n", err.text);
        return NULL;
    }
    config->path = mem_copy_text(path);
    return config;
}

static struct units_options options_for(const struct config *config)
{
    return (struct units_options){
        .config = config,
        .program = "/usr/bin/gpumanager",
        .now_s = 1774164600, /* 2026-03-22T16:30:00+09:00 */
    };
}

static void own_config(struct config **config)
{
    config_free(*config);
}
#define OWN_CONFIG __attribute__((cleanup(own_config)))

#define HEAD                                                                                       \
    "# Written by gpumanager; `gpumanager reload` writes it again. Changes of your own go into\n"  \
    "# a drop-in: systemctl edit.\n"

#define HARDENING(proc)                                                                            \
    "CapabilityBoundingSet=\n"                                                                     \
    "NoNewPrivileges=yes\n"                                                                        \
    "ProtectSystem=strict\n"                                                                       \
    "ProtectHome=yes\n"                                                                            \
    "PrivateTmp=yes\n"                                                                             \
    "ProtectProc=" proc "\n"                                                                       \
    "ProtectClock=yes\n"                                                                           \
    "ProtectHostname=yes\n"                                                                        \
    "ProtectKernelTunables=yes\n"                                                                  \
    "ProtectKernelModules=yes\n"                                                                   \
    "ProtectKernelLogs=yes\n"                                                                      \
    "ProtectControlGroups=yes\n"                                                                   \
    "LockPersonality=yes\n"                                                                        \
    "RestrictRealtime=yes\n"                                                                       \
    "RestrictSUIDSGID=yes\n"                                                                       \
    "RestrictNamespaces=yes\n"                                                                     \
    "RemoveIPC=yes\n"                                                                              \
    "SystemCallArchitectures=native\n"                                                             \
    "SystemCallErrorNumber=EPERM\n"                                                                \
    "SystemCallFilter=@system-service\n"                                                           \
    "SystemCallFilter=~@privileged\n"
#define WRITABLE "ReadWritePaths=\"-/var/lib/gpumanager\"\n"
#define COMMON_HARDENING HARDENING("invisible") WRITABLE

static void check_unit(const char *unit, const char *wanted)
{
    OWN_CONFIG struct config *config = parsed(plain, PATH);
    struct units_options options = options_for(config);
    OWN_BUF struct buf text = {0};
    struct err err = {0};
    if (CHECK_INT(units_text(&options, "gpu", unit, &text, &err), 0)) {
        CHECK_TEXT(buf_string(&text), wanted);
    }
}

/* GM-104, GM-106, GM-107; case TM19: a start that needs no earlier run, no Persistent=. */
TEST(the_sample_units_say_what_they_should)
{
    check_unit("gpumanager-sample.timer",
               HEAD "[Unit]\nDescription=Run gpumanager sampling on a fixed interval\n"
                    "StartLimitIntervalSec=0\n\n"
                    "[Timer]\nOnActiveSec=10\nOnUnitActiveSec=60\nAccuracySec=1s\n\n"
                    "[Install]\nWantedBy=timers.target\n");
    check_unit("gpumanager-sample.service",
               HEAD "[Unit]\nDescription=Sample NVIDIA GPU utilization\n"
                    "StartLimitIntervalSec=0\n\n"
                    "[Service]\nType=oneshot\nUser=gpu\n"
                    "ExecStart=/usr/bin/gpumanager --config /etc/gpumanager/config.toml "
                    "test-sample\n"
                    "EnvironmentFile=-/etc/default/gpumanager\nTimeoutStartSec=60\n" //
               COMMON_HARDENING "DevicePolicy=closed\nDeviceAllow=char-nvidia* rw\n"
                    "PrivateNetwork=yes\nIPAddressDeny=any\n"
                    "RestrictAddressFamilies=AF_UNIX\n");
}

/* GM-042, GM-082, GM-105: each timer names one report and never asks. */
TEST(the_report_units_say_what_they_should)
{
    check_unit("gpumanager-report-weekly.timer",
               HEAD "[Unit]\nDescription=Run gpumanager report schedule\n"
                    "StartLimitIntervalSec=0\n\n"
                    "[Timer]\nOnCalendar=Mon *-*-* 09:00:00 Asia/Seoul\nPersistent=true\n"
                    "AccuracySec=1s\n\n[Install]\nWantedBy=timers.target\n");
    check_unit("gpumanager-report-weekly.service",
               HEAD "[Unit]\nDescription=Send NVIDIA GPU utilization report\n"
                    "Wants=network-online.target\nAfter=network-online.target\n\n"
                    "[Service]\nType=oneshot\nUser=gpu\n"
                    "ExecStart=/usr/bin/gpumanager --config /etc/gpumanager/config.toml "
                    "test-report --report weekly --yes\n"
                    "EnvironmentFile=-/etc/default/gpumanager\nTimeoutStartSec=900\n" //
               COMMON_HARDENING "SystemCallFilter=~@resources\nPrivateDevices=yes\n"
                    "MemoryDenyWriteExecute=yes\n"
                    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n");
}

#define SERVE_SERVICE "gpumanager-serve.service"
#define SERVE_HEAD                                                                                 \
    HEAD "[Unit]\nDescription=Show NVIDIA GPUs live on a page\n"                                   \
         "Wants=network-online.target\nAfter=network-online.target\nStartLimitIntervalSec=0\n\n"   \
         "[Service]\nType=notify\nUser=gpu\n"                                                      \
         "ExecStart=/usr/bin/gpumanager --config /etc/gpumanager/config.toml serve\n"              \
         "EnvironmentFile=-/etc/default/gpumanager\nExecReload=/bin/kill -HUP $MAINPID\n"          \
         "WatchdogSec=30\nRestart=on-failure\nRestartSec=2\nRestartPreventExitStatus=2\n"          \
         "KillMode=mixed\nTimeoutStopSec=5\nRuntimeDirectory=gpumanager\n"

/* It reads and shows; samples are not its to write. */
TEST(the_page_unit_says_what_it_should)
{
    check_unit(SERVE_SERVICE, SERVE_HEAD HARDENING(
                                  "default") "DevicePolicy=closed\nDeviceAllow=char-nvidia* rw\n"
                                             "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n\n"
                                             "[Install]\nWantedBy=multi-user.target\n");
}

static bool has_line(const char *toml, const char *user, const char *unit, const char *line)
{
    OWN_CONFIG struct config *config = parsed(toml, PATH);
    struct units_options options = options_for(config);
    OWN_BUF struct buf text = {0};
    if (!CHECK_INT(units_text(&options, user, unit, &text, NULL), 0)) {
        return false;
    }
    struct span rest = span_of(buf_string(&text));
    struct span part;
    while (span_cut(&rest, '\n', &part)) {
        if (span_equals(part, line)) {
            return true;
        }
    }
    printf("# no line \"%s\" in:\n%s", line, buf_string(&text));
    return false;
}

TEST(the_page_writes_samples_only_where_it_runs_the_schedules)
{
    CHECK(has_line("[storage]\ncsv_dir = '/x'\n[server]\nschedules = true\n", "gpu", SERVE_SERVICE,
                   "ReadWritePaths=\"-/x\""));
}

TEST(a_unit_the_configuration_does_not_have_has_no_text)
{
    OWN_CONFIG struct config *config = parsed(plain, PATH);
    struct units_options options = options_for(config);
    OWN_BUF struct buf text = {0};
    CHECK_INT(units_text(&options, "gpu", "gpumanager-report-x.timer", &text, NULL), -ENOENT);
    CHECK_INT(units_text(&options, "gpu", "gpumanager-report-weekly", &text, NULL), -ENOENT);
    CHECK_INT(units_text(&options, "gpu", "gpumanager-report-week.timer", &text, NULL), -ENOENT);
}

#define SAMPLE_TIMER "gpumanager-sample.timer"
#define SAMPLE_SERVICE "gpumanager-sample.service"

/* Case TM19: an interval of seconds is not blurred, whatever its length. */
TEST(the_sample_timer_keeps_short_and_long_intervals)
{
    static const struct {
        const char *interval, *active, *accuracy;
    } rows[] = {
        {"1s", "OnUnitActiveSec=1", "AccuracySec=100ms"},
        {"7s", "OnUnitActiveSec=7", "AccuracySec=1s"},
        {"1h", "OnUnitActiveSec=3600", "AccuracySec=1s"},
        {"1d", "OnUnitActiveSec=86400", "AccuracySec=1s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OWN_BUF struct buf toml = {0};
        buf_format(&toml, "[sample]\ninterval = '%s'\n", rows[i].interval);
        CHECK(has_line(toml.data, "gpu", SAMPLE_TIMER, rows[i].active));
        CHECK(has_line(toml.data, "gpu", SAMPLE_TIMER, rows[i].accuracy));
        CHECK(has_line(toml.data, "gpu", SAMPLE_TIMER, "OnActiveSec=10"));
    }
}

/* Tried on the real systemd in tests/systemd. */
TEST(odd_paths_are_quoted_as_their_setting_asks)
{
    OWN_CONFIG struct config *config = parsed(
        "[storage]\ncsv_dir = \"/o d/50%/$x/a\\\"b'c\\\\d\"\n", "/o d/50%/$HOME/a\"b'c\\d.toml");
    struct units_options options = options_for(config);
    options.program = "/o d/50%/$p/gpumanager";
    OWN_BUF struct buf text = {0};
    CHECK_INT(units_text(&options, "gpu", SAMPLE_SERVICE, &text, NULL), 0);
    CHECK(strstr(text.data, "\nExecStart=\"/o d/50%%/$p/gpumanager\" --config "
                            "\"/o d/50%%/$$HOME/a\\\"b'c\\\\d.toml\" test-sample\n") != NULL);
    CHECK(strstr(text.data, "\nReadWritePaths=\"-/o d/50%%/$x/a\\\"b'c\\\\d\"\n") != NULL);
}

TEST(a_program_that_systemd_would_refuse_is_refused_in_clear_words)
{
    OWN_CONFIG struct config *config = parsed("", PATH);
    struct units_options options = options_for(config);
    static const char *const programs[] = {"/o'd/gpumanager", "/o\"d/gpumanager",
                                           "/o\\d/gpumanager"};
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
        options.program = programs[i];
        OWN_BUF struct buf text = {0};
        struct err err = {0};
        CHECK_INT(units_text(&options, "gpu", SAMPLE_SERVICE, &text, &err), -EINVAL);
        CHECK(strstr(err.text, programs[i]) != NULL);
    }
}

TEST(a_path_with_a_line_end_never_reaches_a_unit)
{
    OWN_CONFIG struct config *config = parsed("", "/etc/x\nExecStartPre=/bin/evil");
    REQUIRE(config != NULL);
    struct units_options options = options_for(config);
    OWN_BUF struct buf text = {0};
    struct err err = {0};
    CHECK_INT(units_text(&options, "gpu", SAMPLE_SERVICE, &text, &err), -EINVAL);
    CHECK(strstr(err.text, "the configuration") != NULL);
    CHECK_INT(text.length, 0);
}

/* A folder in a home must stay in reach, and root must still read what belongs to others. */
TEST(the_hardening_leaves_our_own_paths_in_reach)
{
    static const struct {
        const char *csv_dir, *smi, *user, *line;
    } rows[] = {
        {"/home/ada/samples", "", "gpu", "ProtectHome=read-only"},
        {"/home/ada/samples", "", "gpu", "PrivateTmp=yes"},
        {"/tmp/samples", "", "gpu", "PrivateTmp=no"},
        {"/tmp/samples", "", "gpu", "ProtectHome=yes"},
        {"/homework/tmp", "", "gpu", "ProtectHome=yes"},
        {"/homework/tmp", "/home/ada/nvidia-smi", "gpu", "ProtectHome=read-only"},
        {"/x", "", "gpu", "CapabilityBoundingSet="},
        {"/x", "", "root", "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        OWN_BUF struct buf toml = {0};
        buf_format(&toml, "[storage]\ncsv_dir = '%s'\n%s%s%s", rows[i].csv_dir,
                   rows[i].smi[0] != '\0' ? "[sample]\nnvidia_smi = '" : "", rows[i].smi,
                   rows[i].smi[0] != '\0' ? "'\n" : "");
        CHECK(has_line(toml.data, rows[i].user, SAMPLE_SERVICE, rows[i].line));
    }
}

MAIN(RUN(the_sample_units_say_what_they_should), RUN(the_report_units_say_what_they_should),
     RUN(the_page_unit_says_what_it_should),
     RUN(the_page_writes_samples_only_where_it_runs_the_schedules),
     RUN(a_unit_the_configuration_does_not_have_has_no_text),
     RUN(the_sample_timer_keeps_short_and_long_intervals),
     RUN(odd_paths_are_quoted_as_their_setting_asks),
     RUN(a_program_that_systemd_would_refuse_is_refused_in_clear_words),
     RUN(a_path_with_a_line_end_never_reaches_a_unit),
     RUN(the_hardening_leaves_our_own_paths_in_reach))
