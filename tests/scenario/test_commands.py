# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""The command line: help, exit codes, questions and answers, status, next, completion."""
import json
import os
import re
import subprocess

from harness import BIN, SOURCE_ROOT, check, main, require, skip


def test_help_and_version_and_usage(box):
    """GM-084, GM-085, Part B"""
    ran = box.run("--help", config=False)
    check(ran.code == 0 and "GPU utilization sampler and Slack reporter" in ran.out, ran)
    for text in ("Run interactive initial setup", "Collect and store one GPU utilization sample",
                 "Aggregate CSV data and send Slack report", "Delete CSV files by datetime range",
                 "Show runtime and configuration status", "Install system-wide systemd services and timers",
                 "Remove system-wide systemd services and timers", "Disable the sample timer", "Disable the report timer",
                 "Reload system-wide systemd timers for gpumanager", "Path to config.toml"):
        check(text in ran.out, text)
    check(box.run("--version", config=False).out.startswith("gpumanager "))
    for words in ((), ("nonsense",), ("test-sample", "--nonsense"), ("test-sample", "extra"), ("remove-report",), ("--bad",)):
        ran = box.run(*words, config=False)
        check(ran.code == 2, (words, ran))
    ran = box.run("test-sampel", config=False)
    check("did you mean 'test-sample'" in ran.err, ran)
    ran = box.run("delete-csv", "--help", config=False)
    check("Start datetime in YYYY-MM-DD HH:MM:SS" in ran.out and "Skip confirmation prompt" in ran.out, ran)


def test_status_has_the_predecessors_keys_and_no_secret(box):
    """GM-075, GM-090, GM-091, Part C 6"""
    box.config(webhook="https://hooks.slack.com/services/T0/B0/verysecret")
    ran = box.run("status")
    require(ran.code == 0, ran)
    status = json.loads(ran.out)
    check(list(status)[:7] == ["config_path", "csv_dir", "csv_dir_exists", "sample.interval", "reports",
                               "sample_timer_installed", "sample.next_trigger"], list(status))
    check(list(status["reports"][0]) == ["name", "report_time", "on_calendar", "interval", "timer", "timer_installed",
                                         "next_trigger"], status["reports"])
    check(status["reports"][0]["on_calendar"] == "*-*-* 09:00:00 Asia/Seoul", status)
    check(status["reports"][0]["timer"] == "gpumanager-report-daily.timer")
    check(status["slack.webhook_configured"] is True)
    for words in (("status",), ("status", "--text"), ("config", "show"), ("config", "check")):
        ran = box.run(*words)
        check(ran.code == 0 and "verysecret" not in ran.out + ran.err, (words, ran))
    check(ran.out.startswith(box.config_path), ran)


def test_status_works_without_a_configuration(box):
    """GM-094"""
    ran = box.run("status", config=False)
    check(ran.code == 0 and json.loads(ran.out)["config_exists"] is False, ran)
    ran = box.run("status")
    check(ran.code == 0 and json.loads(ran.out)["config_exists"] is False, ran)


def test_next_shows_runs_and_windows(box):
    box.config(reports=(("quarterly", "0 9 1 1,4,7,10 *", "since:quarter"), ("ping", "*/10 * * * *", "1h")))
    box.now("2026-09-21T12:00:00+09:00")
    ran = box.run("next", "--count", "2")
    lines = ran.out.splitlines()
    require(ran.code == 0 and len(lines) == 4, ran)
    check(lines[0].split() == ["quarterly", "2026-10-01T09:00:00+09:00", "since", "2026-10-01", "00:00"], lines)
    check(lines[2].split()[:4] == ["ping", "2026-09-21T12:10:00+09:00", "last", "1h"], lines)
    ran = box.run("next", "--report", "pingg")
    check(ran.code == 2 and "did you mean 'ping'" in ran.err, ran)


