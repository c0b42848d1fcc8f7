/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/host.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FILE_LIMIT ((size_t)1 << 20)
#define CPUS_MAX 1024    /* whose frequency is read */
#define SECTOR_BYTES 512 /* of /proc/diskstats, whatever the disk's own */

struct host_reader {
    double busy, total; /* of /proc/stat, in ticks, at the read before */
};

struct host_reader *host_reader_new(void)
{
    return mem_new(1, sizeof(struct host_reader));
}

void host_reader_free(struct host_reader *reader)
{
    free(reader);
}

static bool read_text(const char *path, struct buf *out)
{
    OWN_FREE char *rooted = file_rooted(path);
    buf_clear(out);
    return file_read(rooted, FILE_LIMIT, out, NULL) == 0;
}

/* The next word of the line, between blanks. */
static struct span next_word(struct span *line)
{
    *line = span_trim(*line);
    size_t end = 0;
    while (end < line->length && !isspace((unsigned char)line->data[end])) {
        end++;
    }
    struct span word = {line->data, end};
    *line = (struct span){line->data + end, line->length - end};
    return word;
}

static double number(struct span word)
{
    int64_t value = 0;
    double real = 0;
    if (text_to_int64(word, &value)) {
        return (double)value;
    }
    return text_to_double(word, &real) ? real : NAN;
}

/* The words behind "cpu"; the fourth and the fifth are not busy. */
static void read_ticks(struct host_reader *reader, struct span line, struct host *out)
{
    double total = 0;
    double idle = 0;
    for (int i = 0; i < 8; i++) {
        double ticks = number(next_word(&line));
        total += isnan(ticks) ? 0 : ticks;
        idle += (i == 3 || i == 4) && !isnan(ticks) ? ticks : 0;
    }
    double passed = total - reader->total;
    if (reader->total > 0 && passed > 0) {
        double ratio = (total - idle - reader->busy) / passed;
        out->cpu_ratio = ratio < 0 ? 0 : ratio > 1 ? 1 : ratio;
    }
    reader->total = total;
    reader->busy = total - idle;
}

/* "cpu  user nice system idle iowait irq softirq steal …": idle and iowait are not busy. */
static void read_stat(struct host_reader *reader, struct host *out)
{
    OWN_BUF struct buf text = {0};
    if (!read_text("/proc/stat", &text)) {
        return;
    }
    struct span rest = span_of(buf_string(&text));
    struct span line;
    while (span_cut(&rest, '\n', &line) && span_starts(line, "cpu")) {
        struct span name = next_word(&line);
        if (!span_equals(name, "cpu")) {
            out->cpu_count++;
            continue;
        }
        read_ticks(reader, line, out);
    }
}

static void read_meminfo(struct host *out)
{
    OWN_BUF struct buf text = {0};
    struct {
        const char *key;
        double bytes;
    } rows[] = {
        {"MemTotal:", NAN}, {"MemAvailable:", NAN}, {"SwapTotal:", NAN}, {"SwapFree:", NAN}};
    struct span rest = span_of(read_text("/proc/meminfo", &text) ? buf_string(&text) : "");
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        struct span key = next_word(&line);
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            if (span_equals(key, rows[i].key)) {
                rows[i].bytes = number(next_word(&line)) * 1024;
            }
        }
    }
    out->memory_total_bytes = rows[0].bytes;
    out->memory_available_bytes = rows[1].bytes;
    out->memory_used_bytes = rows[0].bytes - rows[1].bytes;
    out->swap_total_bytes = rows[2].bytes;
    out->swap_used_bytes = rows[2].bytes - rows[3].bytes;
}

static void read_load(struct host *out)
{
    OWN_BUF struct buf text = {0};
    struct span line = span_of(read_text("/proc/loadavg", &text) ? buf_string(&text) : "");
    for (int i = 0; i < 3; i++) {
        out->load[i] = number(next_word(&line));
    }
}

/* "  eth0: received_bytes packets errs drop fifo frame compressed multicast sent_bytes …" */
static void read_network(struct host *out)
{
    OWN_BUF struct buf text = {0};
    if (!read_text("/proc/net/dev", &text)) {
        return;
    }
    out->network_received_bytes = 0;
    out->network_sent_bytes = 0;
    struct span rest = span_of(buf_string(&text));
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        struct span figures = line;
        struct span name;
        if (memchr(line.data, ':', line.length) == NULL || !span_cut(&figures, ':', &name) ||
            span_equals(span_trim(name), "lo")) {
            continue;
        }
        for (int i = 0; i < 9; i++) {
            double value = number(next_word(&figures));
            if (!isnan(value) && (i == 0 || i == 8)) {
                *(i == 0 ? &out->network_received_bytes : &out->network_sent_bytes) += value;
            }
        }
    }
}

/* Partitions and what is made of other disks would count twice. */
static bool is_whole_disk(struct span name)
{
    char path[128];
    if (name.length > 64 || span_starts(name, "loop") || span_starts(name, "ram") ||
        span_starts(name, "dm-") || span_starts(name, "md") || span_starts(name, "zram")) {
        return false;
    }
    (void)snprintf(path, sizeof path, "/sys/block/%.*s", (int)name.length, name.data);
    OWN_FREE char *rooted = file_rooted(path);
    return access(rooted, F_OK) == 0;
}

/* "8 0 sda reads merged sectors ms writes merged sectors …" */
static void read_disks(struct host *out)
{
    OWN_BUF struct buf text = {0};
    if (!read_text("/proc/diskstats", &text)) {
        return;
    }
    out->disk_read_bytes = 0;
    out->disk_written_bytes = 0;
    struct span rest = span_of(buf_string(&text));
    struct span line;
    while (span_cut(&rest, '\n', &line)) {
        (void)next_word(&line);
        (void)next_word(&line);
        struct span name = next_word(&line);
        if (name.length == 0 || !is_whole_disk(name)) {
            continue;
        }
        for (int i = 0; i < 7; i++) {
            double value = number(next_word(&line));
            if (!isnan(value) && (i == 2 || i == 6)) {
                *(i == 2 ? &out->disk_read_bytes : &out->disk_written_bytes) +=
                    value * SECTOR_BYTES;
            }
        }
    }
}

static double read_khz(int cpu, const char *name)
{
    OWN_BUF struct buf text = {0};
    char path[128];
    (void)snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, name);
    return read_text(path, &text) ? number(span_trim(span_of(buf_string(&text)))) * 1000 : NAN;
}

static void read_frequency(struct host *out)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < out->cpu_count && i < CPUS_MAX; i++) {
        double hz = read_khz(i, "scaling_cur_freq");
        if (isnan(hz)) {
            break;
        }
        sum += hz;
        count++;
    }
    out->cpu_hz = count > 0 ? sum / count : NAN;
    out->cpu_max_hz = read_khz(0, "cpuinfo_max_freq");
}

void host_read(struct host_reader *reader, int64_t now_ns, struct host *out)
{
    *out = (struct host){.time_ns = now_ns,
                         .cpu_ratio = NAN,
                         .network_sent_bytes = NAN,
                         .network_received_bytes = NAN,
                         .disk_read_bytes = NAN,
                         .disk_written_bytes = NAN};
    read_stat(reader, out);
    read_meminfo(out);
    read_load(out);
    read_network(out);
    read_disks(out);
    read_frequency(out);
}
