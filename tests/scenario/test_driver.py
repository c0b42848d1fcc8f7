# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""The process that reads one driver, started as the daemon starts it and spoken to as
docs/protocol.md says; feed_test.c has what the daemon makes of it."""
import os
import socket
import struct
import subprocess

from harness import BIN, check, main, require

GREETING, SNAPSHOT, TROUBLE = 1, 2, 3
REQUEST = struct.pack("<IBBH", 0, 4, 1, 0)
TWO_GPUS = ("gpu\n index 0\n uuid GPU-a\n name A\n utilization.gpu 10\nend\n"
            "gpu\n index 1\n uuid GPU-b\n name B\n utilization.gpu 20\nend\n")


class Driver:
    """`gpumanager driver WORDS…` with its socket as descriptor 3."""

    def __init__(self, box, *words):
        ours, theirs = socket.socketpair()
        ours.settimeout(20)
        self.socket = ours

        def as_third():
            os.dup2(theirs.fileno(), 3)

        self.process = subprocess.Popen([BIN, "driver", *words], env=box.env, close_fds=False, preexec_fn=as_third,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        theirs.close()

    def take(self, length):
        data = b""
        while len(data) < length:
            some = self.socket.recv(length - len(data))
            require(some, "it closed: " + self.process.stderr.read() if not some else "")
            data += some
        return data

    def frame(self):
        length, kind, version, zero = struct.unpack("<IBBH", self.take(8))
        check(version == 1 and zero == 0)
        return kind, self.take(length)

    def ask(self):
        self.socket.sendall(REQUEST)
        return self.frame()

    def end(self):
        self.socket.close()
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.wait(20)


def test_a_driver_greets_answers_and_ends_when_nobody_listens(box):
    driver = Driver(box, "simulated", "arg=8xH100")
    kind, greeting = driver.frame()
    check(kind == GREETING and greeting[2:11] == b"simulated" and b"utilization" in greeting)
    for _ in range(3):
        kind, snapshot = driver.ask()
        check(kind == SNAPSHOT and snapshot.count(b"H100") >= 8)
        time_ns, expected = struct.unpack_from("<qI", snapshot)
        check(expected == 8 and time_ns > 1e18)
    check(driver.end() == 0)


def test_a_driver_reads_the_cards_through_nvml(box):
    box.fake(TWO_GPUS)
    driver = Driver(box, "NVML")
    check(driver.frame()[0] == GREETING)
    kind, snapshot = driver.ask()
    check(kind == SNAPSHOT and b"GPU-a" in snapshot and b"GPU-b" in snapshot)
    check(driver.end() == 0)


def test_a_driver_without_a_card_says_why_and_stays(box):
    driver = Driver(box, "nvidia-smi", "arg=/nonexistent/smi")
    check(driver.frame()[0] == GREETING)
    for _ in range(2):
        kind, trouble = driver.ask()
        check(kind == TROUBLE and b"/nonexistent/smi" in trouble, trouble)
    check(driver.end() == 0)


def test_the_command_is_not_for_people(box):
    ran = box.run("driver")
    check(ran.code == 2 and "there is no source" in ran.err, ran)
    ran = box.run("driver", "simulated", "arg=1xT4")
    check(ran.code == 1 and ran.err.startswith("Error: "), ran)
    ran = box.run("--help")
    check("driver " not in ran.out, ran)


main()
