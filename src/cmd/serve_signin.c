/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/serve_signin.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own.h"
#include "cmd/serve.h"
#include "cmd/token_secret.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define FORM_BYTES 4096
#define SECRET_TEXT_SIZE 128
#define CHECK_NS (60 * NS_PER_S) /* sessions also end by themselves */

struct serve_signin {
    char *path;
    struct token_list tokens;
    struct stat seen; /* of the file as it was read; zero = there was none */
    int failed;       /* why it cannot be read; 0 = it was, or there is none */
    bool is_required;
    struct sessions *sessions;
    struct failures *failures;
    int64_t checked_ns;
};

/* The time of change tells of a new owner, too. */
static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

static struct stat look(const char *path)
{
    struct stat now = {0};
    if (stat(path, &now) != 0) {
        now = (struct stat){0};
        if (errno != ENOENT && errno != ENOTDIR) {
            now.st_size = -1; /* not the same as no file */
        }
    }
    return now;
}

/* 1 when it was read anew; a file that cannot be read lets nobody in, which is said once. What may
 * pass by itself (no descriptor is free) is tried again each time, and ends no session. */
static int read_tokens(struct serve_signin *signin, struct err *err)
{
    struct stat now = look(signin->path);
    int before = signin->failed;
    bool is_same = is_same_file(&now, &signin->seen);
    bool is_passing = before != 0 && before != -EINVAL && before != -EFBIG;
    if (is_same && !is_passing) {
        return 0;
    }
    signin->seen = now;
    int code = token_load(signin->path, &signin->tokens, err);
    signin->failed = code == -ENOENT ? 0 : code;
    if (code != 0) {
        signin->tokens.count = 0;
    }
    if (signin->tokens.count > 0 || signin->failed != 0) {
        signin->is_required = true;
    }
    if (signin->failed != 0) {
        return is_same && signin->failed == before ? 0 : signin->failed;
    }
    if ((now.st_mode & S_IRWXO) != 0) {
        log_warning("%s can be read by others on this machine; chmod 600 keeps them out",
                    signin->path);
    }
    sessions_keep(signin->sessions, &signin->tokens);
    return 1;
}

int serve_signin_open(struct serve *serve, const struct cmd *cmd, struct err *err)
{
    struct serve_signin *signin = mem_new(1, sizeof *signin);
    serve->signin = signin;
    signin->path = token_path(serve->context.config, cmd->config_path);
    signin->sessions = sessions_new();
    signin->failures = failures_new();
    int code = read_tokens(signin, err);
    return code < 0 ? code : 0;
}

void serve_signin_close(struct serve *serve)
{
    struct serve_signin *signin = serve->signin;
    if (signin == NULL) {
        return;
    }
    sessions_free(signin->sessions);
    failures_free(signin->failures);
    free(signin->path);
    free(signin);
    serve->signin = NULL;
}

bool serve_signin_has_tokens(const struct serve *serve)
{
    return serve->signin->tokens.count > 0;
}

void serve_signin_require(struct serve *serve)
{
    serve->signin->is_required = true;
}

static void refresh(struct serve *serve)
{
    struct err err = {0};
    int code = read_tokens(serve->signin, &err);
    if (code < 0) {
        log_error("%s; nobody can sign in until that is mended", err.text);
    } else if (code > 0) {
        log_info("the token file was read again: %zu tokens", serve->signin->tokens.count);
    }
    if (code != 0) {
        serve_check_viewers(serve);
    }
}

void serve_signin_tick(struct serve *serve, int64_t now_ns)
{
    refresh(serve);
    if (now_ns - serve->signin->checked_ns >= CHECK_NS) {
        serve->signin->checked_ns = now_ns;
        serve_check_viewers(serve);
    }
}

bool serve_signin_holds(struct serve *serve, const struct visitor *visitor)
{
    struct serve_signin *signin = serve->signin;
    if (!visitor->is_signed_in) {
        return !signin->is_required;
    }
    return token_match(&signin->tokens, visitor->token) != NULL &&
           (!visitor->has_session ||
            sessions_use(signin->sessions, visitor->session, clock_mono_ns()) != NULL);
}

