/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/token.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_LIMIT_BYTES ((size_t)64 << 10)
#define FIELDS 4

static const char *const role_names[] = {"viewer", "operator"};

int token_check_name(const char *name, struct err *err)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    size_t length = strlen(name);
    if (length == 0 || length >= TOKEN_NAME_SIZE || strspn(name, allowed) != length) {
        return err_set(err, -EINVAL, "the name of a token has 1 to 32 of a-z, 0-9, _ and -");
    }
    return 0;
}

const char *token_role_name(enum token_role role)
{
    return role_names[role];
}

int token_parse_role(const char *text, enum token_role *out, struct err *err)
{
    for (size_t i = 0; i < sizeof role_names / sizeof role_names[0]; i++) {
        if (strcmp(text, role_names[i]) == 0) {
            *out = (enum token_role)i;
            return 0;
        }
    }
    return err_set(err, -EINVAL, "the role of a token is viewer or operator");
}

void token_to_hex(const uint8_t *bytes, size_t length, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * length] = '\0';
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool token_from_hex(const char *text, size_t text_length, uint8_t *out, size_t length)
{
    if (text_length != 2 * length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        int high = digit_of(text[2 * i]);
        int low = digit_of(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

/* "NAME ROLE SECONDS HASH" */
static bool parse_line(struct span line, struct token *out)
{
    struct span field[FIELDS];
    size_t count = 0;
    struct span part;
    while (span_cut(&line, ' ', &part)) {
        if (count == FIELDS) {
            return false;
        }
        field[count++] = part;
    }
    if (count != FIELDS || field[0].length >= TOKEN_NAME_SIZE) {
        return false;
    }
    *out = (struct token){0};
    memcpy(out->name, field[0].data, field[0].length);
    OWN_FREE char *role = span_copy(field[1]);
    return strlen(out->name) == field[0].length && token_check_name(out->name, NULL) == 0 &&
           token_parse_role(role, &out->role, NULL) == 0 &&
           text_to_int64(field[2], &out->created_s) &&
           token_from_hex(field[3].data, field[3].length, out->hash, TOKEN_HASH_BYTES);
}

int token_parse(const char *text, size_t length, const char *path, struct token_list *out,
                struct err *err)
{
    OWN_FREE struct token_list *list = mem_new(1, sizeof *list);
    struct span rest = {text, length};
    struct span line;
    for (int number = 1; rest.length > 0 && span_cut(&rest, '\n', &line); number++) {
        line = span_trim(line);
        if (line.length == 0 || span_starts(line, "#")) {
            continue;
        }
        if (list->count == TOKENS_MAX) {
            return err_set(err, -EFBIG, "%s has more than %d tokens", path, TOKENS_MAX);
        }
        struct token *token = &list->token[list->count];
        if (!parse_line(line, token)) {
            return err_set(err, -EINVAL, "%s:%d: this line is no token", path, number);
        }
        if (token_find(list, token->name) != NULL) {
            return err_set(err, -EINVAL, "%s:%d: a token of this name stands above", path, number);
        }
        list->count++;
    }
    memcpy(out, list, sizeof *out);
    return 0;
}

void token_format(const struct token_list *list, struct buf *out)
{
    buf_text(out,
             "# Tokens of gpumanager serve: name, role, made at (seconds since 1970), SHA-256.\n"
             "# Changed by: gpumanager token add, gpumanager token remove\n");
    for (size_t i = 0; i < list->count; i++) {
        const struct token *token = &list->token[i];
        char hash[2 * TOKEN_HASH_BYTES + 1];
        token_to_hex(token->hash, TOKEN_HASH_BYTES, hash);
        buf_format(out, "%s %s %" PRId64 " %s\n", token->name, role_names[token->role],
                   token->created_s, hash);
    }
}

struct token *token_find(struct token_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->token[i].name, name) == 0) {
            return &list->token[i];
        }
    }
    return NULL;
}

bool token_is_same(const void *a, const void *b, size_t length)
{
    const volatile uint8_t *left = a;
    const volatile uint8_t *right = b;
    unsigned different = 0;
    for (size_t i = 0; i < length; i++) {
        different |= (unsigned)(left[i] ^ right[i]);
    }
    return different == 0;
}

const struct token *token_match(const struct token_list *list, const uint8_t hash[TOKEN_HASH_BYTES])
{
    const struct token *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        if (token_is_same(list->token[i].hash, hash, TOKEN_HASH_BYTES)) {
            found = &list->token[i];
        }
    }
    return found;
}

/* Folder of a path, "." when it names none; caller frees. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return mem_copy_text(".");
    }
    size_t length = slash == path ? 1 : (size_t)(slash - path);
    return span_copy((struct span){path, length});
}

char *token_path(const struct config *config, const char *explicit_path)
{
    if (config->token_file != NULL) {
        return mem_copy_text(config->token_file);
    }
    OWN_FREE char *beside =
        config->path != NULL ? mem_copy_text(config->path) : config_default_path(explicit_path);
    OWN_FREE char *folder = folder_of(beside);
    return mem_format("%s/tokens", folder);
}

int token_load(const char *path, struct token_list *out, struct err *err)
{
    OWN_BUF struct buf text = {0};
    int code = file_read(path, FILE_LIMIT_BYTES, &text, err);
    return code != 0 ? code : token_parse(buf_string(&text), text.length, path, out, err);
}

int token_edit_open(struct token_edit *edit, const char *path, const char *config_path,
                    struct err *err)
{
    *edit = (struct token_edit){.path = path, .config_path = config_path, .folder = -1};
    OWN_FREE char *folder = folder_of(path);
    int code = access(folder, F_OK) != 0 ? file_make_folders(folder, 0755, err) : 0;
    if (code != 0) {
        return code;
    }
    edit->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (edit->folder < 0) {
        return err_errno(err, -errno, "cannot open folder %s", folder);
    }
    (void)flock(edit->folder, LOCK_EX); /* where a filesystem has no locks, one person edits */
    code = token_load(path, &edit->list, err);
    return code == -ENOENT ? 0 : code;
}

/* An empty file that belongs to who owns the configuration; file_write keeps the owner. */
static void make_for_owner(const struct token_edit *edit)
{
    struct stat status;
    if (geteuid() != 0 || edit->config_path == NULL || stat(edit->config_path, &status) != 0) {
        return;
    }
    OWN_FD int fd = open(edit->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd >= 0) {
        (void)!fchown(fd, status.st_uid, status.st_gid);
    }
}

int token_edit_save(struct token_edit *edit, struct err *err)
{
    struct stat status;
    mode_t mode = 0600;
    if (stat(edit->path, &status) == 0) {
        mode |= status.st_mode & 0040; /* a group that could read it still can */
    } else {
        make_for_owner(edit);
    }
    OWN_BUF struct buf text = {0};
    token_format(&edit->list, &text);
    file_remove_leftovers(edit->folder);
    return file_write(edit->path, buf_string(&text), text.length, mode, FILE_REPLACE, err);
}

void token_edit_fini(struct token_edit *edit)
{
    if (edit->folder >= 0) {
        (void)close(edit->folder); /* the lock goes with it */
        edit->folder = -1;
    }
}
