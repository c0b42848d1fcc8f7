# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Delivery to Slack as a whole: what is posted, what is tried again, what is kept and how it gets
out later. The webhook is a server of the harness on loopback."""
import email.utils
import fcntl
import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time

from harness import CASES, Slack, check, main, require, skip

SECRET = "secret-token"
NOW = "2026-03-22T16:30:00+09:00"
NOW_S = 1774164600
LATE = "late: Slack could not be reached before."
EMPTY = "No GPU samples found in the selected window."
SAMPLE = ("timestamp,gpu_index,gpu_uuid,gpu_name,util_gpu\n"
          "2026-03-22T16:21:00+09:00,0,GPU-00000000-0000-4000-8000-000000000001,NVIDIA A100,35\n"
          "2026-03-22T16:21:00+09:00,1,GPU-00000000-0000-4000-8000-000000000002,NVIDIA A100,\n")
MESSAGE = "[host-a/daily] 2026.03.22 16:30:00 KST\nWindow: last 1d\nGPU 0: 35.00%\nGPU 1: n/a"


def ready(box, url, patience_ms=1, **kwargs):
    """One report over one sample. With 1 ms of patience nothing is tried twice."""
    box.config(webhook=url, **kwargs)
    box.write("csv/2026-03-22T16-21-00.csv", SAMPLE)
    box.now(NOW)
    box.env["GPUMANAGER_PATIENCE_MS"] = str(patience_ms)


def at(box, minutes):
    """So many minutes after NOW: a message tells its moment, so that each is another one."""
    box.now("@%d" % (NOW_S + minutes * 60))


def dead_url(box):
    """Where nobody listens: the port is taken, so that nobody else can come to listen there."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    box.taken = taken  # lives as long as the test
    return "http://127.0.0.1:%d/services/T0/B0/%s" % (taken.getsockname()[1], SECRET)


def queue_dir(box):
    return os.path.join(box.csv_dir, ".gpumanager", "queue")


def kept(box):
    folder = queue_dir(box)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, n) for n in names if re.fullmatch(r"\d{19}\.json", n)]


def keep_by_hand(box, number, text, kept_s):
    body = json.dumps({"text": text})
    return box.write("csv/.gpumanager/queue/%019d.json" % number,
                     json.dumps({"kept": kept_s, "body": body}), 0o600)


def check_no_secret(box, *ran):
    """In nothing that was printed and in no file but the configuration."""
    for one in ran:
        check(SECRET not in one.out + one.err, one)
    for folder, _, names in os.walk(box.dir):
        for name in names:
            path = os.path.join(folder, name)
            if path == box.config_path or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                check(SECRET.encode() not in file.read(), path)


def headers_of(texts):
    """The moments that messages tell, for their order."""
    return [re.search(r"\d\d:\d\d:\d\d", text).group() for text in texts]


def test_a_report_is_one_json_post_and_then_printed(box):
    """GM-065, GM-066, GM-060 … GM-063"""
    slack = box.slack()
    ready(box, slack.url, server="서버-1")
    ran = box.run("test-report")
    text = MESSAGE.replace("host-a", "서버-1")
    check(ran.code == 0 and ran.out == text + "\n" and ran.err == "", ran)
    require(len(slack.requests) == 1, slack.requests)
    _, path, body, headers = slack.requests[0]
    check(path == "/services/T0/B0/" + SECRET, path)
    check(headers.get("Content-Type") == "application/json", headers)
    check("Expect" not in headers, headers)
    check(body == {"text": text}, body)
    # As Python's json.dumps writes it: no byte beyond ASCII.
    check(slack.bodies[0] == json.dumps({"text": text}).encode(), slack.bodies)
    check(kept(box) == [])
    check_no_secret(box, ran)


def test_nothing_is_printed_before_the_post(box):
    """GM-066"""
    master, slave = pty.openpty()
    seen = []

    def look(_handler):
        time.sleep(0.2)
        seen.append(bool(select.select([master], [], [], 0)[0]))
        return 200, {}, "ok"

    slack = box.slack([look])
    ready(box, slack.url)
    child = box.start("test-report", stdin=subprocess.DEVNULL, stdout=slave, stderr=subprocess.PIPE)
    os.close(slave)
    check(child.wait(30) == 0, child.stderr.read())
    child.stderr.close()
    check(seen == [False], seen)
    check(b"GPU 0: 35.00%" in os.read(master, 4096))
    os.close(master)


