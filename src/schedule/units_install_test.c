/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What is asked of systemd, and what lies in its folder afterwards. */
#include "schedule/units.h"

#include "base/text.h"
#include "schedule/cron.h"

#include "tests/check.h"

#include <errno.h>

#include "schedule/units_testing.h"

#define UNIT_FOLDER "root/etc/systemd/system/"
#define STAMP_FOLDER "root/var/lib/systemd/timers/"
#define SAMPLE UNITS_SAMPLE ".timer"
#define DEFAULT "gpumanager-report-default.timer"
#define WEEKLY "gpumanager-report-weekly.timer"
#define SERVE UNITS_SERVE ".service"
#define NOTE UNIT_FOLDER "gpumanager.pending"

static const char one_report[] = "[[report]]\nname = 'default'\n";
static const char two_reports[] =
    "[[report]]\nname = 'default'\n[[report]]\nname = 'weekly'\nreport_time = '0 9 * * 1'\n";
static const char faster[] = "[sample]\ninterval = '7s'\n[[report]]\nname = 'default'\n";

/* One command of a person: the configuration at that moment, and what came of it. */
struct turn {
    struct units_outcome out;
    struct err err;
    int code;
    char *log; /* what systemctl was asked meanwhile */
};

static void turn_fini(struct turn *turn)
{
    units_outcome_fini(&turn->out);
    free(turn->log);
}
#define OWN_TURN __attribute__((cleanup(turn_fini)))

struct command {
    const char *toml;
    const char *run_user;
    bool is_install, is_enabling, is_serving;
};

static struct config *parsed(const struct machine *machine, const char *toml)
{
    OWN_BUF struct buf text = {0};
    buf_format(&text, "[storage]\ncsv_dir = '%s/samples'\n%s", machine->folder, toml);
    struct config *config = NULL;
    struct err err = {0};
    const struct config_checks checks = {.cron = cron_check};
    if (!CHECK_INT(config_parse(text.data, text.length, "test", &checks, &config, &err), 0)) {
        printf("# %s\n", err.text);
        return NULL;
    }
    free(config->path);
    config->path = machine_path(machine, "config.toml");
    return config;
}

static struct turn take(const struct machine *machine, struct command command)
{
    struct turn turn = {0};
    struct config *config = parsed(machine, command.toml);
    struct units_options options = {.config = config,
                                    .program = "/usr/bin/gpumanager",
                                    .run_user = command.run_user,
                                    .is_enabling = command.is_enabling,
                                    .is_serving = command.is_serving,
                                    .now_s = 1774164600};
    machine_write(machine, "log", "");
    if (config != NULL) {
        turn.code = command.is_install ? units_install(&options, &turn.out, &turn.err)
                                       : units_reconcile(&options, &turn.out, &turn.err);
    }
    config_free(config);
    turn.log = machine_read(machine, "log");
    return turn;
}

static void succeed(const struct machine *machine, struct command command)
{
    OWN_TURN struct turn turn = take(machine, command);
    if (!CHECK_INT(turn.code, 0)) {
        printf("# %s\n", turn.err.text);
    }
}

static void install(const struct machine *machine, const char *toml)
{
    succeed(machine, (struct command){.toml = toml, .is_install = true, .is_enabling = true});
}

static bool has_unit(const struct machine *machine, const char *unit)
{
    OWN_FREE char *name = mem_format(UNIT_FOLDER "%s", unit);
    return machine_has(machine, name);
}

static bool is_on(const struct machine *machine, const char *timer)
{
    OWN_FREE char *enabled = mem_format("enabled/%s", timer);
    OWN_FREE char *active = mem_format("active/%s", timer);
    return machine_has(machine, enabled) && machine_has(machine, active);
}

TEST(install_writes_every_unit_and_enables_none_unasked)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_TURN struct turn turn =
        take(&machine, (struct command){.toml = two_reports, .is_install = true});
    CHECK_INT(turn.code, 0);
    CHECK_INT(turn.out.installed_count, 6);
    CHECK_INT(turn.out.enabled_count, 0);
    CHECK(has_unit(&machine, "gpumanager-sample.service") && has_unit(&machine, SAMPLE));
    CHECK(has_unit(&machine, "gpumanager-report-weekly.service") && has_unit(&machine, WEEKLY));
    CHECK(has_unit(&machine, "gpumanager-report-default.service") && has_unit(&machine, DEFAULT));
    CHECK_TEXT(turn.log, "daemon-reload\n");
    CHECK(!machine_has(&machine, NOTE));
}

