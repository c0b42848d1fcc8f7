/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* make_archive DIR COUNT GPUS END_S: COUNT one-minute samples (UTC names) of GPUS GPUs, back from
 * END_S. The utilization is known: (minute + GPU) % 101. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int write_sample(int dir_fd, time_t at, long gpus)
{
    char text[65536];
    char name[64];
    char stamp[32];
    struct tm tm;
    (void)gmtime_r(&at, &tm);
    (void)strftime(name, sizeof name, "%Y-%m-%dT%H-%M-%S.csv", &tm);
    (void)strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
    int length = snprintf(text, sizeof text, "timestamp,gpu_index,gpu_uuid,gpu_name,util_gpu\n");
    for (long gpu = 0; gpu < gpus; gpu++) {
        length += snprintf(text + length, sizeof text - (size_t)length,
                           "%s,%ld,GPU-00000000-0000-4000-8000-%012ld,NVIDIA H100 80GB HBM3,%ld\n",
                           stamp, gpu, gpu, ((long)(at / 60) + gpu) % 101);
    }
    int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0 || write(fd, text, (size_t)length) != length) {
        return -1;
    }
    return close(fd);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        (void)fprintf(stderr, "usage: make_archive DIR COUNT GPUS END_S\n");
        return 2;
    }
    long count = strtol(argv[2], NULL, 10);
    long gpus = strtol(argv[3], NULL, 10);
    time_t end = (time_t)strtoll(argv[4], NULL, 10);
    (void)mkdir(argv[1], 0755);
    int dir_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (long i = 0; i < count && dir_fd >= 0 && gpus <= 256; i++) {
        if (write_sample(dir_fd, end - 60 * i, gpus) != 0) {
            perror("make_archive");
            return 1;
        }
    }
    return dir_fd < 0;
}
