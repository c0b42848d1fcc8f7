#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Every check that reads the code without running it. Prints one line a check and the findings;
exit 1 when there are any. Uses build/asan's compile commands. run() is also called by run-tests."""
import concurrent.futures
import glob
import hashlib
import os
import re
import subprocess
import sys

BANNED = r"\b(strcpy|strcat|sprintf|gets|strtok|atoi|system|popen|localtime|gmtime|strerror)\s*\("
BUILD = "build/asan"
CACHE = os.path.join(BUILD, "lint-cache")


def sh(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return done.returncode, done.stdout


def sources(*endings):
    found = []
    for top in ("src", "tests", "tools"):
        for ending in endings:
            found += glob.glob(top + "/**/*" + ending, recursive=True)
    return sorted(found)


def formatting():
    code, out = sh("clang-format", "--dry-run", "--Werror", *sources(".c", ".h"))
    return out if code else ""


def headers_digest():
    digest = hashlib.sha256()
    for path in sources(".h", ".def") + [".clang-tidy", "meson.build"]:
        digest.update(open(path, "rb").read())
    return digest


def tidy_one(path):
    """clang-tidy of one file, one process; a clean result is remembered by content."""
    digest = headers_digest()
    digest.update(path.encode() + open(path, "rb").read())
    mark = os.path.join(CACHE, digest.hexdigest())
    if os.path.exists(mark):
        return ""
    # A test is as long as what it tells; check-size.py still looks at it.
    less = ["--checks=-readability-function-*"] if path.endswith("_test.c") else []
    code, out = sh("clang-tidy", "-p", BUILD, "--quiet", *less, path)
    if code == 0:
        os.makedirs(CACHE, exist_ok=True)
        open(mark, "w").close()
        return ""
    return "\n".join(l for l in out.split("\n") if "warnings generated" not in l)


def tidy():
    files = [p for p in sources(".c") if p.startswith("src/") and not p.endswith("_fuzz.c")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        return "\n".join(filter(None, pool.map(tidy_one, files)))


def cppcheck():
    code, out = sh("cppcheck", "--enable=warning,performance,portability", "--inline-suppr", "--error-exitcode=1", "--quiet",
                   "--std=c11", "-Isrc", "-I" + BUILD, "-I.", "-j", str(os.cpu_count() or 2), "--suppress=missingIncludeSystem",
                   "--suppress=unknownMacro", "--suppress=normalCheckLevelMaxBranches", "--library=posix", "--library=gnu",
                   "--suppress=syntaxError:src/*_test.c", "--suppress=resourceLeak", "--suppress=readdirCalled", "src")
    return out if code else ""


def layers():
    code, out = sh(sys.executable, "tools/check-layers.py")
    return out if code else ""


def sizes():
    code, out = sh(sys.executable, "tools/check-size.py")
    return out if code else ""


def banned():
    found = []
    for path in sources(".c", ".h"):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            code = re.sub(r'"(\\.|[^"\\])*"', '""', line.split("//")[0])
            if re.search(BANNED, code) and not code.lstrip().startswith("*"):
                found.append("%s:%d: banned: %s" % (path, number, line.strip()))
            if path.startswith("src/") and re.search(r"\b(malloc|alloca)\(", code):
                found.append("%s:%d: use base/mem.h: %s" % (path, number, line.strip()))
            if re.search(r"\bclock_gettime\(|\bgettimeofday\(|[^_a-z]time\(NULL\)", code) and "base/clock" not in path and path.startswith("src/"):
                found.append("%s:%d: only base/clock reads the clock: %s" % (path, number, line.strip()))
    return "\n".join(found)


def unfinished():
    found = []
    for path in sources(".c", ".h", ".py", ".cpp", ".def") + ["dev"] + glob.glob("*.md") + glob.glob("docs/**/*.md", recursive=True):
        for number, line in enumerate(open(path, encoding="utf-8"), 1):
            if "unfinished()" not in line and re.search(r"\b(TODO|FIXME|XXX)\b", line) and "tools/lint.py" not in path:
                found.append("%s:%d: unfinished: %s" % (path, number, line.strip()))
    return "\n".join(found)


def licences():
    return "\n".join("%s: no SPDX line" % p for p in sources(".c", ".h", ".def", ".cpp", ".py")
                     if "SPDX-License-Identifier: MIT" not in open(p, encoding="utf-8").read(400))


def spelling():
    code, out = sh("codespell", "-q", "3", "--ignore-words-list", "ned,ist,te,fo,inout,ot,nd,wont,mis,ser,sav,numer", "src", "docs", "README.md",
                   "ARCHITECTURE.md", "CONTRIBUTING.md", "tools")
    return out if code else ""


CHECKS = [formatting, layers, sizes, banned, unfinished, licences, spelling, cppcheck, tidy]


def run(report):
    """Calls report(name, findings) for each check."""
    for one in CHECKS:
        report("lint: " + one.__name__, one().strip())


if __name__ == "__main__":
    failed = []

    def show(name, findings):
        print("%s %s" % ("FAIL" if findings else "ok  ", name), flush=True)
        if findings:
            failed.append(name)
            print(findings)

    run(show)
    sys.exit(1 if failed else 0)
