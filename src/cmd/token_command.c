/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* token add, token list, token remove. The token itself is printed once, and stored nowhere. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "cmd/cmd.h"
#include "cmd/lazy.h"
#include "cmd/token_secret.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

int secret_random(uint8_t out[SECRET_BYTES], struct err *err)
{
    if (getrandom(out, SECRET_BYTES, 0) != SECRET_BYTES) {
        return err_errno(err, -errno, "the system gives no random bytes");
    }
    return 0;
}

void token_hash(struct span text, uint8_t out[TOKEN_HASH_BYTES])
{
    if (EVP_Digest(text.data, text.length, out, NULL, EVP_sha256(), NULL) != 1) {
        abort(); /* no answer is better than a wrong one */
    }
}

static int add(struct token_edit *edit, const char *name, const char *role, struct err *err)
{
    struct token token = {.created_s = clock_wall_ns() / NS_PER_S};
    int code = token_check_name(name, err);
    code = code != 0 ? code : token_parse_role(role != NULL ? role : "viewer", &token.role, err);
    if (code != 0) {
        return code;
    }
    if (token_find(&edit->list, name) != NULL) {
        return err_set(err, -EINVAL,
                       "there is a token '%s' already; gpumanager token remove %s takes it away",
                       name, name);
    }
    if (edit->list.count == TOKENS_MAX) {
        return err_set(err, -EINVAL, "there are %d tokens already, which is the most", TOKENS_MAX);
    }
    uint8_t secret[SECRET_BYTES];
    code = lazy_open(err);
    code = code != 0 ? code : secret_random(secret, err);
    if (code != 0) {
        return code;
    }
    char text[TOKEN_TEXT_SIZE] = "gpm_";
    token_to_hex(secret, SECRET_BYTES, text + 4);
    token_hash(span_of(text), token.hash);
    text_copy(token.name, sizeof token.name, name);
    edit->list.token[edit->list.count++] = token;
    code = token_edit_save(edit, err);
    if (code == 0) {
        (void)fprintf(stderr, "Token '%s' (%s) was added to %s. It is shown only this once:\n",
                      name, token_role_name(token.role), edit->path);
        (void)printf("%s\n", text);
    }
    explicit_bzero(text, sizeof text);
    explicit_bzero(secret, sizeof secret);
    return code;
}

static int remove_token(struct token_edit *edit, const char *name, struct err *err)
{
    struct token *token = token_find(&edit->list, name);
    if (token == NULL) {
        return err_set(err, -EINVAL, "there is no such token in %s", edit->path);
    }
    struct token *end = edit->list.token + edit->list.count;
    memmove(token, token + 1, (size_t)(end - token - 1) * sizeof *token);
    edit->list.count--;
    int code = token_edit_save(edit, err);
    if (code == 0) {
        (void)printf("Token '%s' was removed; whoever used it is signed out.\n", name);
    }
    if (code == 0 && edit->list.count == 0) {
        (void)printf("No token is left: once serve starts anew, it answers everybody on this "
                     "machine, and nobody else.\n");
    }
    return code;
}

static int list(const char *path, struct err *err)
{
    OWN_FREE struct token_list *tokens = mem_new(1, sizeof *tokens);
    int code = token_load(path, tokens, err);
    if (code != 0 && code != -ENOENT) {
        return code;
    }
    if (tokens->count == 0) {
        (void)printf("There is no token in %s (gpumanager token add NAME makes one).\n", path);
        return 0;
    }
    struct zone utc;
    code = zone_open(&utc, "UTC", err);
    for (size_t i = 0; code == 0 && i < tokens->count; i++) {
        const struct token *token = &tokens->token[i];
        char when[64] = "";
        zone_format(&utc, token->created_s, "%Y-%m-%dT%H:%M:%SZ", when, sizeof when);
        (void)printf("%-32s  %-8s  %s\n", token->name, token_role_name(token->role), when);
    }
    return code;
}

static int change(const struct cmd *cmd, const struct config *config, const char *path,
                  struct err *err)
{
    bool is_add = strcmp(cmd->argument[0], "add") == 0;
    if (cmd->argument_count < 2) {
        return err_set(err, -EINVAL, "token %s needs the name of a token", cmd->argument[0]);
    }
    OWN_FREE struct token_edit *edit = mem_new(1, sizeof *edit);
    int code = token_edit_open(edit, path, config->path, err);
    if (code == 0) {
        code = is_add ? add(edit, cmd->argument[1], cmd_value(cmd, "role"), err)
                      : remove_token(edit, cmd->argument[1], err);
    }
    token_edit_fini(edit);
    return code;
}

int token_run(struct cmd *cmd);

int token_run(struct cmd *cmd)
{
    struct err err = {0};
    const char *what = cmd->argument[0];
    bool is_list = strcmp(what, "list") == 0;
    bool is_add = strcmp(what, "add") == 0;
    if (!is_list && !is_add && strcmp(what, "remove") != 0) {
        (void)err_set(&err, -EINVAL, "token %s: expected add, list or remove", what);
        return cmd_fail_usage(&err);
    }
    if ((!is_add && cmd_value(cmd, "role") != NULL) || (is_list && cmd->argument_count > 1)) {
        (void)err_set(&err, -EINVAL, "token %s does not take %s", what,
                      cmd_value(cmd, "role") != NULL ? "--role" : "a name");
        return cmd_fail_usage(&err);
    }
    OWN_CONTEXT struct cmd_context context = {0};
    int code = cmd_context_open(cmd, true, &context);
    if (code != CMD_OK) {
        return code;
    }
    OWN_FREE char *path = token_path(context.config, cmd->config_path);
    code = is_list ? list(path, &err) : change(cmd, context.config, path, &err);
    if (code == 0) {
        return CMD_OK;
    }
    return code == -EINVAL ? cmd_fail_usage(&err) : cmd_fail(&err);
}
