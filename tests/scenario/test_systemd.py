# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""The units under a real systemd, booted twice: installed, fired, changed, rebooted, removed.

All tests share one machine, because booting and waiting are what costs time. One that only looks
begins with usual(), one that changes something with changing(): both find the usual configuration
installed for the worker and every timer on.
"""
import atexit
import glob
import json
import os
import re
import subprocess
import sys
import time

from harness import BIN, CASES, CLEAN_PATH, FAKE_DIR, SOURCE_ROOT, check, main, require, skip

sys.path.append(os.path.join(SOURCE_ROOT, "tests", "systemd"))
from machine import Cannot, Machine  # noqa: E402  pylint: disable=wrong-import-position

UNIT_DIR = "/etc/systemd/system"
STAMP_DIR = "/var/lib/systemd/timers"
PROGRAM = "/usr/local/bin/gpumanager"
CONFIG = "/etc/gpumanager/config.toml"
CSV_DIR = "/var/lib/gpumanager"
POSTS = "/var/lib/webhook/posts"
PORT = 8085
WORKER, ANALYST = 2101, 2102
SAMPLE = "gpumanager-sample"
DAILY, MINUTELY = "gpumanager-report-daily", "gpumanager-report-minutely"
SERVE = "gpumanager-serve"
EXPOSURE_MOST = 2.0
# systemctl that notes its calls and, when told to, fails one daemon-reload.
WRAPPER = """#!/bin/sh
echo "$*" >>/var/log/systemctl-calls
if [ "$1" = daemon-reload ] && rm /var/log/fail-once 2>/dev/null; then
    echo "Failed to reload daemon: Connection timed out" >&2
    exit 1
