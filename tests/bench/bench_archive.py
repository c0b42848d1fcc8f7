# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""bench_archive.py BINARY [HOOKS_DIR]: what a report over a large archive costs.

Makes one-minute samples of eight GPUs up to now, asks for reports, and prints CPU time and peak
memory of each run beside its target. A run must also give the average that is known beforehand.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
GPUS = 8
MEMORY_KIB = 32 * 1024
missed = []


def line(name, value, unit, target):
    is_met = value <= target
    print("%s: %.4g %s (target ≤ %g) %s" % (name, value, unit, target, "ok" if is_met else "MISSED"), flush=True)
    if not is_met:
        missed.append(name)


def expected(end_s, days):
    """The average of each GPU, from the generator's rule: (minute + GPU) % 101."""
    minutes = range((end_s - days * 86400 + 59) // 60 + 1, end_s // 60 + 1)
    return [sum((m + gpu) % 101 for m in minutes) / len(minutes) for gpu in range(GPUS)]


def run(command):
    """(seconds of CPU, KiB of peak memory, stdout) of one run."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, stdin=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            sys.exit("%s: exit %d\n%s" % (" ".join(command), process.returncode, errors.read().decode(errors="replace")))
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss, out.read().decode()


def report(binary, config, name, target_s, averages):
    seconds, kib, text = run([binary, "--config", config, "test-report", "--output", "text"])
    line("archive %s, CPU" % name, seconds * 1000, "ms", target_s * 1000)
    line("archive %s, peak memory" % name, kib / 1024, "MiB", MEMORY_KIB / 1024)
    got = [float(x) for x in re.findall(r"GPU \d+: ([\d.]+)%", text)]
    # The window moves on while the bench runs: a minute more or less changes the third digit.
    if len(got) != GPUS or any(abs(a - b) > 0.05 for a, b in zip(got, averages)):
        print("archive %s: wrong averages %s, wanted %s" % (name, got, ["%.2f" % a for a in averages]))
        missed.append(name)


def tree(binary, maker, folder, days, cold_s, warm_s, merged_s):
    csv_dir, config = os.path.join(folder, "csv"), os.path.join(folder, "config.toml")
    end_s = int(time.time()) // 60 * 60
    subprocess.run([maker, csv_dir, str(days * 1440), str(GPUS), str(end_s)], check=True)
    with open(config, "w", encoding="utf-8") as file:
        file.write('[storage]\ncsv_dir = "%s"\n[[report]]\nname = "default"\nreport_time = "0 9 * * *"\n'
                   'interval = "%dd"\n[general]\ntimezone = "UTC"\nserver_name = "bench"\n' % (csv_dir, days))
    os.chmod(config, 0o600)
    averages, what = expected(end_s, days), "%d files" % (days * 1440)
    report(binary, config, what + " without cache", cold_s, averages)
    report(binary, config, what + " with cache", warm_s, averages)
    if merged_s:
        seconds, _, _ = run([binary, "--config", config, "compact"])
        print("archive %s: merged in %.2f s of CPU" % (what, seconds))
        time.sleep(0.2)
        run([binary, "--config", config, "test-report", "--output", "text"])
        report(binary, config, what + " merged", merged_s, averages)
    shutil.rmtree(csv_dir)


def main():
    binary = os.path.abspath(sys.argv[1])
    base = "/dev/shm" if os.path.isdir("/dev/shm") and shutil.disk_usage("/dev/shm").free > 6 << 30 else None
    with tempfile.TemporaryDirectory(prefix="gpumanager-bench-", dir=base) as folder:
        maker = os.path.join(folder, "make_archive")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-D_GNU_SOURCE", "-o", maker,
                        os.path.join(HERE, "make_archive.c")], check=True)
        tree(binary, maker, folder, 90, 1.0, 0.060, 0.030)
        tree(binary, maker, folder, 365, 5.0, 0.250, None)
    sys.exit(1 if missed else 0)


main()