def test_the_three_characters_of_slack_are_escaped_once(box):
    """SL05"""
    slack = box.slack()
    with open(os.path.join(CASES, "SL05.toml"), encoding="utf-8") as file:
        text = file.read()
    text = re.sub('webhook_url = ".*"', 'webhook_url = "%s"' % slack.url, text)
    box.config(re.sub('csv_dir = ".*"', 'csv_dir = "%s"' % box.csv_dir, text))
    ran = box.run("test-report")
    require(ran.code == 0 and len(slack.requests) == 1, ran)
    sent = slack.texts()[0]
    check(sent.startswith("[R&amp;D &lt;!channel&gt; &lt;@U1&gt;/daily] "), sent)
    check("&amp;lt;" not in sent and "&amp;amp;" not in sent and "&#" not in sent, sent)
    check(ran.out.startswith("[R&D <!channel> <@U1>/daily] "), ran)


def test_a_busy_slack_is_asked_again_after_the_time_it_states(box):
    """SL01"""
    slack = box.slack(Slack.case("SL01.http"))
    ready(box, slack.url, patience_ms=30000)
    ran = box.run("test-report")
    check(ran.code == 0 and ran.out == MESSAGE + "\n", ran)
    require(len(slack.requests) == 2, slack.requests)
    check(2.0 <= slack.requests[1][0] - slack.requests[0][0] < 10, slack.requests)
    check(slack.bodies[0] == slack.bodies[1] and slack.texts() == [MESSAGE] * 2, slack.bodies)
    check(kept(box) == [])


def test_a_date_in_retry_after_is_understood(box):
    """SL01: HTTP-date. It is rounded to seconds, so less than three may be left."""
    def busy(_handler):
        return 429, {"Retry-After": email.utils.formatdate(time.time() + 3, usegmt=True)}, "rate_limited"

    slack = box.slack([busy, (200, {}, "ok")])
    ready(box, slack.url, patience_ms=30000)
    ran = box.run("test-report")
    require(ran.code == 0 and len(slack.requests) == 2, (ran, slack.requests))
    check(1.5 <= slack.requests[1][0] - slack.requests[0][0] < 10, slack.requests)


def test_failures_that_pass_are_tried_again_at_growing_distances(box):
    """SL01: 429 without Retry-After, 5xx; also a connection that ends without an answer"""
    def hang_up(handler):
        handler.connection.shutdown(socket.SHUT_RDWR)

    slack = box.slack([(429, {}, "rate_limited"), hang_up, (200, {}, "ok")])
    ready(box, slack.url, patience_ms=30000)
    ran = box.run("test-report")
    require(ran.code == 0 and len(slack.requests) == 3, (ran, slack.requests))
    times = [r[0] for r in slack.requests]
    check(0.9 <= times[1] - times[0] < 5 and 1.9 <= times[2] - times[1] < 8, times)
    slack = box.slack([(500, {}, "oops"), (200, {}, "ok")])
    box.config(webhook=slack.url)
    ran = box.run("test-report")
    check(ran.code == 0 and len(slack.requests) == 2 and ran.out == MESSAGE + "\n", (ran, slack.requests))


def test_what_cannot_pass_within_the_patience_is_kept_at_once(box):
    """Part B "Slack webhook returned HTTP 500", SL01: a wait that is too long is not waited for"""
    for reply, words in (((500, {}, "<html>fault</html>"), "Slack webhook returned HTTP 500;"),
                         ((429, {"Retry-After": "3600"}, "rate_limited"), "HTTP 429: rate_limited;"),
                         ((503, {"Retry-After": "99999999999999999999"}, ""), "HTTP 503;"),
                         ((429, {"Retry-After": "-5"}, ""), "HTTP 429;"),
                         ((408, {}, ""), "HTTP 408;")):
        slack = box.slack([reply])
        ready(box, slack.url, patience_ms=500)
        begin = time.monotonic()
        ran = box.run("test-report")
        check(ran.code == 1 and time.monotonic() - begin < 5, ran)
        check("Error: " in ran.err and words in ran.err and "kept" in ran.err and ran.out == "", (words, ran))
        check(len(slack.requests) == 1 and len(kept(box)) == 1, (slack.requests, kept(box)))
        os.remove(kept(box)[0])


