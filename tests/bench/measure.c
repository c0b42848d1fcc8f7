/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* measure PROGRAM ARGUMENTS…: runs it and writes "CPU_MICROSECONDS PEAK_KIB EXIT" as the last line
 * of stderr. A small parent, because the peak that the kernel reports includes that of the parent.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long micros(struct timeval at)
{
    return at.tv_sec * 1000000LL + at.tv_usec;
}

int main(int argc, char **argv)
{
    pid_t child = argc > 1 ? fork() : -1;
    if (child == 0) {
        execv(argv[1], argv + 1);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        return 1;
    }
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    fprintf(stderr, "%lld %ld %d\n", micros(usage.ru_utime) + micros(usage.ru_stime),
            usage.ru_maxrss, code);
    return code;
}