TEST(install_enables_every_timer_when_asked)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_TURN struct turn turn = take(
        &machine, (struct command){.toml = two_reports, .is_install = true, .is_enabling = true});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "daemon-reload\nenable --now " SAMPLE " " DEFAULT " " WEEKLY "\n");
    CHECK_INT(turn.out.enabled_count, 3);
    /* A new report missed no run that Persistent= could make up for. */
    CHECK(machine_has(&machine, STAMP_FOLDER "stamp-" WEEKLY));
    CHECK(!machine_has(&machine, STAMP_FOLDER "stamp-" SAMPLE));
}

TEST(a_later_install_enables_what_is_off_without_a_restart)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    succeed(&machine, (struct command){.toml = one_report, .is_install = true});
    OWN_TURN struct turn turn = take(
        &machine, (struct command){.toml = one_report, .is_install = true, .is_enabling = true});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "enable --now " SAMPLE " " DEFAULT "\n");
}

/* Case TM19, Part C 9. */
TEST(a_reload_without_changes_leaves_systemd_alone)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, two_reports);
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "");
    CHECK_INT(turn.out.installed_count + turn.out.enabled_count + turn.out.restarted_count, 0);
}

TEST(a_reload_where_nothing_is_installed_does_nothing)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    machine_set(&machine, "PATH", "empty");
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(turn.code, 0);
    CHECK(!has_unit(&machine, SAMPLE));
}

/* Part C 9: the predecessor did not write it again. */
TEST(a_changed_interval_is_written_and_rearmed_once)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, one_report);
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = faster});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "daemon-reload\ntry-restart " SAMPLE "\nis-active " SAMPLE "\n");
    OWN_FREE char *text = machine_read(&machine, UNIT_FOLDER SAMPLE);
    CHECK(is_said(text, "\nOnUnitActiveSec=7\n"));
    REQUIRE(CHECK_INT(turn.out.restarted_count, 1) && CHECK_INT(turn.out.installed_count, 1));
    CHECK_TEXT(turn.out.restarted[0], SAMPLE);
}

/* Part C 9: the predecessor's restart started it. */
TEST(a_disabled_timer_stays_off_when_it_changes)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, one_report);
    struct err err = {0};
    CHECK_INT(units_disable(SAMPLE, &err), 0);
    CHECK(!is_on(&machine, SAMPLE));
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = faster});
    CHECK_INT(turn.code, 0);
    CHECK_INT(count_lines(turn.log, "try-restart " SAMPLE), 1);
    CHECK(strstr(turn.log, "enable") == NULL);
    CHECK_INT(turn.out.restarted_count, 0);
    CHECK(!is_on(&machine, SAMPLE) && is_on(&machine, DEFAULT));
}

TEST(disabling_what_is_not_there_is_said)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    struct err err = {0};
    CHECK_INT(units_disable(WEEKLY, &err), -ENOENT);
    CHECK_TEXT(err.text, WEEKLY " is not installed");
    machine_write(&machine, UNIT_FOLDER "ssh.service", "");
    CHECK_INT(units_disable("ssh.service", &err), -ENOENT);
}

/* GM-071, GM-103. */
TEST(only_a_new_report_is_enabled)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    succeed(&machine, (struct command){.toml = one_report, .is_install = true});
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "daemon-reload\nenable --now " WEEKLY "\n");
    CHECK(is_on(&machine, WEEKLY) && !is_on(&machine, SAMPLE) && !is_on(&machine, DEFAULT));
}

/* GM-072. */
TEST(a_removed_report_is_disabled_and_deleted)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, two_reports);
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = one_report});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "disable --now " WEEKLY "\ndaemon-reload\n");
    CHECK(!has_unit(&machine, WEEKLY) && !has_unit(&machine, "gpumanager-report-weekly.service"));
    CHECK(!machine_has(&machine, STAMP_FOLDER "stamp-" WEEKLY));
    CHECK_INT(turn.out.removed_count, 2);
    CHECK(is_on(&machine, DEFAULT));
}

static void put_legacy(const struct machine *machine, bool is_enabled)
{
    machine_write(machine, UNIT_FOLDER "gpumanager-report.service", "[Service]\nUser=daemon\n");
    machine_write(machine, UNIT_FOLDER "gpumanager-report.timer", "[Timer]\n");
    if (is_enabled) {
        machine_write(machine, "enabled/gpumanager-report.timer", "");
        machine_write(machine, "active/gpumanager-report.timer", "");
    }
}

