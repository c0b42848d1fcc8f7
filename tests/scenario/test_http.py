# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""The wire (src/http) through its test server: every limit with its status or close code, raw bytes,
curl, TLS, slow and hostile clients beside a good one, nginx in front."""
import gzip
import os
import shutil
import socket
import ssl
import subprocess
import time
import warnings

from harness import CASES, check, main, require, skip
from httpclient import ACCEPT, Connection, Server, UPGRADE, WebSocket, ask_once, deflated, frame, worst_time

HOST = "Host: localhost\r\n"
POST = "POST /echo HTTP/1.1\r\n" + HOST


def case(name):
    with open(os.path.join(CASES, name), "rb") as file:
        return file.read()


# --- plain HTTP ---

def test_a_page_is_answered_with_its_headers(_):
    with Server() as server, Connection(server) as client:
        reply = client.get("/hello")
        check(reply.status == 200 and reply.body == b"hello\n", reply)
        check(reply.headers["x-content-type-options"] == "nosniff", reply)
        check(reply.headers["cache-control"] == "no-store", reply)
        check(reply.headers["referrer-policy"] == "no-referrer", reply)
        check(reply.headers["date"].endswith(" GMT") and "server" not in reply.headers, reply)
        check("connection" not in reply.headers, reply)
        check(client.get("/none").status == 404)
        check(client.get("/nothing").status == 500, "a handler that forgets to answer")
        check(client.get("/hello").status == 200, "the connection goes on")
        reply = client.ask("POST /hello HTTP/1.1\r\n" + HOST + "\r\n")
        check(reply.status == 405 and reply.body == b'{"error":"not this method"}', reply)


def test_head_has_the_headers_without_the_body(_):
    with Server() as server, Connection(server) as client:
        reply = client.ask("HEAD /big HTTP/1.1\r\n" + HOST + "\r\n", is_head=True)
        check(reply.status == 200 and reply.headers["content-length"] == "8388608", reply)
        check(client.get("/hello").body == b"hello\n", "nothing of the body came")


def test_requests_may_be_sent_at_once(_):
    with Server() as server, Connection(server) as client:
        client.send(("GET /hello HTTP/1.1\r\n" + HOST + "\r\n" + POST + "Content-Length: 3\r\n\r\nabc" + POST
                     + "Transfer-Encoding: chunked\r\n\r\n2\r\nde\r\n1\r\nf\r\n0\r\n\r\n") * 50)
        for _ in range(50):
            check(client.reply().body == b"hello\n")
            check(client.reply().body == b"abc")
            check(client.reply().body == b"def")
        client.send(("GET /big HTTP/1.1\r\n" + HOST + "\r\n") * 40)
        time.sleep(0.5)
        before = server.resident()
        for _ in range(40):
            check(len(client.reply().body) == 8 << 20)
        check(server.resident() - before < 64 << 20, "replies are not heaped up")


def test_a_client_that_shuts_its_side_still_gets_its_replies(_):
    with Server() as server, Connection(server) as client:
        client.send(("GET /big HTTP/1.1\r\n" + HOST + "\r\n") * 3)
        client.sock.shutdown(socket.SHUT_WR)
        for _ in range(3):
            check(len(client.reply().body) == 8 << 20)
        check(client.is_closed())


def test_an_old_client_is_served_and_closed(_):
    with Server() as server, Connection(server) as client:
        reply = client.ask("GET /hello HTTP/1.0\r\n\r\n")
        check(reply.status == 200 and reply.headers["connection"] == "close", reply)
        check(client.is_closed(1))
        with Connection(server) as other:
            reply = other.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            check(reply.headers["connection"] == "keep-alive", reply)
            check(other.ask("GET /hello HTTP/1.0\r\n\r\n").status == 200)


def test_pages_are_known_and_compressed(_):
    with Server() as server, Connection(server) as client:
        plain = client.get("/page")
        check(plain.headers["etag"] == 'W/"v1"' and plain.headers["vary"] == "Accept-Encoding", plain)
        check(plain.headers["cache-control"] == "no-cache" and "content-encoding" not in plain.headers, plain)
        check("x-evil" not in plain.headers and plain.headers["x-split"] == "a  X-Evil: b", plain)
        packed = client.get("/page", "Accept-Encoding: br, gzip")
        check(packed.headers["content-encoding"] == "gzip" and gzip.decompress(packed.body) == plain.body, packed)
        check(client.get("/page", "Accept-Encoding: gzip;q=0").body == plain.body)
        for etag in ('"v1"', 'W/"v1"', '"v0", W/"v1"', "*"):
            known = client.get("/page", "If-None-Match: " + etag)
            check(known.status == 304 and known.body == b"" and "content-length" not in known.headers, known)
        check(client.get("/page", 'If-None-Match: "v0"').status == 200)


def test_what_the_handler_is_told(_):
    with Server("base=/gpu/") as server, Connection(server) as client:
        check(b"path=/about\nquery=a=%20b\npeer=127.0.0.1\nloopback=1\ntls=0\n" in client.get("/gpu/about?a=%20b").body)
        check(b"path=/about\n" in client.get("/about").body)
        check(b"x-test=one, two\n" in client.get("/ab%6Fut", "X-Test: one", "x-TEST:two").body)
        check(client.get("/gpux/about").status == 404)
        check(ask_once(server, case("WB23c.http")).status == 404)


def test_curl(_):
    if not shutil.which("curl"):
        skip("no curl")
    with Server() as server:
        def curl(*args, data=None):
            return subprocess.run(["curl", "-sS", "--noproxy", "*"] + list(args), input=data, capture_output=True,
                                  timeout=20, check=False).stdout
        url = "http://127.0.0.1:%d" % server.port
        check(curl(url + "/hello", url + "/hello") == b"hello\nhello\n")
        check(curl("--compressed", url + "/page") == b"<!doctype html><title>page</title>")
        body = b"x" * 1000000
        check(curl("-H", "Expect: 100-continue", "--expect100-timeout", "15", "--data-binary", "@-", url + "/echo", data=body) == body)
        check(curl("-H", "Transfer-Encoding: chunked", "--data-binary", "@-", url + "/echo", data=body) == body)
        check(b"413" in curl("-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@-", url + "/echo", data=body * 20))
        check(b"413" in curl("-H", "Transfer-Encoding: chunked", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "@-",
                             url + "/echo", data=body * 3))


# --- limits and hostile bytes ---

REFUSED = [
    (414, "GET /" + "a" * 20000 + " HTTP/1.1\r\n" + HOST + "\r\n"),
    (414, "GET /" + "a" * 16380),
    (431, "GET /hello HTTP/1.1\r\n" + HOST + "X: " + "a" * 20000 + "\r\n\r\n"),
    (431, "GET /hello HTTP/1.1\r\n" + HOST + "X: a\r\n" * 101 + "\r\n"),
    (413, POST + "Content-Length: 1048577\r\n\r\n"),
    (413, POST + "Content-Length: 999999999999\r\n\r\nx"),
    (413, POST + "Transfer-Encoding: chunked\r\n\r\n100001\r\n" + "a" * 0x100001),
    (400, "GET /hello HTTP/1.1\r\n\r\n"),
    (400, "GET /hello HTTP/1.1\r\n" + HOST + HOST + "\r\n"),
    (400, "GET /hello HTTP/1.1\r\nHost: a b\r\n\r\n"),
    (400, POST + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    (400, POST + "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n"),
    (400, POST + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
    (400, POST + "Content-Length: +5\r\n\r\nhello"),
    (400, POST + "Content-Length: 0x5\r\n\r\nhello"),
    (400, POST + "Content-Length: -1\r\n\r\nhello"),
    (400, POST + "Content-Length: 18446744073709551616\r\n\r\nhello"),
    (400, POST + "Transfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\n"),
    (400, POST + "Transfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n"),
    (400, POST + "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n"),
    (400, "GET /hello HTTP/1.1\r\n" + HOST + "Content-Length: 5\r\n\r\nhello"),
    (400, "GET /hello HTTP/1.1\nHost: localhost\n\n"),
    (400, "GET /hello HTTP/1.1\r\n" + HOST + "X: a\r\n folded\r\n\r\n"),
    (400, "GET /hello HTTP/1.1\r\n" + HOST + "X: a\0b\r\n\r\n"),
    (400, "GET /hello HTTP/1.1\r\n" + HOST + "X : a\r\n\r\n"),
    (400, "GET /\xe4 HTTP/1.1\r\n" + HOST + "\r\n"),
    (400, "GET /%00 HTTP/1.1\r\n" + HOST + "\r\n"),
    (400, "GET /hello HTTP/1.9\r\n" + HOST + "\r\n"),
    (400, "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03"),
    (417, POST + "Expect: cake\r\nContent-Length: 1\r\n\r\nx"),
    (501, "BREW /pot HTTP/1.1\r\n" + HOST + "\r\n"),
    (501, "CONNECT a:1 HTTP/1.1\r\n" + HOST + "\r\nGET /hello HTTP/1.1\r\n" + HOST + "\r\n"),
    (501, POST + "Transfer-Encoding: gzip\r\n\r\n"),
    (505, "GET /hello HTTP/2.0\r\n" + HOST + "\r\n"),
    (505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
]


def test_hostile_requests_have_their_status_and_are_closed(_):
    with Server() as server:
        for status, data in REFUSED + [(413, case("WB23b.http"))]:
            with Connection(server) as client:
                reply = client.ask(data)
                check(reply.status == status, "%r: %s, wanted %d" % (data[:90], reply, status))
                check(reply.headers["connection"] == "close" and reply.body.startswith(b'{"error":"'), reply)
                check(client.is_closed(4) and client.buffer == b"", data[:90])
        check(worst_time(server) < 0.1)


def test_the_answer_arrives_although_the_client_goes_on_sending(_):
    with Server() as server, Connection(server) as client:
        client.send(POST + "Content-Length: 4000000\r\n\r\n")
        for _ in range(40):
            client.send(b"x" * 100000)
        check(client.reply().status == 413)


def test_expect_is_answered_before_the_body(_):
    with Server() as server, Connection(server) as client:
        check(client.ask(POST + "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n").status == 100)
        check(client.ask("abc").body == b"abc")
        check(client.ask(POST + "Expect: 100-continue\r\nContent-Length: 9999999\r\n\r\n").status == 413)


def drip(server, first, piece, pause, limit):
    """Seconds until the server answers a client that sends one piece a time; and the reply."""
    with Connection(server, timeout=pause) as client:
        client.send(first)
        start = time.monotonic()
        while time.monotonic() - start < limit:
            try:
                if client.more():
                    return time.monotonic() - start, client.reply()
                return time.monotonic() - start, None
            except socket.timeout:
                client.send(piece)
        return limit, None


def test_a_request_has_a_deadline_however_busy_it_is(_):
    with Server("header_ms=1000", "body_ms=1500", "idle_ms=700") as server:
        took, reply = drip(server, "GET /hello HTTP/1.1\r\nX-Slow: ", "a", 0.1, 5)
        check(reply and reply.status == 408 and 0.8 < took < 3, (took, reply))
        took, reply = drip(server, "GET /hello HTTP/1.1\r\n" + HOST, "X: y\r\n", 0.2, 5)
        check(reply and reply.status == 408 and 0.8 < took < 3, (took, reply))
        took, reply = drip(server, POST + "Content-Length: 1000\r\n\r\n", "a", 0.1, 5)
        check(reply and reply.status == 408 and 1.2 < took < 3.5, (took, reply))
        took, reply = drip(server, POST + "Transfer-Encoding: chunked\r\n\r\n", "1\r\na\r\n", 0.1, 5)
        check(reply and reply.status == 408 and 1.2 < took < 3.5, (took, reply))
        with Connection(server) as silent, Connection(server) as idle:
            start = time.monotonic()
            check(idle.get("/hello").status == 200)
            check(idle.is_closed(3) and time.monotonic() - start < 1.5 and idle.buffer == b"")
            check(silent.is_closed(3) and silent.buffer == b"" and time.monotonic() - start < 2)


def test_a_reader_that_takes_nothing_is_dropped(_):
    with Server("stalled_ms=700") as server, Connection(server, receive_bytes=4096) as client:
        client.send("GET /big HTTP/1.1\r\n" + HOST + "\r\n")
        time.sleep(2.2)
        with Connection(server) as other:
            check(b"open=1\n" in other.get("/about").body, "the stalled connection is gone")


def test_a_slow_reader_is_served_to_the_end(_):
    with Server("stalled_ms=700", "idle_ms=700") as server, Connection(server, receive_bytes=65536) as client:
        client.send("GET /big HTTP/1.1\r\n" + HOST + "\r\n")
        got, start = 0, time.monotonic()
        while time.monotonic() - start < 2.5:
            got += len(client.sock.recv(100000))
            time.sleep(0.05)
        while got < 8 << 20:
            data = client.sock.recv(1 << 20)
            require(data, got)
            got += len(data)


def test_connections_are_capped(_):
    with Server("connections=10", "connections_each=6", address=("[::]:0", "127.0.0.1:0")) as server:
        def opened(host, port):
            sock = socket.create_connection((host, port), timeout=3)
            return Connection(sock=sock)
        def served(connection):
            try:
                return connection.get("/hello").status == 200
            except (EOFError, ConnectionError):
                return False
        first = [opened("127.0.0.1", server.ports[1]) for _ in range(3)]
        first += [opened("127.0.0.1", server.ports[0]) for _ in range(3)]
        check(all(served(c) for c in first), "six of one address, over both families")
        extra = opened("127.0.0.1", server.ports[1])
        check(not served(extra))
        other = [opened("::1", server.ports[0]) for _ in range(4)]
        check(all(served(c) for c in other))
        extra = opened("::1", server.ports[0])
        check(not served(extra), "ten in all")
        first[0].sock.close()
        time.sleep(0.2)
        again = opened("::1", server.ports[0])
        check(served(again), "a place that became free")
        check(b"peer=::1\nloopback=1\n" in again.get("/about").body)
        check(b"peer=127.0.0.1\nloopback=1\n" in first[4].get("/about").body, "not ::ffff:127.0.0.1")
        for connection in first + other + [again]:
            connection.sock.close()


def test_running_out_of_descriptors_is_survived(_):
    with Server(files=30) as server:
        held = [Connection(server) for _ in range(60)]
        time.sleep(0.5)
        before = server.cpu()
        time.sleep(2)
        check(server.cpu() - before < 0.5, "accept is not tried without end")
        for client in held:
            client.sock.close()
        with Connection(server) as client:
            check(client.get("/hello").status == 200)


def test_bodies_together_are_limited(_):
    with Server("bodies_bytes=2000000") as server:
        held = [Connection(server) for _ in range(4)]
        for client in held:
            client.send(POST + "Content-Length: 900000\r\n\r\n" + "x" * 600000)
        replies = []
        for client in held:
            try:
                client.sock.settimeout(0.5)
                replies.append(client.reply().status)
            except socket.timeout:
                replies.append(0)
        check(sorted(replies) == [0, 0, 0, 503], replies)
        for client in held:
            client.sock.close()


def test_two_hundred_dripping_connections_do_not_hold_up_a_good_client(_):
    with Server() as server:
        check(worst_time(server) < 0.1)
        before = server.resident()
        slow = [Connection(server) for _ in range(200)]
        for client in slow:
            client.send(case("WB23a.http"))
        start, statuses = time.monotonic(), []
        while time.monotonic() - start < 14:
            check(worst_time(server, 2) < 0.1)
            if int((time.monotonic() - start) / 5) > len(statuses):
                statuses.append(None)
                for client in slow:
                    try:
                        client.send("a")
                    except ConnectionError:
                        pass
            time.sleep(0.25)
        growth = server.resident() - before
        check(growth < 16 << 20, "grew by %d" % growth)
        replies = 0
        for client in slow:
            try:
                replies += client.reply().status == 408
            except (EOFError, ConnectionError):
                pass
            client.sock.close()
        check(replies == 200, replies)


# --- where it listens ---

def test_a_unix_socket(box):
    path = box.path("web.sock")
    with Server(address="unix:" + path):
        check(os.stat(path).st_mode & 0o777 == 0o660)
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(path)
        with Connection(sock=sock) as client:
            check(b"peer=unix\nloopback=1\n" in client.get("/about").body)
        second = Server(address="unix:" + path)
        check("another program listens" in second.error and second.process.returncode == 1, second.error)
    check(not os.path.exists(path), "the name is removed at the end")
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(path)
    dead.close()
    with Server(address="unix:" + path):
        check(os.path.exists(path), "a dead socket is replaced")
    box.write("file", "x")
    third = Server(address="unix:" + box.path("file"))
    check("no socket" in third.error and os.path.exists(box.path("file")), third.error)


def test_an_address_that_is_taken_is_named(_):
    with Server() as server:
        address = "127.0.0.1:%d" % server.port
        second = Server(address=address)
        check("cannot listen on '%s': Address already in use" % address in second.error, second.error)
    for wrong in ("localhost", "127.0.0.1:70000", "1.2.3:80", "[::1]80", ":80", "unix:"):
        check("expected" in Server(address=wrong).error or "path" in Server(address=wrong).error, wrong)


def make_certificate(box, name, prefix="tls"):
    cert, key = box.path(prefix + ".crt"), box.path(prefix + ".key")
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
                           "-out", cert, "-days", "2", "-subj", "/CN=" + name], capture_output=True, timeout=60, check=False)
    require(done.returncode == 0, done.stderr)
    return cert, key


def tls_connect(port, **versions):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    for name, value in versions.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            setattr(context, name, value)
    return context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))


def certificate_of(port):
    with tls_connect(port) as sock:
        return sock.getpeercert(binary_form=True)


def test_tls_with_a_certificate_that_is_replaced(box):
    if not shutil.which("openssl"):
        skip("no openssl")
    cert, key = make_certificate(box, "one")
    options = ("cert=" + cert, "key=" + key, "header_ms=1500")
    with Server(*options, address="tls:127.0.0.1:0") as server:
        with Connection(sock=tls_connect(server.port)) as client:
            check(b"tls=1\n" in client.get("/about").body)
            check(len(client.get("/big").body) == 8 << 20)
            client.send(POST + "Content-Length: 600000\r\n\r\n" + "y" * 600000)
            check(client.reply().body == b"y" * 600000)
            check(client.ask("GET /hello HTTP/1.1\r\n" + HOST + "Connection: close\r\n\r\n").body == b"hello\n")
            check(client.is_closed(1))
        with WebSocket(sock=tls_connect(server.port)) as viewer:
            viewer.send(frame(1, "over tls"))
            check(viewer.text() == "over tls")
            viewer.send(frame(8, b"\x03\xe8"))
            check(viewer.close_code() == 1000)
        try:
            tls_connect(server.port, maximum_version=ssl.TLSVersion.TLSv1_1).close()
            check(False, "TLS 1.1 was taken")
        except (ssl.SSLError, OSError):
            pass
        with Connection(server) as plain:
            plain.send("GET /hello HTTP/1.1\r\n" + HOST + "\r\n")
            check(plain.is_closed(3))
        with Connection(server) as silent:
            check(silent.is_closed(4), "a handshake has a deadline")
        old = certificate_of(server.port)
        new_cert, new_key = make_certificate(box, "two", "new")
        with Connection(sock=tls_connect(server.port)) as kept:
            check(kept.get("/hello").status == 200)
            os.replace(new_cert, cert)
            time.sleep(1.1)
            check(certificate_of(server.port) == old, "half a pair is not taken")
            os.replace(new_key, key)
            time.sleep(1.1)
            check(certificate_of(server.port) != old)
            check(kept.get("/hello").status == 200, "an old connection goes on")
    check("No such file" in Server("cert=" + box.path("none"), "key=" + key, address="tls:127.0.0.1:0").error)
    other = make_certificate(box, "three", "other")
    check("does not belong" in Server("cert=" + cert, "key=" + other[1], address="tls:127.0.0.1:0").error)


# --- WebSocket ---

def test_an_upgrade_is_known_by_tokens(_):
    with Server() as server:
        for name in ("WB01a.http", "WB01b.http", "WB01c.http"):
            data = case(name).replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
            with Connection(server) as client:
                reply = client.ask(data)
                check(reply.status == 101 and reply.headers["sec-websocket-accept"] == ACCEPT, (name, reply))
        with Connection(server) as client:
            reply = client.ask((UPGRADE % ("/ws", "")).replace("13", "8"))
            check(reply.status == 426 and reply.headers["sec-websocket-version"] == "13", reply)
            check(client.get("/ws").status == 426)
            check(client.ask(UPGRADE % ("/ws", "Origin: http://evil.example\r\n")).status == 403)
            check(client.ask(UPGRADE % ("/ws", "Origin: http://localhost\r\n")).status == 101)


def test_messages_come_back(_):
    with Server() as server, WebSocket(server) as viewer:
        check("sec-websocket-extensions" not in viewer.upgrade.headers)
        for text in ("", "a", "x" * 125, "x" * 126, "x" * 65535, "x" * 65536, "\u20ac\U0001f600"):
            viewer.send(frame(1, text))
            check(viewer.text() == text)
        viewer.send(frame(1, "Wo", is_final=False) + frame(9, "abc") + frame(0, "", is_final=False) + frame(0, "rd"))
        check(viewer.frame() == (10, b"abc"))
        check(viewer.text() == "Word")
        data = frame(1, "byte by byte")
        for i in range(len(data)):
            viewer.send(data[i:i + 1])
        check(viewer.text() == "byte by byte")
        viewer.send(frame(1, "close me"))
        check(viewer.close_code() == 3000)
        viewer.send(frame(8, b"\x0b\xb8"))
        check(viewer.is_closed(1))
    with Server() as server, Connection(server) as client:
        client.send((UPGRADE % ("/ws", "")).encode() + frame(1, "sent with the upgrade"))
        check(client.reply().status == 101)
        check(client.take(2 + 21)[2:] == b"sent with the upgrade")


def test_compression_is_agreed_on(_):
    with Server() as server, WebSocket(server, deflate=True) as viewer:
        check(viewer.upgrade.headers["sec-websocket-extensions"]
              == "permessage-deflate; server_no_context_takeover; client_no_context_takeover", viewer.upgrade)
        long = "0123456789" * 500
        viewer.send(frame(1, long))
        check(viewer.text() == long and viewer.deflated == 1)
        viewer.send(frame(1, deflated(long.encode()), bits=0x40))
        check(viewer.text() == long and viewer.deflated == 2)
        viewer.send(frame(1, "short"))
        check(viewer.text() == "short" and viewer.deflated == 2)
        viewer.send(frame(1, deflated(b"x" * 1000000), bits=0x40))
        check(viewer.close_code() == 1009, "a bomb")


BROKEN = [
    (1002, frame(1, "x", is_masked=False)),
    (1002, frame(1, "x", bits=0x40)),
    (1002, frame(1, "x", bits=0x20)),
    (1002, frame(1, "x", bits=0x10)),
    (1002, frame(3, "x")),
    (1002, frame(11, "x")),
    (1002, frame(0, "x")),
    (1002, frame(1, "x", is_final=False) + frame(1, "x")),
    (1002, frame(9, "x" * 126)),
    (1002, frame(9, "x", is_final=False)),
    (1002, frame(8, b"\x03")),
    (1002, frame(8, b"\x03\xed")),
    (1002, b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff1234"),
    (1003, frame(2, "x")),
    (1007, frame(1, b"\xff")),
    (1007, frame(8, b"\x03\xe8\xff")),
    (1008, frame(1, "", is_final=False) + frame(0, "", is_final=False) * 5000),
    (1009, b"\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff1234"),
    (1009, frame(1, "x" * 65537)),
    (1009, frame(1, "x" * 40000, is_final=False) + frame(0, "x" * 40000)),
    (1000, frame(8, b"")),
    (1000, frame(8, b"\x03\xe8bye")),
    (4000, frame(8, b"\x0f\xa0")),
]


def test_broken_frames_have_their_close_code(_):
    with Server() as server:
        for code, data in BROKEN:
            with WebSocket(server) as viewer:
                viewer.send(data)
                got = viewer.close_code()
                check(got == code, "%r: %d, wanted %d" % (data[:40], got, code))
                check(viewer.is_closed(4))
        check(worst_time(server) < 0.1)


def test_a_silent_viewer_is_pinged_and_dropped(_):
    with Server("ping_ms=500") as server:
        with WebSocket(server) as mute:
            start = time.monotonic()
            check(mute.frame() == (9, b"") and mute.frame() == (9, b""))
            check(mute.is_closed(3) and time.monotonic() - start < 2.5)
        with WebSocket(server) as viewer:
            viewer.send(case_frames("WB03.ws"))
            check(viewer.frame() == (10, b"abc"))
            for _ in range(5):
                check(viewer.frame() == (9, b""))
                viewer.send(frame(10))
            viewer.send(frame(1, "alive"))
            check(viewer.text() == "alive")


def case_frames(name):
    return b"".join(bytes.fromhex(line) for line in case(name).decode().split("\n") if line and not line.startswith("#"))


def test_a_ping_flood_costs_nobody_else(_):
    with Server() as server, WebSocket(server, receive_bytes=4096) as flood:
        before = server.resident()
        flood.sock.settimeout(0.2)
        data, sent = frame(9, "p" * 125) * 500, 0
        start = time.monotonic()
        try:
            while sent < 200 and time.monotonic() - start < 5:
                flood.send(data)
                sent += 1
        except (socket.timeout, ConnectionError):
            pass
        check(worst_time(server) < 0.1)
        check(server.resident() - before < 4 << 20, server.resident() - before)


def test_a_slow_viewer_gets_the_newest_frame(_):
    with Server("feed_ms=20", "feed_bytes=60000", "stalled_ms=4000") as server:
        with WebSocket(server, "/ws-feed", receive_bytes=16384) as slow, WebSocket(server, "/ws-feed", deflate=True) as good:
            first = int(slow.text().split()[0])
            before = server.resident()
            numbers = [int(good.text().split()[0]) for _ in range(100)]
            check(good.deflated == 100)
            check(numbers == sorted(set(numbers)) and numbers[-1] - numbers[0] < 200, numbers)
            growth = server.resident() - before
            check(growth < 4 << 20, "grew by %d" % growth)
            late = [int(slow.text().split()[0]) for _ in range(8)]
            check(late == sorted(late) and late[-1] >= numbers[-1] - 1, (first, late, numbers[-1]))
            check(max(b - a for a, b in zip([first] + late, late)) > 50, "a queue was skipped")
        check(worst_time(server) < 0.1)


def test_a_viewer_that_takes_nothing_is_dropped(_):
    with Server("feed_ms=20", "feed_bytes=60000", "stalled_ms=600") as server:
        with WebSocket(server, "/ws-feed", receive_bytes=4096), Connection(server) as other:
            check(b"open=2\n" in other.get("/about").body)
            time.sleep(2.5)
            check(b"open=1\n" in other.get("/about").body)


def test_stopping_says_goodbye(_):
    server = Server("drain_ms=3000")
    require(server.ports)
    with WebSocket(server) as viewer, Connection(server) as idle, Connection(server) as busy, Connection(server) as reader:
        check(idle.get("/hello").status == 200)
        busy.send(POST + "Content-Length: 4\r\n\r\nab")
        reader.send("GET /big HTTP/1.1\r\n" + HOST + "\r\n")
        time.sleep(0.3)
        start = time.monotonic()
        server.process.terminate()
        check(viewer.close_code() == 1001)
        viewer.send(frame(8, b"\x03\xe9"))
        check(viewer.is_closed(1) and idle.is_closed(1))
        reply = busy.ask("cd")
        check(reply.body == b"abcd" and reply.headers["connection"] == "close", reply)
        check(len(reader.reply().body) == 8 << 20)
        for connection in (viewer, idle, busy, reader):
            connection.sock.close()
        code, err = server.stop()
        check(code == 0 and time.monotonic() - start < 2.5, (code, err, time.monotonic() - start))
    server = Server("drain_ms=500")
    with Connection(server) as stuck:
        stuck.send(POST + "Content-Length: 4\r\n\r\nab")
        time.sleep(0.2)
        start = time.monotonic()
        check(server.stop()[0] == 0 and time.monotonic() - start < 2)


# --- a proxy in front ---

NGINX = """daemon off; master_process off; worker_processes 1; pid %(dir)s/nginx.pid; error_log %(dir)s/error.log;
events { worker_connections 200; }
http { access_log off; client_body_temp_path %(dir)s/b; proxy_temp_path %(dir)s/p; fastcgi_temp_path %(dir)s/f;
  uwsgi_temp_path %(dir)s/u; scgi_temp_path %(dir)s/s;
  server { listen 127.0.0.1:%(port)d;
    location /gpu/ { proxy_pass http://127.0.0.1:%(back)d/; proxy_http_version 1.1; proxy_set_header Host $host;
      proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade"; }
    location /kept/ { proxy_pass http://127.0.0.1:%(back)d; } } }
"""


def test_behind_nginx_under_a_path(box):
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if not nginx:
        skip("no nginx")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Server("base=/kept", "ping_ms=300") as server:
        conf = box.write("nginx.conf", NGINX % {"dir": box.dir, "port": port, "back": server.port})
        proxy = subprocess.Popen([nginx, "-c", conf, "-e", box.path("error.log")], stderr=subprocess.DEVNULL)
        try:
            for _ in range(100):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            with Connection(port) as client:
                check(client.get("/gpu/hello").body == b"hello\n")
                check(b"path=/about\n" in client.get("/kept/about").body)
                check(len(client.get("/gpu/big").body) == 8 << 20)
                reply = client.ask("POST /gpu/echo HTTP/1.1\r\n" + HOST + "Content-Length: 100000\r\n\r\n" + "z" * 100000)
                check(reply.body == b"z" * 100000)
            viewers = [WebSocket(port, "/gpu/ws", deflate=True) for _ in range(20)]
            for viewer in viewers:
                check(viewer.upgrade.status == 101, viewer.upgrade)
                viewer.send(frame(1, "through nginx " * 20))
                check(viewer.text() == "through nginx " * 20 and viewer.deflated == 1)
                viewer.sock.close()
        finally:
            proxy.terminate()
            proxy.wait(10)


main()
