/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/version.h"

#include <string.h>

static bool is_same_bytes(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0;
}

static bool is_same_scalar(const struct version *old, const struct toml_node *a,
                           const struct version *new, const struct toml_node *b)
{
    return is_same_bytes(old->text + a->begin.offset, a->end.offset - a->begin.offset,
                         new->text + b->begin.offset, b->end.offset - b->begin.offset);
}

static bool is_same_key(const struct toml_node *a, const struct toml_node *b)
{
    if (a->key == NULL || b->key == NULL) {
        return a->key == b->key;
    }
    return is_same_bytes(a->key, a->key_length, b->key, b->key_length);
}

static bool is_excepted(const struct toml_node *node, const char *const except[2])
{
    for (size_t i = 0; i < 2 && node->key != NULL && except != NULL; i++) {
        if (except[i] != NULL && strcmp(node->key, except[i]) == 0) {
            return true;
        }
    }
    return false;
}

static size_t skip_excepted(const struct toml_doc *doc, size_t node, const char *const except[2])
{
    while (node != TOML_NONE && is_excepted(toml_node(doc, node), except)) {
        node = toml_node(doc, node)->next;
    }
    return node;
}

/* Members come sorted by key (of a table) or in their order (of an array) in both. */
bool version_is_same_except(const struct version *old, size_t old_table, const struct version *new,
                            size_t new_table, const char *const except[2])
{
    size_t a = toml_node(old->doc, old_table)->first;
    size_t b = toml_node(new->doc, new_table)->first;
    for (;;) {
        a = skip_excepted(old->doc, a, except);
        b = skip_excepted(new->doc, b, except);
        if (a == TOML_NONE || b == TOML_NONE) {
            return a == b;
        }
        if (!version_is_same(old, a, new, b)) {
            return false;
        }
        a = toml_node(old->doc, a)->next;
        b = toml_node(new->doc, b)->next;
    }
}

bool version_is_same(const struct version *old, size_t old_node, const struct version *new,
                     size_t new_node)
{
    const struct toml_node *a = toml_node(old->doc, old_node);
    const struct toml_node *b = toml_node(new->doc, new_node);
    if (a->kind != b->kind || !is_same_key(a, b)) {
        return false;
    }
    if (a->kind != TOML_KIND_ARRAY && a->kind != TOML_KIND_TABLE) {
        return is_same_scalar(old, a, new, b);
    }
    return version_is_same_except(old, old_node, new, new_node, NULL);
}