/* GM-102, and its account is taken over. */
TEST(the_predecessors_report_becomes_the_default_one)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    put_legacy(&machine, true);
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = one_report});
    CHECK_INT(turn.code, 0);
    CHECK(!has_unit(&machine, "gpumanager-report.timer"));
    CHECK(!has_unit(&machine, "gpumanager-report.service"));
    CHECK(!is_on(&machine, "gpumanager-report.timer"));
    CHECK(is_on(&machine, DEFAULT) && is_on(&machine, SAMPLE));
    CHECK_TEXT(turn.out.run_user, "daemon");
}

TEST(the_predecessors_report_that_was_off_stays_off)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    put_legacy(&machine, false);
    succeed(&machine, (struct command){.toml = one_report});
    CHECK(has_unit(&machine, DEFAULT) && !is_on(&machine, DEFAULT));
    CHECK(is_on(&machine, SAMPLE));
}

TEST(install_keeps_the_predecessors_report_running)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    put_legacy(&machine, true);
    succeed(&machine, (struct command){.toml = one_report, .is_install = true});
    CHECK(is_on(&machine, DEFAULT) && !is_on(&machine, SAMPLE));
}

/* Part C 8. */
TEST(the_run_user_is_remembered)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    succeed(&machine,
            (struct command){.toml = one_report, .run_user = "daemon", .is_install = true});
    (void)setenv("SUDO_USER", "bin", 1);
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = two_reports});
    (void)unsetenv("SUDO_USER");
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.out.run_user, "daemon");
    OWN_FREE char *text = machine_read(&machine, UNIT_FOLDER "gpumanager-report-weekly.service");
    CHECK(is_said(text, "\nUser=daemon\n"));
}

/* Part C 8: with sudo the predecessor's services became root's. */
TEST(under_sudo_the_services_are_the_callers)
{
    OWN_MACHINE struct machine machine;
    if (geteuid() != 0 || !machine_open(&machine)) {
        return;
    }
    (void)setenv("SUDO_USER", "daemon", 1);
    OWN_TURN struct turn turn =
        take(&machine, (struct command){.toml = one_report, .is_install = true});
    (void)unsetenv("SUDO_USER");
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.out.run_user, "daemon");
}

TEST(an_unknown_account_is_refused_before_anything_happens)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_TURN struct turn turn = take(
        &machine,
        (struct command){.toml = one_report, .run_user = "no-such-account", .is_install = true});
    CHECK_INT(turn.code, -EINVAL);
    CHECK(is_said(turn.err.text, "'no-such-account'"));
    CHECK(!has_unit(&machine, SAMPLE));
}

TEST(a_reload_without_changes_needs_no_systemctl)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, one_report);
    machine_set(&machine, "PATH", "empty");
    succeed(&machine, (struct command){.toml = one_report});
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(turn.code, -ENOENT);
    CHECK(is_said(turn.err.text, "no unit file was changed; `gpumanager reload` finishes"));
    CHECK(!has_unit(&machine, WEEKLY));
}

/* Part C 10; every other test here runs without sudo in PATH when it is root that runs it. */
TEST(others_than_root_need_sudo)
{
    OWN_MACHINE struct machine machine;
    if (geteuid() == 0 || !machine_open(&machine)) {
        return;
    }
    machine_remove(&machine, "bin/sudo");
    OWN_TURN struct turn turn =
        take(&machine, (struct command){.toml = one_report, .is_install = true});
    CHECK_INT(turn.code, -ENOENT);
    CHECK_TEXT(turn.err.text, "sudo not found");
}

