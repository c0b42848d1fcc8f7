/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The machine around the GPUs, and its view of the processes that use them. Unknown is NaN for
 * numbers, "" for words and 0 for times. Base units. */
#ifndef MODEL_HOST_H
#define MODEL_HOST_H

#include <stdbool.h>
#include <stdint.h>

struct host {
    int64_t time_ns;  /* wall */
    double cpu_ratio; /* busy since the read before; NaN at the first */
    int cpu_count;
    double cpu_hz, cpu_max_hz; /* mean of all cores now; the highest possible */
    double memory_total_bytes, memory_available_bytes, memory_used_bytes;
    double swap_total_bytes, swap_used_bytes;
    double load[3];                                    /* over 1, 5 and 15 minutes */
    double network_sent_bytes, network_received_bytes; /* since boot, without loopback */
    double disk_read_bytes, disk_written_bytes;        /* since boot, whole disks */
};

#define PROCESS_USER_SIZE 64
#define PROCESS_NAME_SIZE 128
#define PROCESS_COMMAND_SIZE 1024

struct process_detail {
    uint32_t pid;
    bool is_seen; /* the process is in our pid namespace; else only the pid is known */
    char user[PROCESS_USER_SIZE];
    char name[PROCESS_NAME_SIZE];       /* readable: the script for interpreters; "PID:7" unseen */
    char command[PROCESS_COMMAND_SIZE]; /* secrets masked, text after -c left out */
    int64_t started_ns;                 /* wall */
    double cpu_ratio;                   /* of one core, since the read before */
    double memory_bytes;                /* resident */
};

#endif
