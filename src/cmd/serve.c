/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/serve.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "build_config.h"
#include "cmd/guard.h"
#include "cmd/lazy.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DRAIN_NS NS_PER_S
#define SMI_INTERVAL_NS (2 * NS_PER_S)
#define TICK_MOST_NS NS_PER_S

/* systemd's readiness and watchdog; nothing where it did not start us. */
static void notify(const char *state)
{
    static int (*sd_notify)(int unset_environment, const char *state);
    static bool was_tried;
    if (!was_tried && getenv("NOTIFY_SOCKET") != NULL) {
        void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
        void *symbol = library != NULL ? dlsym(library, "sd_notify") : NULL;
        memcpy(&sd_notify, &symbol, sizeof symbol);
    }
    was_tried = true;
    if (sd_notify != NULL) {
        (void)sd_notify(0, state);
    }
}

static void stop(struct serve *serve)
{
    if (serve->is_stopping) {
        return;
    }
    serve->is_stopping = true;
    notify("STOPPING=1");
    http_server_stop(serve->http, DRAIN_NS);
}

static void on_stopped(void *arg)
{
    struct serve *serve = arg;
    (void)event_base_loopbreak(serve->base);
}

/* UPDATE_INTERVAL and NVIDIA_SMI_INTERVAL of gpu-hot, in seconds (GH-020, GH-021). */
static int64_t seconds_of(const char *name, int64_t fallback_ns)
{
    const char *text = getenv(name);
    double seconds = 0;
    if (text == NULL || text[0] == '\0') {
        return fallback_ns;
    }
    if (!text_to_double(span_of(text), &seconds) || seconds < 0.1 || seconds > 3600) {
        log_warning("%s=%s is not a time from 0.1 to 3600 seconds and is ignored", name, text);
        return fallback_ns;
    }
    return (int64_t)(seconds * 1e9);
}

/* What the configuration says and the environment does not. */
static void take_config(struct serve *serve)
{
    const struct config *config = serve->context.config;
    bool has_name = config->server_name[0] != '\0';
    serve->live_ns = seconds_of("UPDATE_INTERVAL", config->live_interval_ns);
    serve->smi_ns = seconds_of("NVIDIA_SMI_INTERVAL", SMI_INTERVAL_NS);
    serve->idle_ns = config->idle_interval_ns;
    serve->greeting.server_name = has_name ? config->server_name : serve->node_name;
    serve->greeting.interval_s = (double)serve->live_ns / 1e9;
}

/* A configuration that cannot be read leaves the one in use. */
static void reload(struct serve *serve)
{
    struct err err = {0};
    struct config *config = NULL;
    const char *path = serve->context.config->path;
    if (config_load(path, &cmd_checks, &config, &err) != 0) {
        log_error("%s; the configuration in use stays", err.text);
        return;
    }
    config_free(serve->context.config);
    serve->context.config = config;
    take_config(serve);
    serve_publish_anew(serve);
    if (serve_schedules_take(serve, &err) != 0) {
        log_error("%s; this program runs no schedules", err.text);
    }
    log_info("the configuration was read again; addresses and TLS need a restart");
}

static void on_signal(evutil_socket_t number, short what, void *arg)
{
    (void)what;
    struct serve *serve = arg;
    if (number == SIGHUP) {
        reload(serve);
        return;
    }
    stop(serve);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    struct serve *serve = arg;
    int64_t now_ns = clock_mono_ns();
    int64_t due_ns = serve_feeds_tick(serve, now_ns);
    int64_t schedule_ns = serve_schedules_tick(serve, now_ns);
    due_ns = schedule_ns < due_ns ? schedule_ns : due_ns;
    serve_signin_tick(serve, now_ns);
    serve_publish(serve, now_ns);
    notify("WATCHDOG=1");
    int64_t wait_ns = due_ns - now_ns;
    wait_ns = wait_ns < NS_PER_MS ? NS_PER_MS : wait_ns > TICK_MOST_NS ? TICK_MOST_NS : wait_ns;
    struct timeval wait = {.tv_sec = (time_t)(wait_ns / NS_PER_S),
                           .tv_usec = (suseconds_t)(wait_ns % NS_PER_S / 1000)};
    (void)event_add(serve->tick, &wait);
}

static int loop_open(struct serve *serve, struct err *err)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    serve->base = event_base_new();
    bool is_ready = serve->base != NULL;
    serve->tick = is_ready ? event_new(serve->base, -1, 0, on_tick, serve) : NULL;
    is_ready = serve->tick != NULL;
    for (size_t i = 0; is_ready && i < 3; i++) {
        serve->signals[i] = evsignal_new(serve->base, numbers[i], on_signal, serve);
        is_ready = serve->signals[i] != NULL && event_add(serve->signals[i], NULL) == 0;
    }
    return is_ready ? 0 : err_set(err, -ENOMEM, "the event loop did not start");
}

static void fill_names(struct serve *serve, const struct cmd *cmd)
{
    const char *name = getenv("NODE_NAME"); /* GH-024 */
    if (name != NULL && name[0] != '\0') {
        text_copy(serve->node_name, sizeof serve->node_name, name);
    } else if (gethostname(serve->node_name, sizeof serve->node_name - 1) != 0) {
        text_copy(serve->node_name, sizeof serve->node_name, "gpumanager");
    }
    serve->greeting = (struct live_greeting){.version = GPUMANAGER_VERSION,
                                             .is_simulated = cmd_value(cmd, "simulate") != NULL};
    serve->is_playing = cmd_value(cmd, "simulate") != NULL || cmd_value(cmd, "replay") != NULL;
    take_config(serve);
}

