#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""fuzz.py SECONDS [TARGET...]: runs the targets in build/fuzz, as many at once as there are cores,
each from its seeds in tests/corpus/<target>; what is found stays in build/fuzz/found."""
import concurrent.futures
import glob
import os
import subprocess
import sys

BUILD = "build/fuzz"


def targets(words):
    found = sorted(glob.glob(BUILD + "/tests/*_fuzz"))
    return [t for t in found if not words or any(w in os.path.basename(t) for w in words)]


def run_one(path, seconds):
    name = os.path.basename(path)
    corpus, found = os.path.join(BUILD, "corpus", name), os.path.join(BUILD, "found", "")
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(found, exist_ok=True)
    seeds = os.path.join("tests", "corpus", name[:-len("_fuzz")])
    command = [path, "-max_total_time=%d" % seconds, "-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-verbosity=0", "-close_fd_mask=1",
               "-artifact_prefix=" + found + name + "-", corpus] + ([seeds] if os.path.isdir(seeds) else [])
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False,
                          env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1"))
    findings = done.stdout[-6000:] if done.returncode else ""
    if not os.path.isdir(seeds):
        findings += "no seeds in %s\n" % seeds
    return name, findings


def run(seconds, words, report):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        for name, findings in pool.map(lambda t: run_one(t, seconds), targets(words)):
            report("fuzz: " + name, findings)


if __name__ == "__main__":
    failed = []

    def show(name, findings):
        print("%s %s" % ("FAIL" if findings else "ok  ", name), flush=True)
        if findings:
            failed.append(name)
            print(findings)

    run(int(sys.argv[1]), sys.argv[2:], show)
    sys.exit(1 if failed else 0)