/* GM-083. Each verb fails once; what comes later must be done by the next reload. */
TEST(reload_finishes_what_systemd_refused)
{
    static const char *const verbs[] = {"fail-daemon-reload", "fail-try-restart", "fail-enable",
                                        "fail-disable"};
    static const char before[] = "[[report]]\nname = 'default'\n[[report]]\nname = 'old'\n";
    static const char after[] = "[sample]\ninterval = '7s'\n[[report]]\nname = 'default'\n"
                                "[[report]]\nname = 'weekly'\n";
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        OWN_MACHINE struct machine machine;
        if (!machine_open(&machine)) {
            return;
        }
        install(&machine, before);
        machine_write(&machine, verbs[i], "");
        OWN_TURN struct turn first = take(&machine, (struct command){.toml = after});
        CHECK_INT(first.code, -EIO);
        CHECK(is_said(first.err.text, "`gpumanager reload` finishes the job"));
        CHECK(geteuid() != 0 || is_said(first.err.text, "Access denied"));
        machine_remove(&machine, verbs[i]);
        OWN_TURN struct turn second = take(&machine, (struct command){.toml = after});
        CHECK_INT(second.code, 0);
        CHECK_INT(count_lines(second.log, "daemon-reload"), 1);
        CHECK_INT(count_lines(second.log, "try-restart " SAMPLE), 1);
        CHECK(is_on(&machine, WEEKLY) && is_on(&machine, DEFAULT) && is_on(&machine, SAMPLE));
        CHECK(!is_on(&machine, "gpumanager-report-old.timer"));
        CHECK(!has_unit(&machine, "gpumanager-report-old.service") && !machine_has(&machine, NOTE));
        OWN_TURN struct turn third = take(&machine, (struct command){.toml = after});
        CHECK_TEXT(third.log, "");
    }
}

/* An install that was not to start anything is not made to by the reload that finishes it. */
TEST(reload_after_a_failed_install_starts_nothing)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    /* A folder in the way: the second file cannot be written. */
    OWN_FREE char *block = machine_path(&machine, UNIT_FOLDER SAMPLE);
    CHECK_INT(mkdir(block, 0755), 0);
    machine_write(&machine, UNIT_FOLDER SAMPLE "/x", "");
    OWN_TURN struct turn first =
        take(&machine, (struct command){.toml = one_report, .is_install = true});
    CHECK(first.code != 0);
    CHECK(is_said(first.err.text, "`gpumanager reload` finishes the job"));
    machine_remove(&machine, UNIT_FOLDER SAMPLE "/x");
    CHECK_INT(rmdir(block), 0);
    OWN_TURN struct turn second = take(&machine, (struct command){.toml = one_report});
    CHECK_INT(second.code, 0);
    CHECK(has_unit(&machine, DEFAULT) && !is_on(&machine, DEFAULT));
}

TEST(what_was_disabled_meanwhile_is_not_started_by_the_next_reload)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, one_report);
    machine_write(&machine, "fail-enable", "");
    OWN_TURN struct turn first = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(first.code, -EIO);
    CHECK_INT(units_disable(WEEKLY, NULL), 0);
    machine_remove(&machine, "fail-enable");
    succeed(&machine, (struct command){.toml = two_reports});
    CHECK(!is_on(&machine, WEEKLY) && is_on(&machine, DEFAULT));
}

TEST(a_configuration_that_gives_no_units_leaves_the_old_ones)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, one_report);
    OWN_TURN struct turn turn = take(
        &machine,
        (struct command){.toml = "[general]\ntimezone = 'Mars/Base'\n[[report]]\nname = 'x'\n"});
    CHECK_INT(turn.code, -EINVAL);
    CHECK(has_unit(&machine, DEFAULT) && is_on(&machine, DEFAULT));
    CHECK_TEXT(turn.log, "");
}

static const char *const foreign[] = {
    UNIT_FOLDER "gpumanager-web.service", UNIT_FOLDER "gpumanager-report-My Own.timer",
    UNIT_FOLDER "gpumanager-sample.socket", UNIT_FOLDER "gpumanager.service"};

TEST(units_that_others_named_alike_are_never_touched)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        machine_write(&machine, foreign[i], "theirs");
    }
    install(&machine, two_reports);
    succeed(&machine, (struct command){.toml = one_report});
    struct units_outcome out = {0};
    CHECK_INT(units_uninstall(&out, NULL), 0);
    CHECK_INT(out.removed_count, 4);
    units_outcome_fini(&out);
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        OWN_FREE char *text = machine_read(&machine, foreign[i]);
        CHECK_TEXT(text, "theirs");
    }
    OWN_FREE char *log = machine_read(&machine, "log");
    CHECK(strstr(log, "gpumanager-web") == NULL && strstr(log, "My Own") == NULL);
}