def test_a_refused_connection_keeps_the_message_and_the_next_run_of_any_report_sends_it(box):
    """Part C 7, Part B, GM-066"""
    reports = (("daily", "0 9 * * *", "1d"), ("weekly", "0 9 * * 1", "7d"))
    ready(box, dead_url(box), reports=reports)
    first = box.run("test-report", "--report", "daily")
    check(first.code == 1 and first.out == "", first)
    check("Failed to send Slack webhook: [Errno 111] Connection refused" in first.err, first)
    check("kept" in first.err, first)
    require(len(kept(box)) == 1, kept(box))
    check(os.stat(kept(box)[0]).st_mode & 0o777 == 0o600)
    check(os.stat(queue_dir(box)).st_mode & 0o777 == 0o700)
    # Behind one that waits every further one waits: their order stays.
    at(box, 10)
    second = box.run("test-report", "--report", "weekly")
    check(second.code == 1 and len(kept(box)) == 2, (second, kept(box)))
    check(json.loads(box.run("status").out)["kept_messages"] == 2)
    slack = box.slack()
    box.config(webhook=slack.url, reports=reports)
    at(box, 320)
    third = box.run("test-report", "--report", "weekly")
    check(third.code == 0 and "Sent 2 kept message(s) of earlier runs first" in third.err, third)
    require(len(slack.requests) == 3, slack.texts())
    texts = slack.texts()
    check(headers_of(texts) == ["16:30:00", "16:40:00", "21:50:00"], texts)
    check(texts[0] == MESSAGE + "\nSent 5 h 20 min " + LATE, texts[0])
    check("/weekly]" in texts[1] and texts[1].endswith("Sent 5 h 10 min " + LATE), texts[1])
    check("late" not in texts[2] and third.out == texts[2] + "\n", (texts[2], third))
    check(kept(box) == [])
    fourth = box.run("test-report", "--report", "daily")
    check(fourth.code == 0 and len(slack.requests) == 4 and "late" not in slack.texts()[3], slack.texts())
    check_no_secret(box, first, second, third, fourth)


def test_a_new_report_waits_behind_those_that_cannot_be_sent(box):
    """The first of two kept ones passes, the second does not: the new one is not tried."""
    slack = box.slack([(200, {}, "ok"), (500, {}, "")])
    ready(box, slack.url)
    keep_by_hand(box, 1, "one", NOW_S - 120)
    keep_by_hand(box, 2, "two", NOW_S - 60)
    ran = box.run("test-report")
    check(ran.code == 1 and ran.out == "" and "Sent 1 kept message(s)" in ran.err, ran)
    check([t.split("\n")[0] for t in slack.texts()] == ["one", "two"], slack.texts())
    check(len(kept(box)) == 2, kept(box))
    slack.replies = [(200, {}, "ok")]
    at(box, 1)
    ran = box.run("test-report")
    check(ran.code == 0, ran)
    check([t.split("\n")[0][:10] for t in slack.texts()[2:]] == ["two", "[host-a/da", "[host-a/da"], slack.texts())


def test_a_stalled_server_is_left_after_the_deadline(box):
    """GM-065: 10 s"""
    slack = box.slack([lambda handler: time.sleep(13)])
    ready(box, slack.url)
    begin = time.monotonic()
    ran = box.run("test-report")
    took = time.monotonic() - begin
    check(ran.code == 1 and "Failed to send Slack webhook: timed out" in ran.err, ran)
    check(9.5 <= took < 13, took)
    check(len(slack.requests) == 1 and len(kept(box)) == 1, (slack.requests, kept(box)))


def test_a_redirect_is_not_followed(box):
    """The webhook's secret goes to nobody else."""
    other = box.slack()
    slack = box.slack([(302, {"Location": other.url + "?from=" + SECRET}, "")])
    ready(box, slack.url)
    ran = box.run("test-report")
    check(ran.code == 1 and "HTTP 302" in ran.err and "not followed" in ran.err, ran)
    check(len(slack.requests) == 1 and other.requests == [], (slack.requests, other.requests))
    check(kept(box) == [] and "GPU 0: 35.00%" in ran.err, ran)
    check_no_secret(box, ran)


