# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""`gpumanager serve` with `schedules = true` under [server]: it samples and reports without timers."""
import os
import re
import signal
import subprocess
import time

from harness import check, main, require

GPU = ("gpu\n index 0\n uuid GPU-11111111-2222-4333-8444-00000000000a\n name NVIDIA T4\n utilization.gpu 12\n utilization.memory 1\n"
       " memory.total 15360\n memory.used 100\n temperature.gpu 40\nend\n")
SCHEDULES = "\n[server]\nschedules = true\n"


def until(seen, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if seen():
            return True
        time.sleep(0.05)
    return bool(seen())


class Serve:
    """The daemon on a port of its own, ended by its pid."""

    def __init__(self, box, env=None):
        self.path = box.path("serve.log")
        # Nothing of this machine's systemd is asked.
        box.env.setdefault("GPUMANAGER_ROOT", box.path("root"))
        with open(self.path, "wb") as log:
            self.process = box.start("serve", "--listen", "127.0.0.1:0", env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        start = time.monotonic()
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if kind is None:
            check(self.process.returncode == 0 and time.monotonic() - start < 2, (self.process.returncode, self.log()))
            check("Sanitizer" not in self.log() and "runtime error" not in self.log(), self.log())

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()


def configure(box, interval="1s", extra=SCHEDULES, slack=None, report_time="0 9 * * *"):
    path = box.config(extra=extra, webhook=slack.url if slack else "http://127.0.0.1:9/x", reports=(("daily", report_time, "1d"),))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    box.write("config.toml", text.replace('interval = "1m"', 'interval = "%s"' % interval), 0o600)


def test_samples_are_taken_at_the_interval_and_end_when_switched_off(box):
    box.fake(GPU)
    configure(box)
    with Serve(box) as server:
        require(until(lambda: len(box.csv_files()) >= 3, 30), server.log())
        check("samples are taken every 1s" in server.log() and "Wrote 1 GPU rows to" in server.log(), server.log())
        configure(box, extra="")
        os.kill(server.process.pid, signal.SIGHUP)
        require(until(lambda: "read again" in server.log(), 5), server.log())
        time.sleep(2)  # one may be on its way
        count = len(box.csv_files())
        time.sleep(2.5)
        check(len(box.csv_files()) == count, "sampling goes on")
        configure(box)
        os.kill(server.process.pid, signal.SIGHUP)
        check(until(lambda: len(box.csv_files()) > count, 15), server.log())


def test_a_report_is_sent_once_at_its_minute(box):
    """The clock of the program is moved so that the minute turns in a few seconds."""
    box.fake(GPU)
    slack = box.slack()
    configure(box, slack=slack, interval="2s", report_time="* * * * *")
    box.now("+%d" % ((56 - time.time()) % 60))
    with Serve(box) as server:
        require(until(lambda: slack.requests, 25), server.log())
        time.sleep(2)
        check(len(slack.requests) == 1 and "host-a" in slack.texts()[0], (slack.texts(), server.log()))
        check("secret-token" not in server.log(), server.log())


def test_without_schedules_nothing_is_started(box):
    box.fake(GPU)
    configure(box, extra="")
    with Serve(box) as server:
        require(until(lambda: "listening on" in server.log(), 20), server.log())
        time.sleep(2.5)
        check(box.csv_files() == [] and "schedules" not in server.log(), server.log())


def test_a_run_that_hangs_delays_neither_the_page_nor_itself_twice_and_goes_with_the_daemon(box):
    box.fake(GPU)
    hung = []
    slack = box.slack([lambda handler: hung.append(1) or time.sleep(6)])
    configure(box, slack=slack, report_time="* * * * *")
    box.now("+%d" % ((56 - time.time()) % 60))
    with Serve(box) as server:
        require(until(lambda: hung, 25), server.log())
        count = len(box.csv_files())
        check(until(lambda: len(box.csv_files()) >= count + 2, 15), "samples go on: " + server.log())
        with open("/proc/%d/task/%d/children" % (server.process.pid, server.process.pid), encoding="ascii") as file:
            children = file.read().split()
    check(until(lambda: not any(os.path.exists("/proc/" + pid) for pid in children), 2), "a child is left")


def test_it_refuses_to_run_beside_the_timers(box):
    box.fake(GPU)
    configure(box)
    folder = "root/etc/systemd/system/"
    box.write(folder + "gpumanager-sample.timer", "[Timer]\nOnActiveSec=10\n")
    box.write("bin/systemctl", "#!/bin/sh\nexit 1\n", 0o755)
    os.makedirs(box.path(folder, "timers.target.wants"))
    link = box.path(folder, "timers.target.wants", "gpumanager-sample.timer")
    os.symlink("../gpumanager-sample.timer", link)
    env = {"PATH": box.path("bin") + ":" + box.env["PATH"], "GPUMANAGER_ROOT": box.path("root")}
    ran = box.run("serve", "--listen", "127.0.0.1:0", env=env)
    check(ran.code == 2 and "schedules = true and gpumanager-sample.timer is on" in ran.err and "disable-sample" in ran.err, ran)
    os.remove(link)
    with Serve(box, env=env) as server:
        check(until(lambda: box.csv_files(), 20), "installed but off is no obstacle: " + server.log())


def test_simulated_gpus_are_not_put_into_the_archive(box):
    box.fake(GPU)
    configure(box)
    process = box.start("serve", "--listen", "127.0.0.1:0", "--simulate", "1xT4", stderr=subprocess.PIPE, text=True)
    time.sleep(4)
    process.terminate()
    said = process.communicate(timeout=10)[1]
    check(re.search("schedules = true is left out", said) and box.csv_files() == [] and process.returncode == 0, said)


main()
