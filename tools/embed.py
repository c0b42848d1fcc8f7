#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""embed.py OUT.c [FOLDER]: the files of a folder as constants (cmd/page.h), plain and compressed. The
same files give the same bytes. Without a folder there are no files."""
import gzip
import hashlib
import os
import sys

TYPES = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".png": "image/png"}


def constant(name, data):
    rows = [", ".join("%d" % byte for byte in data[i:i + 32]) for i in range(0, len(data), 32)]
    return "static const unsigned char %s[] = {%s};\n" % (name, ",\n".join(rows))


def main():
    out, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None
    names = sorted(n for n in os.listdir(folder) if os.path.splitext(n)[1] in TYPES) if folder else []
    text, rows = '#include "cmd/page.h"\n', []
    for number, name in enumerate(names):
        with open(os.path.join(folder, name), "rb") as file:
            data = file.read()
        packed = gzip.compress(data, 9, mtime=0)
        text += constant("plain_%d" % number, data) + constant("gzip_%d" % number, packed)
        rows.append('{"%s", "%s", "\\"%s\\"", plain_%d, gzip_%d, sizeof plain_%d, sizeof gzip_%d}' % (
            name, TYPES[os.path.splitext(name)[1]], hashlib.sha256(data).hexdigest()[:16], number, number, number, number))
    text += "const struct page_file page_files[] = {\n%s};\n" % ",\n".join(rows + ["{0}"])
    text += "const size_t page_file_count = %d;\n" % len(names)
    with open(out, "w", encoding="ascii") as file:
        file.write(text)


main()
