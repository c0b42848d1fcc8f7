# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Cron times and their OnCalendar values against two judges that share no code with them: a walk
along the real minutes with Python's zone rules, and systemd's own parser. CRON_SEED=N repeats a
random run, CRON_COUNT=N makes it longer."""
import os
import random
import re
import shutil
import subprocess
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, available_timezones

from harness import CASES, SOURCE_ROOT, check, main, require, skip

CRON_PRINT = os.environ.get("CRON_PRINT", os.path.join(SOURCE_ROOT, "build", "tests", "tools", "cron_print"))
SEED = int(os.environ.get("CRON_SEED", "20261201"))
COUNT = int(os.environ.get("CRON_COUNT", "300"))
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
RANGES = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 7)]
MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
WEEKDAYS = "sun mon tue wed thu fri sat".split()
# Zones with odd jumps: over midnight, by half an hour, by two hours, backwards in summer.
ZONES = ["Asia/Seoul", "UTC", "Europe/Berlin", "America/New_York", "Africa/Cairo", "America/Nuuk",
         "Australia/Lord_Howe", "America/Havana", "America/St_Johns", "Africa/Casablanca",
         "Antarctica/Troll", "Europe/Dublin", "Pacific/Chatham", "America/Santiago", "Asia/Gaza",
         "Asia/Kolkata", "Pacific/Apia", "Asia/Beirut"]


class Cron:
    """An expression as sets of numbers, by the rules of the manual page."""

    def __init__(self, text):
        pieces = text.split()
        self.minutes, self.hours, self.days, self.months, weekdays = (
            set().union(*(self.item(part, i) for part in piece.split(","))) for i, piece in enumerate(pieces))
        self.weekdays = {day % 7 for day in weekdays}
        self.is_and = pieces[2].startswith("*") or pieces[4].startswith("*")
        self.is_wild = pieces[0].startswith("*") or pieces[1].startswith("*")

    @staticmethod
    def item(text, index):
        text, _, step = text.partition("/")
        words = {3: dict(zip(MONTHS, range(1, 13))), 4: dict(zip(WEEKDAYS, range(7)))}.get(index, {})
        low, high = RANGES[index]
        high = 6 if index == 4 else high
        first, dash, last = text.partition("-")
        if first != "*":
            low = words[first.lower()] if first.lower() in words else int(first)
            if dash:
                high = words[last.lower()] if last.lower() in words else int(last)
                if index == 4 and (high < low or last.lower() == "sun"):
                    high += 7
            elif not step:
                high = low
        return range(low, high + 1, int(step or 1))

    def has_date(self, local):
        is_day, is_weekday = local.day in self.days, local.isoweekday() % 7 in self.weekdays
        return local.month in self.months and (is_day and is_weekday if self.is_and else is_day or is_weekday)

    def has(self, local):
        return local.minute in self.minutes and local.hour in self.hours and self.has_date(local)


def offset(zone, at):
    return at.astimezone(zone).utcoffset()


def walk(cron, zone, base, count, days=4000):
    """Lives through the minutes after `base` with a clock on the wall. A fixed time fires when the
    wall first shows it, or when the wall jumps over it; a wild one whenever the wall shows it."""
    fired = []
    at = base.replace(hour=0, minute=0) - 2 * DAY
    shown = at + offset(zone, at) - MINUTE  # the latest time the wall has shown so far
    end = at + days * DAY
    while at < end and len(fired) < count:
        if offset(zone, at - MINUTE) == offset(zone, at + DAY):
            local, next_day = at + offset(zone, at), at + DAY + offset(zone, at)
            if cron.has_date(local) or cron.has_date(next_day):
                for hour in range(25):
                    step_local = (local + timedelta(hours=hour)).replace(minute=0)
                    if step_local.hour in cron.hours:
                        for minute in sorted(cron.minutes):
                            now = step_local.replace(minute=minute)
                            if local <= now < next_day and cron.has(now) and (cron.is_wild or now > shown):
                                fired.append(now - offset(zone, at))
            shown = max(shown, next_day - MINUTE)
        else:
            for minute in range(1440):
                now = at + minute * MINUTE
                local = now + offset(zone, now)
                skipped = []
                while shown + MINUTE < local:
                    shown += MINUTE
                    skipped.append(shown)
                is_new = local > shown
                shown = max(shown, local)
                if cron.has(local) and (cron.is_wild or is_new):
                    fired.append(now)
                elif not cron.is_wild and any(cron.has(one) for one in skipped):
                    fired.append(now)
        fired = [one for one in fired if one > base]
        at += DAY
    return ["%sZ" % one.strftime("%Y-%m-%dT%H:%M") for one in sorted(fired)[:count]]


def systemd(specs, base, count):
    """The union of the instants of some OnCalendar values, by the real parser."""
    done = subprocess.run(["systemd-analyze", "calendar", "--iterations=%d" % count,
                           "--base-time=%s UTC" % base.strftime("%Y-%m-%d %H:%M"), *specs],
                          capture_output=True, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "TZ": "Etc/GMT-1", "LC_ALL": "C"})
    if done.returncode != 0:
        return "refused: %s %s" % (specs, done.stderr.strip() or done.stdout.strip())
    found = re.findall(r"\(in UTC\): \w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d):\d\d|"
                       r"(?:Next elapse|Iter\. #\d+): \w+ (\d{4}-\d\d-\d\d) (\d\d:\d\d):\d\d UTC", done.stdout)
    return sorted({"%sT%sZ" % (a or c, b or d) for a, b, c, d in found})[:count]


def live(specs, base, count):
    """As a timer lives: after every run each value is asked for its next instant from there."""
    fired = []
    while len(fired) < count:
        reached = []
        for spec in specs:
            one = systemd([spec], base, 1)
            reached += one if isinstance(one, list) else []  # a value it cannot follow waits
        if not reached:
            break
        fired.append(min(reached))
        base = datetime.strptime(fired[-1], "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
    return fired


def has_unmarked_fold(zone_name, instants):
    """The clocks go back and neither side is daylight saving time: systemd runs a fixed time at its
    second instant then. No value can forbid that."""
    zone = ZoneInfo(zone_name)
    for text in instants:
        at = datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
        before, after = (at - DAY).astimezone(zone), (at + DAY).astimezone(zone)
        if after.utcoffset() < before.utcoffset() and bool(before.dst()) == bool(after.dst()):
            return True
    return False


def ours(questions):
    """[(expression, zone, base, count)] → [("OK", instants, short, values) or ("REFUSED", sentence)]."""
    text = "".join("%s\t%s\t%s\t%d\n" % (expression, zone, base.strftime("%Y-%m-%dT%H:%M:00Z"), count)
                   for expression, zone, base, count in questions)
    done = subprocess.run([CRON_PRINT], input=text, capture_output=True, text=True, check=False)
    require(done.returncode == 0, done.stderr)
    answers = []
    for line in done.stdout.splitlines():
        part = line.split("\t")
        answers.append(("OK", [p for p in part[1].split(",") if p], part[2], part[3].split("|"))
                       if part[0] == "OK" else ("REFUSED", part[1]))
    require(len(answers) == len(questions), done.stdout)
    return answers


def case_lines(name):
    questions, wanted = [], []
    with open(os.path.join(CASES, name), encoding="utf-8") as lines:
        for line in lines:
            if not line.startswith("#"):
                expression, zone, base, count, expected = line.rstrip("\n").split("\t")
                at = datetime.strptime(base, "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc)
                questions.append((expression, zone, at, int(count)))
                wanted.append(expected.split(","))
    require(questions)
    return questions, wanted


def check_case(name):
    questions, wanted = case_lines(name)
    for question, expected, answer in zip(questions, wanted, ours(questions)):
        require(answer[0] == "OK", (question, answer))
        check(answer[1] == expected, (question, answer[1]))
        check(walk(Cron(question[0]), ZoneInfo(question[1]), question[2], question[3]) == expected, question)
        if shutil.which("systemd-analyze"):
            check(systemd(answer[3], question[2], question[3]) == expected, (question, answer[3]))


def test_tm01_steps_on_a_star_fire_when_cron_fires(_box):
    check_case("TM01.cron")


def test_tm02_either_day_field_fires_and_a_day_that_is_both_fires_once(_box):
    check_case("TM02.cron")


def test_tm11_a_time_in_the_spring_gap_fires_once_after_it(_box):
    check_case("TM11.cron")


def random_item(chance, index):
    low, high = RANGES[index]
    words = {3: [""] + MONTHS, 4: WEEKDAYS + ["sun"]}.get(index)

    def value(number):
        return chance.choice([str, str.upper])(words[number]) if words and chance.random() < .3 else str(number)
    kind = chance.random()
    a, b = sorted((chance.randint(low, high), chance.randint(low, high)))
    if kind < .45:
        return value(a)
    step = "/%d" % chance.randint(1, max(1, (high - low) // 2)) if chance.random() < .5 else ""
    return (value(a) + "-" + value(b) if words != WEEKDAYS + ["sun"] or b < 7 else "%d-%d" % (a, b)) + step


def random_field(chance, index):
    kind = chance.random()
    low, high = RANGES[index]
    if kind < (.15, .3, .5, .6, .5)[index]:
        return "*"
    if kind < .6:
        return "*/%d" % chance.randint(1, (high - low) // 2)
    return ",".join(random_item(chance, index) for _ in range(chance.choice([1, 1, 1, 2, 3])))


def jumps(zone_name):
    zone, at, found = ZoneInfo(zone_name), datetime(2026, 1, 1, tzinfo=timezone.utc), []
    while at.year < 2031:
        if offset(zone, at) != offset(zone, at + DAY):
            found.append(at)
        at += DAY
    return found


def random_questions(seed, count):
    chance = random.Random(seed)
    known = available_timezones()
    places = [(name, jumps(name)) for name in ZONES if name in known]
    require(len(places) > 10, "this machine lacks zone files")
    questions = []
    while len(questions) < count:
        expression = " ".join(random_field(chance, index) for index in range(5))
        name, near = chance.choice(places)
        base = datetime(2026, 1, 1, 12, tzinfo=timezone.utc) + chance.randint(0, 1500) * DAY
        if near and chance.random() < .7:
            # Times around the jump itself, from early enough that the wall still goes forward.
            base = chance.choice(near) - timedelta(hours=chance.randint(3, 12))
            hours = "%d-%d" % (chance.choice([(0, 3), (1, 4), (22, 23), (0, 2)]))
            piece = expression.split()
            piece[1:4] = [chance.choice([hours, piece[1]]), chance.choice(["*", piece[2]]), "*"]
            expression = " ".join(piece)
        questions.append((expression, name, base, 12))
    return questions


def test_random_expressions_fire_when_a_walk_along_the_minutes_says(_box):
    questions = random_questions(SEED, COUNT)
    accepted = 0
    for question, answer in zip(questions, ours(questions)):
        if answer[0] != "OK":
            check("can never fire" in answer[1] or "step" in answer[1], (question, answer))
            continue
        accepted += 1
        expected = walk(Cron(question[0]), ZoneInfo(question[1]), *question[2:])
        # cron_next looks ten years ahead, the walk a little further.
        check(answer[1] == expected[:len(answer[1])] and (len(answer[1]) == 12 or not expected
              or expected[-1] > "2035"), (SEED, question, answer[1], expected))
    check(accepted > COUNT * 0.8, accepted)


def test_systemd_fires_when_cron_next_says(_box):
    if not shutil.which("systemd-analyze"):
        skip("no systemd-analyze on this machine")
    questions = random_questions(SEED + 1, COUNT)
    for question, answer in zip(questions, ours(questions)):
        if answer[0] == "OK":
            got = systemd(answer[3], question[2], question[3])
            if got != answer[1]:
                got = live(answer[3], question[2], len(answer[1]))
            if got != answer[1] and has_unmarked_fold(question[1], answer[1]) and not Cron(question[0]).is_wild:
                continue
            check(got == answer[1], (SEED + 1, question, answer[3], "only we: %s only systemd: %s" % (
                sorted(set(answer[1]) - set(got)), sorted(set(got) - set(answer[1])))))
            check(answer[2] == "; ".join(answer[3][:answer[2].count("; ") + 1]), answer)


def test_known_faults_of_systemd_are_written_around(_box):
    if not shutil.which("systemd-analyze"):
        skip("no systemd-analyze on this machine")
    questions = [(expression, zone, datetime.strptime(base, "%Y-%m-%d %H:%M").replace(tzinfo=timezone.utc), count)
                 for expression, zone, base, count in (
        ("*/7 * * * *", "UTC", "2026-10-24 23:40", 5),                       # 00/7 loses 00:00
        ("*/16 */6 * * 6", "America/Havana", "2029-03-10 15:00", 12),        # 00/6 stops for ever
        ("4 */7 * * *", "Africa/Cairo", "2028-04-26 21:00", 12),             # 00/7 stops for ever
        ("6 22-23 */12 * 1", "America/Havana", "2028-03-11 15:00", 12),      # 01/12 loses days
        ("*/26 1-4 * * *", "Pacific/Chatham", "2027-09-24 15:00", 12),       # the rest of the hour is lost
        ("15,32 1-4 * * sun", "Europe/Dublin", "2030-03-30 13:00", 12),      # goes back at the gap
        ("*/17 1-4 * * *", "Africa/Casablanca", "2026-09-19 20:00", 12))]    # the first pass is lost
    for question, answer in zip(questions, ours(questions)):
        got = systemd(answer[3], question[2], question[3])
        got = got if got == answer[1] else live(answer[3], question[2], question[3])
        check(len(answer[1]) == question[3] and got == answer[1], (question, answer, got))


def test_a_value_has_only_the_characters_of_a_calendar(_box):
    questions = random_questions(SEED + 2, COUNT)
    allowed = re.compile(r"^((Mon|Tue|Wed|Thu|Fri|Sat|Sun|,|\.\.)+ )?[0-9*,./-]+ [0-9*,./]+:[0-9*,./]+:00 [A-Za-z_/]+$")
    for question, answer in zip(questions, ours(questions)):
        for value in answer[3] if answer[0] == "OK" else []:
            check(allowed.match(value), (question, value))


main()
