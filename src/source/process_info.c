/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "source/process_info.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define FILE_LIMIT ((size_t)64 << 10)
#define KNOWN_MAX 4096                        /* processes; more are looked up without rates */
#define INIT_PID_NAMESPACE "pid:[4026531836]" /* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define NS_PER_S_D 1e9

struct known {
    uint32_t pid;
    uint64_t start_ticks; /* with the pid, the identity */
    double cpu_ticks;
    int64_t read_ns;
    char user[PROCESS_USER_SIZE];
    bool is_fresh;
};

struct process_table {
    struct known *known;
    size_t count, capacity;
    bool is_host_namespace;
    double boot_s; /* wall time of the boot; 0 = unknown */
    double ticks_per_s;
};

static bool read_text(const char *path, struct buf *out)
{
    OWN_FREE char *rooted = file_rooted(path);
    buf_clear(out);
    return file_read(rooted, FILE_LIMIT, out, NULL) == 0;
}

static double boot_time(void)
{
    OWN_BUF struct buf text = {0};
    const char *line =
        read_text("/proc/stat", &text) ? strstr(buf_string(&text), "\nbtime ") : NULL;
    struct span rest = span_of(line != NULL ? line + 7 : "");
    struct span word;
    int64_t seconds = 0;
    (void)(span_cut(&rest, '\n', &word) && text_to_int64(word, &seconds));
    return (double)seconds;
}

static bool is_host_namespace(void)
{
    char target[64] = "";
    OWN_FREE char *path = file_rooted("/proc/self/ns/pid");
    ssize_t length = readlink(path, target, sizeof target - 1);
    /* Where it cannot be read there are no namespaces. */
    return length <= 0 || strcmp(target, INIT_PID_NAMESPACE) == 0;
}

struct process_table *process_table_new(void)
{
    struct process_table *table = mem_new(1, sizeof *table);
    table->is_host_namespace = is_host_namespace();
    table->boot_s = boot_time();
    table->ticks_per_s = (double)sysconf(_SC_CLK_TCK);
    return table;
}

void process_table_free(struct process_table *table)
{
    if (table != NULL) {
        free(table->known);
        free(table);
    }
}

/* --- words --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* "python3.11" is python: the version behind a name does not count. */
static bool is_interpreter(const char *program)
{
    static const char *const names[] = {"python", "pypy", "ruby", "perl", "node", "Rscript",
                                        "java",   "bash", "sh",   "dash", "zsh"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(program, names[i], length) == 0 &&
            strspn(program + length, "0123456789.") == strlen(program + length)) {
            return true;
        }
    }
    return false;
}

/* Arguments closed by NUL, one after the other; NULL at the end. */
struct arguments {
    const char *at, *end;
};

static const char *next_argument(struct arguments *arguments)
{
    if (arguments->at >= arguments->end) {
        return NULL;
    }
    const char *now = arguments->at;
    arguments->at = now + strnlen(now, (size_t)(arguments->end - now)) + 1;
    return now;
}

static bool is_code_option(const char *argument)
{
    return strcmp(argument, "-c") == 0 || strcmp(argument, "-e") == 0 ||
           strcmp(argument, "--eval") == 0;
}

/* Options of python and java whose value is the next argument. */
static bool takes_value(const char *program, const char *option)
{
    static const char *const options[][2] = {
        {"python", "-X"}, {"python", "-W"}, {"java", "-cp"}, {"java", "-classpath"}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (text_starts(program, options[i][0]) && strcmp(option, options[i][1]) == 0) {
            return true;
        }
    }
    return false;
}

/* What an interpreter runs: the module after -m, or the first argument that is no option. */
static void script_name(const char *program, struct arguments arguments, char *name, size_t size)
{
    const char *argument = NULL;
    while ((argument = next_argument(&arguments)) != NULL) {
        if (is_code_option(argument)) {
            return;
        }
        if (strcmp(argument, "-m") == 0 || strcmp(argument, "-jar") == 0) {
            argument = next_argument(&arguments);
            if (argument != NULL) {
                text_clean(name, size, argument, strlen(argument));
            }
            return;
        }
        if (takes_value(program, argument)) {
            (void)next_argument(&arguments);
            continue;
        }
        if (argument[0] != '-') {
            const char *base = base_name(argument);
            text_clean(name, size, base, strlen(base));
            return;
        }
    }
}

