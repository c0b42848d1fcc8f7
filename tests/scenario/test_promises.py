# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""Promises of the predecessor that no other file is about, and those that the documents keep."""
import json
import os
import re

from harness import SOURCE_ROOT, check, main, require

TWO = ("gpu\n index 0\n uuid GPU-0\n name A\n utilization.gpu 35\nend\n"
       "gpu\n index 1\n uuid GPU-1\n name B, \"x\"\n utilization.gpu 0\nend\n")


def document(*parts):
    with open(os.path.join(SOURCE_ROOT, *parts), encoding="utf-8") as file:
        return file.read()


def test_nvidia_smi_alone_is_enough(box):
    """GM-001, GM-073: without NVML the figures come from nvidia-smi."""
    box.fake_smi_only(TWO)
    box.config()
    done = box.run("test-sample")
    require(done.code == 0 and re.match(r"Wrote 2 GPU rows to .*\.csv\n$", done.out), done)
    with open(box.csv_files()[0], encoding="utf-8") as file:
        rows = file.read().splitlines()
    check(rows[1].endswith(",0,GPU-0,A,35") and rows[2].endswith(',1,GPU-1,"B, ""x""",0'), rows)


def test_the_folder_is_made_with_all_that_is_above_it(box):
    """GM-009"""
    box.fake(TWO)
    box.csv_dir = box.path("a", "b", "c")
    box.config()
    check(box.run("test-sample").code == 0 and len(box.csv_files()) == 1)


def test_a_folder_that_cannot_be_written_is_named(box):
    """GM-010: the folder is a file here, which stops root too."""
    box.fake(TWO)
    box.csv_dir = box.write("file", "x")
    box.config()
    done = box.run("test-sample")
    check(done.code == 1 and box.csv_dir in done.err and done.err.startswith("Error: "), done)


def test_reports_read_files_and_never_a_gpu(box):
    """GM-011, GM-012: two reports of one sample ask no driver and add no sample."""
    box.fake(TWO)
    box.config(reports=(("a", "0 9 * * *", "1d"), ("b", "0 9 * * *", "1h")))
    require(box.run("test-sample").code == 0)
    for log in ("smi.log", "nvml.log"):
        if os.path.exists(box.path(log)):
            os.remove(box.path(log))
    done = box.run("test-report", "--output", "text")
    check(done.out.count("GPU 0: 35.00%") == 2 and done.out.count("GPU 1: 0.00%") == 2, done)
    check(not os.path.exists(box.path("smi.log")) and not os.path.exists(box.path("nvml.log")))
    check(len(box.csv_files()) == 1)


def test_nothing_is_left_running(box):
    """GM-015: after a command no process of ours and no unit is there."""
    box.fake(TWO)
    box.config()
    require(box.run("test-sample").code == 0)
    left = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                if box.dir.encode() in file.read():
                    left.append(pid)
        except OSError:
            pass
    check(not left, left)


def test_the_configuration_is_looked_for_where_it_always_was(box):
    """GM-020: --config, then GPUMANAGER_CONFIG, then the home folder, then /etc."""
    def server(*args, **env):
        env = dict({"GPUMANAGER_ROOT": box.path("root")}, **env)
        done = box.run(*args, "status", config=False, env=env)
        return json.loads(done.out)["general.server_name"] if done.code == 0 else done

    box.write("root/etc/gpumanager/config.toml", '[general]\nserver_name = "etc"\n')
    check(server() == "etc", server())
    box.write("home/.config/gpumanager/config.toml", '[general]\nserver_name = "home"\n')
    check(server() == "home", server())
    named = box.write("named.toml", '[general]\nserver_name = "named"\n')
    check(server(GPUMANAGER_CONFIG=named) == "named")
    given = box.write("given.toml", '[general]\nserver_name = "given"\n')
    check(server("--config", given, GPUMANAGER_CONFIG=named) == "given")


def test_a_hand_edit_counts_at_once(box):
    """GM-035: the file is the only source; the next command reads what it says."""
    box.fake(TWO)
    path = box.config()
    require(box.run("test-sample").code == 0)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    box.write("config.toml", text.replace('server_name = "host-a"', "server_name = 'by-hand' # mine"))
    check(box.run("test-report", "--output", "text").out.startswith("[by-hand/daily] "))


def test_counts_of_samples_and_files_are_not_in_the_message(box):
    """GM-067"""
    box.fake(TWO)
    box.config()
    require(box.run("test-sample").code == 0)
    text = box.run("test-report", "--output", "text").out
    check(len(text.splitlines()) == 4 and "sample" not in text and "file" not in text, text)
    found = json.loads(box.run("test-report", "--output", "json").out)
    check(found["file_count"] == 1 and found["gpus"][0]["sample_count"] == 1, found)


def test_the_older_status_keys_are_there_without_the_secret(box):
    """GM-093, Part C 6"""
    box.config()
    done = box.run("status")
    found = json.loads(done.out)
    for key in ("config_exists", "general.timezone", "general.server_name", "nvidia_smi", "systemctl", "systemd_scope"):
        check(key in found, key)
    check(found["systemd_scope"] == "system" and found["config_exists"] is True)
    check("slack.webhook_url" not in found and "/services/" not in done.out, done.out)


def test_the_commands_of_installing_are_in_the_help(box):
    """GM-076, GM-077"""
    done = box.run("install-systemd", "--help", config=False)
    check("--enable-now" in done.out and "--run-user USER" in done.out, done.out)
    check("Linux user account that the system services should run as" in done.out, done.out)
    check("Reload system-wide systemd timers for gpumanager" in box.run("--help", config=False).out)


def test_the_program_tells_its_version_itself(box):
    """GM-084, GM-086, GM-120: there is no Python module to ask."""
    text = document("docs", "migration.md")
    check("python3 -c" in text and "gpumanager --version" in text)
    check(re.fullmatch(r"gpumanager \d+\.\d+\.\d+\n", box.run("--version", config=False).out))


def test_the_four_setups_work_as_written(box):
    """GM-121: what the README recommends is what the program takes."""
    text = document("README.md")
    setups = re.findall(r"\| .* \| `([^`]+)` \| `([^`]+)` \|", text)[1:]
    check(setups[:4] == [("*/10 * * * *", "1h"), ("0 9 * * *", "1d"), ("0 9 * * 1", "7d"),
                         ("0 9 1 1,4,7,10 *", "since:quarter")], setups)
    box.config(reports=[("r%d" % i, cron, window) for i, (cron, window) in enumerate(setups[:4])])
    done = box.run("next", "--count", "1")
    check(done.code == 0 and len(done.out.splitlines()) == 4, done)


def test_the_documents_cover_what_the_predecessors_did(box):
    """GM-122, GM-123, GM-124, GM-125, GM-127"""
    text = document("README.md")
    for words in ("nothing comes on schedule", "No GPU samples found in the selected window.",
                  "a schedule that was deleted still fires", "gpumanager reload", "`gpumanager status`",
                  "weeks start on Monday", "since:quarter", "docs/reference/commands.md", "## Versions"):
        check(words in text, words)
    commands = re.findall(r"^  ([a-z][a-z-]+) {2,}", box.run("--help", config=False).out, re.M)
    reference = document("docs", "reference", "commands.md")
    for command in commands:
        check("\n## %s" % command in reference, command)


main()