def test_a_refusal_for_good_is_explained_and_not_kept(box):
    """Slack's words are shown, but never a part of the URL"""
    for status, answer, is_shown in ((404, "no_service", True), (403, "invalid_token", True),
                                     (400, "invalid_payload", True), (410, "channel_is_archived", True),
                                     (404, "no such path /services/T0/B0/" + SECRET, False),
                                     (404, "<html>not here</html>", False)):
        slack = box.slack([(status, {}, answer)])
        ready(box, slack.url, patience_ms=5000)
        ran = box.run("test-report")
        check(ran.code == 1 and "Slack webhook returned HTTP %d" % status in ran.err, ran)
        check((": " + answer in ran.err) == is_shown, (answer, ran))
        check(len(slack.requests) == 1 and kept(box) == [], (slack.requests, kept(box)))
        check("GPU 0: 35.00%" in ran.err and ran.out == "", "the message itself is lost: %s" % ran)
        check_no_secret(box, ran)


def test_kept_messages_survive_a_webhook_that_is_wrong_for_a_while(box):
    slack = box.slack([(404, {}, "no_service")])
    ready(box, slack.url)
    keep_by_hand(box, 1, "one", NOW_S - 60)
    ran = box.run("test-report")
    check(ran.code == 1 and len(kept(box)) == 1 and "no_service" in ran.err, ran)
    # A message that is refused for itself does not hold up the others.
    slack.replies = [(404, {}, "")] * len(slack.requests) + [(400, {}, "invalid_payload"), (200, {}, "ok")]
    ran = box.run("test-report")
    check(ran.code == 0 and kept(box) == [] and "1 kept message(s) were given up" in ran.err, ran)


def test_the_proxy_of_the_environment_is_used(box):
    proxy = box.slack()
    slack = box.slack()
    ready(box, slack.url)
    here = "http://127.0.0.1:%d" % proxy.port
    ran = box.run("test-report", env={"no_proxy": "", "http_proxy": here})
    check(ran.code == 0 and slack.requests == [], (ran, slack.requests))
    check([r[1] for r in proxy.requests] == [slack.url], proxy.requests)
    ran = box.run("test-report", env={"no_proxy": "127.0.0.1", "http_proxy": here})
    check(ran.code == 0 and len(slack.requests) == 1 and len(proxy.requests) == 1, ran)
    # A proxy that is not there: kept, and said without the URL.
    ran = box.run("test-report", env={"no_proxy": "", "http_proxy": dead_url(box)})
    check(ran.code == 1 and len(kept(box)) == 1 and "Failed to send Slack webhook" in ran.err, ran)
    check_no_secret(box, ran)


def test_too_many_and_too_old_messages_are_given_up_and_that_is_said(box):
    slack = box.slack()
    ready(box, slack.url)
    for number in range(1, 102):
        keep_by_hand(box, number, "message %d" % number, NOW_S - 3600)
    ran = box.run("test-report", timeout=60)
    check(ran.code == 0 and "1 kept message(s) were given up" in ran.err, ran)
    check("Sent 100 kept message(s)" in ran.err, ran)
    firsts = [t.split("\n")[0] for t in slack.texts()]
    check(firsts[:100] == ["message %d" % n for n in range(2, 102)] and len(firsts) == 101, firsts)
    slack.requests.clear()
    keep_by_hand(box, 1, "old", NOW_S - 7 * 86400 - 1)
    keep_by_hand(box, 2, "just young enough", NOW_S - 7 * 86400)
    keep_by_hand(box, 3, "from the future", NOW_S + 86400)
    ran = box.run("test-report")
    check(ran.code == 0 and "1 kept message(s) were given up" in ran.err, ran)
    check(slack.texts()[:2] == ["just young enough\nSent 7 days 0 h " + LATE,
                                "from the future\nSent 0 s " + LATE], slack.texts())
    check(kept(box) == [])


def test_the_queue_does_not_grow_for_ever_while_slack_is_away(box):
    ready(box, dead_url(box))
    for number in range(1, 106):
        keep_by_hand(box, number, "message %d" % number, NOW_S - 3600)
    ran = box.run("test-report")
    check(ran.code == 1 and "5 kept message(s) were given up" in ran.err, ran)
    check(len(kept(box)) == 101, len(kept(box)))


