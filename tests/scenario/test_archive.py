# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""The CSV archive with real processes, full and read-only folders, and a reader in Python that does
what the predecessor does: every *.csv through csv.DictReader, float(util_gpu)."""
import csv
import glob
import os
import signal
import subprocess
from datetime import datetime

from harness import SOURCE_ROOT, check, main, require, skip

TOOL = os.environ.get("ARCHIVE_TOOL", os.path.join(SOURCE_ROOT, "build", "tests", "tools", "archive_tool"))
UUID = "GPU-00000000-0000-4000-8000-000000000001"
NOON = 1774148400  # 2026-03-22T12:00:00+09:00
ZONE = "Asia/Seoul"


def tool(box, *args, env=None):
    return subprocess.run([TOOL] + [str(a) for a in args], capture_output=True, text=True, timeout=120,
                          env=dict(box.env, **(env or {})), check=False)


def write(box, time_s, ratio, env=None):
    return tool(box, "write", box.csv_dir, ZONE, time_s, UUID, ratio, env=env)


def read(box, from_s, to_s, *more):
    done = tool(box, "read", box.csv_dir, ZONE, from_s, to_s, *more)
    require(done.returncode == 0, done.stderr)
    return done.stdout


def predecessor(box, from_s, to_s):
    """(sum, count) over the rows in the window, as the Python tool adds them up."""
    values = []
    for path in sorted(glob.glob(os.path.join(box.csv_dir, "*.csv"))):
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                at = datetime.fromisoformat(row["timestamp"]).timestamp()
                if from_s <= at <= to_s:
                    check(row["gpu_name"] == 'NVIDIA "A100", 80GB', row)
                    values.append(float(row["util_gpu"]))
    return sum(values), len(values)


def files(box):
    return sorted(os.listdir(box.csv_dir))


def test_the_predecessor_reads_single_and_merged_files_alike(box):
    for i in range(48):
        require(write(box, NOON + 3600 * i, i / 100 + 0.0025).returncode == 0)
    whole = (NOON, NOON + 3600 * 48)
    before, ours = predecessor(box, *whole), read(box, *whole)
    check(before[1] == 48 and abs(before[0] - (sum(range(48)) + 48 * 0.25)) < 1e-9, before)
    check("sum %d count 48" % round(before[0] * 1e6) in ours, ours)
    done = tool(box, "compact", box.csv_dir, ZONE, NOON + 86400 * 3)
    check(done.stdout == "days 3 files 48 left 0\n", done.stdout + done.stderr)
    check([f for f in files(box) if f.endswith(".csv")] == ["2026-03-22.csv", "2026-03-23.csv", "2026-03-24.csv"])
    check(predecessor(box, *whole) == before)
    check(read(box, *whole).splitlines()[0] == ours.splitlines()[0])


def test_two_hundred_samples_at_once_all_survive(box):
    running = [subprocess.Popen([TOOL, "write", box.csv_dir, ZONE, str(NOON), UUID, "0.5"], env=box.env,
                                stdout=subprocess.DEVNULL) for _ in range(200)]
    check(all(process.wait(timeout=120) == 0 for process in running))
    check(len(files(box)) == 200, len(files(box)))
    check("samples 200" in read(box, NOON, NOON))


def test_a_sample_killed_at_any_step_is_whole_or_absent(box):
    killed = 0
    for step in range(1, 12):
        done = write(box, NOON + step, 0.5, env={"GPUMANAGER_FAULT": "kill:%d" % step})
        killed += done.returncode == -signal.SIGKILL
        for path in glob.glob(os.path.join(box.csv_dir, "*.csv")):
            with open(path, encoding="utf-8") as file:
                check(file.read().endswith(",50\n"), path)
    check(killed >= 4, killed)
    text = read(box, NOON, NOON + 60)
    check("skipped 0 unreadable 0" in text, text)
    require(write(box, NOON + 30, 0.5).returncode == 0)


def test_a_sample_that_fails_at_any_step_says_so_and_leaves_nothing(box):
    for step in range(1, 12):
        done = write(box, NOON, 0.5, env={"GPUMANAGER_FAULT": "fail:%d" % step})
        if done.returncode == 0:
            break
        check(done.stderr.startswith("Error: ") and box.csv_dir in done.stderr, done.stderr)
        check(files(box) == [], files(box))
    check(step >= 4, step)


def mount_small(box, size):
    os.makedirs(box.csv_dir, exist_ok=True)
    if os.geteuid() != 0:
        skip("needs root to mount a small folder")
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%s" % size, "tmpfs", box.csv_dir],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        skip("cannot mount a tmpfs here: " + done.stderr.strip())


def test_a_full_disk_loses_nothing_that_was_written(box):
    mount_small(box, "256k")
    try:
        written = 0
        while written < 200:
            done = write(box, NOON + written, 0.5)
            if done.returncode != 0:
                break
            written += 1
        check(0 < written < 200 and "No space left" in done.stderr, (written, done.stderr))
        check(not [f for f in files(box) if f.startswith(".tmp-")], files(box))
        before = read(box, NOON, NOON + 300)
        check("samples %d" % written in before, before)
        # Merging needs room for the merged day first; without it everything stays as it was.
        try:
            with open(os.path.join(box.csv_dir, "fill"), "wb") as fill:
                while fill.write(b"x" * 512):
                    fill.flush()
        except OSError:
            pass  # not even the name fits
        done = tool(box, "compact", box.csv_dir, ZONE, NOON + 86400 * 2)
        check(done.returncode == 1 and box.csv_dir in done.stderr, done.stderr)
        check(read(box, NOON, NOON + 300).splitlines()[0] == before.splitlines()[0])
    finally:
        subprocess.run(["umount", box.csv_dir], check=False)


def test_a_read_only_folder_can_be_read_and_says_why_it_cannot_be_written(box):
    for i in range(60):
        require(write(box, NOON + 7200 * i, 0.25).returncode == 0)
    if os.geteuid() != 0 or subprocess.run(["mount", "--bind", box.csv_dir, box.csv_dir], check=False,
                                           capture_output=True).returncode != 0:
        skip("needs root to mount a folder read-only")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", box.csv_dir], check=True)
        whole = (NOON, NOON + 7200 * 60)
        check(read(box, *whole) == read(box, *whole))
        check(".gpumanager" not in files(box))
        for done in (write(box, NOON, 0.5), tool(box, "compact", box.csv_dir, ZONE, NOON + 86400 * 3),
                     tool(box, "delete", box.csv_dir, ZONE, *whole)):
            check(done.returncode == 1 and "Read-only file system" in done.stderr and box.csv_dir in done.stderr,
                  done.stderr)
        check("samples 60" in read(box, *whole))
    finally:
        subprocess.run(["umount", box.csv_dir], check=False)


def test_reports_while_days_are_merged_never_miss_a_sample(box):
    for i in range(300):
        require(write(box, NOON + 600 * i, 0.25).returncode == 0)
    merging = subprocess.Popen([TOOL, "compact", box.csv_dir, ZONE, str(NOON + 86400 * 9)], env=box.env,
                               stdout=subprocess.DEVNULL)
    looks = 0
    while merging.poll() is None or looks < 3:
        text = read(box, NOON, NOON + 600 * 300)
        check("count 300 samples 300" in text, text)
        looks += 1
    check(merging.returncode == 0)


main()
