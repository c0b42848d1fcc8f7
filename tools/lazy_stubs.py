#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""lazy_stubs.py OUT.S ARCH LIBRARY.so,… ARCHIVE.a…: functions that the archives need of the shared
libraries, as jumps through a table that cmd/lazy.c fills when they are first wanted. So one program
holds the server, and a sample that lives a few milliseconds does not load what only the server
needs. Nothing is copied: the libraries stay the system's, with its updates."""
import re
import subprocess
import sys

JUMP = {
    "x86_64": "    jmp *lazy_table+{at}(%rip)",
    "aarch64": "    adrp x16, lazy_table+{at}\n    ldr x16, [x16, #:lo12:lazy_table+{at}]\n    br x16",
}


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def wanted(archives):
    defined, needed = set(), set()
    for archive in archives:
        for line in run("nm", archive).splitlines():
            found = re.match(r"(?:[0-9a-f]+)? +([A-Za-z]) (\S+)$", line)
            if found:
                (needed if found[1] == "U" else defined).add(found[2])
    return needed - defined


def offered(library):
    """(soname, functions) of a shared library; data cannot be reached by a jump."""
    soname = re.search(r"SONAME\s+(\S+)", run("objdump", "-p", library))[1]
    functions, data = set(), set()
    for line in run("nm", "-D", "--defined-only", library).splitlines():
        found = re.match(r"[0-9a-f]+ ([A-Za-z]) ([^@\s]+)", line)
        if found:
            (functions if found[1] in "TWi" else data).add(found[2])
    return soname, functions, data


def main():
    out, arch, libraries, archives = sys.argv[1], sys.argv[2], sys.argv[3].split(","), sys.argv[4:]
    needed, names, stubs, at = wanted(archives), [], [], 0
    for library in libraries:
        soname, functions, data = offered(library)
        if needed & data:
            sys.exit("%s: data is needed and cannot be lazy: %s" % (library, sorted(needed & data)))
        mine = sorted(needed & functions)
        needed -= functions
        names.append([soname] + mine)
        for name in mine:
            stubs.append(".globl {n}\n.hidden {n}\n.type {n}, @function\n{n}:\n".format(n=name) + JUMP[arch].format(at=8 * at) +
                         "\n.size {n}, .-{n}\n".format(n=name))
            at += 1
    with open(out, "w", encoding="ascii") as file:
        file.write("/* Made by tools/lazy_stubs.py */\n.text\n" + "".join(stubs))
        file.write(".section .rodata\n.globl lazy_names\n.hidden lazy_names\nlazy_names:\n")
        for group in names:
            file.writelines('.asciz "%s"\n' % word for word in group)
            file.write(".byte 0\n")
        file.write(".byte 0\n.bss\n.balign 8\n.globl lazy_table\n.hidden lazy_table\nlazy_table:\n.zero %d\n" % (8 * max(at, 1)))
        file.write('.section .note.GNU-stack,"",%progbits\n')


main()
