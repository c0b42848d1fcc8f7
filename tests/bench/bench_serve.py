# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""bench_serve.py BINARY HOOKS_DIR: what `serve` costs with eight GPUs over the fake NVML, twice a second.

CPU is that of the server's process over some seconds, its driver's process apart; memory is the
private and shared memory of both (Pss). Bytes and driver calls repeat; times depend on the machine.
"""
import base64
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from measuring import line, missed

GPUS = 8
SECONDS = 8
TICKS = os.sysconf("SC_CLK_TCK")


def scenario(path):
    with open(path, "w", encoding="utf-8") as file:
        for i in range(GPUS):
            file.write("gpu\n index %d\n uuid GPU-00000000-0000-4000-8000-%012d\n name NVIDIA H100 80GB HBM3\n utilization.gpu %d\n"
                       " memory.used %d\n memory.total 81559\n temperature.gpu %d\n power.draw %d.5\nend\n"
                       % (i, i, i * 10, 1000 * i, 30 + i, 100 * i))


class Viewer:
    """A WebSocket that reads all and counts."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port))
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: %s\r\n\r\n" % (path, key)).encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            self.data += self.socket.recv(65536)
        self.data = self.data.split(b"\r\n\r\n", 1)[1]
        self.frames = []

    def drain(self):
        self.data += self.socket.recv(1 << 20)
        while len(self.data) >= 2:
            length, at = self.data[1] & 127, 2
            if length >= 126:
                size = 2 if length == 126 else 8
                if len(self.data) < 2 + size:
                    return
                length, at = int.from_bytes(self.data[2:2 + size], "big"), 2 + size
            if len(self.data) < at + length:
                return
            if self.data[0] & 15 == 1:
                self.frames.append(at + length)
            self.data = self.data[at + length:]


def read_for(viewers, seconds):
    end, by_fd = time.monotonic() + seconds, {v.socket: v for v in viewers}
    while time.monotonic() < end:
        ready, _, _ = select.select(list(by_fd), [], [], 0.2) if by_fd else (time.sleep(0.2), [], [])
        for one in ready or []:
            by_fd[one].drain()


def cpu(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def children(pid):
    found = []
    for task in os.listdir("/proc/%d/task" % pid):
        with open("/proc/%d/task/%s/children" % (pid, task), encoding="ascii") as file:
            found += [int(p) for p in file.read().split()]
    return found


def pss(pid):
    with open("/proc/%d/smaps_rollup" % pid, encoding="ascii") as file:
        return int(re.search(r"^Pss:\s+(\d+)", file.read(), re.M)[1])


def main():
    binary = os.path.abspath(sys.argv[1])
    fakes = os.environ.get("FAKE_DIR") or os.path.join(os.path.abspath(sys.argv[2]), "tests", "fake")
    with tempfile.TemporaryDirectory(prefix="gpumanager-bench-") as folder:
        play, log = os.path.join(folder, "scenario"), os.path.join(folder, "nvml.log")
        scenario(play)
        env = {"PATH": fakes + ":/usr/bin:/bin", "LD_LIBRARY_PATH": fakes, "FAKE_GPU_SCENARIO": play, "HOME": folder, "FAKE_NVML_LOG": log}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        started = time.monotonic()
        server = subprocess.Popen([binary, "serve", "--listen", "127.0.0.1:%d" % port], env=env, stderr=subprocess.DEVNULL)
        try:
            measure(server.pid, port, started, log)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(5)
    sys.exit(1 if missed else 0)


def first_answer(port, started):
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port)) as one:
                one.sendall(b"GET /api/gpu-data HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                text = b""
                while piece := one.recv(65536):
                    text += piece
            if b'"utilization"' in text:
                return time.monotonic() - started
        except OSError:
            pass
        time.sleep(0.002)


def measure(pid, port, started, log):
    line("serve, start to the first answer with data", first_answer(port, started) * 1000, "ms", 250)
    targets = {0: 0.05, 1: 0.2, 10: 0.25, 100: 0.7, 1000: 5}
    for count, target in targets.items():
        viewers = [Viewer(port, "/ws") for _ in range(count)]
        if count == 0:
            time.sleep(11)  # the drivers are read at the live pace for ten seconds after a request
        read_for(viewers, 1)
        with open(log, encoding="utf-8") as file:
            calls_before = sum(1 for _ in file)
        before, driver_before = cpu(pid), sum(cpu(c) for c in children(pid))
        read_for(viewers, SECONDS)
        used = (cpu(pid) - before) / SECONDS * 100
        driver = (sum(cpu(c) for c in children(pid)) - driver_before) / SECONDS * 100
        line("serve, %d viewers, CPU of the server (its driver %.2f %%)" % (count, driver), used, "% of a core", target)
        if count in (1, 1000):
            line("serve, %d viewers, memory of all processes" % count, (pss(pid) + sum(pss(c) for c in children(pid))) / 1024, "MiB",
                 14 if count == 1 else 26)
        if count == 1:
            with open(log, encoding="utf-8") as file:
                calls = sum(1 for _ in file) - calls_before
            line("serve, NVML calls a GPU and update", calls / GPUS / (SECONDS * 2), "calls", 14)
            hot = Viewer(port, "/socket.io/")
            read_for([hot] + viewers, 3)
            ours = viewers[0].frames[2:]
            share = sum(ours) / len(ours) / (sum(hot.frames) / len(hot.frames)) * 100
            line("serve, bytes an update: gpu-hot %d, ours %d, a share of" % (sum(hot.frames) / len(hot.frames), sum(ours) / len(ours)),
                 share, "%", 20)
            hot.socket.close()
        for viewer in viewers:
            viewer.socket.close()
    if shutil.which("ab"):
        for connections in (1, 50):
            done = subprocess.run(["ab", "-q", "-k", "-n", "60000", "-c", str(connections), "http://127.0.0.1:%d/api/gpu-data" % port],
                                  capture_output=True, text=True, check=False)
            rate = float(re.search(r"Requests per second:\s+([\d.]+)", done.stdout)[1])
            line("serve, time of a request, %d connections" % connections, 1e6 / rate, "µs", 50)


main()
