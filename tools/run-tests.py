#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""./dev test: builds with gcc and the address and undefined-behaviour sanitizers, runs the whole
suite, runs what has threads under the thread sanitizer, builds with clang, checks the code, fuzzes
each target for ten seconds. Prints each failure with its output; the last line counts everything:
N passed, N failed[, N skipped]. With words: only tests of the suite whose name contains one."""
import importlib.util
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree

FUZZ_SECONDS = 10
counts = {"passed": 0, "failed": 0, "skipped": 0}
START = time.monotonic()


def load(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join("tools", name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def say(text):
    print("== [%4d s] %s" % (time.monotonic() - START, text), flush=True)


def report(name, findings):
    counts["failed" if findings else "passed"] += 1
    if findings:
        print("FAILED %s\n%s" % (name, findings), flush=True)


def build(folder, options, env=None):
    """Configures (once) and compiles; a failure is reported and ends what depends on it."""
    env = dict(os.environ, **(env or {}))
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        done = subprocess.run(["meson", "setup", folder] + options, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            report("configure " + folder, done.stdout[-4000:])
            return False
    done = subprocess.run(["ninja", "-C", folder], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    report("build " + folder, done.stdout[-6000:] if done.returncode else "")
    return done.returncode == 0


def meson_test(folder, arguments):
    """Runs tests and adds up Meson's own list, one entry a TAP line."""
    log = os.path.join(folder, "meson-logs", "testlog.junit.xml")
    if os.path.exists(log):
        os.remove(log)
    done = subprocess.run(["meson", "test", "-C", folder, "--no-rebuild", "--num-processes", str(os.cpu_count() or 2)] + arguments,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    if not os.path.exists(log):
        report("meson test " + folder, done.stdout[-4000:] or "no log was written")
        return
    before = counts["failed"]
    for suite in xml.etree.ElementTree.parse(log).getroot().iter("testsuite"):
        add_suite(suite)
    if done.returncode and counts["failed"] == before:
        report("meson test " + folder, done.stdout[-4000:])


def add_suite(suite):
    cases = list(suite.iter("testcase"))
    failed = [c for c in cases if c.find("failure") is not None or c.find("error") is not None]
    skipped = [c for c in cases if c.find("skipped") is not None]
    counts["failed"] += len(failed)
    counts["skipped"] += len(skipped)
    counts["passed"] += len(cases) - len(failed) - len(skipped)
    for case in failed:
        print("FAILED %s: %s" % (suite.get("name"), case.get("name")))
    if failed or int(suite.get("errors") or 0):
        output = "".join((node.text or "") for node in suite.iter() if node.tag in ("system-out", "system-err"))
        print(output[-8000:])
    if int(suite.get("errors") or 0) and not failed:
        counts["failed"] += 1
        print("FAILED %s: the program ended badly" % suite.get("name"))


def browser_tests():
    """The page's own tests speak TAP."""
    done = subprocess.run(["node", "tests/browser/all.mjs"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    lines = re.findall(r"^(not )?ok \d+(.*)$", done.stdout, re.M)
    failed = [rest for bad, rest in lines if bad]
    skipped = [rest for bad, rest in lines if not bad and "# SKIP" in rest]
    counts["failed"] += len(failed)
    counts["skipped"] += len(skipped)
    counts["passed"] += len(lines) - len(failed) - len(skipped)
    if failed or done.returncode or not lines:
        print("FAILED browser tests\n" + done.stdout[-8000:])
        if not failed:
            counts["failed"] += 1


def tell_skips(folder):
    log = os.path.join(folder, "meson-logs", "testlog.txt")
    if os.path.exists(log):
        for line in re.findall(r"^ok \d+ - .* # SKIP .*$", open(log, encoding="utf-8", errors="replace").read(), re.M):
            print("skipped:", line.split(" - ", 1)[1])


def main(words):
    say("build with gcc, address and undefined-behaviour sanitizers")
    if build("build/asan", ["-Db_sanitize=address,undefined", "-Dtest_hooks=true"]):
        say("the suite")
        names = []
        if words:
            listed = subprocess.run(["meson", "test", "-C", "build/asan", "--list"], stdout=subprocess.PIPE, text=True, check=False).stdout
            names = [l.split(" / ")[-1] for l in listed.split("\n") if any(w in l for w in words)]
        meson_test("build/asan", names)
        tell_skips("build/asan")
    if not words:
        say("the page in a browser")
        browser_tests()
        say("build without the test hooks")
        build("build", ["--buildtype=release"])
        say("thread sanitizer")
        if build("build/tsan", ["-Db_sanitize=thread", "-Dtest_hooks=true"]):
            meson_test("build/tsan", ["--suite", "threads"])
        say("build with clang")
        build("build/clang", ["-Dtest_hooks=true"], {"CC": "clang", "CXX": "clang++"})
        say("checks of the code")
        load("lint").run(report)
        say("%d s of fuzzing each target" % FUZZ_SECONDS)
        if build("build/fuzz", ["-Dfuzz=true", "-Dtest_hooks=true", "-Db_sanitize=address,undefined", "-Db_lundef=false"],
                 {"CC": "clang", "CXX": "clang++"}):
            load("fuzz").run(FUZZ_SECONDS, [], report)
    say("done")
    line = "%(passed)d passed, %(failed)d failed" % counts
    print(line + (", %(skipped)d skipped" % counts if counts["skipped"] else ""))
    return 1 if counts["failed"] or not counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
