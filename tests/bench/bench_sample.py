# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""bench_sample.py BINARY HOOKS_DIR: what one sample of eight GPUs costs, over the fake NVML.

CPU time is the median of many runs; instructions, system calls and driver calls repeat exactly.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

from measuring import Measure, line, missed

RUNS = 60
GPUS = 8


def scenario(path):
    with open(path, "w", encoding="utf-8") as file:
        for i in range(GPUS):
            file.write("gpu\n index %d\n uuid GPU-00000000-0000-4000-8000-%012d\n name NVIDIA H100 80GB HBM3\n"
                       " utilization.gpu %d\nend\n" % (i, i, i * 10))


def main():
    binary = os.path.abspath(sys.argv[1])
    fakes = os.environ.get("FAKE_DIR") or os.path.join(os.path.abspath(sys.argv[2]), "tests", "fake")
    with tempfile.TemporaryDirectory(prefix="gpumanager-bench-") as folder:
        measure = Measure(folder)
        config, play, log = (os.path.join(folder, name) for name in ("config.toml", "scenario", "nvml.log"))
        with open(config, "w", encoding="utf-8") as file:
            file.write('[storage]\ncsv_dir = "%s/csv"\n[general]\ntimezone = "Asia/Seoul"\n' % folder)
        scenario(play)
        env = {"PATH": fakes + ":/usr/bin:/bin", "LD_LIBRARY_PATH": fakes, "FAKE_GPU_SCENARIO": play, "HOME": folder}
        command = [binary, "--config", config, "test-sample"]
        # What starting any program costs differs a lot between machines; it is measured in turn.
        python = [sys.executable, "-c", "import argparse, csv, datetime, json, subprocess, urllib.request, zoneinfo"]
        runs, starts, pythons = [], [], []
        for _ in range(RUNS):
            runs.append(measure.run(command, env))
            starts.append(measure.run(["/bin/true"], env))
            pythons.append(measure.run(python, env))
        if any("Wrote %d GPU rows" % GPUS not in run.out for run in runs):
            sys.exit("a sample failed:\n" + runs[0].out + runs[0].err)
        sample, start, imports = (sorted(r.cpu_us for r in some)[RUNS // 2] / 1000 for some in (runs, starts, pythons))
        line("sample of 8 GPUs, CPU (median of %d)" % RUNS, sample, "ms", 4)
        line("sample of 8 GPUs, CPU beyond that of /bin/true (%.2f ms here)" % start, sample - start, "ms", 4)
        print("sample of 8 GPUs: only importing what a Python sampler needs: %.0f ms" % imports)
        line("sample of 8 GPUs, peak memory", max(r.peak_kib for r in runs) / 1024, "MiB", 8)
        measure.run(command, dict(env, FAKE_NVML_LOG=log))
        with open(log, encoding="utf-8") as file:
            calls = collections.Counter(l.split()[0] for l in file if l.strip())
        line("sample of 8 GPUs, NVML calls a GPU", sum(calls.values()) / GPUS, "calls", 6)
        traced = subprocess.run(["strace", "-f", "-c", "-o", os.path.join(folder, "strace")] + command, env=env,
                                capture_output=True, text=True, check=False)
        if traced.returncode == 0:
            with open(os.path.join(folder, "strace"), encoding="utf-8") as file:
                total = [l for l in file if l.rstrip().endswith("total")][-1].split()
            line("sample of 8 GPUs, system calls", int(next(t for t in total[3:] if t.isdigit())), "calls", 400)
        ran = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + command, env=env,
                             capture_output=True, text=True, check=False)
        found = re.search(r"Collected : (\d+)", ran.stderr)
        if ran.returncode == 0 and found:
            line("sample of 8 GPUs, instructions", int(found[1]) / 1e6, "million", 12)
    sys.exit(1 if missed else 0)


main()
