# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""What every scenario test shares: a folder of its own, the binary, the two fakes, a loopback Slack.

A test file defines functions `test_…(box)` whose names are sentences and ends with `main()`; the
output is TAP. `box` is a Box: everything in it is thrown away afterwards. check(claim, detail) goes
on after a failure, require(claim, detail) leaves the test, skip(reason) says why one cannot run.
Paths come from Meson: GPUMANAGER_BIN, FAKE_DIR (libnvidia-ml.so.1 and nvidia-smi), SOURCE_ROOT.
"""
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import traceback

BIN = os.environ.get("GPUMANAGER_BIN", "build/hooks/gpumanager")
FAKE_DIR = os.environ.get("FAKE_DIR", "build/hooks/tests/fake")
SOURCE_ROOT = os.environ.get(
    "SOURCE_ROOT", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
CASES = os.path.join(SOURCE_ROOT, "tests", "cases")
# Nothing of the machine that runs the tests may leak in.
CLEAN_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Skip(Exception):
    """The test cannot run here, for the reason given."""


class Stop(Exception):
    """A requirement did not hold; the failure is already noted."""


_failures = []


def check(claim, detail=""):
    if not claim:
        where = traceback.extract_stack(limit=3)
        frame = [f for f in where if f.name not in ("check", "require")][-1]
        _failures.append("%s:%d: %s %s" % (os.path.basename(frame.filename), frame.lineno, frame.line, detail))
    return bool(claim)


def require(claim, detail=""):
    if not check(claim, detail):
        raise Stop()


def skip(reason):
    raise Skip(reason)


class Ran:
    """One finished run: code, out, err."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return "exit %d\n--- stdout\n%s--- stderr\n%s" % (self.code, self.out, self.err)