def test_a_torn_queue_file_is_set_aside_and_holds_up_nothing(box):
    slack = box.slack()
    ready(box, slack.url)
    torn = {1: b'{"kept": 1774164000, "bo', 2: b"", 3: b"\x00\xff\xfe", 4: b"[]", 5: b'{"kept": "x", "body": "{}"}',
            6: b'{"kept": 1774164000, "body": 7}'}
    for number, content in torn.items():
        box.write("csv/.gpumanager/queue/%019d.json" % number, content, 0o600)
    keep_by_hand(box, 7, "whole", NOW_S - 60)
    box.write("csv/.gpumanager/queue/notes.txt", "not ours")
    ran = box.run("test-report")
    check(ran.code == 0 and "%d kept message(s) were given up" % len(torn) in ran.err, ran)
    check([t.split("\n")[0] for t in slack.texts()] == ["whole", MESSAGE.split("\n")[0]], slack.texts())
    aside = sorted(n for n in os.listdir(queue_dir(box)) if n.endswith(".unreadable"))
    check(len(aside) == len(torn), aside)
    with open(os.path.join(queue_dir(box), aside[0]), "rb") as file:
        check(file.read() == torn[1])
    check(os.path.exists(os.path.join(queue_dir(box), "notes.txt")))
    ran = box.run("test-report")
    check(ran.code == 0 and ran.err == "", ran)


def test_a_crash_while_keeping_leaves_a_whole_message_or_none(box):
    """Part C 7: kill -9 at each step of the writing"""
    ready(box, dead_url(box))
    outcomes = set()
    for step in range(1, 40):
        ran = box.run("test-report", env={"GPUMANAGER_FAULT": "kill:%d" % step})
        if ran.code != -signal.SIGKILL:
            break
        found = kept(box)
        check(len(found) <= 1, (step, found))
        outcomes.add(len(found))
        for path in found:
            with open(path, encoding="utf-8") as file:
                body = json.loads(json.load(file)["body"])
            check(body == {"text": MESSAGE}, (step, body))
            check(os.stat(path).st_mode & 0o777 == 0o600, (step, oct(os.stat(path).st_mode)))
            os.remove(path)
    check(ran.code == 1 and step > 3 and outcomes == {0, 1}, (ran, step, outcomes))
    slack = box.slack()
    box.config(webhook=slack.url)
    ran = box.run("test-report")
    check(ran.code == 0 and "given up" not in ran.err and len(slack.requests) == 2, (ran, slack.texts()))


def test_what_a_crash_left_in_the_queue_goes_with_a_later_run(box):
    slack = box.slack()
    ready(box, slack.url)
    for name, age_s in ((".tmp-0123456789abcdef", 3700), (".tmp-fedcba9876543210", 100)):
        path = box.write("csv/.gpumanager/queue/" + name, "half", 0o600)
        os.utime(path, (time.time() - age_s,) * 2)
    ran = box.run("test-report")
    check(ran.code == 0 and ran.err == "" and len(slack.requests) == 1, ran)
    left = [n for n in os.listdir(queue_dir(box)) if n.startswith(".tmp")]
    check(left == [".tmp-fedcba9876543210"], left)


def test_a_crash_while_sending_loses_no_kept_message(box):
    """At least once: twice only what was posted and not yet removed when the crash came."""
    slack = box.slack()
    steps = 0
    for step in range(1, 40):
        ready(box, slack.url)
        for number in range(1, 4):
            keep_by_hand(box, number, "step %d message %d" % (step, number), NOW_S - 60)
        ran = box.run("test-report", env={"GPUMANAGER_FAULT": "kill:%d" % step})
        is_killed = ran.code == -signal.SIGKILL
        steps += is_killed
        again = box.run("test-report")
        check(again.code == 0 and kept(box) == [] and "given up" not in again.err, (step, again))
        firsts = [t.split("\n")[0] for t in slack.texts()]
        counts = [firsts.count("step %d message %d" % (step, n)) for n in range(1, 4)]
        check(min(counts) == 1 and sum(counts) <= (4 if is_killed else 3), (step, counts))
        if not is_killed:
            break
    check(steps >= 3, steps)


