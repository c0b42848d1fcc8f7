#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Who may include whom (ARCHITECTURE.md). Prints what breaks the table; exit 1 if anything does."""
import glob
import re
import sys

ALLOWED = {
    "base": "", "config": "base", "model": "base", "http": "base",
    "source": "base model", "store": "base model", "account": "base model",
    "sampler": "base model source", "query": "base model store", "schedule": "base config",
    "report": "base model query", "alert": "base model query",
    "output": "base model query report alert http",
}
ALSO = {"source/remote": "http"}
ALL = set(ALLOWED) | {"cmd"}
bad = 0
for path in sorted(glob.glob("src/*/**/*.[ch]*", recursive=True)):
    folder = path.split("/")[1]
    if folder not in ALL:
        print("%s: folder '%s' is not in the layer table" % (path, folder))
        bad += 1
        continue
    may = ALL if folder == "cmd" else set(ALLOWED[folder].split()) | {folder}
    may |= {extra for prefix, extras in ALSO.items() if path.startswith("src/" + prefix) for extra in extras.split()}
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        found = re.match(r'#include "([a-z_]+)/', line)
        if found and found[1] in ALL and found[1] not in may:
            print("%s:%d: %s may not include %s" % (path, number, folder, found[1]))
            bad += 1
sys.exit(1 if bad else 0)