/* Words in the name of an option or a variable whose value is nobody's business. */
static bool is_secret_name(const char *text, size_t length)
{
    static const char *const words[] = {"token",   "password", "passwd", "secret",     "apikey",
                                        "api_key", "api-key",  "auth",   "credential", "private"};
    char name[64];
    text_clean(name, sizeof name, text, length);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcasestr(name, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/* Adds the argument with what is secret in it masked; true when the next one is secret as well. */
static bool add_masked(struct buf *out, const char *argument)
{
    const char *equals = strchr(argument, '=');
    const char *scheme = strstr(argument, "://");
    const char *at = scheme != NULL ? strchr(scheme + 3, '@') : NULL;
    if (equals != NULL && is_secret_name(argument, (size_t)(equals - argument))) {
        buf_add(out, argument, (size_t)(equals - argument) + 1);
        buf_text(out, "****");
        return false;
    }
    if (at != NULL && memchr(scheme + 3, ':', (size_t)(at - scheme - 3)) != NULL) {
        buf_add(out, argument, (size_t)(scheme - argument) + 3);
        buf_text(out, "****");
        buf_text(out, at);
        return false;
    }
    buf_text(out, argument);
    return argument[0] == '-' && equals == NULL && is_secret_name(argument, strlen(argument));
}

static void shown_command(struct arguments arguments, bool is_script, char *command)
{
    OWN_BUF struct buf out = {0};
    const char *argument = NULL;
    bool is_next_secret = false;
    while (out.length < PROCESS_COMMAND_SIZE && (argument = next_argument(&arguments)) != NULL) {
        buf_text(&out, out.length > 0 ? " " : "");
        if (is_next_secret) {
            buf_text(&out, "****");
            is_next_secret = false;
            continue;
        }
        is_next_secret = add_masked(&out, argument);
        if (is_script && is_code_option(argument)) {
            (void)next_argument(&arguments);
            buf_text(&out, " …");
        }
    }
    text_clean(command, PROCESS_COMMAND_SIZE, buf_string(&out), out.length);
}

void process_words(const char *arguments, size_t length, char name[PROCESS_NAME_SIZE],
                   char command[PROCESS_COMMAND_SIZE])
{
    struct arguments all = {arguments, arguments + length};
    name[0] = '\0';
    command[0] = '\0';
    struct arguments rest = all;
    const char *program = next_argument(&rest);
    if (program == NULL) {
        return;
    }
    /* A process may write anything there; then it is one long word ("nginx: worker process"). */
    const char *base = program[0] == '/' ? base_name(program) : program;
    text_clean(name, PROCESS_NAME_SIZE, base, strlen(base));
    bool is_script = is_interpreter(base_name(program));
    if (is_script) {
        script_name(base_name(program), rest, name, PROCESS_NAME_SIZE);
    }
    shown_command(all, is_script, command);
}

/* --- /proc --- */

struct stat_line {
    double cpu_ticks;
    uint64_t start_ticks;
    double resident_pages;
};

/* "7 (name with ) and blanks) S ppid …": fields are counted behind the last ")". */
static bool parse_stat(const char *text, struct stat_line *out)
{
    const char *close = strrchr(text, ')');
    struct span rest = span_of(close != NULL ? close + 1 : "");
    struct span word;
    rest = span_trim(rest);
    for (int field = 3; span_cut(&rest, ' ', &word); field++) {
        int64_t value = 0;
        bool is_number = text_to_int64(word, &value);
        if (is_number && (field == 14 || field == 15)) {
            out->cpu_ticks += (double)value;
        } else if (is_number && field == 22) {
            out->start_ticks = (uint64_t)value;
        } else if (is_number && field == 24) {
            out->resident_pages = (double)value;
            return true;
        }
    }
    return false;
}

static void user_name(uint32_t uid, char *out)
{
    char buffer[4096];
    struct passwd entry;
    struct passwd *found = NULL;
    if (getpwuid_r(uid, &entry, buffer, sizeof buffer, &found) == 0 && found != NULL) {
        text_clean(out, PROCESS_USER_SIZE, found->pw_name, strlen(found->pw_name));
        return;
    }
    (void)snprintf(out, PROCESS_USER_SIZE, "%u", uid);
}

static struct known *find_known(struct process_table *table, uint32_t pid, uint64_t start_ticks,
                                uint32_t uid)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->known[i].pid == pid) {
            if (table->known[i].start_ticks != start_ticks) {
                table->known[i] = (struct known){.pid = pid, .start_ticks = start_ticks};
                user_name(uid, table->known[i].user);
            }
            return &table->known[i];
        }
    }
    if (table->count == KNOWN_MAX) {
        return NULL;
    }
    table->known = mem_grow(table->known, table->count, &table->capacity, sizeof *table->known);
    struct known *known = &table->known[table->count++];
    *known = (struct known){.pid = pid, .start_ticks = start_ticks};
    user_name(uid, known->user);
    return known;
}

