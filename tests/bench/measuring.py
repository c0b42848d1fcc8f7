# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""What the benches share: runs that are measured, and lines with targets."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
missed = []


def line(name, value, unit, target):
    is_met = value <= target
    print("%s: %.4g %s (target ≤ %g) %s" % (name, value, unit, target, "ok" if is_met else "MISSED"), flush=True)
    if not is_met:
        missed.append(name)


def compiled(name, folder):
    """A program of this folder, compiled into `folder`."""
    out = os.path.join(folder, name)
    subprocess.run([os.environ.get("CC", "cc"), "-O2", "-D_GNU_SOURCE", "-o", out, os.path.join(HERE, name + ".c")],
                   check=True)
    return out


class Run:
    """One measured run: cpu_us, peak_kib, code, out, err."""

    def __init__(self, done):
        self.out = done.stdout
        self.err, _, last = done.stderr.rstrip("\n").rpartition("\n")
        self.cpu_us, self.peak_kib, self.code = (int(x) for x in last.split())


class Measure:
    def __init__(self, folder):
        self.program = compiled("measure", folder)

    def run(self, command, env=None):
        return Run(subprocess.run([self.program] + command, env=env, capture_output=True, text=True,
                                  stdin=subprocess.DEVNULL, check=False))