bool serve_signin_is_hidden(const struct serve *serve, const struct visitor *visitor)
{
    if (!serve->context.config->is_process_hidden) {
        return false;
    }
    const struct token *token =
        visitor->is_signed_in ? token_match(&serve->signin->tokens, visitor->token) : NULL;
    return token == NULL || token->role != TOKEN_OPERATOR;
}

/* --- who asks --- */

static const struct token *match_secret(struct serve *serve, struct http_request *request,
                                        struct span secret)
{
    uint8_t hash[TOKEN_HASH_BYTES];
    token_hash(secret, hash);
    const struct token *token = token_match(&serve->signin->tokens, hash);
    if (token == NULL) {
        failures_add(serve->signin->failures, request->peer, clock_mono_ns());
        log_warning("a sign-in from %s failed: there is no such token", request->peer);
    }
    return token;
}

static bool has_session(struct serve *serve, struct http_request *request, struct visitor *out)
{
    char name[COOKIE_NAME_SIZE];
    session_cookie_name(http_header(request, "host"), name);
    *out = (struct visitor){.is_signed_in = true, .has_session = true};
    if (!session_cookie(http_header(request, "cookie"), name, out->session)) {
        return false;
    }
    const uint8_t *token = sessions_use(serve->signin->sessions, out->session, clock_mono_ns());
    if (token == NULL) {
        return false;
    }
    memcpy(out->token, token, TOKEN_HASH_BYTES);
    return token_match(&serve->signin->tokens, token) != NULL;
}

static void reply_plain(struct http_request *request, int status, const char *sentence,
                        const struct http_header_line *headers)
{
    OWN_BUF struct buf text = {0};
    buf_format(&text, "{\"error\":\"%s\"}", sentence);
    struct http_blob *body = http_blob_new(buf_string(&text), text.length);
    http_reply(request,
               &(struct http_reply){
                   .status = status, .type = "application/json", .body = body, .headers = headers});
    http_blob_unref(body);
}

static void reply_unknown(struct http_request *request)
{
    static const struct http_header_line headers[] = {{"WWW-Authenticate", "Bearer"}, {NULL, NULL}};
    reply_plain(request, 401,
                "sign in at ./login, or send a token: Authorization: Bearer TOKEN (gpumanager "
                "token add makes one)",
                headers);
}

static void reply_way(struct http_request *request, const char *where, const char *cookie)
{
    struct http_header_line headers[] = {
        {"Location", where}, {cookie != NULL ? "Set-Cookie" : NULL, cookie}, {NULL, NULL}};
    http_reply(request, &(struct http_reply){.status = 303, .headers = headers});
}

static bool admit_bearer(struct serve *serve, struct http_request *request, struct span secret,
                         struct visitor *out)
{
    int wait_s = failures_wait_s(serve->signin->failures, request->peer, clock_mono_ns());
    if (wait_s > 0) {
        char after[16];
        (void)snprintf(after, sizeof after, "%d", wait_s);
        struct http_header_line headers[] = {{"Retry-After", after}, {NULL, NULL}};
        reply_plain(request, 429, "too many sign-ins from this address failed; wait", headers);
        return false;
    }
    const struct token *token = match_secret(serve, request, secret);
    if (token == NULL) {
        reply_unknown(request);
        return false;
    }
    *out = (struct visitor){.is_signed_in = true};
    memcpy(out->token, token->hash, TOKEN_HASH_BYTES);
    return true;
}

