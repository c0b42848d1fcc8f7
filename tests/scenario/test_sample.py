# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""test-sample as a whole: the fakes in, CSV files out."""
import csv
import datetime
import os
import re

from harness import check, main, require


def rows(box):
    found = []
    for path in box.csv_files():
        with open(path, newline="", encoding="utf-8") as file:
            found += list(csv.DictReader(file))
    return found


def test_a_sample_is_one_file_in_the_predecessors_form(box):
    """GM-003 … GM-008, NS01"""
    box.config()
    box.fake_smi_only("NS01.smi")
    box.now("2026-03-22T16:21:00+09:00")
    ran = box.run("test-sample")
    require(ran.code == 0, ran)
    files = box.csv_files()
    check(os.path.basename(files[0]) == "2026-03-22T16-21-00.csv", files)
    check(ran.out == "Wrote 3 GPU rows to %s\n" % files[0], ran)
    found = rows(box)
    check([r["util_gpu"] for r in found] == ["35", "", "2"], found)
    check(found[0]["timestamp"] == "2026-03-22T16:21:00+09:00", found)
    check(list(found[0]) == ["timestamp", "gpu_index", "gpu_uuid", "gpu_name", "util_gpu"], found)
    with open(box.path("smi.log"), encoding="utf-8") as log:
        call = log.read()
    check("--query-gpu=index,uuid,name,utilization.gpu --format=csv,noheader,nounits" in call, call)  # GM-002


def test_nvml_is_asked_first_and_nvidia_smi_not_at_all(box):
    box.config()
    box.fake("NS11.smi")
    ran = box.run("test-sample")
    require(ran.code == 0, ran)
    check(not os.path.exists(box.path("smi.log")))
    check([r["util_gpu"] for r in rows(box)] == ["0", "64"], rows(box))


def test_config_is_taken_before_and_after_the_command(box):
    """GM-022"""
    path = box.config()
    box.fake("NS11.smi")
    ran = box.run("test-sample", "--config", path, config=False)
    check(ran.code == 0, ran)
    ran = box.run("--config=" + path, "test-sample", config=False)
    check(ran.code == 0, ran)


def test_a_missing_configuration_never_gives_way_to_another(box):
    """GM-021, Part C 12"""
    box.config()
    os.makedirs(box.home + "/.config/gpumanager")
    os.rename(box.config_path, box.home + "/.config/gpumanager/config.toml")
    ran = box.run("test-sample", "--simulate", "1xT4")
    check(ran.code == 2 and "Config file not found: " + box.config_path in ran.err, ran)
    ran = box.run("test-sample", "--simulate", "1xT4", config=False)
    check(ran.code == 0, ran)


def test_no_gpus_is_said_and_leaves_no_file(box):
    """GM-014"""
    box.config()
    box.fake_smi_only("raw\nNo devices were found\nendraw\n")
    ran = box.run("test-sample")
    check(ran.code == 0 and ran.out == "No GPUs reported by nvidia-smi.\n", ran)
    check(box.csv_files() == [])


def test_a_wedged_nvidia_smi_ends_the_sample_within_its_deadline(box):
    """NS13, Part C 13"""
    box.config()
    box.fake_smi_only("NS13.smi")
    start = datetime.datetime.now()
    ran = box.run("test-sample", timeout=30)
    took = (datetime.datetime.now() - start).total_seconds()
    check(ran.code == 1 and took < 13, (ran, took))
    check("did not answer within" in ran.err, ran)
    check(box.csv_files() == [])


def test_without_any_driver_the_error_names_all_that_was_tried(box):
    """NS32"""
    box.config()
    ran = box.run("test-sample")
    check(ran.code == 1, ran)
    for word in ("Error: ", "libnvidia-ml.so.1", "nvidia-smi not found in PATH", "/usr/lib/wsl/lib"):
        check(word in ran.err, (word, ran.err))
    check(box.csv_files() == [])


