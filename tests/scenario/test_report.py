# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Reports as a whole: CSV files in, figures out, in every form."""
import csv
import datetime
import io
import json
import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

from harness import CASES, check, main, require

HEADER = "timestamp,gpu_index,gpu_uuid,gpu_name,util_gpu"
UUID = "GPU-00000000-0000-4000-8000-00000000000%d"
EMPTY = "No GPU samples found in the selected window."


def moment(text):
    return datetime.datetime.fromisoformat(text)


def sample(box, when, *gpus, end="\n"):
    """One file as the program names it; a GPU is (index, uuid number, utilisation text)."""
    lines = [HEADER] + ["%s,%d,%s,NVIDIA A100,%s" % (when.isoformat(), index, UUID % number, value)
                        for index, number, value in gpus]
    name = when.strftime("%Y-%m-%dT%H-%M-%S")
    return box.write("csv/%s.csv" % name, end.join(lines) + end)


def one(box, when, value):
    return sample(box, when, (0, 1, value))


def clear(box):
    for path in box.csv_files():
        os.remove(path)


def report(box, window, now, *words, **kwargs):
    """The lines of one report, printed."""
    kwargs.setdefault("reports", (("daily", "0 9 * * *", window),))
    box.config(**kwargs)
    box.now(now.isoformat() if isinstance(now, datetime.datetime) else now)
    ran = box.run("test-report", "--output", "text", *words)
    require(ran.code == 0, ran)
    return ran.out.splitlines()


def check_window(box, window, label, start, now, zone="Asia/Seoul"):
    """Both ends count, a second beyond them does not (GM-059)."""
    clear(box)
    second = datetime.timedelta(seconds=1)
    for when, value in ((start - second, 99), (start, 10), (now, 20), (now + second, 99)):
        one(box, when, value)
    for words in ((), (), ("--no-cache",)):  # the second time from the day cache
        lines = report(box, window, now, *words, timezone=zone)
        check(lines[1:] == ["Window: " + label, "GPU 0: 15.00%"], (window, now, words, lines))


def test_rolling_windows_count_back_from_the_moment_of_sending(box):
    """GM-050, GM-058, GM-059"""
    now = moment("2026-03-22T16:30:07+09:00")
    for text, length in (("30m", dict(minutes=30)), ("1h", dict(hours=1)), ("12h", dict(hours=12)),
                         ("1d", dict(days=1)), ("7d", dict(days=7))):
        check_window(box, text, "last " + text, now - datetime.timedelta(**length), now)


def test_windows_from_a_boundary_begin_at_its_midnight(box):
    """GM-051 … GM-057; 24 September 2026 is a Thursday"""
    now = moment("2026-09-24T12:00:00+09:00")
    for text, date in (("since:day", "2026-09-24"), ("since:week", "2026-09-21"), ("since:month", "2026-09-01"),
                       ("since:quarter", "2026-07-01"), ("since:year", "2026-01-01"), ("since:2026-07-15", "2026-07-15")):
        check_window(box, text, "since %s 00:00" % date, moment(date + "T00:00:00+09:00"), now)


def test_weeks_begin_on_monday_and_quarters_in_four_months(box):
    """GM-052, GM-054, GM-127"""
    for now, text, date in (("2026-09-27T23:59:59", "since:week", "2026-09-21"), ("2026-09-28T00:00:01", "since:week", "2026-09-28"),
                            ("2026-01-01T09:00:00", "since:week", "2025-12-29"), ("2026-06-30T23:59:59", "since:quarter", "2026-04-01"),
                            ("2026-10-01T09:00:00", "since:quarter", "2026-10-01"), ("2028-02-29T09:00:00", "since:month", "2028-02-01"),
                            ("2026-12-31T23:59:59", "since:year", "2026-01-01")):
        check_window(box, text, "since %s 00:00" % date, moment(date + "T00:00:00+09:00"), moment(now + "+09:00"))
    # Sent at the boundary itself, the window is that one second.
    clear(box)
    now = moment("2026-09-28T00:00:00+09:00")
    one(box, now - datetime.timedelta(seconds=1), 99)
    one(box, now, 20)
    check(report(box, "since:week", now)[1:] == ["Window: since 2026-09-28 00:00", "GPU 0: 20.00%"])


