/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/host.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "source/process_info.h"
#include "tests/check.h"

#include <stdlib.h>

/* A root of its own with some files of /proc and /sys. */
static char root[64];

static void begin(void)
{
    (void)snprintf(root, sizeof root, "/tmp/gpumanager-host-XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    CHECK_INT(setenv("GPUMANAGER_ROOT", root, 1), 0);
}

static void put(const char *path, const char *text, size_t length)
{
    OWN_FREE char *whole = mem_format("%s%s", root, path);
    OWN_FREE char *folder = mem_copy_text(whole);
    *strrchr(folder, '/') = '\0';
    CHECK_INT(file_make_folders(folder, 0755, NULL), 0);
    CHECK_INT(file_write(whole, text, length, 0644, FILE_REPLACE, NULL), 0);
}

#define PUT(path, text) put(path, text, sizeof(text) - 1)

static void end(void)
{
    const char *const argv[] = {"rm", "-rf", root, NULL};
    OWN_SPAWN_RESULT struct spawn_result result;
    CHECK_INT(spawn_run(&(struct spawn){.argv = argv}, &result, NULL), 0);
    CHECK_INT(unsetenv("GPUMANAGER_ROOT"), 0);
}

TEST(figures_of_the_machine_are_read) /* GH-041 */
{
    begin();
    PUT("/proc/stat", "cpu  100 0 100 700 100 0 0 0 0 0\ncpu0 1 0 0 0\ncpu1 1 0 0 0\nbtime 1\n");
    PUT("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable: 400 kB\n"
                         "SwapTotal: 200 kB\nSwapFree: 50 kB\n");
    PUT("/proc/loadavg", "0.50 1.25 2.00 1/100 5\n");
    PUT("/proc/net/dev", "Inter-| Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0\n"
                         "  eth0: 100 1 0 0 0 0 0 0 200 1 0\n  eth1:11 1 0 0 0 0 0 0 22 1 0\n");
    PUT("/proc/diskstats", "8 0 sda 5 0 10 1 7 0 20 1\n8 1 sda1 5 0 10 1 7 0 20 1\n");
    PUT("/sys/block/sda/size", "1\n");
    PUT("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000\n");
    PUT("/sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
    PUT("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "4000000\n");
    struct host_reader *reader = host_reader_new();
    struct host host;
    host_read(reader, NS_PER_S, &host);
    CHECK(isnan(host.cpu_ratio));
    CHECK_INT(host.cpu_count, 2);
    CHECK_NEAR(host.memory_used_bytes, 600 * 1024, 0);
    CHECK_NEAR(host.swap_used_bytes, 150 * 1024, 0);
    CHECK_NEAR(host.load[1], 1.25, 0);
    CHECK_NEAR(host.network_received_bytes, 111, 0);
    CHECK_NEAR(host.network_sent_bytes, 222, 0);
    CHECK_NEAR(host.disk_read_bytes, 5120, 0);
    CHECK_NEAR(host.disk_written_bytes, 10240, 0);
    CHECK_NEAR(host.cpu_hz, 2e9, 0);
    CHECK_NEAR(host.cpu_max_hz, 4e9, 0);
    PUT("/proc/stat", "cpu  175 0 100 725 100 0 0 0 0 0\ncpu0 1 0 0 0\ncpu1 1 0 0 0\n");
    host_read(reader, 2 * NS_PER_S, &host);
    CHECK_NEAR(host.cpu_ratio, 0.75, 1e-9);
    host_reader_free(reader);
    end();
}

TEST(what_is_not_there_stays_unknown)
{
    begin();
    PUT("/proc/stat", "garbage");
    PUT("/proc/meminfo", "MemTotal: x kB\n");
    struct host_reader *reader = host_reader_new();
    struct host host;
    host_read(reader, 1, &host);
    CHECK(isnan(host.cpu_ratio) && isnan(host.memory_total_bytes) && isnan(host.load[0]));
    CHECK(isnan(host.network_sent_bytes) && isnan(host.disk_read_bytes) && isnan(host.cpu_hz));
    CHECK_INT(host.cpu_count, 0);
    host_reader_free(reader);
    end();
}

TEST(processes_are_named_for_people) /* GH-035 */
{
    static const struct {
        const char *arguments;
        size_t length;
        const char *name, *command;
    } rows[] = {
#define ROW(arguments, name, command) {arguments, sizeof(arguments), name, command}
        ROW("/usr/bin/python3.11\0-u\0/home/a/train.py\0--lr\0001", "train.py",
            "/usr/bin/python3.11 -u /home/a/train.py --lr 1"),
        ROW("python\0-m\0torch.distributed.run\0x.py", "torch.distributed.run",
            "python -m torch.distributed.run x.py"),
        ROW("python3\0-X\0utf8\0-W\0ignore\0train.py", "train.py",
            "python3 -X utf8 -W ignore train.py"),
        ROW("perl\0-W\0a.pl\0b", "a.pl", "perl -W a.pl b"),
        ROW("python3\0-c\0print('secret')", "python3", "python3 -c …"),
        ROW("/opt/vllm/bin/vllm\0serve\0--api-key\0abc", "vllm",
            "/opt/vllm/bin/vllm serve --api-key ****"),
        ROW("run\0HF_TOKEN=abc\0--password=x\0http://u:p@h/x", "run",
            "run HF_TOKEN=**** --password=**** http://****@h/x"),
        ROW("nginx: worker process", "nginx: worker process", "nginx: worker process"),
        ROW("sh\0-c\0rm -rf /", "sh", "sh -c …"),
        ROW("a\x1b[2J\xff", "a?[2J?", "a?[2J?"),
        ROW("", "", ""),
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[PROCESS_NAME_SIZE];
        char command[PROCESS_COMMAND_SIZE];
        process_words(rows[i].arguments, rows[i].length, name, command);
        CHECK_TEXT(name, rows[i].name);
        CHECK_TEXT(command, rows[i].command);
    }
}

TEST(a_process_is_looked_up_with_its_rates)
{
    begin();
    PUT("/proc/stat", "cpu 1\nbtime 1000\n");
    PUT("/proc/7/stat", "7 (a) b) S 1 7 7 0 -1 4194560 1 1 1 1 50 50 0 0 20 0 1 0 500 1000 10 1\n");
    PUT("/proc/7/cmdline", "./work\0x");
    struct process_table *table = process_table_new();
    struct process_detail detail;
    process_table_look(table, 7, "", 10 * NS_PER_S, &detail);
    CHECK(detail.is_seen && isnan(detail.cpu_ratio));
    CHECK_TEXT(detail.name, "./work");
    CHECK_INT(detail.started_ns / NS_PER_S, 1000 + 500 / sysconf(_SC_CLK_TCK));
    CHECK_NEAR(detail.memory_bytes, 10.0 * (double)sysconf(_SC_PAGESIZE), 0);
    PUT("/proc/7/stat", "7 (a) b) S 1 7 7 0 -1 4194560 1 1 1 1 100 100 0 0 20 0 1 0 500 1 10 1\n");
    process_table_look(table, 7, "", 12 * NS_PER_S, &detail);
    CHECK_NEAR(detail.cpu_ratio, 100.0 / (double)sysconf(_SC_CLK_TCK) / 2, 1e-9);
    process_table_look(table, 8, "/usr/bin/game", 12 * NS_PER_S, &detail);
    CHECK(!detail.is_seen);
    CHECK_TEXT(detail.name, "game");
    process_table_look(table, 9, "", 12 * NS_PER_S, &detail);
    CHECK_TEXT(detail.name, "PID:9");
    process_table_sweep(table);
    process_table_sweep(table);
    process_table_look(table, 7, "", 13 * NS_PER_S, &detail);
    CHECK(isnan(detail.cpu_ratio));
    process_table_free(table);
    end();
}

TEST(in_a_namespace_of_its_own_no_pid_is_looked_up)
{
    begin();
    PUT("/proc/7/stat", "7 (a) S 1 7 7 0 -1 4194560 1 1 1 1 50 50 0 0 20 0 1 0 500 1000 10 1\n");
    PUT("/proc/self/ns/x", "");
    OWN_FREE char *link = mem_format("%s/proc/self/ns/pid", root);
    CHECK_INT(symlink("pid:[4026532001]", link), 0);
    struct process_table *table = process_table_new();
    struct process_detail detail;
    process_table_look(table, 7, "", NS_PER_S, &detail);
    CHECK(!detail.is_seen);
    CHECK_TEXT(detail.name, "PID:7");
    process_table_free(table);
    end();
}

MAIN(RUN(figures_of_the_machine_are_read), RUN(what_is_not_there_stays_unknown),
     RUN(processes_are_named_for_people), RUN(a_process_is_looked_up_with_its_rates),
     RUN(in_a_namespace_of_its_own_no_pid_is_looked_up))
