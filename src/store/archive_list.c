/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "store/archive_list.h"

#include "base/mem.h"
#include "base/own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

/* readdir() asks for 32 KiB at a time; a folder of 30 MiB of names is read in a third of the calls
 * and without its locks. */
#define LIST_BUFFER_SIZE (256U * 1024U)

struct linux_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
};

uint64_t archive_mix(uint64_t a, uint64_t b)
{
    uint64_t word = a * UINT64_C(0x9e3779b97f4a7c15) ^ (b + UINT64_C(0x632be59bd9b4e019));
    word = (word ^ (word >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    word = (word ^ (word >> 27)) * UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 31);
}

static void rehash(struct archive_list *list)
{
    free(list->slot);
    list->slot_count = list->slot_count == 0 ? 1024 : list->slot_count * 2;
    list->slot = mem_new(list->slot_count, sizeof *list->slot);
    for (size_t i = 0; i < list->day_count; i++) {
        size_t at = (uint32_t)list->day[i].day * 2654435761U & (list->slot_count - 1);
        while (list->slot[at] != 0) {
            at = (at + 1) & (list->slot_count - 1);
        }
        list->slot[at] = (uint32_t)i + 1;
    }
}

static struct archive_list_day *find_day(struct archive_list *list, int32_t day)
{
    if (list->day_count * 2 >= list->slot_count) {
        rehash(list);
    }
    size_t at = (uint32_t)day * 2654435761U & (list->slot_count - 1);
    for (; list->slot[at] != 0; at = (at + 1) & (list->slot_count - 1)) {
        struct archive_list_day *found = &list->day[list->slot[at] - 1];
        if (found->day == day) {
            return found;
        }
    }
    list->day = mem_grow(list->day, list->day_count, &list->day_capacity, sizeof *list->day);
    struct archive_list_day *fresh = &list->day[list->day_count++];
    *fresh = (struct archive_list_day){.day = day};
    list->slot[at] = (uint32_t)list->day_count;
    return fresh;
}

static void add_foreign(struct archive_list *list, const char *name)
{
    if (list->foreign_count == ARCHIVE_FOREIGN_MAX) {
        list->foreign_left_out++;
        return;
    }
    list->foreign = mem_grow(list->foreign, list->foreign_count, &list->foreign_capacity,
                             sizeof *list->foreign);
    list->foreign[list->foreign_count++] = mem_copy_text(name);
}

static void add_name(struct archive_list *list, const struct linux_entry *entry, int32_t first_day,
                     int32_t last_day)
{
    struct archive_name name = archive_name_parse(entry->name);
    list->name_count++;
    if (name.kind == ARCHIVE_NAME_OTHER) {
        return;
    }
    if (name.kind == ARCHIVE_NAME_FOREIGN) {
        add_foreign(list, entry->name);
        return;
    }
    if (name.day > list->newest_day) {
        list->newest_day = name.day;
    }
    if (name.day < first_day || name.day > last_day) {
        return;
    }
    struct archive_list_day *day = find_day(list, name.day);
    if (name.kind == ARCHIVE_NAME_DAY) {
        day->has_merged = true;
        day->entries_hash += archive_mix(entry->inode, UINT64_MAX);
        return;
    }
    day->key = mem_grow(day->key, day->count, &day->capacity, sizeof *day->key);
    day->key[day->count++] = name.key;
    day->entries_hash += archive_mix(entry->inode, name.key);
}

static int compare_days(const void *a, const void *b)
{
    int32_t first = ((const struct archive_list_day *)a)->day;
    int32_t second = ((const struct archive_list_day *)b)->day;
    return (first > second) - (first < second);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int compare_keys(const void *a, const void *b)
{
    uint32_t first = *(const uint32_t *)a;
    uint32_t second = *(const uint32_t *)b;
    return (first > second) - (first < second);
}

void archive_list_sort_day(struct archive_list_day *day)
{
    if (day->count > 1) {
        qsort(day->key, day->count, sizeof *day->key, compare_keys);
    }
}

int archive_list_read(int dir_fd, int32_t first_day, int32_t last_day, struct archive_list *out,
                      struct err *err)
{
    OWN_FREE char *buffer = mem_new(LIST_BUFFER_SIZE, 1);
    *out = (struct archive_list){.newest_day = INT32_MIN};
    for (;;) {
        long got = syscall(SYS_getdents64, dir_fd, buffer, LIST_BUFFER_SIZE);
        if (got < 0) {
            int code = -errno;
            archive_list_fini(out);
            return err_errno(err, code, "cannot list the folder");
        }
        if (got == 0) {
            break;
        }
        for (long at = 0; at < got;) {
            const struct linux_entry *entry = (const struct linux_entry *)(buffer + at);
            add_name(out, entry, first_day, last_day);
            at += entry->length;
        }
    }
    if (out->day_count > 1) {
        qsort(out->day, out->day_count, sizeof *out->day, compare_days);
    }
    if (out->foreign_count > 1) {
        qsort(out->foreign, out->foreign_count, sizeof *out->foreign, compare_names);
    }
    return 0;
}

void archive_list_fini(struct archive_list *list)
{
    for (size_t i = 0; i < list->day_count; i++) {
        free(list->day[i].key);
    }
    for (size_t i = 0; i < list->foreign_count; i++) {
        free(list->foreign[i]);
    }
    free(list->day);
    free(list->foreign);
    free(list->slot);
    *list = (struct archive_list){0};
}