def test_boundaries_follow_the_zone_through_its_changes(box):
    """GM-031, GM-056: the offset at the boundary, not that of now; a midnight that does not exist"""
    check_window(box, "since:month", "since 2026-10-01 00:00", moment("2026-10-01T00:00:00+02:00"),
                 moment("2026-10-26T09:00:00+01:00"), "Europe/Berlin")
    check_window(box, "since:day", "since 2018-11-04 01:00", moment("2018-11-04T01:00:00-02:00"),
                 moment("2018-11-04T09:00:00-02:00"), "America/Sao_Paulo")
    # A rolling day is 24 hours, also over the change.
    check_window(box, "1d", "last 1d", moment("2026-10-24T10:00:00+02:00"), moment("2026-10-25T09:00:00+01:00"), "Europe/Berlin")


def test_a_window_that_has_not_begun_is_an_error(box):
    box.config(reports=(("daily", "0 9 * * *", "since:2026-07-01"),))
    box.now("2026-06-30T09:00:00+09:00")
    ran = box.run("test-report", "--output", "text")
    check(ran.code == 1 and "starts in the future" in ran.err and ran.out == "", ran)


def test_the_header_names_server_report_and_moment(box):
    """GM-063, GM-032, GM-033"""
    now = "2026-03-22T07:30:00Z"
    check(report(box, "1d", now)[0] == "[host-a/daily] 2026.03.22 16:30:00 KST")
    check(report(box, "1d", now, server="")[0] == "[gpumanager/daily] 2026.03.22 16:30:00 KST")
    check(report(box, "1d", now, reports=(("default", "0 9 * * *", "1d"),))[0] == "[host-a] 2026.03.22 16:30:00 KST")
    check(report(box, "1d", now, reports=())[0] == "[host-a] 2026.03.22 16:30:00 KST")
    check(report(box, "1d", now, timezone="America/New_York")[0] == "[host-a/daily] 2026.03.22 03:30:00 EDT")
    check(report(box, "1d", now, timezone="UTC", server="")[0] == "[gpumanager/daily] 2026.03.22 07:30:00 UTC")
    box.config('[storage]\ncsv_dir = "%s"\n[report]\nsend_time = "09:00"\ninterval = "1h"\n[general]\n'
               'timezone = "Asia/Seoul"\nserver_name = "서버 <1>"\n' % box.csv_dir)  # GM-034
    ran = box.run("test-report", "--output", "text")
    check(ran.out == "[서버 <1>] 2026.03.22 16:30:00 KST\nWindow: last 1h\n%s\n" % EMPTY, ran)


def test_an_empty_window_is_said(box):
    """GM-064, GM-013, GM-122"""
    now = moment("2026-03-22T16:30:00+09:00")
    check(report(box, "1d", now)[1:] == ["Window: last 1d", EMPTY])
    os.mkdir(box.csv_dir)
    check(report(box, "1d", now)[2:] == [EMPTY])
    one(box, now - datetime.timedelta(days=2), 50)
    check(report(box, "1d", now)[2:] == [EMPTY])
    box.write("csv/2026-03-22T16-29-00.csv", HEADER + "\n")
    box.write("csv/2026-03-22T16-29-01.csv", "")
    check(report(box, "1d", now)[2:] == [EMPTY])


def test_averages_are_of_the_samples_that_are_there(box):
    """GM-060 … GM-062"""
    now = moment("2026-03-22T16:30:00+09:00")
    for minute, values in enumerate((("10", "", "1"), ("20", "[N/A]", "1"), ("40", "", "0"), ("", "", "0"))):
        when = now - datetime.timedelta(minutes=minute)
        sample(box, when, (10, 3, values[2]), (2, 2, values[1]), (0, 1, values[0]))
    lines = report(box, "1d", now)
    check(lines[2:] == ["GPU 0: 23.33%", "GPU 2: n/a", "GPU 10: 0.50%"], lines)


def test_the_predecessors_files_are_read_as_they_are(box):
    """GM-007, GM-008: CRLF, 35.0, a quoted name with a comma"""
    now = moment("2026-03-22T16:30:00+09:00")
    for minute, value in enumerate(("35.0", "36.0", "0.0", "100.0")):
        when = now - datetime.timedelta(minutes=minute)
        box.write("csv/%s.csv" % when.strftime("%Y-%m-%dT%H-%M-%S"), "%s\r\n%s,0,%s,\"NVIDIA A100, 40GB\",%s\r\n" % (
            HEADER, when.isoformat(), UUID % 1, value))
    box.config()
    box.now(now.isoformat())
    ran = box.run("test-report", "--output", "text")
    check(ran.out.splitlines()[2:] == ["GPU 0: 42.75%"] and ran.err == "", ran)
    ran = box.run("test-report", "--output", "json")
    check(json.loads(ran.out)["gpus"][0]["gpu_name"] == "NVIDIA A100, 40GB", ran)


