/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/tls.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>
#include <limits.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LOOK_AGAIN_NS NS_PER_S

struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct tls {
    char *certificate, *key;
    struct stamp stamps[2];
    SSL_CTX *context;
    int64_t looked_ns;
};

static bool stamp_read(const char *path, struct stamp *stamp)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        return false;
    }
    *stamp = (struct stamp){status.st_dev, status.st_ino, status.st_size, status.st_mtim};
    return true;
}

static bool stamp_equals(const struct stamp *a, const struct stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* OpenSSL's own reason, and an empty queue of errors behind it. */
static const char *reason(void)
{
    unsigned long code = ERR_get_error();
    const char *text = ERR_reason_error_string(code);
    ERR_clear_error();
    return text != NULL ? text : "not readable";
}

static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *offered, unsigned int length, void *arg)
{
    static const unsigned char ours[] = "\x08http/1.1";
    unsigned char *chosen = NULL;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, out_length, ours, sizeof ours - 1, offered, length) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_NOACK;
    }
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int no_password(char *buffer, int size, int is_writing, void *arg)
{
    (void)buffer;
    (void)size;
    (void)is_writing;
    (void)arg;
    return -1; /* instead of asking on the terminal */
}

static SSL_CTX *new_context(const struct tls *tls, struct err *err)
{
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) {
        (void)err_set(err, -ENOMEM, "TLS cannot be set up: %s", reason());
        return NULL;
    }
    (void)SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    (void)SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                           SSL_OP_CIPHER_SERVER_PREFERENCE);
    (void)SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE |
                                        SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                        SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_alpn_select_cb(context, choose_protocol, NULL);
    SSL_CTX_set_default_passwd_cb(context, no_password);
    if (SSL_CTX_use_certificate_chain_file(context, tls->certificate) != 1) {
        (void)err_set(err, -EINVAL, "certificate '%s': %s", tls->certificate, reason());
    } else if (SSL_CTX_use_PrivateKey_file(context, tls->key, SSL_FILETYPE_PEM) != 1) {
        if (ERR_GET_REASON(ERR_peek_error()) == X509_R_KEY_VALUES_MISMATCH) {
            (void)err_set(err, -EINVAL, "key '%s' does not belong to certificate '%s'", tls->key,
                          tls->certificate);
            ERR_clear_error();
        } else {
            (void)err_set(err, -EINVAL, "key '%s': %s", tls->key, reason());
        }
    } else {
        return context;
    }
    SSL_CTX_free(context);
    return NULL;
}

static void look_again(struct tls *tls, int64_t now_ns)
{
    struct stamp stamps[2];
    if (now_ns - tls->looked_ns < LOOK_AGAIN_NS) {
        return;
    }
    tls->looked_ns = now_ns;
    if (!stamp_read(tls->certificate, &stamps[0]) || !stamp_read(tls->key, &stamps[1]) ||
        (stamp_equals(&stamps[0], &tls->stamps[0]) && stamp_equals(&stamps[1], &tls->stamps[1]))) {
        return;
    }
    struct err err = {0};
    SSL_CTX *context = new_context(tls, &err);
    if (context == NULL) {
        log_debug("%s; the old certificate stays in use", err.text);
        return;
    }
    SSL_CTX_free(tls->context); /* its connections hold references */
    tls->context = context;
    memcpy(tls->stamps, stamps, sizeof stamps);
}

int tls_open(const char *certificate, const char *key, struct tls **out, struct err *err)
{
    struct tls *tls = mem_new(1, sizeof *tls);
    tls->certificate = mem_copy_text(certificate);
    tls->key = mem_copy_text(key);
    struct err why = {0};
    if (!stamp_read(certificate, &tls->stamps[0])) {
        (void)err_errno(&why, -errno, "certificate '%s'", certificate);
    } else if (!stamp_read(key, &tls->stamps[1])) {
        (void)err_errno(&why, -errno, "key '%s'", key);
    } else {
        tls->context = new_context(tls, &why);
    }
    if (tls->context == NULL) {
        tls_close(tls);
        return err_set(err, why.code, "%s", why.text);
    }
    tls->looked_ns = INT64_MIN / 2;
    *out = tls;
    return 0;
}

void tls_close(struct tls *tls)
{
    if (tls == NULL) {
        return;
    }
    SSL_CTX_free(tls->context);
    free(tls->certificate);
    free(tls->key);
    free(tls);
}

void *tls_session(struct tls *tls, int64_t now_ns)
{
    look_again(tls, now_ns);
    SSL *ssl = SSL_new(tls->context);
    if (ssl == NULL) {
        ERR_clear_error();
    }
    return ssl;
}