/* GM-080. */
TEST(uninstall_leaves_nothing_of_ours)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, two_reports);
    put_legacy(&machine, true);
    machine_write(&machine, NOTE, "user daemon\nenable " WEEKLY "\n");
    struct units_outcome out = {0};
    CHECK_INT(units_uninstall(&out, NULL), 0);
    CHECK_INT(out.removed_count, 8);
    units_outcome_fini(&out);
    CHECK(!has_unit(&machine, SAMPLE) && !has_unit(&machine, "gpumanager-report.timer"));
    CHECK(!is_on(&machine, SAMPLE) && !is_on(&machine, "gpumanager-report.timer"));
    CHECK(!machine_has(&machine, NOTE));
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(turn.code, 0);
    CHECK(!has_unit(&machine, SAMPLE));
    CHECK_INT(units_uninstall(&out, NULL), 0);
    CHECK_INT(out.removed_count, 0);
}

/* GM-108. */
TEST(user_units_of_the_same_name_are_found)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    machine_write(&machine, "home/.config/systemd/user/" SAMPLE, "");
    machine_write(&machine, "home/.config/systemd/user/other.timer", "");
    OWN_TURN struct turn turn =
        take(&machine, (struct command){.toml = one_report, .is_install = true});
    CHECK_INT(turn.code, 0);
    REQUIRE(CHECK_INT(turn.out.conflicting_count, 1));
    CHECK_TEXT(turn.out.conflicting[0], SAMPLE);
}

TEST(the_folder_for_samples_is_made)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_FREE char *samples = machine_path(&machine, "samples");
    CHECK_INT(rmdir(samples), 0);
    install(&machine, one_report);
    CHECK(machine_has(&machine, "samples"));
}

TEST(a_configuration_that_the_run_user_cannot_read_is_warned_of)
{
    OWN_MACHINE struct machine machine; /* its folder is 0700 */
    if (geteuid() != 0 || !machine_open(&machine)) {
        return;
    }
    machine_write(&machine, "config.toml", "");
    OWN_TURN struct turn turn = take(
        &machine, (struct command){.toml = one_report, .run_user = "daemon", .is_install = true});
    CHECK_INT(turn.code, 0);
    REQUIRE(CHECK_INT(turn.out.warning_count, 1));
    CHECK(is_said(turn.out.warning[0], "config.toml cannot be read by daemon"));
}

TEST(without_systemctl_the_other_ways_are_named)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    machine_set(&machine, "PATH", "empty");
    struct err err = {0};
    CHECK_INT(units_check_systemd(&err), -ENOENT);
    CHECK(is_said(err.text, "systemctl not found"));
    CHECK(is_said(err.text, "`gpumanager serve` with schedules = true"));
    OWN_TURN struct turn turn =
        take(&machine, (struct command){.toml = one_report, .is_install = true});
    CHECK_INT(turn.code, -ENOENT);
    CHECK(!has_unit(&machine, SAMPLE));
}

TEST(the_page_is_installed_only_when_asked_for_and_is_then_remembered)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    install(&machine, one_report);
    CHECK(!has_unit(&machine, SERVE));
    OWN_TURN struct turn asked = take(
        &machine, (struct command){.toml = one_report, .is_install = true, .is_serving = true});
    CHECK_INT(asked.code, 0);
    CHECK_TEXT(asked.log, "daemon-reload\n");
    CHECK(has_unit(&machine, SERVE) && !is_on(&machine, SERVE));
    OWN_TURN struct turn same = take(&machine, (struct command){.toml = two_reports});
    CHECK_INT(same.code, 0);
    CHECK(has_unit(&machine, SERVE) && !is_on(&machine, SERVE) && is_on(&machine, WEEKLY));
    OWN_TURN struct turn on = take(
        &machine, (struct command){.toml = one_report, .is_install = true, .is_enabling = true});
    CHECK_INT(count_lines(on.log, "enable --now " SAMPLE " " DEFAULT " " SERVE), 1);
    CHECK(is_on(&machine, SERVE));
    CHECK(!machine_has(&machine, STAMP_FOLDER "stamp-" SERVE));
    OWN_TURN struct turn again = take(&machine, (struct command){.toml = one_report});
    CHECK_TEXT(again.log, "");
}

TEST(a_changed_page_unit_is_restarted_where_it_runs_and_goes_with_uninstall)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    succeed(&machine,
            (struct command){
                .toml = one_report, .is_install = true, .is_enabling = true, .is_serving = true});
    CHECK(is_on(&machine, SERVE));
    machine_write(&machine, UNIT_FOLDER SERVE, "[Service]\nUser=root\n");
    OWN_TURN struct turn turn = take(&machine, (struct command){.toml = one_report});
    CHECK_INT(turn.code, 0);
    CHECK_INT(count_lines(turn.log, "try-restart " SERVE), 1);
    CHECK_INT(turn.out.restarted_count, 1);
    OWN_TURN struct turn gone = {0};
    CHECK_INT(units_uninstall(&gone.out, &gone.err), 0);
    CHECK_INT(gone.out.removed_count, 5);
    CHECK(!has_unit(&machine, SERVE) && !is_on(&machine, SERVE));
}