def test_gpus_that_change_places_keep_their_averages(box):
    """Part C 11: the figures follow the UUID, the index is the latest one"""
    now = moment("2026-03-22T16:30:00+09:00")
    sample(box, now - datetime.timedelta(minutes=2), (0, 1, 10), (1, 2, 90))
    sample(box, now - datetime.timedelta(minutes=1), (0, 2, 80), (1, 1, 20))
    lines = report(box, "1d", now)
    check(lines[2:] == ["GPU 0: 85.00%", "GPU 1: 15.00%"], lines)


def test_torn_last_lines_are_left_out_and_counted(box):
    """ST01"""
    box.tree("ST01.tree")
    box.config(reports=(("daily", "0 9 * * *", "1h"),))
    box.now("2026-03-22T16:30:00+09:00")
    ran = box.run("test-report", "--output", "text")
    check(ran.code == 0 and ran.out.splitlines()[2:] == ["GPU 0: 40.00%"], ran)
    check("2 skipped lines" in ran.err, ran)
    ran = box.run("test-report", "--output", "json")
    check(json.loads(ran.out)["skipped_lines"] == 2, ran)


def test_files_that_other_tools_rewrote(box):
    """ST04"""
    box.tree("ST04.tree")
    box.config(reports=(("daily", "0 9 * * *", "1h"),))
    box.now("2026-03-22T16:30:00+09:00")
    for words in ((), (), ("--no-cache",)):
        ran = box.run("test-report", "--output", "text", *words)
        check(ran.code == 0 and ran.out.splitlines()[2:] == ["GPU 0: 25.00%"], ran)
        check(sorted(re.findall(r"16-0\d-00", ran.err)) == ["16-05-00", "16-06-00"] and ran.err.count("Warning") == 2, ran)


def test_both_hours_of_an_autumn_night_count(box):
    """TM15, Part C 4: for every pair of the case, samples by the program itself"""
    with open(os.path.join(CASES, "TM15.instants.txt"), encoding="utf-8") as file:
        instants = [line.split() for line in file if line.strip() and not line.startswith("#")]
    for zone, first, second in ((a[0], a, b) for a, b in zip(instants[::2], instants[1::2])):
        clear(box)
        box.config(timezone=zone, reports=(("two", "0 9 * * *", "2h"), ("half", "0 9 * * *", "30m")))
        for instant, case in ((first, "TM15a.smi"), (second, "TM15b.smi")):
            box.now(instant[1])
            box.fake_smi_only(case)
            ran = box.run("test-sample")
            check(ran.code == 0, ran)
        stamps = []
        for path in box.csv_files():
            with open(path, newline="", encoding="utf-8") as file:
                stamps += [row["timestamp"] for row in csv.DictReader(file)]
        check(sorted(stamps) == sorted([first[2], second[2]]), stamps)
        box.now(second[1].replace(":30:00Z", ":31:00Z"))
        for name, average in (("two", "50.00"), ("half", "60.00")):
            for words in ((), ("--no-cache",)):
                ran = box.run("test-report", "--report", name, "--output", "text", *words)
                check("GPU 0: %s%%" % average in ran.out, (zone, name, ran))


def figures(box):
    """Two GPUs, one of them never with a value, and a name that must be escaped."""
    now = moment("2026-03-22T16:30:00+09:00")
    for minute in (1, 2, 3):
        when = now - datetime.timedelta(minutes=minute)
        box.write("csv/%s.csv" % when.strftime("%Y-%m-%dT%H-%M-%S"), "%s\n%s,0,%s,\"A<b>&\"\"c\"\"\",%d\n%s,1,%s,B,\n" % (
            HEADER, when.isoformat(), UUID % 1, minute * 10, when.isoformat(), UUID % 2))
    box.config(server="R&D", reports=(("daily", "0 9 * * *", "1h"), ("weekly", "0 9 * * 1", "7d")), webhook="")
    box.now(now.isoformat())