static void fill_rates(struct process_table *table, const struct stat_line *line, uint32_t uid,
                       int64_t now_ns, struct process_detail *out)
{
    struct known *known = find_known(table, out->pid, line->start_ticks, uid);
    if (known == NULL) {
        user_name(uid, out->user);
        return;
    }
    double passed_s = (double)(now_ns - known->read_ns) / NS_PER_S_D;
    if (known->read_ns != 0 && passed_s > 0) {
        double ratio = (line->cpu_ticks - known->cpu_ticks) / table->ticks_per_s / passed_s;
        out->cpu_ratio = ratio < 0 ? 0 : ratio;
    }
    text_copy(out->user, sizeof out->user, known->user);
    known->cpu_ticks = line->cpu_ticks;
    known->read_ns = now_ns;
    known->is_fresh = true;
}

void process_table_look(struct process_table *table, uint32_t pid, const char *driver_name,
                        int64_t now_ns, struct process_detail *out)
{
    *out = (struct process_detail){.pid = pid, .cpu_ratio = NAN, .memory_bytes = NAN};
    char path[64];
    OWN_BUF struct buf text = {0};
    struct stat owner;
    struct stat_line line = {0};
    (void)snprintf(path, sizeof path, "/proc/%u", pid);
    OWN_FREE char *folder = file_rooted(path);
    (void)snprintf(path, sizeof path, "/proc/%u/stat", pid);
    if (table->is_host_namespace && stat(folder, &owner) == 0 && read_text(path, &text) &&
        parse_stat(buf_string(&text), &line)) {
        out->is_seen = true;
        out->memory_bytes = line.resident_pages * (double)sysconf(_SC_PAGESIZE);
        if (table->boot_s > 0) {
            out->started_ns =
                (int64_t)((table->boot_s + (double)line.start_ticks / table->ticks_per_s) * 1e9);
        }
        fill_rates(table, &line, owner.st_uid, now_ns, out);
        (void)snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
        if (read_text(path, &text)) {
            process_words(buf_string(&text), text.length, out->name, out->command);
        }
    }
    if (out->name[0] == '\0' && driver_name[0] != '\0') {
        text_copy(out->name, sizeof out->name, base_name(driver_name));
    }
    if (out->name[0] == '\0') {
        (void)snprintf(out->name, sizeof out->name, "PID:%u", pid);
    }
}

void process_table_sweep(struct process_table *table)
{
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (table->known[i].is_fresh) {
            table->known[kept] = table->known[i];
            table->known[kept++].is_fresh = false;
        }
    }
    table->count = kept;
}
