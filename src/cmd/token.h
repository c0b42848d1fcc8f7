/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Who may sign in: the token file, a line a token, of which it holds the SHA-256 only. It is
 * replaced whole, under a lock on its folder. To make and hash a token: cmd/token_secret.h. */
#ifndef CMD_TOKEN_H
#define CMD_TOKEN_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

#define TOKENS_MAX 256
#define TOKEN_NAME_SIZE 33
#define TOKEN_HASH_BYTES 32

enum token_role { TOKEN_VIEWER, TOKEN_OPERATOR };

struct token {
    char name[TOKEN_NAME_SIZE]; /* [a-z0-9_-]{1,32}, unique */
    enum token_role role;
    int64_t created_s; /* since 1970 UTC */
    uint8_t hash[TOKEN_HASH_BYTES];
};

struct token_list {
    struct token token[TOKENS_MAX];
    size_t count;
};

int token_check_name(const char *name, struct err *err);
const char *token_role_name(enum token_role role);
int token_parse_role(const char *text, enum token_role *out, struct err *err);

/* `path` stands in sentences only; none of them shows what a line holds. `out` is untouched on
 * failure. */
int token_parse(const char *text, size_t length, const char *path, struct token_list *out,
                struct err *err);
void token_format(const struct token_list *list, struct buf *out);

struct token *token_find(struct token_list *list, const char *name); /* NULL: none */

/* The token with this hash, NULL for none; takes the same time wherever it stands. */
const struct token *token_match(const struct token_list *list,
                                const uint8_t hash[TOKEN_HASH_BYTES]);
bool token_is_same(const void *a, const void *b, size_t length); /* in constant time */

void token_to_hex(const uint8_t *bytes, size_t length, char *out); /* 2 * length + 1 bytes */
bool token_from_hex(const char *text, size_t text_length, uint8_t *out, size_t length);

/* [server] token_file, else "tokens" beside the configuration in use, or beside the one that
 * `explicit_path` (--config, may be NULL) and the environment would have made. Caller frees. */
char *token_path(const struct config *config, const char *explicit_path);

/* -ENOENT when there is no file. */
int token_load(const char *path, struct token_list *out, struct err *err);

/* The list while it is being changed: nobody else changes it meanwhile. */
struct token_edit {
    struct token_list list;
    /* private */
    const char *path, *config_path;
    int folder;
};

/* `config_path` (may be NULL): root gives a new file to the owner of this one. Ended by
 * token_edit_fini also after a failure; nothing changes without token_edit_save. */
int token_edit_open(struct token_edit *edit, const char *path, const char *config_path,
                    struct err *err);
int token_edit_save(struct token_edit *edit, struct err *err);
void token_edit_fini(struct token_edit *edit);

#endif