def test_json_has_every_figure_and_null_where_there_is_none(box):
    """GM-067"""
    figures(box)
    ran = box.run("test-report", "--report", "daily", "--output", "json")
    require(ran.code == 0 and ran.err == "", ran)
    found = json.loads(ran.out)
    for key, value in (("server_name", "R&D"), ("report", "daily"), ("time", "2026-03-22T16:30:00+09:00"), ("window", "last 1h"),
                       ("from", "2026-03-22T15:30:00+09:00"), ("to", "2026-03-22T16:30:00+09:00"), ("file_count", 3),
                       ("skipped_lines", 0), ("unreadable_files", 0), ("average_percent", 20)):
        check(found[key] == value, (key, found))
    gpu = found["gpus"][0]
    for key, value in (("gpu_index", 0), ("gpu_uuid", UUID % 1), ("gpu_name", 'A<b>&"c"'), ("average_percent", 20), ("least_percent", 10),
                       ("most_percent", 30), ("sample_count", 3), ("valid_count", 3), ("expected_count", 60), ("coverage", 0.05)):
        check(gpu[key] == value, (key, gpu))
    check(found["gpus"][1]["average_percent"] is None and found["gpus"][1]["sample_count"] == 3, found)


def test_csv_is_one_table_whatever_the_number_of_reports(box):
    figures(box)
    for words, count in (((("--report", "daily")), 2), ((), 4)):
        ran = box.run("test-report", "--output", "csv", *words)
        require(ran.code == 0, ran)
        table = list(csv.DictReader(io.StringIO(ran.out)))
        check(len(table) == count and [r["gpu_index"] for r in table] == ["0", "1"] * (count // 2), ran)
        check([r["report"] for r in table] == ["daily", "daily", "weekly", "weekly"][:count], table)
        check(table[0]["average_percent"] == "20.00" and table[1]["average_percent"] == "", table)
        check(table[0]["gpu_name"] == 'A<b>&"c"', table)


def test_json_of_several_reports_is_one_document(box):
    figures(box)
    ran = box.run("test-report", "--output", "json")
    require(ran.code == 0, ran)
    found = json.loads(ran.out)
    check([r["report"] for r in found] == ["daily", "weekly"], found)


def test_pictures_are_well_formed_and_need_nothing_from_elsewhere(box):
    figures(box)
    svg = box.path("out.svg")
    ran = box.run("test-report", "--report", "daily", "--output", "svg", svg)
    check(ran.code == 0 and ran.out == "Wrote %s\n" % svg, ran)
    check(os.stat(svg).st_mode & 0o777 == 0o644)
    with open(svg, encoding="utf-8") as file:
        text = file.read()
    root = ElementTree.fromstring(text)
    check(root.tag == "{http://www.w3.org/2000/svg}svg", root.tag)
    check("R&D/daily" in "".join(root.itertext()) and 'A<b>&"c"' in "".join(root.itertext()), text[:500])
    ran = box.run("test-report", "--report", "daily", "--output", "html")
    check(ran.code == 0 and ran.out.startswith("<!doctype html>") and "20.00%" in ran.out and "A<b>" not in ran.out, ran.out[:300])
    for shown in (text, ran.out):
        check(not re.search(r"(?:href|src|url)\s*[=(]", shown) and "<script" not in shown)
        check(set(re.findall(r"https?://[^\"' ]+", shown)) <= {"http://www.w3.org/2000/svg"})
    clear(box)
    for form in ("svg", "html"):
        ran = box.run("test-report", "--report", "daily", "--output", form)
        check(ran.code == 0 and (EMPTY in ran.out or "No GPU samples" in ran.out), (form, ran.out[-400:]))


def test_text_goes_to_a_file_whole_or_not_at_all(box):
    figures(box)
    path = box.write("out.txt", "before")
    ran = box.run("test-report", "--output", "text", path)
    check(ran.code == 0 and ran.out == "Wrote %s\n" % path, ran)
    with open(path, encoding="utf-8") as file:
        blocks = file.read().split("\n\n")
    check(len(blocks) == 2 and "R&D/daily" in blocks[0] and "R&D/weekly" in blocks[1], blocks)
    ran = box.run("test-report", "--output", "text", box.path("none", "out.txt"))
    check(ran.code == 1 and "out.txt" in ran.err, ran)
    with open("/dev/full", "wb") as full:
        child = box.start("test-report", "--output", "text", stdout=full, stderr=subprocess.DEVNULL)
        check(child.wait(30) == 1)


def test_wrong_words_are_usage_errors(box):
    """GM-074, GM-085"""
    figures(box)
    for words, text in ((("--report", "dayly"), "did you mean 'daily'?"), (("--report", "dayly", "--output", "text"), "no report 'dayly'"),
                        (("--output", "pdf"), "expected text, json, csv, html or svg"), (("--output", "svg"), "choose it with --report"),
                        (("--output", "html", "x.html"), "choose it with --report"), (("out.txt",), "FILE goes with --output"),
                        (("--report", ""), "no report ''")):
        ran = box.run("test-report", *words)
        check(ran.code == 2 and text in ran.err and ran.out == "", (words, ran))


def test_coverage_is_shown_where_a_report_includes_it(box):
    figures(box)
    with open(box.config_path, encoding="utf-8") as file:
        text = file.read()
    box.config(text.replace('interval = "1h"\n', 'interval = "1h"\ninclude = ["coverage"]\n'))
    ran = box.run("test-report", "--report", "daily", "--output", "text")
    check(ran.out.splitlines()[2:] == ["GPU 0: 20.00% (3 of 60 samples)", "GPU 1: n/a (3 of 60 samples)"], ran)
    ran = box.run("test-report", "--report", "weekly", "--output", "text")
    check(ran.out.splitlines()[2:] == ["GPU 0: 20.00%", "GPU 1: n/a"], ran)
    box.config(text.replace('interval = "1h"\n', 'interval = "1h"\ninclude = ["coverag"]\n'))
    ran = box.run("test-report", "--report", "daily", "--output", "text")
    check(ran.code == 2 and "coverage" in ran.err, ran)


def test_a_wrong_interval_is_refused_before_anything_is_sent(box):
    """GM-037, Part B"""
    slack = box.slack()
    for window in ("1x", "0d", "d", "-1d", "1.5h", "since:", "since:fortnight", "since:2026-02-30", "since:2026-7-1", "999999999d", ""):
        box.config(webhook=slack.url, reports=(("daily", "0 9 * * *", window),))
        for command in ("test-report", "status"):
            ran = box.run(command)
            check(ran.code == 2 and "report.interval" in ran.err, (window, ran))
        check("must look like 1d, 12h, or 30m" in ran.err or window == "", (window, ran))
    check(slack.requests == [])


def test_without_a_zone_the_systems_counts(box):
    """GM-031"""
    box.config(timezone="")
    box.now("2026-03-22T07:30:00Z")
    ran = box.run("test-report", "--output", "text", env={"TZ": "Europe/Berlin"})
    check(ran.out.startswith("[host-a/daily] 2026.03.22 08:30:00 CET\n"), ran)
    ran = box.run("test-report", "--output", "text", env={"TZ": "Nope/Zone", "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"})
    check(ran.code == 0 and "[host-a/daily] 2026.03.22 " in ran.out, ran)


def test_a_sent_report_merges_old_days_where_that_is_asked_for(box):
    """Part C 5"""
    slack = box.slack()
    now = moment("2026-03-22T16:30:00+09:00")
    for day in (0, 1, 2, 3):
        for minute in range(5):
            one(box, now - datetime.timedelta(days=day, minutes=minute), day * 10 + minute)
    before = report(box, "7d", now, webhook=slack.url)
    with open(box.config_path, encoding="utf-8") as file:
        box.config(file.read().replace("[sample]", 'compact_after = "1d"\n\n[sample]'))
    for _ in range(2):
        ran = box.run("test-report")
        check(ran.code == 0 and ran.out.splitlines() == before and ran.err == "", ran)
        check(len(box.csv_files()) == 12, box.csv_files())
    check(box.run("test-report", "--output", "text", "--no-cache").out.splitlines() == before)


def test_a_report_reads_only_csv_files_and_changes_none(box):
    """GM-011, GM-012"""
    figures(box)
    before = {path: os.stat(path).st_mtime_ns for path in box.csv_files()}
    box.write("csv/notes.txt", "2026-03-22T16:29:00+09:00,0,x,y,100\n")
    os.mkdir(box.path("csv", "2026-03-22T16-20-00.csv"))
    ran = box.run("test-report", "--report", "daily", "--output", "text")
    check(ran.code == 0 and "GPU 0: 20.00%" in ran.out, ran)
    os.rmdir(box.path("csv", "2026-03-22T16-20-00.csv"))
    check({path: os.stat(path).st_mtime_ns for path in box.csv_files()} == before)
    check(not os.path.exists(box.path("smi.log")))


main()