bool serve_signin_admit(struct serve *serve, struct http_request *request, struct visitor *out)
{
    refresh(serve);
    *out = (struct visitor){0};
    struct span secret;
    if (!serve->signin->is_required) {
        return true;
    }
    if (session_bearer(http_header(request, "authorization"), &secret)) {
        return admit_bearer(serve, request, secret, out);
    }
    if (has_session(serve, request, out)) {
        return true;
    }
    if (strcmp(request->path, "/") == 0 || strcmp(request->path, "/index.html") == 0) {
        reply_way(request, "./login", NULL);
    } else {
        reply_unknown(request);
    }
    return false;
}

/* --- the pages --- */

static const char style[] =
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:24rem;margin:15vh auto;padding:0 1rem}"
    "input,button{font:inherit;box-sizing:border-box;width:100%;padding:.6rem;margin:.4rem 0}"
    "[role=alert]{border-left:.3rem solid #c00;padding-left:.6rem}";

/* `sentence` and `name` hold nothing that HTML reads. */
static void write_page(const char *sentence, const char *name, struct buf *out)
{
    buf_text(out, "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                  "<meta name=\"viewport\" content=\"width=device-width\">"
                  "<title>gpumanager: sign in</title><link rel=\"stylesheet\" href=\"login.css\">"
                  "</head><body><main><h1>gpumanager</h1>");
    if (name != NULL) {
        buf_format(out,
                   "<p>You are signed in with the token <b>%s</b>. <a href=\"./\">To the "
                   "page</a></p><form method=\"post\" action=\"logout\"><button>Sign out</button>"
                   "</form>",
                   name);
    } else {
        if (sentence != NULL) {
            buf_format(out, "<p role=\"alert\">%s</p>", sentence);
        }
        buf_text(out, "<form method=\"post\" action=\"login\"><label for=\"token\">Token</label>"
                      "<input id=\"token\" name=\"token\" type=\"password\" required autofocus "
                      "autocomplete=\"current-password\"><button>Sign in</button></form>"
                      "<p>A token is made on this machine: <code>gpumanager token add NAME</code>"
                      "</p>");
    }
    buf_text(out, "</main></body></html>\n");
}

/* Referrer-Policy: with no-referrer browsers send "Origin: null" when the form is sent. */
static void reply_page(struct http_request *request, int status, const char *sentence,
                       const char *name, int wait_s)
{
    char after[16];
    (void)snprintf(after, sizeof after, "%d", wait_s);
    struct http_header_line headers[] = {{"Content-Security-Policy", SERVE_CSP},
                                         {"X-Frame-Options", "DENY"},
                                         {"Referrer-Policy", "same-origin"},
                                         {wait_s > 0 ? "Retry-After" : NULL, after},
                                         {NULL, NULL}};
    OWN_BUF struct buf text = {0};
    write_page(sentence, name, &text);
    struct http_blob *body = http_blob_new(buf_string(&text), text.length);
    http_reply(request, &(struct http_reply){.status = status,
                                             .type = "text/html; charset=utf-8",
                                             .body = body,
                                             .headers = headers});
    http_blob_unref(body);
}

/* With `id` NULL the browser forgets the session. */
static char *cookie_of(const struct serve *serve, const struct http_request *request,
                       const uint8_t *id)
{
    char name[COOKIE_NAME_SIZE];
    char value[SESSION_ID_SIZE] = "";
    const char *path = serve->context.config->base_path;
    /* Before a proxy that speaks TLS, the browser tells so. */
    bool is_secure = request->is_tls || text_starts(http_header(request, "origin"), "https://");
    session_cookie_name(http_header(request, "host"), name);
    if (id != NULL) {
        token_to_hex(id, SESSION_ID_BYTES, value);
    }
    return mem_format("%s=%s; Path=%s; HttpOnly; SameSite=Strict; Max-Age=%d%s", name, value,
                      path[0] == '/' ? path : "/", id != NULL ? SESSION_LIFE_S : 0,
                      is_secure ? "; Secure" : "");
}