def test_init_asks_explains_and_asks_again(box):
    """GM-070, Part B init"""
    answers = ["lab-1", "ftp://wrong", "https://hooks.slack.com/services/T/B/abcdef", box.csv_dir, "soon", "2m",
               "61 9 * * *", "0 9 * * 1", "yesterday", "7d", "Asia/seoul", "Asia/Seoul"]
    ran = box.run("init", stdin="\n".join(answers) + "\n")
    require(ran.code == 0, ran)
    for text in ("Current server time: ", "Server name", "Slack webhook URL", "CSV storage directory",
                 "Sample interval (e.g. 30s, 2m, 15m, 1h)", "Report time examples:", "  Every day at 09:00  -> 0 9 * * *",
                 "Report time cron (minute hour day month weekday)", "Report window (e.g. 1m, 1h, 12h, 1d)", "Timezone",
                 "next runs:", "sample.interval must be a number followed by s, m, h, or d", "out of range: 61",
                 "Saved configuration to " + box.config_path):
        check(text in ran.out, (text, ran.out))
    check(os.stat(box.config_path).st_mode & 0o777 == 0o600)
    with open(box.config_path, encoding="utf-8") as file:
        text = file.read()
    for word in ('"lab-1"', '"2m"', '"0 9 * * 1"', '"7d"', '"Asia/Seoul"', "abcdef"):
        check(word in text, (word, text))
    again = box.run("init", stdin="\n" * 20)
    check(again.code == 0 and "abcdef" not in again.out, again)
    with open(box.config_path, encoding="utf-8") as file:
        check(file.read() == text, "taking every current value changed the file")


def test_input_that_ends_changes_nothing(box):
    path = box.config()
    with open(path, encoding="utf-8") as file:
        before = file.read()
    for words in (("init",), ("add-report",), ("add-report", "x"), ("delete-csv",)):
        ran = box.run(*words)
        check(ran.code == 1 and "the input ended" in ran.err, (words, ran))
    with open(path, encoding="utf-8") as file:
        check(file.read() == before)


def test_add_and_remove_report_keep_comments(box):
    """GM-071, GM-072, GM-036"""
    box.config(extra="# the last line\n")
    ran = box.run("add-report", "weekly", "--report-time", "0 9 * * mon", "--interval", "7d")
    require(ran.code == 0 and "weekly" in ran.out, ran)
    names = [r["name"] for r in json.loads(box.run("status").out)["reports"]]
    check(names == ["daily", "weekly"], names)
    ran = box.run("add-report", "weekly", "--report-time", "0 9 * * 1", "--interval", "7d")
    check(ran.code == 1, ran)
    for words in (("bad name", "0 9 * * *", "1d"), ("a", "99 9 * * *", "1d"), ("a", "0 9 * * *", "1x")):
        ran = box.run("add-report", words[0], "--report-time", words[1], "--interval", words[2])
        check(ran.code == 1, (words, ran))
    ran = box.run("remove-report", "weekly", stdin="n\n")
    check(ran.code == 0 and "Nothing was changed" in ran.out, ran)
    ran = box.run("remove-report", "weekly", "--yes")
    check(ran.code == 0, ran)
    ran = box.run("remove-report", "daily", "--yes")
    check(ran.code == 1 and "uninstall-systemd" in ran.err, ran)
    with open(box.config_path, encoding="utf-8") as file:
        check("# the last line" in file.read())


def test_delete_csv_deletes_what_it_says(box):
    """GM-081, Part B"""
    box.config()
    for minute in range(5):
        box.now("2026-03-22T16:2%d:00+09:00" % minute)
        box.run("test-sample", "--simulate", "1xT4")
    span = ("--start", "2026-03-22 16:21:00", "--end", "2026-03-22 16:23:00")
    ran = box.run("delete-csv", *span, stdin="n\n")
    check("Deleting 3 files." in ran.out and "Continue? [y/N]: " in ran.out and "Deletion cancelled." in ran.out, ran)
    check(len(box.csv_files()) == 5)
    ran = box.run("delete-csv", *span, "--yes")
    check(ran.code == 0 and "Deleted 3 files." in ran.out and len(box.csv_files()) == 2, ran)
    ran = box.run("delete-csv", "--start", "2026-03-22 16:21:00", "--end", "2026-03-21 16:21:00", "--yes")
    check(ran.code == 1 and "End datetime must be after start datetime" in ran.err, ran)


