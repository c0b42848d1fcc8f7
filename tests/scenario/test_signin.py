# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Signing in to `gpumanager serve`, as a program and as a browser does; the commands that make tokens;
where the server may listen; and that no token is found where it does not belong."""
import json
import os
import re
import ssl
import socket
import stat
import subprocess
import time

from harness import check, main, require
from httpclient import Connection, UPGRADE, WebSocket
from test_serve import SIMPLE, Serve, next_message, until

TOKEN = re.compile(r"gpm_[0-9a-f]{32}")
BUSY = SIMPLE + "0 nvmlDeviceGetComputeRunningProcesses_v3 -> 0 pid=%d,used=1073741824\n"


def add(box, name, *options):
    """A new token."""
    ran = box.run("token", "add", name, *options)
    require(ran.code == 0 and TOKEN.fullmatch(ran.out.strip()), ran)
    return ran.out.strip()


def bearer(token):
    return "Authorization: Bearer " + token


def post(server, path, body="", *lines, origin="http://localhost", kind="application/x-www-form-urlencoded"):
    lines = list(lines) + (["Origin: " + origin] if origin else []) + (["Content-Type: " + kind] if kind else [])
    with Connection(server) as client:
        return client.ask("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s" % (
            path, len(body), "".join(l + "\r\n" for l in lines), body))


def sign_in(server, token):
    """The Cookie header line of a new session."""
    reply = post(server, "/login", "token=" + token)
    require(reply.status == 303 and "set-cookie" in reply.headers, reply)
    return "Cookie: " + reply.headers["set-cookie"].split(";")[0]


def is_sent_away(viewer, within=4):
    """True when the server ends this WebSocket soon, with the code that says why."""
    viewer.sock.settimeout(within)
    end = time.monotonic() + within
    try:
        while time.monotonic() < end:
            viewer.text()
    except EOFError as why:
        return str(why) == "closed 1008"
    except OSError:
        pass
    return False


# --- the commands ---

def test_a_token_is_shown_once_and_kept_as_its_hash_only(box):
    box.config()
    ran = box.run("token", "list")
    check(ran.code == 0 and "There is no token" in ran.out, ran)
    ran = box.run("token", "add", "grafana")
    check(ran.code == 0 and TOKEN.fullmatch(ran.out.rstrip("\n")), ran)
    check("only this once" in ran.err and "viewer" in ran.err and not TOKEN.search(ran.err), ran)
    first, second = ran.out.strip(), add(box, "ops", "--role", "operator")
    check(first != second)
    path = box.path("tokens")
    check(stat.S_IMODE(os.stat(path).st_mode) == 0o600, oct(os.stat(path).st_mode))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    check(not TOKEN.search(text) and first[4:] not in text and second[4:] not in text, text)
    digest = subprocess.run(["sha256sum"], input=first, capture_output=True, text=True, check=True).stdout.split()[0]
    check(re.search(r"^grafana viewer \d+ %s$" % digest, text, re.M), text)
    ran = box.run("token", "list")
    check(re.search(r"^grafana +viewer +20\d\d-\d\d-\d\dT", ran.out) and re.search(r"^ops +operator ", ran.out, re.M), ran)
    check(digest not in ran.out and not TOKEN.search(ran.out), ran)
    ran = box.run("token", "remove", "grafana")
    check(ran.code == 0 and "grafana" in ran.out and "No token is left" not in ran.out, ran)
    ran = box.run("token", "remove", "ops")
    check(ran.code == 0 and "No token is left" in ran.out, ran)


def test_what_the_token_commands_refuse_they_say(box):
    box.config()
    add(box, "ops")
    for words, sentence in (
            (("add", "ops"), "there is a token 'ops' already"), (("add", "A b"), "1 to 32 of a-z"), (("add",), "needs the name"),
            (("add", "x", "--role", "root"), "viewer or operator"), (("remove", "nobody"), "there is no such token"),
            (("remove",), "needs the name"), (("rename", "ops"), "expected add, list or remove"), (("list", "ops"), "does not take a name"),
            (("remove", "ops", "--role", "viewer"), "does not take --role"), ((), "token needs")):
        ran = box.run("token", *words)
        check(ran.code == 2 and sentence in ran.err and ran.out == "", (words, ran))
    box.write("tokens", "ops operator\n", 0o600)
    for words in (("add", "more"), ("list",), ("remove", "ops")):
        ran = box.run("token", *words)
        check(ran.code == 2 and "tokens:1: this line is no token" in ran.err, (words, ran))
    with open(box.path("tokens"), encoding="utf-8") as file:
        check(file.read() == "ops operator\n", "a file that was not understood was changed")
    ran = box.run("serve", "--listen", "127.0.0.1:0", timeout=20)
    check(ran.code != 0 and "tokens:1: this line is no token" in ran.err, ran)


def test_the_token_file_can_be_elsewhere_and_is_made_whole(box):
    path = box.path("secrets", "here")
    box.config(extra='\n[server]\ntoken_file = "%s"\n' % path)
    add(box, "one")
    check(os.path.exists(path) and not os.path.exists(box.path("tokens")))
    with open(path, "rb") as file:
        before = file.read()
    ran = box.run("token", "add", "two", env={"GPUMANAGER_FAULT": "fail:1"})
    with open(path, "rb") as file:
        after = file.read()
    check(ran.code == 1 and ran.out == "" and before == after, ran)
    processes = [box.start("token", "add", "n%d" % i, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i in range(8)]
    check(all(p.wait(30) == 0 for p in processes))
    check(len(box.run("token", "list").out.splitlines()) == 9, "of tokens made at once none is lost")


# --- programs ---

def test_without_tokens_this_machine_is_answered_and_with_one_it_is_asked(box):
    box.fake(SIMPLE)
    box.config()
    with Serve(box) as server, WebSocket(server) as early:
        server.gpus()
        check(server.get("/login").status == 303 and server.get("/login").headers["location"] == "./")
        token = add(box, "grafana")
        for path in ("/api/gpu-data", "/api/v1/snapshot", "/api/v1/status", "/api/v1/openapi.json", "/app.js", "/nothing"):
            reply = server.get(path)
            check(reply.status == 401 and reply.headers["www-authenticate"] == "Bearer", (path, reply))
            check(reply.headers["content-type"] == "application/json" and "./login" in json.loads(reply.body)["error"], (path, reply))
        check(is_sent_away(early), "who watched without a token goes on watching")
        for path in ("/healthz", "/login", "/login.css"):
            check(server.get(path).status == 200, path)
        for path in ("/", "/index.html"):
            reply = server.get(path)
            check(reply.status == 303 and reply.headers["location"] == "./login", (path, reply))
        for line in (bearer(token), "Authorization: bearer  " + token):
            check(server.get("/api/gpu-data", line).status == 200, line)
        check(server.get("/api/gpu-data?token=" + token).status == 401, "a token in a URL is taken")
        check(server.get("/nothing", bearer(token)).status == 404)
        for path in ("/ws", "/socket.io/"):
            with Connection(server) as client:
                check(client.ask(UPGRADE % (path, "")).status == 401, path)
            with WebSocket(server, path, lines=[bearer(token)]) as viewer:
                check(viewer.upgrade.status == 101 and json.loads(viewer.text()), path)


def test_a_removed_token_loses_its_access_at_once(box):
    box.fake(SIMPLE)
    box.config()
    kept, gone = add(box, "kept"), add(box, "gone")
    with Serve(box) as server:
        cookie = sign_in(server, gone)
        with WebSocket(server, lines=[bearer(gone)]) as one, WebSocket(server, lines=[cookie]) as two, \
                WebSocket(server, "/socket.io/", lines=[cookie]) as three, WebSocket(server, lines=[bearer(kept)]) as stays:
            check([v.upgrade.status for v in (one, two, three, stays)] == [101] * 4)
            require(box.run("token", "remove", "gone").code == 0)
            for line in (bearer(gone), cookie):
                check(server.get("/api/gpu-data", line).status == 401, line)
            check(is_sent_away(one) and is_sent_away(two) and is_sent_away(three), "a WebSocket outlives its token")
            check(next_message(stays, lambda m: m["type"] == "delta"), "another token's WebSocket was ended")
        # The last one: nobody gets in, rather than everybody.
        require(box.run("token", "remove", "kept").code == 0)
        check(server.get("/api/gpu-data", bearer(kept)).status == 401 and server.get("/api/gpu-data").status == 401)
        os.unlink(box.path("tokens"))
        check(server.get("/api/gpu-data").status == 401 and server.get("/healthz").status == 200)
        box.write("tokens", "nonsense\n", 0o600)
        check(server.get("/api/gpu-data").status == 401 and "nobody can sign in until" in server.log(), server.log())
        os.unlink(box.path("tokens"))
        check(server.get("/api/gpu-data", bearer(add(box, "new"))).status == 200)


# --- browsers ---

def test_a_browser_signs_in_and_out(box):
    box.fake(SIMPLE)
    box.config()
    token = add(box, "wall")
    with Serve(box) as server:
        page = server.get("/login")
        policy = page.headers["content-security-policy"]
        check("default-src 'none'" in policy and "form-action 'self'" in policy and "unsafe" not in policy, policy)
        check(page.headers["content-type"] == "text/html; charset=utf-8" and page.headers["cache-control"] == "no-store", page)
        check(page.headers["referrer-policy"] == "same-origin", "browsers would send Origin: null with the form")
        check(b"<script" not in page.body and b"style=" not in page.body and b'type="password"' in page.body, page.body)
        reply = post(server, "/login", "token=%0d%0a" + token + "+&more=1")
        check(reply.status == 303 and reply.headers["location"] == "./" and reply.body == b"", reply)
        parts = reply.headers["set-cookie"].split("; ")
        check(re.fullmatch(r"gpumanager=[0-9a-f]{32}", parts[0]), parts)
        check(sorted(parts[1:]) == ["HttpOnly", "Max-Age=2592000", "Path=/", "SameSite=Strict"], parts)
        cookie = "Cookie: other=1; " + parts[0]
        check(server.get("/", cookie).status == 200 and server.get("/api/gpu-data", cookie).status == 200)
        check(b"<b>wall</b>" in server.get("/login", cookie).body)
        check(sign_in(server, token) != "Cookie: " + parts[0], "two sessions have one id")
        with WebSocket(server, lines=[cookie]) as viewer:
            check(viewer.upgrade.status == 101)
            reply = post(server, "/logout", "", cookie)
            check(reply.status == 303 and reply.headers["location"] == "./login" and "Max-Age=0" in reply.headers["set-cookie"], reply)
            check(is_sent_away(viewer), "a WebSocket outlives its session")
        check(server.get("/api/gpu-data", cookie).status == 401, "a session outlives its end")
        reply = post(server, "/login", "token=" + token, origin="https://localhost")
        check(reply.headers["set-cookie"].endswith("; Secure"), reply)


def test_a_form_of_another_page_or_another_kind_signs_nobody_in(box):
    box.fake(SIMPLE)
    box.config(extra='\n[server]\nbase_path = "/gpu"\n')
    token = add(box, "wall")
    body = "token=" + token
    with Serve(box) as server:
        for status, reply in (
                (403, post(server, "/login", body, origin=None)), (403, post(server, "/login", body, origin="null")),
                (403, post(server, "/login", body, origin="http://evil.example")),
                (403, post(server, "/logout", "", origin="http://evil.example")), (403, post(server, "/logout", "", origin=None)),
                (415, post(server, "/login", json.dumps({"token": token}), kind="application/json")),
                (415, post(server, "/login", body, kind=None)), (413, post(server, "/login", body + "&x=" + "y" * 5000)),
                (405, server.get("/logout")), (405, post(server, "/api/gpu-data", body)),
                (401, server.get("/api/gpu-data", "Cookie: gpumanager=" + "0" * 32)),
                (401, server.get("/api/gpu-data", "Cookie: gpumanager=" + token))):
            check(reply.status == status and "set-cookie" not in reply.headers, (status, reply))
        reply = post(server, "/gpu/login", body)
        check(reply.status == 303 and "; Path=/gpu;" in reply.headers["set-cookie"], reply)
        reply = server.get("/login", "Host: localhost")
        check(reply.status == 400, "two Host headers")


def test_who_fails_five_times_waits(box):
    box.fake(SIMPLE)
    box.config()
    token = add(box, "wall")
    wrong = "gpm_" + "0" * 32
    with Serve(box) as server:
        cookie = sign_in(server, token)
        for i in range(5):
            reply = post(server, "/login", "token=" + wrong) if i % 2 else server.get("/api/gpu-data", bearer(wrong))
            check(reply.status == 401 and wrong.encode() not in reply.body, (i, reply))
        for reply in (post(server, "/login", "token=" + token), server.get("/api/gpu-data", bearer(token))):
            check(reply.status == 429 and 50 <= int(reply.headers["retry-after"]) <= 60, reply)
        with Connection(server) as client:
            check(client.ask(UPGRADE % ("/ws", bearer(token) + "\r\n")).status == 429)
        check(server.get("/api/gpu-data", cookie).status == 200, "a session that was there is refused")
        check(server.get("/api/gpu-data").status == 401 and server.get("/healthz").status == 200)
        check(server.log().count("a sign-in from 127.0.0.1 failed") == 5 and wrong not in server.log(), server.log())


# --- roles ---

def test_operators_see_the_processes_that_viewers_do_not(box):
    sleeper = subprocess.Popen(["sleep", "300"])
    try:
        box.fake(BUSY % sleeper.pid)
        hidden = '\n[server]\nhide_processes = true\n'
        box.config(extra=hidden)
        lines = {"viewer": bearer(add(box, "low")), "operator": bearer(add(box, "high", "--role", "operator"))}
        with Serve(box) as server:
            def full(role):
                reply = server.get("/api/v1/snapshot", lines[role])
                found = json.loads(reply.body) if reply.status == 200 else {}
                return found if found.get("processes") else None
            require(until(lambda: full("viewer"), 20), server.log())
            for role, is_seen in (("viewer", False), ("operator", True)):
                check((b"sleep" in server.get("/api/v1/snapshot", lines[role]).body) == is_seen, role)
                check(json.loads(server.get("/api/v1/metrics", lines[role]).body)["hides_commands"] != is_seen, role)
                for path in ("/ws", "/socket.io/"):
                    with WebSocket(server, path, lines=[lines[role]]) as viewer:
                        texts = [viewer.text() for _ in range(6)]
                    check(any("sleep" in t for t in texts) == is_seen, (role, path))
            with WebSocket(server, lines=[lines["viewer"]]) as viewer:
                box.config()
                os.kill(server.process.pid, 1)
                check(next_message(viewer, lambda m: m["type"] == "full" and "sleep" in json.dumps(m)), "SIGHUP does not reach viewers")
        box.config(extra=hidden)
        os.unlink(box.path("tokens"))
        with Serve(box) as server:
            server.gpus()
            check(b"sleep" not in server.get("/api/v1/snapshot").body, "without a sign-in everybody is a viewer")
    finally:
        sleeper.terminate()
        sleeper.wait()


# --- where it listens, and what is kept quiet ---

def test_other_machines_need_tls_and_a_token(box):
    key, cert = box.path("key.pem"), box.path("cert.pem")
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                           key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                          capture_output=True, timeout=60, check=False)
    require(done.returncode == 0, done.stderr)
    box.fake(SIMPLE)
    tls = '\n[server]\ntls_certificate = "%s"\ntls_key = "%s"\n' % (cert, key)

    def refused():
        ran = box.run("serve", "--listen", "0.0.0.0:0", timeout=20)
        check(ran.code == 2 and "--insecure" in ran.err and "token add" in ran.err and "tls_certificate" in ran.err, ran)
        return ran.err
    box.config()
    sentence = refused()
    check("not set" in sentence and "there is none" in sentence, sentence)
    box.config(extra=tls)
    sentence = refused()
    check("not set" not in sentence and "there is none" in sentence, sentence)
    token = add(box, "far")
    box.config()
    sentence = refused()
    check("not set" in sentence and "there is none" not in sentence, sentence)
    with Serve(box, "--insecure", listen="0.0.0.0:0") as server:
        check("HAS NO TLS" in server.log() and server.get("/api/gpu-data").status == 401, server.log())
    box.config(extra=tls)
    with Serve(box, listen="0.0.0.0:0") as server:
        context = ssl.create_default_context(cafile=cert)

        def ask(data):
            with context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=10), server_hostname="localhost") as sock:
                return Connection(sock=sock).ask(data)
        check(ask("GET /api/gpu-data HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 401)
        check(ask("GET /api/gpu-data HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n" % bearer(token)).status == 200)
        body = "token=" + token
        reply = ask("POST /login HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: https://localhost:%d\r\nContent-Length: %d\r\n"
                    "Content-Type: application/x-www-form-urlencoded\r\n\r\n%s" % (server.port, server.port, len(body), body))
        check(reply.status == 303 and reply.headers["set-cookie"].startswith("gpumanager_%d=" % server.port), reply)
        check(reply.headers["set-cookie"].endswith("; Secure"), reply)
        require(box.run("token", "remove", "far").code == 0)
        check(ask("GET /api/gpu-data HTTP/1.1\r\nHost: localhost\r\n\r\n").status == 401, "the last token's end opened the door")
    box.config()
    add(box, "far")
    path = box.path("page.sock")
    with Serve(box, listen="127.0.0.1:0,unix:" + path), socket.socket(socket.AF_UNIX) as sock:
        sock.connect(path)
        check(Connection(sock=sock).get("/api/gpu-data").status == 401, "a unix socket goes round the sign-in")


def test_a_token_is_in_no_log_no_file_and_no_command_line(box):
    box.fake(SIMPLE)
    box.config()
    token = add(box, "wall")
    with Serve(box) as server:
        cookie = sign_in(server, token)
        server.get("/api/gpu-data", bearer(token))
        server.get("/api/gpu-data?token=" + token)
        server.get("/" + token)
        post(server, "/login", "token=" + token + "x")
        words = [open("/proc/%d/%s" % (pid, name), "rb").read() for pid in [server.process.pid] + list(server.children())
                 for name in ("cmdline", "environ")]
        answers = [server.get(p, cookie).body for p in ("/login", "/api/v1/status", "/api/v1/snapshot", "/api/v1/openapi.json")]
        check(not any(token[4:].encode() in w for w in words + answers))
        log = server.log()
    session = cookie.split("=")[1]
    check("signed in with the token 'wall'" in log, log)
    check(token[4:] not in log and session not in log, log)
    for folder, _, names in os.walk(box.dir):
        for name in names:
            with open(os.path.join(folder, name), "rb") as file:
                text = file.read()
            check(token[4:].encode() not in text and session.encode() not in text, name)
    for words in (("status",), ("config", "show")):
        check(token[4:] not in repr(box.run(*words)), words)


if __name__ == "__main__":
    main()
