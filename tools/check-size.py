#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""The longest functions and files, and their gates: 60 lines a function, 700 a file, p90 of 45.
A function's body stands between a '{' and a '}' in the first column (clang-format sees to it)."""
import glob
import sys

FUNCTION_MAX, FILE_MAX, P90_MAX = 60, 700, 45
functions, files, bad = [], [], 0
for path in sorted(glob.glob("src/**/*.c", recursive=True) + glob.glob("src/**/*.cpp", recursive=True)):
    lines = open(path, encoding="utf-8").read().split("\n")
    files.append((len(lines), path))
    start, name, lifted = None, "", False
    for number, line in enumerate(lines):
        if line == "{":
            start = number
            at = number - 1
            while at > 0 and (lines[at].startswith(" ") or lines[at].strip() == ""):
                at -= 1
            name = lines[at].split("(")[0].split()[-1] if "(" in lines[at] else lines[at]
            lifted = at > 0 and "NOLINTNEXTLINE(readability-function-size)" in lines[at - 1]
        elif line == "}" and start is not None:
            if not path.endswith(("_test.c", "_fuzz.c")):
                functions.append((number - start - 1, path, start + 1, name))
            if number - start - 1 > FUNCTION_MAX and not lifted:
                print("%s:%d: %s has %d lines (at most %d)" % (path, start + 1, name, number - start - 1, FUNCTION_MAX))
                bad += 1
            start = None
for length, path in files:
    if length > FILE_MAX:
        print("%s: %d lines (at most %d)" % (path, length, FILE_MAX))
        bad += 1
functions.sort(reverse=True)
lengths = sorted(f[0] for f in functions)
print("longest functions:")
for length, path, line, name in functions[:5]:
    print("  %3d lines  %s  %s:%d" % (length, name, path, line))
if lengths:
    p90 = lengths[len(lengths) * 9 // 10]
    print("%d functions, median %d lines, p90 %d; %d files, longest %d lines" % (
        len(lengths), lengths[len(lengths) // 2], p90, len(files), max(files)[0]))
    bad += p90 > P90_MAX
product = sum(n for n, p in files if not p.endswith(("_test.c", "_fuzz.c")))
tests = sum(n for n, p in files if p.endswith(("_test.c", "_fuzz.c")))
tests += sum(len(open(p, encoding="utf-8").read().split("\n")) for p in glob.glob("tests/**/*.py", recursive=True) + glob.glob("tests/**/*.c", recursive=True))
print("%d lines of program, %d of tests (%.2f)" % (product, tests, tests / max(product, 1)))
sys.exit(1 if bad else 0)