/* Anybody who reaches the port sees who runs what: only this machine may, unless others must say a
 * token, which nobody can read on the way. */
static int check_reach(struct serve *serve, const char *address, bool is_insecure, struct err *err)
{
    bool has_tls = serve->context.config->tls_certificate != NULL;
    bool has_tokens = serve_signin_has_tokens(serve);
    if (guard_is_loopback(address)) {
        return 0;
    }
    if (has_tls && has_tokens) {
        serve_signin_require(serve);
        return 0;
    }
    if (!is_insecure) {
        return err_set(err, -EPERM,
                       "%s can be reached from other machines, which needs TLS ([server] "
                       "tls_certificate and tls_key%s) and a token (gpumanager token add NAME%s), "
                       "or else --insecure",
                       address, has_tls ? "" : ", not set", has_tokens ? "" : ": there is none");
    }
    if (has_tokens) {
        log_warning("%s HAS NO TLS (--insecure): tokens can be read on their way", address);
    } else {
        log_warning("%s IS OPEN TO EVERYBODY WHO REACHES IT (--insecure)", address);
    }
    return 0;
}

/* With the port that the system chose where 0 was asked for. */
static void say_listening(const struct serve *serve, const char *address, size_t listener)
{
    if (text_starts(address, "unix:")) {
        log_info("listening on %s", address);
        return;
    }
    const char *scheme = serve->context.config->tls_certificate != NULL ? "https" : "http";
    const char *colon = strrchr(address, ':');
    int length = colon != NULL ? (int)(colon - address) : (int)strlen(address);
    log_info("listening on %s://%.*s:%d", scheme, length, address,
             http_server_port(serve->http, listener));
}

static int listen_all(struct serve *serve, const struct cmd *cmd, struct err *err)
{
    const struct config *config = serve->context.config;
    const char *given = cmd_value(cmd, "listen");
    bool is_insecure = cmd_value(cmd, "insecure") != NULL;
    OWN_BUF struct buf list = {0};
    for (char **at = config->listen; given == NULL && *at != NULL; at++) {
        buf_format(&list, "%s%s", list.length > 0 ? "," : "", *at);
    }
    struct span rest = span_of(given != NULL ? given : buf_string(&list));
    struct span part;
    size_t count = 0;
    while (rest.length > 0 && span_cut(&rest, ',', &part)) {
        OWN_FREE char *address = span_copy(span_trim(part));
        int code = check_reach(serve, address, is_insecure, err);
        code = code != 0 ? code
                         : http_server_listen(serve->http, address, config->tls_certificate,
                                              config->tls_key, err);
        /* A machine without IPv6 is still served. */
        bool is_optional = given == NULL && count > 0 && address[0] == '[';
        if (code != 0 && !(is_optional && code != -EADDRINUSE && code != -EPERM)) {
            return code;
        }
        if (code == 0) {
            say_listening(serve, address, count);
            count++;
        }
    }
    return count > 0 ? 0 : err_set(err, -EINVAL, "nothing to listen on");
}

static int open_all(struct serve *serve, const struct cmd *cmd, struct err *err)
{
    const struct config *config = serve->context.config;
    int code = loop_open(serve, err);
    if (code != 0) {
        return code;
    }
    struct http_options options = {.base = serve->base,
                                   .handler = serve_handle,
                                   .base_path = config->base_path,
                                   .stopped = on_stopped,
                                   .arg = serve};
    serve->http = http_server_new(&options);
    serve->memory = live_memory_new();
    serve->host_reader = host_reader_new();
    serve->processes = process_table_new();
    code = serve_signin_open(serve, cmd, err);
    code = code != 0 ? code : listen_all(serve, cmd, err);
    code = code == 0 ? serve_schedules_take(serve, err) : code;
    /* The drivers' processes begin without our sockets: those are closed on exec. */
    return code != 0 ? code : serve_feeds_open(serve, cmd, err);
}

static void close_all(struct serve *serve)
{
    http_server_free(serve->http);
    serve_schedules_close(serve);
    serve_feeds_close(serve);
    serve_publish_fini(serve);
    serve_signin_close(serve);
    for (size_t i = 0; i < 3; i++) {
        if (serve->signals[i] != NULL) {
            event_free(serve->signals[i]);
        }
    }
    if (serve->tick != NULL) {
        event_free(serve->tick);
    }
    if (serve->base != NULL) {
        event_base_free(serve->base);
    }
    cmd_context_fini(&serve->context);
}

/* A thousand viewers need a thousand descriptors. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int serve_run(struct cmd *cmd);

int serve_run(struct cmd *cmd)
{
    static struct serve serve;
    int code = cmd_context_open(cmd, true, &serve.context);
    if (code != CMD_OK) {
        return code;
    }
    struct err err = {0};
    log_set_level(LOG_LEVEL_INFO);
    raise_limit();
    fill_names(&serve, cmd);
    code = lazy_open(&err);
    if (code == 0) {
        code = open_all(&serve, cmd, &err);
    }
    if (code == 0) {
        event_active(serve.tick, EV_TIMEOUT, 0);
        notify("READY=1");
        (void)event_base_dispatch(serve.base);
    }
    if (serve.http != NULL || code == 0) {
        close_all(&serve);
    } else {
        cmd_context_fini(&serve.context);
    }
    if (code == 0) {
        return CMD_OK;
    }
    return code == -EINVAL || code == -EPERM ? cmd_fail_usage(&err) : cmd_fail(&err);
}