TEST(an_install_of_the_page_that_systemd_refused_is_finished_by_reload)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    machine_write(&machine, "fail-daemon-reload", "");
    OWN_TURN struct turn turn =
        take(&machine,
             (struct command){
                 .toml = one_report, .is_install = true, .is_enabling = true, .is_serving = true});
    CHECK(turn.code != 0);
    machine_remove(&machine, "fail-daemon-reload");
    machine_remove(&machine, UNIT_FOLDER SERVE); /* not written yet, for all that reload knows */
    succeed(&machine, (struct command){.toml = one_report});
    CHECK(has_unit(&machine, SERVE) && is_on(&machine, SERVE));
    CHECK(!machine_has(&machine, NOTE));
}

TEST(timers_stay_off_where_the_page_runs_the_schedules)
{
    OWN_MACHINE struct machine machine;
    if (!machine_open(&machine)) {
        return;
    }
    OWN_TURN struct turn turn =
        take(&machine, (struct command){.toml = "[server]\nschedules = true\n"
                                                "[[report]]\nname = 'default'\n",
                                        .is_install = true,
                                        .is_enabling = true,
                                        .is_serving = true});
    CHECK_INT(turn.code, 0);
    CHECK_TEXT(turn.log, "daemon-reload\nenable --now " SERVE "\n");
    CHECK(has_unit(&machine, SAMPLE) && !is_on(&machine, SAMPLE) && !is_on(&machine, DEFAULT));
    CHECK(turn.out.warning_count == 1 && is_said(turn.out.warning[0], "schedules = true"));
    OWN_TURN struct turn more =
        take(&machine, (struct command){.toml = "[server]\nschedules = true\n"
                                                "[[report]]\nname = 'weekly'\n"});
    CHECK_INT(more.code, 0);
    CHECK(has_unit(&machine, WEEKLY) && !is_on(&machine, WEEKLY));
    CHECK_INT(count_lines(more.log, "reload " SERVE), 1);
}

MAIN(RUN(install_writes_every_unit_and_enables_none_unasked),
     RUN(install_enables_every_timer_when_asked),
     RUN(a_later_install_enables_what_is_off_without_a_restart),
     RUN(a_reload_without_changes_leaves_systemd_alone),
     RUN(a_reload_where_nothing_is_installed_does_nothing),
     RUN(a_changed_interval_is_written_and_rearmed_once),
     RUN(a_disabled_timer_stays_off_when_it_changes), RUN(disabling_what_is_not_there_is_said),
     RUN(only_a_new_report_is_enabled), RUN(a_removed_report_is_disabled_and_deleted),
     RUN(the_predecessors_report_becomes_the_default_one),
     RUN(the_predecessors_report_that_was_off_stays_off),
     RUN(install_keeps_the_predecessors_report_running), RUN(the_run_user_is_remembered),
     RUN(under_sudo_the_services_are_the_callers),
     RUN(an_unknown_account_is_refused_before_anything_happens), RUN(others_than_root_need_sudo),
     RUN(a_reload_without_changes_needs_no_systemctl), RUN(reload_finishes_what_systemd_refused),
     RUN(reload_after_a_failed_install_starts_nothing),
     RUN(what_was_disabled_meanwhile_is_not_started_by_the_next_reload),
     RUN(a_configuration_that_gives_no_units_leaves_the_old_ones),
     RUN(units_that_others_named_alike_are_never_touched), RUN(uninstall_leaves_nothing_of_ours),
     RUN(user_units_of_the_same_name_are_found), RUN(the_folder_for_samples_is_made),
     RUN(a_configuration_that_the_run_user_cannot_read_is_warned_of),
     RUN(without_systemctl_the_other_ways_are_named),
     RUN(the_page_is_installed_only_when_asked_for_and_is_then_remembered),
     RUN(a_changed_page_unit_is_restarted_where_it_runs_and_goes_with_uninstall),
     RUN(an_install_of_the_page_that_systemd_refused_is_finished_by_reload),
     RUN(timers_stay_off_where_the_page_runs_the_schedules))