def test_the_configured_nvidia_smi_is_used(box):
    """NS32"""
    from harness import CLEAN_PATH, FAKE_DIR
    box.fake_smi_only("NS03.smi")
    box.env["PATH"] = CLEAN_PATH
    text = '[storage]\ncsv_dir = "%s"\n[sample]\nnvidia_smi = "%s/nvidia-smi"\n' % (box.csv_dir, FAKE_DIR)
    box.config(text)
    ran = box.run("test-sample")
    check(ran.code == 0 and rows(box)[0]["util_gpu"] == "", ran)


def test_the_repeated_autumn_hour_overwrites_nothing(box):
    """TM15, Part C 4"""
    box.config(timezone="Europe/Berlin", reports=(("two", "0 9 * * *", "2h"), ("half", "0 9 * * *", "30m")))
    for instant, case in (("2026-10-25T00:30:00Z", "TM15a.smi"), ("2026-10-25T01:30:00Z", "TM15b.smi")):
        box.now(instant)
        box.fake(case)
        ran = box.run("test-sample")
        check(ran.code == 0, ran)
    stamps = sorted(r["timestamp"] for r in rows(box))
    check(stamps == ["2026-10-25T02:30:00+01:00", "2026-10-25T02:30:00+02:00"], stamps)
    box.now("2026-10-25T01:31:00Z")
    ran = box.run("test-report", "--report", "two", "--output", "text")
    check("GPU 0: 50.00%" in ran.out, ran)
    ran = box.run("test-report", "--report", "half", "--output", "text")
    check("GPU 0: 60.00%" in ran.out, ran)


def test_two_samples_in_one_second_are_both_kept(box):
    """Part C 4"""
    box.config()
    box.now("2026-03-22T16:21:00+09:00")
    for _ in range(3):
        ran = box.run("test-sample", "--simulate", "2xT4")
        check(ran.code == 0, ran)
    check(len(box.csv_files()) == 3 and len(rows(box)) == 6, box.csv_files())


def test_visible_devices_are_honoured(box):
    """GH-026"""
    box.config()
    box.fake("NS11.smi")
    ran = box.run("test-sample", env={"NVIDIA_VISIBLE_DEVICES": "1"})
    check(ran.code == 0 and [r["gpu_index"] for r in rows(box)] == ["1"], ran)


def test_a_recording_is_replayed(box):
    box.config()
    box.fake("NS11.smi")
    file = box.path("gpu.jsonl")
    ran = box.run("record", file, "--for", "2s", "--interval", "1s")
    require(ran.code == 0 and re.search(r"Wrote 2 snapshots", ran.out), ran)
    check(os.stat(file).st_mode & 0o777 == 0o600)
    for key in ("FAKE_GPU_SCENARIO", "LD_LIBRARY_PATH"):
        box.env.pop(key)
    ran = box.run("test-sample", "--replay", file)
    check(ran.code == 0 and [r["util_gpu"] for r in rows(box)] == ["0", "64"], ran)


def test_a_wrong_zone_is_never_utc(box):
    """TM17"""
    box.config()
    with open(box.config_path, encoding="utf-8") as file:
        good = file.read()
    with open(os.path.join(os.environ["SOURCE_ROOT"], "tests/cases/TM17.zones.txt"), encoding="utf-8") as cases:
        for line in cases:
            if line.startswith("#"):
                continue
            name, verdict = line.rstrip("\n").split("\t")
            box.config(good.replace("Asia/Seoul", name))
            ran = box.run("test-sample", "--simulate", "1xT4")
            if verdict == "good":
                check(ran.code == 0, (name, ran))
            elif verdict == "bad":
                check(ran.code != 0 and "general.timezone" in ran.err, (name, ran))
    ran = box.run("test-sample", "--simulate", "1xT4", env={"TZDIR": box.home})
    box.config(good)
    ran = box.run("test-sample", "--simulate", "1xT4", env={"TZDIR": box.home})
    check(ran.code != 0 and "tzdata" in ran.err, ran)


main()
