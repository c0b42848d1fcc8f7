# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""config.toml as a whole: which file is read, what is refused, and the three commands that change it."""
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import time

from harness import BIN, CASES, check, main, require, skip

SECRET = "secret-token"
COMMENTED = """# Kept by the operators of lab 7.

[slack]   # one webhook for all
webhook_url = "http://127.0.0.1:9/services/T0/B0/%s"

[storage]
csv_dir = "%s"     # on the fast disk

[sample]
interval = '1m'

# Every morning.
[[report]]
name = "daily"          # the name of the timer, too
report_time = "0 9 * * *"
interval = "1d"

# Every Monday, for the meeting.
[[report]]
interval = "7d"
name = "weekly"
report_time = "0 9 * * 1"   # Monday
# ping the lab when this changes

[general]
timezone = "Asia/Seoul"
server_name = "host-a"
# the end
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def commented(box):
    box.env["GPUMANAGER_ROOT"] = box.path("root")
    path = box.config(COMMENTED % (SECRET, box.csv_dir))
    return path, read(path)


def names(box):
    ran = box.run("status")
    return [r["name"] for r in json.loads(ran.out)["reports"]] if ran.code == 0 else ran


ADD = ("add-report", "hourly", "--report-time", "0 * * * *", "--interval", "1h")
ADDED = b'\n[[report]]\nname = "hourly"\nreport_time = "0 * * * *"\ninterval = "1h"\n'


def test_an_editors_bom_and_line_ends_are_taken_and_kept(box):
    """CF01 a"""
    before = read(os.path.join(CASES, "CF01a.toml"))
    path = box.write("config.toml", before, 0o600)
    check(names(box) == ["daily"], names(box))
    ran = box.run(*ADD)
    check(ran.code == 0 and names(box) == ["daily", "hourly"], ran)
    after = read(path)
    check(after.startswith(b"\xef\xbb\xbf[slack]\r\n") and after.count(b"\n") == after.count(b"\r\n"), after)
    check(after.count(b"\xef\xbb\xbf") == 1)
    check(after.replace(ADDED.replace(b"\n", b"\r\n"), b"", 1) == before, after)
    ran = box.run("remove-report", "hourly", "--yes")
    check(ran.code == 0 and read(path) == before, (ran, read(path)))


def test_utf16_is_refused_in_words_by_every_command(box):
    """CF01 b"""
    before = read(os.path.join(CASES, "CF01b.toml"))
    path = box.write("config.toml", before, 0o600)
    for words in (("status",), ("test-report",), ("test-sample", "--simulate", "1xT4"), ("config", "check"), ("init",), ADD,
                  ("remove-report", "daily", "--yes")):
        ran = box.run(*words)
        check(ran.code == 2 and "UTF-16" in ran.err and path in ran.err, (words, ran))
    check(read(path) == before)


def test_a_wrong_zone_is_refused_and_no_report_is_sent_in_another(box):
    """TM17"""
    slack = box.slack()
    box.config(webhook=slack.url)
    with open(box.config_path, encoding="utf-8") as file:
        good = file.read()
    with open(os.path.join(CASES, "TM17.zones.txt"), encoding="utf-8") as file:
        cases = [line.rstrip("\n").split("\t") for line in file if not line.startswith("#")]
    for name, verdict in cases:
        box.config(good.replace("Asia/Seoul", name))
        sent = len(slack.requests)
        ran = box.run("test-report")
        if verdict == "good":
            check(ran.code == 0 and len(slack.requests) == sent + 1, (name, ran))
        elif verdict == "bad":
            check(ran.code == 2 and "general.timezone" in ran.err and len(slack.requests) == sent, (name, ran))
            check(ran.out == "" and not os.path.exists(box.csv_dir), (name, ran))
        else:
            check((ran.code == 0) == (len(slack.requests) == sent + 1), (name, ran))
    empty = {"TZDIR": box.home}
    for name in ("Asia/Seoul", "Etc/UTC"):
        box.config(good.replace("Asia/Seoul", name))
        ran = box.run("test-report", env=empty)
        check(ran.code == 2 and "tzdata" in ran.err and "general.timezone" in ran.err, ran)
    box.config(good.replace("Asia/Seoul", "UTC"))
    ran = box.run("test-report", env=empty)
    check(ran.code == 0 and " UTC\n" in ran.out, ran)


def test_unknown_keys_are_errors_with_a_suggestion(box):
    path, before = commented(box)
    text = before.decode()
    for old, new, words in ((("interval = '1m'", "intervall = '1m'", ("unknown key 'intervall' in [sample]", "did you mean 'interval'?"))),
                            (("[storage]", "[storge]", ("unknown section [storge]", "did you mean [storage]?"))),
                            (("csv_dir", "timezone", ("did you mean 'timezone' in [general]?",))),
                            (("server_name", "servername", ("did you mean 'server_name'?",)))):
        box.config(text.replace(old, new))
        line = 1 + text[:text.index(old)].count("\n")
        for command in (("status",), ("test-report",), ("config", "check"), ADD) if old == "[storage]" else (ADD,):
            ran = box.run(*command)
            check(ran.code == 2 and all(word in ran.err for word in words), (command, ran))
            check("%s:%d:" % (path, line) in ran.err and "strict = false" in ran.err, (line, ran))
            check(SECRET not in ran.out + ran.err, ran)
        box.config(text.replace(old, new).replace("[general]", "[general]\nstrict = false"))
        ran = box.run("config", "check")
        check(ran.code == 0 and "Warning: " in ran.err and "(ignored)" in ran.err and words[0] in ran.err, ran)


def test_wrong_values_are_refused_with_their_place(box):
    """Part B, GM-028, GM-037"""
    path, before = commented(box)
    text = before.decode()
    for old, new, words in (("'1m'", "'1x'", "sample.interval must be a number followed by s, m, h, or d"),
                            ("'1m'", "'0s'", "sample.interval must be positive"), ("'1m'", "60", "sample.interval"),
                            ('"1d"', '"1x"', "report.interval must look like 1d, 12h, or 30m"),
                            ('"0 9 * * *"', '"61 9 * * *"', "out of range: 61"),
                            ('"0 9 * * *"', '"9 * *"', "report.report_time must be a 5-field cron string like '0 9 * * *'"),
                            ('"weekly"', '"daily"', "already the name of the report in line"),
                            ('"weekly"', '"Weekly"', "report.name"), ('"weekly"', '"%s"' % ("w" * 33), "report.name"),
                            ('name = "weekly"\n', "", "report.name is missing"),
                            ('"host-a"', '"host-a', "config.toml:"), ("[sample]", "[sample", "config.toml:"),
                            ('server_name = ', 'timezone = ', "timezone")):
        box.config(text.replace(old, new))
        for command in (("config", "check"), ("test-report",), ADD) if new == "60" else (("test-report",),):
            ran = box.run(*command)
            check(ran.code == 2 and words in ran.err and "%s:" % path in ran.err, (command, new, ran))
            check(SECRET not in ran.out + ran.err, ran)


def test_the_first_place_that_is_named_counts(box):
    """GM-020, GM-021, Part C 12"""
    box.env["GPUMANAGER_ROOT"] = box.path("root")
    places = {}
    for name, where in (("option", "option.toml"), ("variable", "variable.toml"), ("home", "home/.config/gpumanager/config.toml"),
                        ("etc", "root/etc/gpumanager/config.toml")):
        box.config(server=name, reports=((name, "0 9 * * *", "1d"),))
        places[name] = box.write(where, read(box.config_path), 0o600)
    os.remove(box.config_path)
    variable = {"GPUMANAGER_CONFIG": places["variable"]}

    def found(*words, env=None):
        ran = box.run(*words, "status", env=env, config=False)
        require(ran.code == 0, ran)
        status = json.loads(ran.out)
        return status["reports"][0]["name"] if status["config_exists"] else None

    check(found("--config", places["option"], env=variable) == "option")
    check(found(env=variable) == "variable")
    check(found() == "home")
    check(found(env={"GPUMANAGER_CONFIG": ""}) == "home")
    os.chmod(places["home"], 0)
    if os.geteuid() != 0:
        ran = box.run("test-report", config=False)
        check(ran.code == 2 and places["home"] in ran.err, "a file that may not be read gave way to another: %s" % ran)
    os.remove(places["home"])
    check(found() == "etc")
    for words, env in ((("--config", box.path("none.toml")), None), ((), {"GPUMANAGER_CONFIG": box.path("none.toml")})):
        for command in (("test-report",), ("test-sample", "--simulate", "1xT4"), ADD, ("reload",)):
            ran = box.run(*words, *command, env=env, config=False)
            check(ran.code == 2 and "Config file not found: " + box.path("none.toml") in ran.err, (command, ran))
        check(found(*words, env=env) is None)
    check(not os.path.exists(box.path("none.toml")) and not os.path.exists(box.csv_dir))
    os.remove(places["etc"])
    ran = box.run("test-report", config=False)
    check(ran.code == 2 and "Config file not found: " in ran.err and "gpumanager init" in ran.err, ran)


def test_config_is_taken_before_and_after_every_command(box):
    """GM-022"""
    path, _ = commented(box)
    for command in (("status",), ("status", "--text"), ("next",), ("config", "check"), ("test-sample", "--simulate", "1xT4"),
                    ("test-report", "--output", "text"), ("delete-csv", "--start", "2026-01-01 00:00:00", "--end", "2026-01-02 00:00:00", "--yes"),
                    ("compact", "--yes"), ADD, ("remove-report", "hourly", "--yes")):
        befores = [("--config", path) + command, ("--config=" + path,) + command]
        afters = [command + ("--config", path), command + ("--config=" + path,), (command[0], "--config", path) + command[1:]]
        for words in befores + afters if command[0] == "config" else [befores[0], afters[-1]]:
            ran = box.run(*words, config=False)
            check(ran.code == 0, (words, ran))
            if command == ADD:
                check(box.run("remove-report", "hourly", "--yes").code == 0)
            if command[0] == "remove-report":
                break
            check(SECRET not in ran.out + ran.err, ran)
        if command == ADD:
            check(box.run(*ADD).code == 0)
    # The one that stands later counts.
    ran = box.run("--config", box.path("none.toml"), "config", "check", "--config", path, config=False)
    check(ran.code == 0, ran)
    ran = box.run("--config", config=False)
    check(ran.code == 2, ran)


def test_add_and_remove_leave_every_other_byte(box):
    """GM-036, GM-071, GM-072"""
    path, before = commented(box)
    ran = box.run(*ADD)
    check(ran.code == 0 and ran.err == "" and names(box) == ["daily", "weekly", "hourly"], ran)
    after = read(path)
    check(after != before and after.replace(ADDED, b"", 1) == before, after.decode())
    check(os.stat(path).st_mode & 0o777 == 0o600)
    ran = box.run("remove-report", "hourly", "--yes")
    check(ran.code == 0 and read(path) == before, (ran, read(path)))
    # The block goes with the comments that belong to it.
    ran = box.run("remove-report", "weekly", "--yes")
    text = before.decode()
    gone = text[text.index("# Every Monday"):text.index("[general]")]
    check(ran.code == 0 and read(path).decode() == text.replace(gone, ""), read(path).decode())
    ran = box.run("remove-report", "daily", "--yes")
    check(ran.code == 1 and "uninstall-systemd" in ran.err and read(path).decode() == text.replace(gone, ""), ran)
    ran = box.run("remove-report", "weekly", "--yes")
    check(ran.code == 1 and "no report 'weekly'" in ran.err, ran)
    left = [n for n in os.listdir(box.dir) if n.startswith(".tmp")]
    check(left == [], left)


def test_a_single_report_of_the_predecessor_becomes_the_first_of_several(box):
    """GM-033, GM-034, GM-123"""
    text = '[report]\nsend_time = "08:05"  # early\ninterval = "1d"\n\n[storage]\ncsv_dir = "%s"\n' % box.csv_dir
    path = box.config(text)
    check(json.loads(box.run("status").out)["reports"][0]["report_time"] == "5 8 * * *")
    ran = box.run(*ADD)
    check(ran.code == 0 and names(box) == ["default", "hourly"], ran)
    after = read(path).decode()
    check('[[report]]\nname = "default"\nsend_time = "08:05"  # early\n' in after and after.endswith(text[text.index("\n[storage]"):]), after)


def test_what_cannot_be_changed_safely_is_left_alone(box):
    for text in ('report = [{name = "a"}, {name = "b"}]\n', '[report]\ninterval = "1d"\n[report.more]\nx = 1\n', "[[report]]\nname = \n"):
        path = box.config(text)
        before = read(path)
        for words in (ADD, ("remove-report", "a", "--yes")):
            ran = box.run(*words)
            check(ran.code in (1, 2) and ran.err.startswith("Error: ") and path in ran.err, (text, ran))
            check(read(path) == before, (text, read(path)))


def test_a_link_stays_a_link_and_the_group_keeps_reading(box):
    path, before = commented(box)
    real = box.path("elsewhere", "real.toml")
    os.mkdir(box.path("elsewhere"))
    os.rename(path, real)
    os.symlink("elsewhere/real.toml", path)
    os.chmod(real, 0o640)
    ran = box.run(*ADD)
    check(ran.code == 0 and os.readlink(path) == "elsewhere/real.toml" and read(real) != before, ran)
    check(os.stat(real).st_mode & 0o777 == 0o640, oct(os.stat(real).st_mode))
    ran = box.run("remove-report", "hourly", "--yes")
    check(ran.code == 0 and read(real) == before and os.path.islink(path), ran)
    check(os.listdir(box.path("elsewhere")) == ["real.toml"], os.listdir(box.path("elsewhere")))


CHANGES = ((ADD, ""), (("remove-report", "weekly", "--yes"), ""), (("init",), "lab-2\n" + "\n" * 20))


def test_a_crash_leaves_the_old_file_or_the_new_one(box):
    """kill -9 at each step of the writing"""
    path, before = commented(box)
    for words, stdin in CHANGES:
        box.write("config.toml", before, 0o600)
        ran = box.run(*words, stdin=stdin)
        require(ran.code == 0, ran)
        after = read(path)
        require(after != before)
        seen = set()
        for step in range(1, 30):
            box.write("config.toml", before, 0o600)
            ran = box.run(*words, stdin=stdin, env={"GPUMANAGER_FAULT": "kill:%d" % step})
            found = read(path)
            check(found in (before, after), (words, step, found))
            check(os.stat(path).st_mode & 0o777 == 0o600)
            seen.add(found == after)
            if ran.code != -signal.SIGKILL:
                break
        check(step > 4 and seen == {False, True} and ran.code == 0, (words, step, seen, ran))
        for name in os.listdir(box.dir):
            if name.startswith(".tmp-"):  # what a killed run leaves is as secret as the file itself
                check(os.stat(box.path(name)).st_mode & 0o077 == 0, name)
                os.remove(box.path(name))


def test_what_a_crash_left_goes_with_a_later_change(box):
    commented(box)
    old = time.time() - 3700
    for name in (".tmp-0123456789abcdef", ".tmp-fedcba9876543210", ".tmp-notes", "tmp-0123456789abcdef"):
        path = box.write(name, SECRET, 0o600)
        if "fedc" not in name:  # that one may be another writer's at work
            os.utime(path, (old, old))
    check(box.run(*ADD).code == 0)
    left = sorted(n for n in os.listdir(box.dir) if "tmp-" in n)
    check(left == [".tmp-fedcba9876543210", ".tmp-notes", "tmp-0123456789abcdef"], left)


def test_a_full_disk_changes_nothing_and_leaves_nothing(box):
    path, before = commented(box)
    for words, stdin in CHANGES:
        failed = 0
        for step in range(1, 30):
            box.write("config.toml", before, 0o600)
            ran = box.run(*words, stdin=stdin, env={"GPUMANAGER_FAULT": "fail:%d" % step})
            check([n for n in os.listdir(box.dir) if n.startswith(".tmp")] == [], os.listdir(box.dir))
            if ran.code == 0:
                break
            failed += 1
            check(ran.code == 1 and "cannot write" in ran.err and path in ran.err and read(path) == before, (words, step, ran))
        check(failed >= 4, (words, failed))


def test_two_editors_at_once_both_get_their_change(box):
    commented(box)
    wanted = ["r%d" % number for number in range(6)]
    runs = [box.start("add-report", name, "--report-time", "0 9 * * *", "--interval", "1d", stdin=subprocess.DEVNULL,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE) for name in wanted]
    for run in runs:
        out, err = run.communicate(timeout=60)
        check(run.returncode == 0, (out, err))
    check(sorted(names(box)) == sorted(["daily", "weekly"] + wanted), names(box))
    same = [box.start(*ADD, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
    codes = []
    for run in same:
        run.communicate(timeout=60)
        codes.append(run.returncode)
    check(sorted(codes) == [0, 1, 1] and names(box).count("hourly") == 1, (codes, names(box)))


def test_a_folder_that_cannot_be_written_is_said(box):
    path, before = commented(box)
    folder = box.path("fixed")
    os.mkdir(folder)
    fixed = box.path("fixed", "config.toml")
    shutil.copy(path, fixed)
    # Root may write where the mode forbids it, but not on a mount that is read-only.
    is_mounted = os.geteuid() == 0
    if is_mounted and subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True).returncode:
        skip("cannot mount a folder here")
    try:
        if is_mounted:
            subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        else:
            os.chmod(folder, 0o555)
        ran = box.run("--config", fixed, *ADD, config=False)
        check(ran.code == 1 and "cannot write" in ran.err and fixed in ran.err, ran)
        check(read(fixed) == before)
    finally:
        if is_mounted:
            subprocess.run(["umount", folder], check=False)


def test_root_editing_leaves_the_file_to_its_owner(box):
    if os.geteuid() != 0:
        skip("needs root")
    path, _ = commented(box)
    os.chown(path, 65534, 65534)
    ran = box.run(*ADD)
    check(ran.code == 0 and os.stat(path).st_uid == 65534 and os.stat(path).st_mode & 0o777 == 0o600, (ran, os.stat(path)))


def test_what_is_no_configuration_is_said(box):
    path, before = commented(box)
    os.mkdir(box.path("folder"))
    for name, content in (("big.toml", before + b"#" * (2 << 20)), ("null.toml", before + b"\0"), ("deep.toml", b"a = " + b"[" * 100000),
                          ("bytes.toml", before + b"# \xff\xfe\n"), ("folder", None), ("config.toml/inside", None)):
        place = box.write(name, content, 0o600) if content is not None else box.path(name)
        for words in (("test-report",), ADD):
            ran = box.run("--config", place, *words, config=False)
            check(ran.code == 2 and place in ran.err and ran.err.startswith("Error: ") and len(ran.err) < 2000, (name, words, ran))
        check(content is None or read(place) == content)
    check(read(path) == before)


def type_answers(box, words, answers):
    """Runs on a terminal of its own and types each answer when a question waits; all that was shown."""
    child, master = pty.fork()
    if child == 0:
        os.execve(BIN, [BIN, "--config", box.config_path] + list(words), box.env)
    shown, waiting, until = b"", list(answers), time.monotonic() + 30
    while time.monotonic() < until:
        if not select.select([master], [], [], 1)[0]:
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
        if shown.endswith(b": ") and waiting:
            os.write(master, waiting.pop(0).encode())
    else:
        os.kill(child, signal.SIGKILL)
    os.close(master)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), shown.decode(errors="replace").replace("\r\n", "\n"), waiting


def test_init_at_a_terminal_walks_every_setting_and_report(box):
    """GM-070, Part B init"""
    path, before = commented(box)
    answers = ["lab-2\n", "\n", "\n", "2m\n", "\n", "12h\n", "61 * * * *\n", "0 10 * * 1\n", "\n", "\n"]
    code, shown, left = type_answers(box, ["init"], answers)
    require(code == 0 and left == [], (code, shown, left))
    for text in ("Current server time: ", "Server name [host-a]: ", "Slack webhook URL [keep the one that is set]: ",
                 "CSV storage directory [%s]: " % box.csv_dir, "Sample interval (e.g. 30s, 2m, 15m, 1h) [1m]: ", "Report 'daily':",
                 "Report 'weekly':", "Report time cron (minute hour day month weekday) [0 9 * * 1]: ", "out of range: 61",
                 "Report window (e.g. 1m, 1h, 12h, 1d) [7d]: ", "Timezone [Asia/Seoul]: ", "Saved configuration to " + path):
        check(text in shown, (text, shown))
    check(SECRET not in shown, shown)
    text = before.decode().replace('"host-a"', '"lab-2"').replace("'1m'", '"2m"').replace('"1d"', '"12h"').replace('"0 9 * * 1"', '"0 10 * * 1"')
    check(read(path).decode() == text, read(path).decode())


def test_init_by_a_pipe_gives_the_same_file(box):
    path, before = commented(box)
    answers = "lab-2\n\n\n2m\n\n12h\n0 10 * * 1\n\n\n"
    ran = box.run("init", stdin=answers)
    check(ran.code == 0 and SECRET not in ran.out + ran.err, ran)
    text = before.decode().replace('"host-a"', '"lab-2"').replace("'1m'", '"2m"').replace('"1d"', '"12h"').replace('"0 9 * * 1"', '"0 10 * * 1"')
    check(read(path).decode() == text, read(path).decode())
    # The last line needs no end; an input that ends too early changes nothing.
    box.write("config.toml", before, 0o600)
    ran = box.run("init", stdin=answers[:-1] + "Asia/Seoul")
    check(ran.code == 0 and read(path).decode() == text, ran)
    box.write("config.toml", before, 0o600)
    ran = box.run("init", stdin="lab-3\n\n")
    check(ran.code == 1 and "the input ended" in ran.err and read(path) == before, ran)


def test_init_makes_the_file_and_its_folder_for_its_owner_alone(box):
    box.env["GPUMANAGER_ROOT"] = box.path("root")
    answers = "lab-1\nhttps://hooks.slack.com/services/T/B/%s\n%s\n\n\n\nUTC\n" % (SECRET, box.csv_dir)
    ran = box.run("init", stdin=answers, config=False)
    path = box.home + "/.config/gpumanager/config.toml"
    require(ran.code == 0 and "Saved configuration to " + path in ran.out, ran)
    check(os.stat(path).st_mode & 0o777 == 0o600)
    ran = box.run("config", "show", config=False)
    check(ran.code == 0 and "(set)" in ran.out and SECRET not in ran.out and "lab-1" in ran.out, ran)
    check(box.run("test-report", "--output", "text", config=False).out.startswith("[lab-1] "))


def test_ctrl_c_in_a_question_cancels_and_changes_nothing(box):
    """GM-085: 130, Cancelled."""
    path, before = commented(box)
    for words in (["init"], ["add-report"], ["remove-report", "weekly"], ["delete-csv"]):
        code, shown, _ = type_answers(box, words, ["\x03"])
        check(code == 130 and "Cancelled." in shown and read(path) == before, (words, code, shown))


def test_add_report_asks_for_what_is_absent(box):
    """GM-071"""
    path, before = commented(box)
    code, shown, left = type_answers(box, ["add-report"], ["Bad Name\n", "daily\n", "hourly\n", "0 * * *\n", "0 * * * *\n", "\n"])
    require(code == 0 and left == [], (code, shown))
    check("already" in shown and "5-field cron" in shown and "next runs:" in shown, shown)
    check('name = "hourly"\nreport_time = "0 * * * *"\ninterval = "1d"\n' in read(path).decode(), read(path))
    box.write("config.toml", before, 0o600)
    ran = box.run("add-report", "hourly", "--interval", "1h", stdin="0 * * * *\n")
    check(ran.code == 0 and "Report window" not in ran.out and names(box) == ["daily", "weekly", "hourly"], ran)


def test_several_reports_are_only_sent_after_a_yes_at_a_terminal(box):
    """GM-074, GM-082"""
    commented(box)
    slack = box.slack()
    box.config((COMMENTED % (SECRET, box.csv_dir)).replace("http://127.0.0.1:9/services/T0/B0/" + SECRET, slack.url))
    code, shown, _ = type_answers(box, ["test-report"], ["n\n"])
    check(code == 0 and "Send 2 reports now? [y/N]: " in shown and slack.requests == [], shown)
    code, shown, _ = type_answers(box, ["test-report"], ["y\n"])
    check(code == 0 and len(slack.requests) == 2, shown)
    for words in (["test-report", "--yes"], ["test-report", "--report", "daily"]):
        code, shown, _ = type_answers(box, words, [])
        check(code == 0 and "[y/N]" not in shown, shown)
    check(len(slack.requests) == 5, len(slack.requests))


main()
