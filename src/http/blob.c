/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "base/mem.h"
#include "http/http.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct http_blob {
    size_t references;
    size_t length;
    const void *data;
    char copy[];
};

struct http_blob *http_blob_new(const void *data, size_t length)
{
    struct http_blob *blob = mem_new(1, sizeof *blob + length);
    if (length > 0) {
        memcpy(blob->copy, data, length);
    }
    blob->references = 1;
    blob->length = length;
    blob->data = blob->copy;
    return blob;
}

struct http_blob *http_blob_static(const void *data, size_t length)
{
    struct http_blob *blob = mem_new(1, sizeof *blob);
    blob->references = 1;
    blob->length = length;
    blob->data = data;
    return blob;
}

struct http_blob *http_blob_ref(struct http_blob *blob)
{
    assert(blob->references > 0);
    blob->references++;
    return blob;
}

void http_blob_unref(struct http_blob *blob)
{
    if (blob == NULL) {
        return;
    }
    assert(blob->references > 0);
    if (--blob->references == 0) {
        free(blob);
    }
}

const void *http_blob_data(const struct http_blob *blob, size_t *length)
{
    *length = blob->length;
    return blob->data;
}