fi
exec /usr/bin/systemctl "$@"
"""
WRAPPED = {"PATH": "/opt/wrapped:" + CLEAN_PATH}
# Stands in for sudo, which not every machine has: a copy of setpriv with the set-user-ID bit.
SUDO = """#!/bin/sh
echo "$*" >>/var/log/sudo-calls
exec /opt/sudo/become --reuid=0 --regid=0 --clear-groups env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin SUDO_USER=analyst "$@"
"""
WITH_SUDO = {"PATH": "/opt/sudo:" + CLEAN_PATH}
BROKEN_BUS = {"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nowhere"}
WEBHOOK_SERVICE = """[Unit]
Before=timers.target
[Service]
ExecStart=python3 /opt/webhook.py %d %s
ExecStartPost=sh -c 'until (exec 3<>/dev/tcp/127.0.0.1/%d) 2>/dev/null; do sleep 0.05; done'
[Install]
WantedBy=multi-user.target
""".replace("=sh -c", "=bash -c") % (PORT, POSTS, PORT)


class Place:
    """The machine with gpumanager in it, and what the tests know of its state."""

    machine = None
    reason = None
    is_usual = False
    installed_at = 0.0


def place():
    if Place.reason:
        skip(Place.reason)
    if Place.machine is None:
        try:
            furnish()
        except Cannot as reason:
            Place.reason = str(reason)
            skip(Place.reason)
    return Place.machine


def furnish():
    machine = Machine()
    atexit.register(machine.close)
    machine.copy(BIN, PROGRAM)
    for fake in ("nvidia-smi", "libnvidia-ml.so.1"):
        machine.copy(os.path.join(FAKE_DIR, fake), "/opt/fake/" + fake)
    machine.copy(os.path.join(CASES, "NS01.smi"), "/opt/fake/scenario")
    machine.copy(os.path.join(SOURCE_ROOT, "tests", "systemd", "webhook.py"), "/opt/webhook.py")
    # The services are denied what the leak checker of a sanitized build needs.
    machine.write("/etc/default/gpumanager", "FAKE_GPU_SCENARIO=/opt/fake/scenario\nLD_LIBRARY_PATH=/opt/fake\n"
                                             "PATH=/opt/fake:%s\nASAN_OPTIONS=detect_leaks=0\n" % CLEAN_PATH)
    machine.write("/opt/wrapped/systemctl", WRAPPER, 0o755)
    machine.write("/opt/sudo/sudo", SUDO, 0o755)
    machine.write("/opt/nothing/empty", "")
    for log in ("systemctl-calls", "sudo-calls"):
        machine.write("/var/log/" + log, "", 0o666)
    machine.copy("/usr/bin/setpriv", "/opt/sudo/become")
    os.chmod(machine.path("/opt/sudo/become"), 0o4755)
    machine.write(POSTS, "")
    machine.write(UNIT_DIR + "/webhook.service", WEBHOOK_SERVICE)
    os.makedirs(machine.path(UNIT_DIR + "/multi-user.target.wants"))
    os.symlink("../webhook.service", machine.path(UNIT_DIR + "/multi-user.target.wants/webhook.service"))
    machine.boot()
    Place.machine = machine


def configure(interval="2s", reports=(("daily", "0 9 * * *", "1d"), ("minutely", "* * * * *", "1h")), csv_dir=CSV_DIR,
              path=CONFIG, owner=WORKER):
    text = '[slack]\nwebhook_url = "http://127.0.0.1:%d/services/T0/B0/secret-token"\n\n[storage]\ncsv_dir = %s\n\n' \
        '[sample]\ninterval = "%s"\n\n[general]\ntimezone = "Asia/Seoul"\nserver_name = "host-a"\n' % (PORT, json.dumps(csv_dir), interval)
    for report in reports:
        text += '\n[[report]]\nname = "%s"\nreport_time = "%s"\ninterval = "%s"\n' % report
    place().write(path, text, 0o600, owner)


def gpumanager(*words, **options):
    return place().run(PROGRAM, *words, **options)


def systemctl(*words, **options):
    return place().run("systemctl", *words, **options).out.strip()


def prop(unit, name):
    return systemctl("show", "--value", "--property=" + name, unit)


def our_files():
    return sorted(n for n in os.listdir(place().path(UNIT_DIR)) if n.startswith("gpumanager"))


def units_of(*stems):
    return sorted(stem + suffix for stem in stems for suffix in (".service", ".timer"))


def unit_text(name):
    return place().read(UNIT_DIR + "/" + name)


def is_on(timer):
    """Enabled and running, or neither; anything between is returned as it is."""
    words = systemctl("show", "--value", "--property=UnitFileState,ActiveState", timer + ".timer").split()
    return {("active", "enabled"): True, ("disabled", "inactive"): False}.get(tuple(sorted(words)), words)


def starts_of(*stems):
    """When each timer was last started: changes when it is armed anew."""
    return systemctl("show", "--value", "--property=ActiveEnterTimestampMonotonic", *[s + ".timer" for s in stems]).split()


def samples(csv_dir=CSV_DIR):
    return glob.glob(os.path.join(glob.escape(place().path(csv_dir)), "*.csv"))


def posts(report=None):
    lines = [json.loads(line) for line in place().read(POSTS).splitlines()]
    return [p for p in lines if report is None or report in p["text"]]


def wait_until(happened, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happened():
            return True
        time.sleep(0.2)
    return bool(happened())


def journal(unit):
    return place().run("journalctl", "--no-pager", "-n", "20", "-u", unit).out


def is_sampling(csv_dir=CSV_DIR):
    """A new file within the ten seconds that a timer waits at first, and some more."""
    before = len(samples(csv_dir))
    return wait_until(lambda: len(samples(csv_dir)) > before, 25)


def usual():
    place()
    if Place.is_usual:
        return None
    configure()
    ran = gpumanager("install-systemd", "--enable-now", "--run-user", "worker")
    require(ran.code == 0, ran)
    Place.is_usual = True
    Place.installed_at = Place.installed_at or time.time()
    return ran


def changing():
    usual()
    Place.is_usual = False


def test_install_writes_units_and_starts_nothing(box):
    """GM-100, GM-106, GM-107, Part B; Part C 10: root needs no sudo, of which this machine has none"""
    place()
    configure()
    place().write("/home/worker/.config/systemd/user/gpumanager-sample.timer", "[Timer]\nOnCalendar=daily\n", owner=WORKER)
    ran = gpumanager("install-systemd", "--run-user", "worker")
    os.remove(place().path("/home/worker/.config/systemd/user/gpumanager-sample.timer"))
    names = [SAMPLE, DAILY, MINUTELY]
    require(ran.code == 0 and ran.err == "", ran)
    wanted = ["Installed unit files:"] + ["%s/%s.%s" % (UNIT_DIR, n, s) for n in names for s in ("service", "timer")]
    wanted += ["Enable with: sudo systemctl enable --now " + " ".join(n + ".timer" for n in names),
               "System services will run as user: worker",
               "Warning: conflicting user-level systemd units were found:", "gpumanager-sample.timer",
               "Disable and remove them to avoid timers stopping when the login session ends.",
               "Suggested cleanup: systemctl --user disable --now gpumanager-sample.timer"]
    check(ran.out.splitlines() == wanted, ran)
    check(our_files() == units_of(*names), our_files())
    for name in names:
        check(is_on(name) is False, (name, is_on(name)))
        check(prop(name + ".service", "User") == "worker", name)
    check(prop(SAMPLE + ".service", "Description") == "Sample NVIDIA GPU utilization")
    check(prop(DAILY + ".timer", "Description") == "Run gpumanager report schedule")
    info = os.stat(place().path(CSV_DIR))
    check(info.st_uid == WORKER and info.st_mode & 0o777 == 0o755, info)


def test_install_enable_now_starts_every_timer(box):
    """GM-103, Part B"""
    Place.is_usual = False
    ran = usual()
    check("Enabled and started system timers: %s.timer, %s.timer, %s.timer\n" % (SAMPLE, DAILY, MINUTELY) in ran.out, ran)
    for name in (SAMPLE, DAILY, MINUTELY):
        check(is_on(name) is True, (name, is_on(name)))
    check(len(posts("daily")) == 0, "a report that is new has missed no run")


def test_systemd_has_nothing_to_say_about_the_units(box):
    """TM19: systemd-analyze verify is silent, for hard paths too"""
    usual()
    ran = place().run("systemd-analyze", "verify", *["%s/%s" % (UNIT_DIR, n) for n in our_files()])
    check(ran.code == 0 and ran.out + ran.err == "", ran)
    for name in (SAMPLE, DAILY, MINUTELY):
        check(prop(name + ".timer", "NextElapseUSecMonotonic" if name == SAMPLE else "NextElapseUSecRealtime") not in ("", "infinity"), name)
    lines = unit_text(SAMPLE + ".timer").splitlines()
    check("OnActiveSec=10" in lines and "OnUnitActiveSec=2" in lines and not any(l.startswith("Persistent") for l in lines), lines)


def test_the_services_are_hardly_exposed(box):
    usual()
    for name in (SAMPLE, DAILY):
        ran = place().run("systemd-analyze", "security", "--no-pager", name + ".service")
        found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", ran.out)
        require(found, ran)
        print("# exposure of %s.service: %s" % (name, found.group(1)), flush=True)
        check(float(found.group(1)) <= EXPOSURE_MOST, ran.out)


def test_status_says_what_systemctl_says(box):
    """GM-075, GM-090, GM-092, GM-094, Part C 6"""
    usual()
    no_bus = dict(BROKEN_BUS, **WRAPPED)
    place().write("/opt/no-libsystemd/libsystemd.so.0", "")
    # libsystemd cannot be opened; systemctl has its own.
    no_library = dict(WRAPPED, LD_LIBRARY_PATH="/opt/no-libsystemd")
    for way, env in (("bus", WRAPPED), ("no bus", no_bus), ("no libsystemd", no_library)):
        place().write("/var/log/systemctl-calls", "")
        for timer in (DAILY, MINUTELY, SAMPLE):
            check(wait_until(lambda: is_next_the_trigger(timer, env), 5), (way, timer, last_next))
        asked = "show" in place().read("/var/log/systemctl-calls")
        check(asked == (way != "bus"), (way, place().read("/var/log/systemctl-calls")))
    ran = gpumanager("status", user="worker", env={"GPUMANAGER_CONFIG": CONFIG})
    check(ran.code == 0 and "KST; " in json.loads(ran.out)["reports"][0]["next_trigger"], ran)
    ran = gpumanager("status", "--text")
    check(ran.code == 0 and "secret-token" not in ran.out + ran.err and "timer: on" in ran.out, ran)
    ran = gpumanager("status", user="analyst", env={"GPUMANAGER_CONFIG": "/home/analyst/none.toml"})
    status = json.loads(ran.out)
    check(ran.code == 0 and status["config_exists"] is False and status["sample_timer_installed"] is True, ran)
    nowhere = dict(BROKEN_BUS, PATH="/opt/nothing")
    status = json.loads(gpumanager("status", env=nowhere).out)
    check(status["sample.next_trigger"] is None and status["systemctl"] is None and status["sample_timer_installed"] is True, status)


last_next = []


def is_next_the_trigger(timer, env):
    """Both are read within a second, so a difference may be one of the clock: the caller asks again."""
    ran = gpumanager("status", env=env)
    said = systemctl("status", timer + ".timer", env={"TZ": "Asia/Seoul", "LC_ALL": "C.UTF-8"})
    trigger = re.search(r"Trigger: (.*)", said)
    require(ran.code == 0 and trigger and "secret-token" not in ran.out + ran.err, (ran, said))
    status = json.loads(ran.out)
    shown = {r["timer"]: r["next_trigger"] for r in status["reports"]}
    shown[SAMPLE + ".timer"] = status["sample.next_trigger"]
    last_next[:] = [shown[timer + ".timer"], trigger.group(1)]
    return shown[timer + ".timer"] == trigger.group(1)


def test_the_sample_service_reaches_the_drivers_devices(box):
    usual()
    check("char-nvidia* rw" in prop(SAMPLE + ".service", "DeviceAllow") and prop(SAMPLE + ".service", "DevicePolicy") == "closed")
    check(prop(SAMPLE + ".service", "PrivateDevices") == "no" and prop(DAILY + ".service", "PrivateDevices") == "yes")
    # A driver in name only: opening its device says "No such device" when the rules let it through.
    script = """cp /proc/devices /run/devices && sed -i '/^Block/i 195 nvidia-frontend' /run/devices &&
        mount --bind /run/devices /proc/devices && mknod -m 666 /dev/nvidia0 c 195 0 && mknod -m 666 /dev/nvram c 10 144"""
    if place().run("sh", "-c", script).code != 0:
        print("# no device node can be made here: only the properties were checked", flush=True)
        return
    drop_in = "/run/systemd/system/%s.service.d/open.conf" % SAMPLE
    text = "[Service]\nExecStart=\nExecStart=-sh -c ': </dev/nvidia0'\nExecStart=-sh -c ': </dev/nvram'\n"
    place().run("sh", "-c", "mkdir -p %s; cat >%s; systemctl daemon-reload; systemctl start %s.service" % (os.path.dirname(drop_in), drop_in, SAMPLE),
                stdin=text)
    said = journal(SAMPLE)
    place().run("sh", "-c", "rm %s /dev/nvidia0 /dev/nvram; umount /proc/devices; systemctl daemon-reload" % drop_in)
    check("/dev/nvidia0: No such device" in said, said)
    check("/dev/nvidia0: Operation not permitted" not in said, said)
    if "/dev/nvram: Operation not permitted" not in said:
        print("# this machine does not let a container restrict devices", flush=True)


def test_a_timer_without_a_first_start_never_fires_and_ours_does(box):
    """TM19"""
    changing()
    place().copy(os.path.join(CASES, "TM19.bad.timer"), UNIT_DIR + "/tm19.timer")
    place().write(UNIT_DIR + "/tm19.service", "[Service]\nType=oneshot\nExecStart=true\n")
    systemctl("daemon-reload")
    systemctl("start", "tm19.timer")
    bad = systemctl("status", "tm19.timer")
    systemctl("stop", "tm19.timer")
    for suffix in (".timer", ".service"):
        os.remove(place().path(UNIT_DIR + "/tm19" + suffix))
    check("Trigger: n/a" in bad, bad)
    check("n/a" not in systemctl("status", SAMPLE + ".timer"))


def test_timers_sample_as_the_run_user(box):
    """GM-104, GM-106"""
    usual()
    require(is_sampling(), journal(SAMPLE))
    first = time.monotonic()
    count = len(samples())
    check(wait_until(lambda: len(samples()) >= count + 2, 10), journal(SAMPLE))
    check(time.monotonic() - first < 8, "an interval of 2 s")
    newest = max(samples(), key=os.path.getmtime)
    check(os.stat(newest).st_uid == WORKER, newest)
    with open(newest, encoding="utf-8") as file:
        check("GPU-00000000-0000-4000-8000-000000000001" in file.read(), newest)
    check(prop(SAMPLE + ".service", "Result") == "success", journal(SAMPLE))


def test_add_report_starts_its_timer_and_remove_report_removes_it(box):
    """GM-071, GM-072, GM-102, GM-103"""
    changing()
    before = starts_of(SAMPLE, DAILY, MINUTELY)
    ran = gpumanager("--config", CONFIG, "add-report", "weekly", "--report-time", "0 9 * * mon", "--interval", "7d")
    check(ran.code == 0 and "Enabled and started system timers: gpumanager-report-weekly.timer\n" in ran.out, ran)
    check(is_on("gpumanager-report-weekly") is True and prop("gpumanager-report-weekly.service", "User") == "worker")
    check(os.stat(place().path(CONFIG)).st_uid == WORKER, "the configuration stays its owner's")
    ran = gpumanager("--config", CONFIG, "remove-report", "weekly", "--yes")
    check(ran.code == 0 and "Removed unit files:\n" in ran.out, ran)
    check(our_files() == units_of(SAMPLE, DAILY, MINUTELY), our_files())
    check(systemctl("is-active", "gpumanager-report-weekly.timer") == "inactive")
    check(not os.path.lexists(place().path(UNIT_DIR + "/timers.target.wants/gpumanager-report-weekly.timer")))
    check(not os.path.exists(place().path(STAMP_DIR + "/stamp-gpumanager-report-weekly.timer")))
    check(starts_of(SAMPLE, DAILY, MINUTELY) == before, "the other timers were started anew")


def test_a_disabled_report_stays_off_until_it_is_enabled_by_hand(box):
    """GM-079, GM-103, GM-109, Part C 9"""
    changing()
    ran = gpumanager("disable-report", "--report", "daily")
    check(ran.code == 0 and ran.out == "Disabled %s.timer\n" % DAILY and is_on(DAILY) is False, ran)
    configure(reports=(("daily", "0 10 * * *", "1d"), ("minutely", "* * * * *", "1h")))
    ran = gpumanager("reload")
    check(ran.code == 0 and is_on(DAILY) is False and "10:00:00" in unit_text(DAILY + ".timer"), (ran, is_on(DAILY)))
    ran = gpumanager("--config", CONFIG, "add-report", "weekly", "--report-time", "0 9 * * 1", "--interval", "7d")
    check(ran.code == 0 and is_on(DAILY) is False and is_on("gpumanager-report-weekly") is True, ran)
    systemctl("enable", "--now", DAILY + ".timer")
    check(is_on(DAILY) is True and len(posts("daily")) == 0)
    ran = gpumanager("disable-sample")
    check(ran.code == 0 and ran.out == "Disabled %s.timer\n" % SAMPLE and is_on(SAMPLE) is False, ran)
    configure(interval="3s")
    check(gpumanager("reload").code == 0 and is_on(SAMPLE) is False)


def test_reload_arms_only_what_changed_and_sampling_goes_on(box):
    """GM-082, GM-105, TM19"""
    changing()
    before = starts_of(SAMPLE, DAILY, MINUTELY)
    ran = gpumanager("reload")
    check(ran.code == 0 and ran.out == "" and starts_of(SAMPLE, DAILY, MINUTELY) == before, ran)
    configure(interval="1s")
    ran = gpumanager("reload")
    check(ran.code == 0 and ran.out == "Reloaded timers: %s.timer\n" % SAMPLE, ran)
    after = starts_of(SAMPLE, DAILY, MINUTELY)
    check(after[0] != before[0] and after[1:] == before[1:], (before, after))
    check("n/a" not in systemctl("status", SAMPLE + ".timer"))
    systemctl("daemon-reload")
    check(is_sampling(), journal(SAMPLE))
    configure(interval="1s", reports=(("daily", "0 1 * * *", "1d"), ("minutely", "* * * * *", "1h")))
    ran = gpumanager("reload")
    check(ran.code == 0 and ran.out == "Reloaded timers: %s.timer\n" % DAILY, ran)
    check(starts_of(SAMPLE, MINUTELY) == [after[0], after[2]], "the other timers were started anew")
    time.sleep(1)
    check(len(posts("daily")) == 0, "a report whose time was changed has missed no run")


def test_a_change_that_systemd_interrupts_is_finished_by_reload(box):
    """GM-083"""
    changing()
    place().write("/var/log/fail-once", "")
    ran = gpumanager("--config", CONFIG, "add-report", "weekly", "--report-time", "0 9 * * 1", "--interval", "7d", env=WRAPPED)
    check(ran.code == 1 and "gpumanager reload" in ran.err and "systemctl command failed" in ran.err, ran)
    check("weekly" in place().read(CONFIG) and is_on("gpumanager-report-weekly") is not True)
    ran = gpumanager("reload", env=WRAPPED)
    check(ran.code == 0 and is_on("gpumanager-report-weekly") is True, ran)
    check(not [n for n in our_files() if not n.endswith((".service", ".timer"))], our_files())
    place().write("/var/log/fail-once", "")
    ran = gpumanager("--config", CONFIG, "remove-report", "weekly", "--yes", env=WRAPPED)
    check(ran.code == 1 and "gpumanager reload" in ran.err, ran)
    ran = gpumanager("reload")
    check(ran.code == 0 and our_files() == units_of(SAMPLE, DAILY, MINUTELY), (ran, our_files()))
    check("weekly" not in systemctl("list-units", "--all", "--plain", "--no-legend", "gpumanager-*"))


def test_the_run_user_is_remembered(box):
    """Part C 8"""
    changing()
    env = {"SUDO_USER": "analyst"}
    configure(interval="7s")
    check(gpumanager("reload", env=env).code == 0 and prop(SAMPLE + ".service", "User") == "worker")
    answers = ["host-b", "", "", "11s", "", "", "", "", ""]
    ran = gpumanager("--config", CONFIG, "init", env=env, stdin="\n".join(answers) + "\n")
    check(ran.code == 0 and "Reloaded installed timers: %s.timer" % SAMPLE in ran.out, ran)
    check("OnUnitActiveSec=11" in unit_text(SAMPLE + ".timer"))
    for name in our_files():
        check(not name.endswith(".service") or prop(name, "User") == "worker", (name, prop(name, "User")))


def test_a_person_without_sudo_is_told_so_and_with_it_all_works(box):
    """GM-101, GM-106, GM-108, Part B; paths that need every rule of quoting"""
    changing()
    home = "/home/analyst"
    csv_dir = home + "/gpu \"data\" 'of' 100% $HOME \\n é"
    config = home + "/my $x %h \"config\".toml"
    configure(csv_dir=csv_dir, path=config, owner=ANALYST, interval="1s", reports=(("daily", "0 9 * * *", "1d"),))
    program, refused = "/opt/my $p 50% {tools}; é/gpumanager", "/opt/it's/gpumanager"
    for path in (program, refused):
        place().copy(BIN, path)
    for words in (("install-systemd",), ("uninstall-systemd",), ("reload",), ("disable-sample",), ("disable-report", "--yes")):
        ran = gpumanager("--config", config, *words, user="analyst")
        check(ran.code == 1 and "sudo not found" in ran.err, (words, ran))
    check(our_files() == units_of(SAMPLE, DAILY, MINUTELY) and is_on(SAMPLE) is True, our_files())
    check(gpumanager("uninstall-systemd").code == 0)
    ran = place().run(refused, "--config", config, "install-systemd", user="analyst", env=WITH_SUDO)
    check(ran.code == 1 and "quote or a backslash" in ran.err and our_files() == [], ran)
    ran = place().run(program, "--config", config, "install-systemd", "--enable-now", user="analyst", env=WITH_SUDO)
    require(ran.code == 0 and "System services will run as user: analyst\n" in ran.out, ran)
    check("install -m 0644" in place().read("/var/log/sudo-calls"))
    files = [UNIT_DIR + "/" + name for name in our_files()]
    check(len(files) == 4 and all(os.stat(place().path(f)).st_uid == 0 and os.stat(place().path(f)).st_mode & 0o777 == 0o644 for f in files))
    ran = place().run("systemd-analyze", "verify", *files)
    check(ran.out + ran.err == "", ran)
    systemctl("start", SAMPLE + ".service")
    found = samples(csv_dir)
    check(found and os.stat(found[0]).st_uid == ANALYST, (journal(SAMPLE), place().run("find", home).out))
    before = len(posts())
    systemctl("start", DAILY + ".service")
    check(len(posts()) > before, journal(DAILY))
    ran = gpumanager("uninstall-systemd", user="analyst", env=WITH_SUDO)
    check(ran.code == 0 and our_files() == [], ran)


def test_a_report_is_posted_by_its_timer(box):
    """GM-105, GM-106"""
    usual()
    check(wait_until(lambda: [p for p in posts("minutely") if p["at"] > Place.installed_at], 65), journal(MINUTELY))
    post = (posts("minutely") or [{"text": "", "path": "", "at": 0}])[0]
    check("host-a" in post["text"] and post["path"].endswith("/secret-token"), post)
    check(post["at"] % 60 < 10, post)
    minutes = [int(p["at"] // 60) for p in posts("minutely")]
    check(len(set(minutes)) == len(minutes), minutes)
    check("secret-token" not in journal(MINUTELY))


def test_after_a_reboot_timers_come_back_and_a_missed_report_is_sent_once(box):
    """GM-105, GM-109"""
    changing()
    configure(reports=(("daily", "0 9 * * *", "1d"), ("off", "0 9 * * *", "1d"), ("kept", "0 9 1 1 *", "1d")))
    require(gpumanager("reload").code == 0 and gpumanager("disable-report", "--report", "off").code == 0)
    count = {name: len(posts(name)) for name in ("daily", "off", "kept")}
    require(count["kept"] == 0, count)
    place().power_off()
    three_days_ago = time.time() - 3 * 86400
    for name in ("daily", "off"):
        os.utime(place().path("%s/stamp-gpumanager-report-%s.timer" % (STAMP_DIR, name)), (three_days_ago, three_days_ago))
    place().boot()
    check(is_on(SAMPLE) is True and is_on(DAILY) is True and is_on("gpumanager-report-off") is False)
    check(wait_until(lambda: len(posts("daily")) > count["daily"], 15), journal(DAILY))
    check(is_sampling(), journal(SAMPLE))
    check({name: len(posts(name)) for name in count} == {"daily": count["daily"] + 1, "off": count["off"], "kept": 0}, posts())
    check(os.stat(place().path("%s/stamp-%s.timer" % (STAMP_DIR, DAILY))).st_mtime > three_days_ago + 86400)


def legacy():
    """What the predecessor left, switched on."""
    place().write(UNIT_DIR + "/gpumanager-report.service", "[Service]\nType=oneshot\nExecStart=true\n")
    place().write(UNIT_DIR + "/gpumanager-report.timer", "[Timer]\nOnCalendar=*-*-* 09:00:00\n[Install]\nWantedBy=timers.target\n")
    systemctl("daemon-reload")
    systemctl("enable", "--now", "gpumanager-report.timer")
    require(is_on("gpumanager-report") is True)


def test_the_predecessors_report_becomes_default(box):
    """GM-102"""
    changing()
    gpumanager("uninstall-systemd")
    legacy()
    configure(reports=(("default", "0 9 * * *", "1d"),))
    ran = gpumanager("install-systemd", "--run-user", "worker")
    check(ran.code == 0 and our_files() == units_of(SAMPLE, "gpumanager-report-default"), (ran, our_files()))
    check(is_on("gpumanager-report-default") is True and is_on(SAMPLE) is False)
    check(systemctl("is-active", "gpumanager-report.timer") == "inactive")


def healthz():
    script = 'exec 3<>/dev/tcp/127.0.0.1/1312 && printf "GET /healthz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n" >&3 && cat <&3'
    return place().run("bash", "-c", script).out


def test_the_page_runs_is_watched_and_goes(box):
    """install-systemd --serve"""
    changing()
    ran = gpumanager("install-systemd", "--serve", "--run-user", "worker")
    require(ran.code == 0 and ran.out.count(SERVE + ".service") == 2, ran)
    check(json.loads(gpumanager("status").out)["serve_installed"] is True and SERVE in gpumanager("status", "--text").out)
    check(systemctl("is-enabled", SERVE) == "disabled" and systemctl("is-active", SERVE) == "inactive")
    drop_in = "/run/systemd/system/%s.service.d/short.conf" % SERVE
    place().run("sh", "-c", "mkdir -p %s; printf '[Service]\\nWatchdogSec=4\\n' >%s; systemctl daemon-reload" % (os.path.dirname(drop_in), drop_in))
    ran = gpumanager("install-systemd", "--serve", "--enable-now")
    require(ran.code == 0 and systemctl("is-active", SERVE) == "active", (ran, journal(SERVE)))
    check(prop(SERVE, "User") == "worker" and prop(SERVE, "Type") == "notify" and systemctl("is-enabled", SERVE) == "enabled")
    check(wait_until(lambda: healthz().startswith("HTTP/1.1 200 "), 10), (healthz(), journal(SERVE)))
    ran = place().run("systemd-analyze", "verify", "%s/%s.service" % (UNIT_DIR, SERVE))
    check(ran.code == 0 and ran.out + ran.err == "", ran)
    ran = place().run("systemd-analyze", "security", "--no-pager", SERVE + ".service")
    found = re.search(r"Overall exposure level for \S+: ([0-9.]+)", ran.out)
    require(found, ran)
    print("# exposure of %s.service: %s" % (SERVE, found.group(1)), flush=True)
    check(float(found.group(1)) <= EXPOSURE_MOST, ran.out)
    first = prop(SERVE, "MainPID")
    time.sleep(6)
    check(prop(SERVE, "MainPID") == first and prop(SERVE, "NRestarts") == "0", journal(SERVE))
    check(gpumanager("reload").out == "" and prop(SERVE, "MainPID") == first)
    systemctl("kill", "--kill-who=main", "--signal=STOP", SERVE)
    check(wait_until(lambda: prop(SERVE, "NRestarts") == "1" and healthz().startswith("HTTP/1.1 200 "), 40), journal(SERVE))
    check(prop(SERVE, "MainPID") != first and "watchdog" in journal(SERVE).lower(), journal(SERVE))
    start = time.monotonic()
    systemctl("disable", "--now", SERVE)
    check(time.monotonic() - start < 5 and prop(SERVE, "Result") == "success", journal(SERVE))
    check(gpumanager("reload").code == 0 and systemctl("is-active", SERVE) == "inactive", "what is off stays off")
    systemctl("enable", "--now", SERVE)
    place().run("rm", "-r", os.path.dirname(drop_in))
    ran = gpumanager("uninstall-systemd")
    check(ran.code == 0 and our_files() == [] and systemctl("is-active", SERVE) == "inactive", (ran, our_files()))
    check(json.loads(gpumanager("status").out)["serve_installed"] is False)


def test_the_page_runs_the_schedules_where_it_is_told_to(box):
    """[server] schedules = true"""
    changing()
    configure(interval="1s")
    place().write(CONFIG, place().read(CONFIG) + "\n[server]\nschedules = true\n", 0o600, WORKER)
    ran = gpumanager("install-systemd", "--serve", "--enable-now", "--run-user", "worker")
    check(ran.code == 1 and "systemctl" in ran.err, "the timers are on: it does not start beside them: %s" % ran)
    check("gpumanager-sample.timer is on" in journal(SERVE), journal(SERVE))
    check(gpumanager("disable-sample").code == 0 and gpumanager("disable-report", "--yes").code == 0)
    ran = gpumanager("reload")
    require(ran.code == 0 and systemctl("is-active", SERVE) == "active", (ran, journal(SERVE)))
    check(is_on(SAMPLE) is False and is_on(DAILY) is False, (is_on(SAMPLE), is_on(DAILY)))
    check(is_sampling(), journal(SERVE))
    newest = max(samples(), key=os.path.getmtime)
    check(os.stat(newest).st_uid == WORKER, newest)
    ran = gpumanager("--config", CONFIG, "add-report", "often", "--report-time", "* * * * *", "--interval", "1h")
    check(ran.code == 0 and is_on("gpumanager-report-often") is False, ran)
    check(wait_until(lambda: "3 report(s)" in journal(SERVE), 10), journal(SERVE))
    check(wait_until(lambda: posts("often"), 70), journal(SERVE))
    place().run("systemctl", "stop", SERVE)
    check(prop(SERVE, "Result") == "success" and gpumanager("uninstall-systemd").code == 0 and our_files() == [], journal(SERVE))


def test_uninstall_leaves_nothing(box):
    """GM-078, Part B"""
    changing()
    legacy()
    removed = ["%s/%s" % (UNIT_DIR, name) for name in our_files()]
    ran = gpumanager("uninstall-systemd")
    lines = ran.out.splitlines()
    check(ran.code == 0 and lines[:1] == ["Removed unit files:"] and sorted(lines[1:]) == sorted(removed), ran)
    left = subprocess.run(["find", place().path("/etc/systemd"), place().path(STAMP_DIR), "-name", "*gpumanager*"],
                          stdout=subprocess.PIPE, text=True, check=False).stdout
    check(left == "", left)
    check(systemctl("list-timers", "--all", "--plain", "--no-legend", "gpumanager*") == "")
    check(os.path.exists(place().path(CONFIG)) and samples() != [])
    for command, words in (("uninstall-systemd", "No unit files found.\n"), ("reload", "No installed timers found.\n")):
        ran = gpumanager(command)
        check(ran.code == 0 and ran.out == words, ran)
    ran = gpumanager("disable-sample")
    check(ran.code == 1 and "gpumanager-sample.timer is not installed" in ran.err, ran)


main()