static void begin_session(struct serve *serve, struct http_request *request,
                          const struct token *token)
{
    struct err err = {0};
    uint8_t id[SESSION_ID_BYTES];
    struct visitor before;
    if (secret_random(id, &err) != 0) {
        http_reply_error(request, 503, err.text);
        return;
    }
    if (has_session(serve, request, &before)) {
        sessions_remove(serve->signin->sessions, before.session);
        serve_check_viewers(serve);
    }
    sessions_add(serve->signin->sessions, id, token->hash, clock_mono_ns());
    log_info("%s signed in with the token '%s'", request->peer, token->name);
    OWN_FREE char *cookie = cookie_of(serve, request, id);
    reply_way(request, "./", cookie);
}

static void sign_in(struct serve *serve, struct http_request *request)
{
    static const char form[] = "application/x-www-form-urlencoded";
    if (strncasecmp(http_header(request, "content-type"), form, sizeof form - 1) != 0) {
        http_reply_error(request, 415, "a sign-in is a form (application/x-www-form-urlencoded)");
        return;
    }
    if (request->body.length > FORM_BYTES) {
        http_reply_error(request, 413, "a sign-in is not as long as this");
        return;
    }
    int wait_s = failures_wait_s(serve->signin->failures, request->peer, clock_mono_ns());
    if (wait_s > 0) {
        reply_page(request, 429, "Too many sign-ins from this address failed. Wait a minute.", NULL,
                   wait_s);
        return;
    }
    char secret[SECRET_TEXT_SIZE] = "";
    (void)session_form_token(request->body, secret, sizeof secret);
    const struct token *token = match_secret(serve, request, span_of(secret));
    explicit_bzero(secret, sizeof secret);
    if (token == NULL) {
        reply_page(request, 401, "There is no such token.", NULL, 0);
        return;
    }
    begin_session(serve, request, token);
}

static void sign_out(struct serve *serve, struct http_request *request)
{
    struct visitor visitor;
    if (has_session(serve, request, &visitor)) {
        sessions_remove(serve->signin->sessions, visitor.session);
        serve_check_viewers(serve);
    }
    OWN_FREE char *cookie = cookie_of(serve, request, NULL);
    reply_way(request, "./login", cookie);
}

static void show_login(struct serve *serve, struct http_request *request)
{
    struct visitor visitor;
    bool is_known = has_session(serve, request, &visitor);
    const struct token *token =
        is_known ? token_match(&serve->signin->tokens, visitor.token) : NULL;
    reply_page(request, 200, NULL, token != NULL ? token->name : NULL, 0);
}

static void reply_style(struct http_request *request)
{
    struct http_blob *body = http_blob_static(style, sizeof style - 1);
    http_reply(request, &(struct http_reply){
                            .status = 200, .type = "text/css; charset=utf-8", .body = body});
    http_blob_unref(body);
}

static void refuse_method(struct http_request *request, const char *allowed)
{
    struct http_header_line headers[] = {{"Allow", allowed}, {NULL, NULL}};
    http_reply(request, &(struct http_reply){.status = 405, .headers = headers});
}

bool serve_signin_answer(struct serve *serve, struct http_request *request)
{
    bool is_login = strcmp(request->path, "/login") == 0;
    bool is_logout = strcmp(request->path, "/logout") == 0;
    bool is_get = strcmp(request->method, "GET") == 0;
    bool is_post = strcmp(request->method, "POST") == 0;
    if (is_get && strcmp(request->path, "/login.css") == 0) {
        reply_style(request);
        return true;
    }
    if (!is_login && !is_logout) {
        return false;
    }
    refresh(serve);
    if (!is_post && !(is_get && is_login)) {
        refuse_method(request, is_login ? "GET, HEAD, POST" : "POST");
    } else if (!serve->signin->is_required) {
        reply_way(request, "./", NULL);
    } else if (is_get) {
        show_login(serve, request);
    } else if (http_header(request, "origin")[0] == '\0') {
        http_reply_error(request, 403, "a form comes from a page of ours, and says so (Origin)");
    } else if (is_login) {
        sign_in(serve, request);
    } else {
        sign_out(serve, request);
    }
    return true;
}