class Slack:
    """A webhook on loopback. `replies` is a list of (status, headers, body), the last one repeats; a
    reply may be a function, which is given the handler and returns such a reply, or None when it saw
    to the connection itself. `requests` holds (monotonic time, path, parsed or raw body, headers) of
    every request, `bodies` their raw bytes."""

    def __init__(self, replies=None):
        self.replies = replies or [(200, {}, "ok")]
        self.requests = []
        self.bodies = []
        self.lock = threading.Lock()
        slack = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                try:
                    parsed = json.loads(body)
                except ValueError:
                    parsed = body
                with slack.lock:
                    number = len(slack.requests)
                    slack.requests.append((time.monotonic(), self.path, parsed, dict(self.headers)))
                    slack.bodies.append(body)
                reply = slack.replies[min(number, len(slack.replies) - 1)]
                reply = reply(self) if callable(reply) else reply
                if reply is None:
                    self.close_connection = True
                    return
                status, headers, text = reply
                self.send_response(status)
                for key, value in headers.items():
                    self.send_header(key, value)
                data = text.encode()
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST  # nobody should ask so; when somebody does, it is seen

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = "http://127.0.0.1:%d/services/T0/B0/secret-token" % self.port
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def texts(self):
        return [r[2]["text"] for r in self.requests]

    @staticmethod
    def case(name):
        """The replies of a tests/cases/*.http file."""
        with open(os.path.join(CASES, name), encoding="utf-8", newline="") as file:
            parts = file.read().replace("\r\n", "\n").split("== reply ")[1:]
        replies = []
        for part in parts:
            head, _, body = part.split("\n", 1)[1].partition("\n\n")
            lines = head.split("\n")
            headers = dict(line.split(": ", 1) for line in lines[1:])
            headers.pop("Content-Length", None)
            replies.append((int(lines[0].split()[1]), headers, body.rstrip("\n")))
        return replies

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Box:
    """A throw-away place: config, csv folder, environment, and runs of the binary in it."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="gpumanager-test-")
        self.csv_dir = os.path.join(self.dir, "csv")
        self.config_path = os.path.join(self.dir, "config.toml")
        self.home = os.path.join(self.dir, "home")
        os.mkdir(self.home)
        self.env = {"PATH": CLEAN_PATH, "HOME": self.home, "LC_ALL": "C.UTF-8",
                    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0", "no_proxy": "*"}
        self.slacks = []

    def close(self):
        for slack in self.slacks:
            slack.close()
        subprocess.run(["chmod", "-R", "u+rwX", self.dir], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, content, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        return path

    def slack(self, replies=None):
        slack = Slack(replies)
        self.slacks.append(slack)
        return slack

    def config(self, text=None, webhook="http://127.0.0.1:9/services/T/B/x", timezone="Asia/Seoul",
               reports=(("daily", "0 9 * * *", "1d"),), server="host-a", extra=""):
        """Writes config.toml; pass `text` for the whole file."""
        if text is None:
            text = '[slack]\nwebhook_url = "%s"\n\n[storage]\ncsv_dir = "%s"\n\n[sample]\ninterval = "1m"\n' % (
                webhook, self.csv_dir)
            for name, report_time, interval in reports:
                text += '\n[[report]]\nname = "%s"\nreport_time = "%s"\ninterval = "%s"\n' % (
                    name, report_time, interval)
            text += '\n[general]\ntimezone = "%s"\nserver_name = "%s"\n%s' % (timezone, server, extra)
        return self.write("config.toml", text, 0o600)

    def fake(self, scenario):
        """Plays a scenario (a path under tests/cases, or literal text) on both fakes."""
        path = os.path.join(CASES, scenario) if "\n" not in scenario else self.write("scenario", scenario)
        self.env["FAKE_GPU_SCENARIO"] = path
        self.env["FAKE_SMI_LOG"] = self.path("smi.log")
        self.env["FAKE_NVML_LOG"] = self.path("nvml.log")
        self.env["PATH"] = FAKE_DIR + ":" + CLEAN_PATH
        self.env["LD_LIBRARY_PATH"] = FAKE_DIR
        return path

    def fake_smi_only(self, scenario):
        self.fake(scenario)
        self.env.pop("LD_LIBRARY_PATH")

    def now(self, text):
        self.env["GPUMANAGER_NOW"] = text

    def run(self, *args, stdin="", timeout=60, env=None, config=True):
        command = [BIN] + (["--config", self.config_path] if config else []) + list(args)
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout,
                              env=dict(self.env, **(env or {})), cwd=self.dir, errors="replace", check=False)
        return Ran(done.returncode, done.stdout, done.stderr)

    def start(self, *args, env=None, **kwargs):
        """Starts the binary and returns the Popen; the test ends it by its pid."""
        command = [BIN, "--config", self.config_path] + list(args)
        return subprocess.Popen(command, env=dict(self.env, **(env or {})), cwd=self.dir, **kwargs)

    def csv_files(self):
        if not os.path.isdir(self.csv_dir):
            return []
        return sorted(os.path.join(self.csv_dir, n) for n in os.listdir(self.csv_dir) if n.endswith(".csv"))

    def tree(self, name):
        """Unpacks the `f PATH<TAB>CONTENT` lines of a tests/cases manifest into the box."""
        with open(os.path.join(CASES, name), encoding="utf-8") as manifest:
            for line in manifest:
                if not line.startswith("f "):
                    continue
                path, content = line[2:].rstrip("\n").split("\t", 1)
                ends = not content.endswith("\\c")
                content = content if ends else content[:-2]
                self.write(path, _unescape(content) + (b"\n" if ends else b""))


def _unescape(text):
    """printf %b escapes: \\n \\r \\t and \\0NNN."""
    out, i = bytearray(), 0
    plain = {"n": 10, "r": 13, "t": 9, "\\": 92}
    while i < len(text):
        if text[i] != "\\":
            out += text[i].encode()
            i += 1
        elif text[i + 1] == "0":
            out.append(int(text[i + 2:i + 5], 8))
            i += 5
        else:
            out.append(plain[text[i + 1]])
            i += 2
    return bytes(out)


def main():
    module = sys.modules["__main__"]
    tests = [(name, value) for name, value in vars(module).items() if name.startswith("test_")]
    if len(sys.argv) > 1:
        tests = [t for t in tests if any(word in t[0] for word in sys.argv[1:])]
    print("1..%d" % len(tests), flush=True)
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        _failures.clear()
        box, note = Box(), ""
        try:
            test(box)
        except Stop:
            pass
        except Skip as reason:
            note = " # SKIP %s" % reason
        except Exception:  # pylint: disable=broad-except
            _failures.append(traceback.format_exc())
        finally:
            box.close()
        for failure in _failures:
            print("# " + failure.replace("\n", "\n# "))
        print("%sok %d - %s%s" % ("not " if _failures else "", number, name[5:], note), flush=True)
        failed += bool(_failures)
    sys.exit(1 if failed else 0)