def test_a_run_that_is_ended_while_it_waits_loses_nothing(box):
    """Part C 7: a machine that goes down within the patience"""
    for number in (signal.SIGKILL, signal.SIGTERM):
        slack = box.slack([(429, {"Retry-After": "20"}, "rate_limited"), (200, {}, "ok")])
        ready(box, slack.url, patience_ms=60000)
        child = box.start("test-report", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        until = time.monotonic() + 20
        while not kept(box) and time.monotonic() < until:
            time.sleep(0.02)
        child.send_signal(number)
        child.communicate(timeout=20)
        check(child.returncode == -number and len(slack.requests) == 1, (child.returncode, slack.requests))
        require(len(kept(box)) == 1, kept(box))
        at(box, 7)
        ran = box.run("test-report")
        check(ran.code == 0 and slack.texts()[1] == MESSAGE + "\nSent 7 min " + LATE and len(slack.requests) == 3, (ran, slack.texts()))
        check(kept(box) == [])


def test_what_waits_is_sent_once_and_leaves_no_copy(box):
    """Also when the copy cannot be made, or not be removed."""
    for fault, count in ((None, 0), ("fail:1", 0), ("fail:6", 1)):
        slack = box.slack([(429, {"Retry-After": "1"}, "rate_limited"), (200, {}, "ok")])
        ready(box, slack.url, patience_ms=30000)
        ran = box.run("test-report", env={"GPUMANAGER_FAULT": fault} if fault else None)
        check(ran.code == 0 and ran.out == MESSAGE + "\n" and slack.texts() == [MESSAGE] * 2, (fault, ran))
        check(len(kept(box)) == count and ("cannot remove" in ran.err) == bool(count), (fault, ran, kept(box)))
    os.remove(kept(box)[0])
    # Refused for good in the second try: shown, not kept.
    slack = box.slack([(500, {}, ""), (404, {}, "no_service")])
    box.config(webhook=slack.url)
    ran = box.run("test-report")
    check(ran.code == 1 and MESSAGE in ran.err and kept(box) == [], ran)
    # Several at once, each of which has to wait.
    slack = box.slack([(500, {}, "")] * 3 + [(200, {}, "ok")])
    box.config(webhook=slack.url)
    runs = []
    for minute in range(3):
        at(box, minute)
        runs.append(box.start("test-report", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for run in runs:
        out, err = run.communicate(timeout=60)
        check(run.returncode == 0, (out, err))
    check(len(slack.requests) == 6 and kept(box) == [], slack.texts())


def test_a_full_disk_says_that_the_message_could_not_be_kept_and_shows_it(box):
    ready(box, dead_url(box))
    failures = 0
    for step in range(1, 40):
        ran = box.run("test-report", env={"GPUMANAGER_FAULT": "fail:%d" % step})
        check(ran.code == 1 and "Connection refused" in ran.err, (step, ran))
        if kept(box):
            os.remove(kept(box)[0])
            check("was kept" in ran.err and "GPU 0" not in ran.err, (step, ran))
        else:
            failures += 1
            check("could not be kept" in ran.err, (step, ran))
            check(MESSAGE in ran.err, (step, ran))
        leftovers = [n for n in os.listdir(queue_dir(box)) if n.startswith(".tmp")] if os.path.isdir(queue_dir(box)) else []
        check(leftovers == [], (step, leftovers))
        if failures and "was kept" in ran.err and step > 8:
            break
    check(failures >= 3, failures)


def test_a_folder_that_cannot_be_written_loses_nothing_silently(box):
    """A report that is not kept is shown; one that cannot be removed is not sent without a word."""
    ready(box, dead_url(box))
    box.write("csv/.gpumanager/queue", "a file in the place of the folder")
    ran = box.run("test-report")
    check(ran.code == 1 and "could not be kept" in ran.err and MESSAGE in ran.err, ran)
    slack = box.slack()
    box.config(webhook=slack.url)
    ran = box.run("test-report")
    check(ran.code == 0 and slack.texts() == [MESSAGE], ran)
    check("Warning: " in ran.err and "queue" in ran.err, ran)
    os.remove(queue_dir(box))
    keep_by_hand(box, 1, "stuck", NOW_S - 60)
    # Five steps put the new message behind it; the sixth removes what was sent.
    ran = box.run("test-report", env={"GPUMANAGER_FAULT": "fail:6"})
    check(ran.code == 0 and len(slack.requests) == 3, (ran, slack.texts()))
    check("Warning: " in ran.err and "cannot remove" in ran.err, ran)


def test_what_root_keeps_the_service_can_send(box):
    """A report by hand through sudo must not lock the timers' user out."""
    if os.geteuid() != 0:
        skip("needs root")
    ready(box, dead_url(box))
    for path in (box.dir, box.csv_dir):
        os.chmod(path, 0o755)
    os.chown(box.csv_dir, 65534, 65534)
    for _ in range(2):  # the second one takes the lock, too
        check(box.run("test-report").code == 1)
    for folder, folders, files in os.walk(os.path.join(box.csv_dir, ".gpumanager")):
        for name in folders + files:
            path = os.path.join(folder, name)
            check(os.stat(path).st_uid == 65534, (path, os.stat(path)))
    require(len(kept(box)) == 2, kept(box))
    slack = box.slack()
    box.config(webhook=slack.url)
    os.chmod(box.config_path, 0o644)
    child = box.start("test-report", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                      user=65534, group=65534, extra_groups=[])
    out, err = child.communicate(timeout=60)
    check(child.returncode == 0 and len(slack.requests) == 3 and "Warning" not in err, (out, err))
    check(kept(box) == [])


def test_an_answer_of_any_size_and_kind_is_one_clean_line(box):
    slack = box.slack([(404, {}, "no\x1b[31m\x07_service" + "x" * 1000000 + "\nmore")])
    ready(box, slack.url)
    ran = box.run("test-report")
    check(ran.code == 1 and "HTTP 404: no" in ran.err and "\x1b" not in ran.err and "\x07" not in ran.err, ran)
    check(len(ran.err) < 1000 and "more" not in ran.err, len(ran.err))

    def not_http(handler):
        handler.wfile.write(b"\x00\xff\x16\x03 this is no HTTP at all\r\n\r\n" * 10)

    slack = box.slack([not_http])
    box.config(webhook=slack.url)
    ran = box.run("test-report")
    check(ran.code == 1 and "Failed to send Slack webhook: the answer was not HTTP" in ran.err and len(kept(box)) == 1, ran)


def test_two_runs_at_once_send_each_message_once(box):
    def slow(_handler):
        time.sleep(0.1)
        return 200, {}, "ok"

    slack = box.slack([slow])
    ready(box, slack.url, patience_ms=30000)
    for number in range(1, 5):
        keep_by_hand(box, number, "message %d" % number, NOW_S - 60)
    runs = []
    for minute in range(3):
        at(box, minute)
        runs.append(box.start("test-report", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for run in runs:
        out, err = run.communicate(timeout=60)
        check(run.returncode == 0, (out, err))
    firsts = sorted(t.split("\n")[0] for t in slack.texts())
    check(len(firsts) == 7 and len(set(firsts)) == 7, firsts)
    check(kept(box) == [])


def test_two_runs_at_once_keep_both_messages(box):
    ready(box, dead_url(box))
    runs = [box.start("test-report", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            for _ in range(4)]
    for run in runs:
        run.communicate(timeout=60)
        check(run.returncode == 1)
    check(len(kept(box)) == 4, kept(box))


def test_while_another_run_sends_a_report_waits_and_then_is_kept(box):
    slack = box.slack()
    ready(box, slack.url, patience_ms=300)
    keep_by_hand(box, 1, "one", NOW_S - 60)
    lock = os.open(os.path.join(queue_dir(box), "lock"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    ran = box.run("test-report")
    os.close(lock)
    check(ran.code == 1 and "another run is sending" in ran.err and "kept" in ran.err, ran)
    check(slack.requests == [] and len(kept(box)) == 2, kept(box))
    ran = box.run("test-report")
    check(ran.code == 0 and len(slack.requests) == 3, ran)


def test_blocks_are_posted_where_a_report_asks_for_them(box):
    slack = box.slack([(200, {}, "ok")])
    ready(box, slack.url, server="<R&D>")
    with open(box.config_path, encoding="utf-8") as file:
        text = file.read().replace('interval = "1d"\n', 'interval = "1d"\nformat = "blocks"\n')
    box.config(text)
    ran = box.run("test-report")
    require(ran.code == 0 and len(slack.requests) == 1, ran)
    body = slack.requests[0][2]
    check(list(body) == ["text", "blocks"], body)
    check(body["text"] == MESSAGE.replace("host-a", "&lt;R&amp;D&gt;"), body["text"])
    kinds = [block["type"] for block in body["blocks"]]
    check(kinds == ["header", "context", "section"], kinds)
    check(body["blocks"][0]["text"]["type"] == "plain_text", body)
    section = body["blocks"][2]["text"]["text"]
    check(section.startswith("```\n") and section.endswith("```") and "35.00%" in section and "n/a" in section, section)
    box.config(text.replace(slack.url, dead_url(box)))
    check(box.run("test-report").code == 1)
    box.config(text)
    at(box, 2)
    ran = box.run("test-report")
    require(ran.code == 0 and len(slack.requests) == 3, ran)
    late = slack.requests[1][2]
    check(late["text"].endswith("Sent 2 min " + LATE), late)
    check(late["blocks"][-1] == {"type": "context", "elements": [{"type": "mrkdwn", "text": "Sent 2 min " + LATE}]}, late)


def test_an_empty_report_is_sent_too(box):
    """GM-013, GM-064"""
    slack = box.slack()
    box.config(webhook=slack.url)
    box.now(NOW)
    ran = box.run("test-report")
    check(ran.code == 0 and slack.texts() == ["[host-a/daily] 2026.03.22 16:30:00 KST\nWindow: last 1d\n" + EMPTY], ran)
    check(not os.path.exists(box.csv_dir), "a report made folders without need")


def test_a_webhook_that_is_missing_or_no_url_is_said(box):
    """Part B"""
    for url, words in (("", "Error: Slack webhook URL is not configured"), ("ftp://127.0.0.1/" + SECRET, "webhook_url"),
                       ("hooks.slack.com/services/" + SECRET, "webhook_url"), ("http://", "webhook_url")):
        ready(box, url)
        ran = box.run("test-report")
        check(ran.code in (1, 2) and words in ran.err, (url, ran))
        check(kept(box) == [])
        check_no_secret(box, ran)


def test_several_reports_are_sent_one_by_one_and_a_failure_is_the_exit_code(box):
    """GM-074, GM-082"""
    slack = box.slack([(200, {}, "ok"), (404, {}, "no_service"), (200, {}, "ok")])
    reports = [(name, "0 9 * * *", "1d") for name in ("a", "b", "c")]
    ready(box, slack.url, reports=reports)
    ran = box.run("test-report")
    check(ran.code == 1 and "report 'b': Slack webhook returned HTTP 404: no_service" in ran.err, ran)
    check([t[:10] for t in slack.texts()] == ["[host-a/a]", "[host-a/b]", "[host-a/c]"], slack.texts())
    check("[host-a/a]" in ran.out and "[host-a/b]" not in ran.out and "[host-a/c]" in ran.out, ran)
    ran = box.run("test-report", "--report", "c")
    check(ran.code == 0 and len(slack.requests) == 4 and ran.out.startswith("[host-a/c]"), ran)


def test_the_patience_is_one_runs_and_not_each_reports(box):
    slack = box.slack([(500, {}, "")])
    ready(box, slack.url, patience_ms=1500, reports=[(name, "0 9 * * *", "1d") for name in ("a", "b", "c")])
    ran = box.run("test-report")
    check(ran.code == 1 and ran.err.count("kept") == 3 and ran.out.strip() == "", ran)
    # Two tries of the first; then for each further report one of what is first in the queue.
    check([t[:10] for t in slack.texts()] == ["[host-a/a]"] * 4, slack.texts())
    check(len(kept(box)) == 3, kept(box))


def test_without_libcurl_the_message_is_kept_and_the_package_named(box):
    """A library that cannot be loaded stands in for one that is not there."""
    slack = box.slack()
    ready(box, slack.url)
    box.write("lib/libcurl.so.4", "no library")
    ran = box.run("test-report", env={"LD_LIBRARY_PATH": box.path("lib")})
    if slack.requests:
        skip("the loader went on to the real library")
    check(ran.code == 1 and "libcurl" in ran.err and len(kept(box)) == 1, ran)


main()
