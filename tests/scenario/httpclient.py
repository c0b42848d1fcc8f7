# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Raw clients for test_http.py: a server under test, an HTTP connection that is read byte by byte,
and a WebSocket client that shares no code with the server."""
import os
import resource
import socket
import struct
import subprocess
import time
import zlib

from harness import SOURCE_ROOT, require

HTTP_ECHO = os.environ.get("HTTP_ECHO", os.path.join(SOURCE_ROOT, "build", "asan", "tests", "tools", "http_echo"))
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
UPGRADE = ("GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
           "Sec-WebSocket-Key: " + KEY + "\r\nSec-WebSocket-Version: 13\r\n%s\r\n")


def limit_files(count):
    if count:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


class Server:
    """http_echo with options; ended by its pid."""

    def __init__(self, *options, address="127.0.0.1:0", files=None):
        addresses = [address] if isinstance(address, str) else list(address)
        self.process = subprocess.Popen([HTTP_ECHO] + list(options) + addresses, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, preexec_fn=lambda: limit_files(files),
                                        # What is freed must not count as memory in use.
                                        env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=1"))
        words = self.process.stdout.readline().split()
        if not words:
            self.error = self.process.communicate()[1]
            self.ports = []
            return
        self.ports = [int(w) for w in words[1:]]
        self.port = self.ports[0]

    def __enter__(self):
        require(self.ports, getattr(self, "error", ""))
        return self

    def __exit__(self, kind, value, trace):
        code, err = self.stop()
        if kind is None:
            require(code == 0, "exit %s\n%s" % (code, err[-3000:]))

    def stop(self):
        """Exit status and stderr after SIGTERM."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            err = self.process.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            err = self.process.communicate()[1] + "\nhad to be killed"
        return self.process.returncode, err

    def cpu(self):
        """Seconds of processor time."""
        with open("/proc/%d/stat" % self.process.pid, encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self):
        """Bytes of memory that the server has in use."""
        with open("/proc/%d/statm" % self.process.pid, encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Reply:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __repr__(self):
        return "%s %s %r" % (self.status, self.headers, self.body[:200])


class Connection:
    """A socket with a reading buffer."""

    def __init__(self, server=None, sock=None, timeout=10, receive_bytes=None):
        if sock is None:
            sock = socket.socket()
            if receive_bytes:
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
            sock.settimeout(timeout)
            sock.connect(("127.0.0.1", server if isinstance(server, int) else server.port))
        self.sock = sock
        self.sock.settimeout(timeout)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data if isinstance(data, bytes) else data.encode("latin-1"))

    def more(self):
        data = self.sock.recv(65536)
        self.buffer += data
        return len(data) > 0

    def take(self, count):
        while len(self.buffer) < count:
            if not self.more():
                raise EOFError("%d of %d bytes" % (len(self.buffer), count))
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def reply(self, is_head=False):
        """The next reply; an EOFError when the server closes instead."""
        while b"\r\n\r\n" not in self.buffer:
            if not self.more():
                raise EOFError(repr(self.buffer))
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, value = line.split(":", 1)
            headers[name.lower()] = value.strip()
        status = int(lines[0].split()[1])
        length = 0 if is_head or status in (101, 204, 304) or status < 200 else int(headers["content-length"])
        return Reply(status, headers, self.take(length))

    def ask(self, data, is_head=False):
        self.send(data)
        return self.reply(is_head)

    def get(self, path, *lines):
        return self.ask("GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (path, "".join(l + "\r\n" for l in lines)))

    def is_closed(self, within=5):
        """True when the server ends the connection, cleanly or not, before so many seconds."""
        self.sock.settimeout(within)
        try:
            while True:
                if not self.more():
                    return True
        except ConnectionError:
            return True
        except socket.timeout:
            return False


def ask_once(server, data, is_head=False):
    """Reply of a fresh connection, or None when it is closed without one."""
    with Connection(server) as connection:
        try:
            return connection.ask(data, is_head)
        except (EOFError, ConnectionError):
            return None


def frame(opcode, payload=b"", is_final=True, bits=0, is_masked=True):
    if isinstance(payload, str):
        payload = payload.encode()
    head = bytes([(0x80 if is_final else 0) | bits | opcode])
    mask_bit = 0x80 if is_masked else 0
    if len(payload) < 126:
        head += bytes([mask_bit | len(payload)])
    elif len(payload) < 65536:
        head += bytes([mask_bit | 126]) + struct.pack(">H", len(payload))
    else:
        head += bytes([mask_bit | 127]) + struct.pack(">Q", len(payload))
    if not is_masked:
        return head + payload
    mask = os.urandom(4)
    return head + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(payload))


class WebSocket(Connection):
    def __init__(self, server=None, path="/ws", lines=(), deflate=False, **kwargs):
        super().__init__(server, **kwargs)
        lines = list(lines)
        if deflate:
            lines.append("Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits")
        self.upgrade = self.ask(UPGRADE % (path, "".join(l + "\r\n" for l in lines)))
        self.deflated = 0

    def frame(self):
        """The next frame: (opcode, payload), inflated."""
        first, second = self.take(2)
        length = second & 0x7f
        assert not second & 0x80, "a server frame is never masked"
        if length == 126:
            length = struct.unpack(">H", self.take(2))[0]
        elif length == 127:
            length = struct.unpack(">Q", self.take(8))[0]
        payload = self.take(length)
        assert first & 0x80, "a server frame is always final"
        if first & 0x40:
            self.deflated += 1
            payload = zlib.decompressobj(-15).decompress(payload + b"\0\0\xff\xff")
        return first & 0x0f, payload

    def text(self):
        """The next text, answering pings."""
        while True:
            opcode, payload = self.frame()
            if opcode == 9:
                self.send(frame(10, payload))
            elif opcode == 1:
                return payload.decode()
            elif opcode == 8:
                raise EOFError("closed %d" % struct.unpack(">H", payload[:2])[0])

    def close_code(self):
        """Code of the close frame that comes, whatever comes before it; 0 when none does."""
        try:
            while True:
                opcode, payload = self.frame()
                if opcode == 8:
                    return struct.unpack(">H", payload[:2])[0]
        except (EOFError, ConnectionError):
            return 0


def worst_time(server, count=5, path="/hello"):
    """The worst of `count` times, in seconds, of a good client's whole request; each the best of
    three, because the machine has other things to do."""
    return max(min(request_time(server, path) for _ in range(3)) for _ in range(count))


def request_time(server, path):
    start = time.monotonic()
    with Connection(server) as connection:
        require(connection.get(path).status == 200)
    return time.monotonic() - start


def deflated(text):
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)
    return (packer.compress(text) + packer.flush(zlib.Z_SYNC_FLUSH))[:-4]