def test_compact_keeps_every_figure(box):
    box.config(reports=(("month", "0 9 * * *", "30d"),))
    for day in (20, 21, 22):
        for minute in range(3):
            box.now("2026-03-%dT16:0%d:00+09:00" % (day, minute))
            box.run("test-sample", "--simulate", "3xL4:seed=%d" % minute)
    box.now("2026-03-22T17:00:00+09:00")
    before = box.run("test-report", "--output", "csv")
    ran = box.run("compact", "--yes")
    check(ran.code == 0 and "Merged 6 files into 2 days" in ran.out, ran)
    check(len(box.csv_files()) == 5, box.csv_files())
    check(box.run("test-report", "--output", "csv").out == before.out)
    check(box.run("test-report", "--output", "csv", "--no-cache").out == before.out)


def test_a_utf16_file_and_a_bom(box):
    """CF01"""
    for name, is_good in (("CF01a.toml", True), ("CF01b.toml", False)):
        with open(os.path.join(SOURCE_ROOT, "tests/cases", name), "rb") as file:
            box.write("config.toml", file.read())
        ran = box.run("status")
        if is_good:
            check(ran.code == 0 and json.loads(ran.out)["reports"][0]["name"] == "daily", ran)
        else:
            check(ran.code != 0 and ("UTF-16" in ran.err or "encoding" in ran.err) and "config.toml" in ran.err, ran)


def test_without_systemd_cron_lines_are_printed(box):
    """No systemctl: the message names the ways out, and the lines can be pasted."""
    box.config()
    done = box.run("install-systemd", env={"PATH": box.path("empty")})
    check(done.code == 1 and "systemctl not found" in done.err, done)
    check("gpumanager serve" in done.err and "schedules = true" in done.err, done.err)
    lines = [l for l in done.out.splitlines() if not l.startswith("#")]
    check(len(lines) == 2, done.out)
    check(re.match(r"\* \* \* \* \* '/.*' --config '/.*config.toml' test-sample$", lines[0]), lines)
    check(re.match(r"0 9 \* \* \* '/.*' --config '/.*' test-report --report daily --yes$", lines[1]), lines)
    check("Asia/Seoul" in done.out, done.out)
    text = open(box.config_path, encoding="utf-8").read()
    for interval, wanted in (("20s", ["* * * * * '", "* * * * * sleep 20; '", "* * * * * sleep 40; '"]),
                             ("15m", ["*/15 * * * * '"]), ("6h", ["0 */6 * * * '"]), ("1d", ["0 0 * * * '"])):
        box.config(text.replace('interval = "1m"', 'interval = "%s"' % interval))
        done = box.run("install-systemd", env={"PATH": box.path("empty")})
        lines = [l for l in done.out.splitlines() if "test-sample" in l]
        check(len(lines) == len(wanted) and all(l.startswith(w) for l, w in zip(lines, wanted)), (interval, lines))
        check("cannot run exactly" not in done.out, done.out)


def test_completion_scripts_are_valid(box):
    for shell in ("bash", "zsh", "fish"):
        ran = box.run("completion", shell, config=False)
        check(ran.code == 0 and "test-sample" in ran.out and "--simulate" in ran.out or shell == "fish", (shell, ran))
    script = box.write("completion.bash", box.run("completion", "bash", config=False).out)
    done = subprocess.run(["bash", "-c", "source %s; COMP_WORDS=(gpumanager test-s); COMP_CWORD=1; _gpumanager; echo ${COMPREPLY[@]}" % script],
                          capture_output=True, text=True, check=False)
    check(done.stdout.strip() == "test-sample", (done.stdout, done.stderr))


def test_the_references_and_manuals_are_those_of_the_tables(box):
    tool = os.path.join(os.path.dirname(BIN), "tools", "gen-docs")
    if not os.path.exists(tool):
        skip("gen-docs was not built")
    made = subprocess.run([tool, box.dir], capture_output=True, text=True, check=False)
    require(made.returncode == 0, made)
    for name in ("reference/commands.md", "reference/configuration.md", "reference/metrics.md", "man/gpumanager.1", "man/gpumanager.toml.5"):
        with open(box.path("docs", name), encoding="utf-8") as fresh, open(os.path.join(SOURCE_ROOT, "docs", name), encoding="utf-8") as kept:
            check(fresh.read() == kept.read(), name + " is old: run ./dev docs")


main()
