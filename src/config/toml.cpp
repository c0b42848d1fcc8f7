/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The only C++ of the program. toml++ is used as a header, because the packaged library is built
 * with exceptions. Nothing here throws; running out of memory ends the process. */
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
/* Recursion over values is bounded by this times the dots that scan.h lets through. */
#define TOML_MAX_NESTED_VALUES 32
#include <toml++/toml.h>

#include "config/toml.h"

extern "C" {
#include "config/scan.h"
}

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#define DOTS_MAX 32
#define WORD_MAX 32

struct toml_doc {
    toml::table root; /* owns every text that nodes point to */
    std::vector<struct toml_node> node;
};

namespace {

struct toml_place place_of(const toml::source_position &position)
{
    return {0, static_cast<int>(position.line), static_cast<int>(position.column)};
}

enum toml_kind kind_of(const toml::node &node)
{
    switch (node.type()) {
    case toml::node_type::string:
        return TOML_KIND_STRING;
    case toml::node_type::integer:
        return TOML_KIND_INTEGER;
    case toml::node_type::floating_point:
        return TOML_KIND_FLOAT;
    case toml::node_type::boolean:
        return TOML_KIND_BOOL;
    case toml::node_type::array:
        return TOML_KIND_ARRAY;
    case toml::node_type::table:
        return TOML_KIND_TABLE;
    default:
        return TOML_KIND_TIME;
    }
}

/* Adds the node and everything below it; the index of the node. */
size_t add(struct toml_doc &doc, const toml::node &node, size_t parent);

void add_members(struct toml_doc &doc, const toml::node &node, size_t parent)
{
    size_t last = TOML_NONE;
    auto link = [&](size_t index) {
        (last == TOML_NONE ? doc.node[parent].first : doc.node[last].next) = index;
        last = index;
    };
    if (const toml::array *array = node.as_array()) {
        for (const toml::node &member : *array) {
            link(add(doc, member, parent));
        }
        return;
    }
    for (auto &&[key, member] : *node.as_table()) {
        size_t index = add(doc, member, parent);
        doc.node[index].key = key.str().data();
        doc.node[index].key_length = key.str().size();
        doc.node[index].key_begin = place_of(key.source().begin);
        doc.node[index].key_end = place_of(key.source().end);
        link(index);
    }
}

size_t add(struct toml_doc &doc, const toml::node &node, size_t parent)
{
    struct toml_node made = {};
    made.kind = kind_of(node);
    made.parent = parent;
    made.first = TOML_NONE;
    made.next = TOML_NONE;
    made.begin = place_of(node.source().begin);
    made.end = place_of(node.source().end);
    if (const auto *text = node.as_string()) {
        made.text = text->get().c_str();
        made.text_length = text->get().size();
    } else if (const auto *integer = node.as_integer()) {
        made.integer = integer->get();
    } else if (const auto *boolean = node.as_boolean()) {
        made.is_truth = boolean->get();
    } else if (const auto *table = node.as_table()) {
        made.is_inline = table->is_inline();
    }
    size_t index = doc.node.size();
    doc.node.push_back(made);
    if (made.kind == TOML_KIND_ARRAY || made.kind == TOML_KIND_TABLE) {
        add_members(doc, node, index);
    }
    return index;
}

/* Turns lines and columns into offsets: in the order of the text, so that it is walked once. */
void find_offsets(std::vector<struct toml_place *> &places, std::string_view text)
{
    std::sort(places.begin(), places.end(), [](const toml_place *a, const toml_place *b) {
        return a->line != b->line ? a->line < b->line : a->column < b->column;
    });
    size_t offset = 0;
    int line = 1;
    int column = 1;
    for (struct toml_place *place : places) {
        while (offset < text.size() &&
               (line < place->line || (line == place->line && column < place->column))) {
            char c = text[offset++];
            if (c == '\n') {
                line++;
                column = 1;
            } else if (offset == text.size() || (text[offset] & 0xc0) != 0x80) {
                column++;
            }
        }
        place->offset = offset;
    }
}

void find_offsets_of(struct toml_doc &doc, std::string_view text)
{
    std::vector<struct toml_place *> places;
    places.reserve(doc.node.size() * 4);
    for (struct toml_node &node : doc.node) {
        places.push_back(&node.begin);
        places.push_back(&node.end);
        if (node.key != nullptr) {
            places.push_back(&node.key_begin);
            places.push_back(&node.key_end);
        }
    }
    find_offsets(places, text);
}

/* Words between quotes that are the grammar's or a plain key; anything else may be a piece of the
 * text, and a webhook without its quotes is a common slip. */
bool is_harmless(std::string_view word, std::string_view before)
{
    static const std::string_view grammar[] = {"true", "false", "inf", "nan", "=",  "]",
                                               "[",    "}",     ",",   "\"",  "\\n"};
    if (std::find(std::begin(grammar), std::end(grammar), word) != std::end(grammar)) {
        return true;
    }
    bool is_key = before.size() >= 8 && before.find("redefine") != std::string_view::npos;
    return is_key && word.size() <= WORD_MAX && std::all_of(word.begin(), word.end(), [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
           });
}

/* The description up to the first quoted word that is not harmless. */
std::string_view without_excerpts(std::string_view text)
{
    size_t at = 0;
    for (;;) {
        size_t open = text.find('\'', at);
        if (open == std::string_view::npos) {
            return text;
        }
        size_t close = text.find('\'', open + 1);
        bool is_ended = close != std::string_view::npos &&
                        (close + 1 == text.size() || text[close + 1] == ' ' ||
                         text[close + 1] == ',' || text[close + 1] == ';');
        if (!is_ended ||
            !is_harmless(text.substr(open + 1, close - open - 1), text.substr(0, open))) {
            text = text.substr(0, open);
            break;
        }
        at = close + 1;
    }
    for (std::string_view tail : {std::string_view(" "), std::string_view("saw"),
                                  std::string_view(" "), std::string_view(",")}) {
        if (text.size() >= tail.size() && text.substr(text.size() - tail.size()) == tail) {
            text.remove_suffix(tail.size());
        }
    }
    return text;
}

void set_error(struct toml_error *error, const toml::parse_error &found, std::string_view text)
{
    std::string_view description = without_excerpts(found.description());
    error->place = place_of(found.source().begin);
    std::vector<struct toml_place *> places = {&error->place};
    find_offsets(places, text);
    (void)std::snprintf(error->text, sizeof error->text, "%.*s",
                        static_cast<int>(description.size()), description.data());
}

} // namespace

extern "C" struct toml_doc *toml_parse(const char *text, size_t length, struct toml_error *error)
{
    if (scan_is_deeper(text, length, DOTS_MAX)) {
        *error = {};
        error->place = {0, 1, 1};
        (void)std::snprintf(error->text, sizeof error->text,
                            "a key has more than %d dots; nothing here is nested that deep",
                            DOTS_MAX);
        return nullptr;
    }
    std::string_view view(text, length);
    toml::parse_result result = toml::parse(view);
    if (!result) {
        set_error(error, result.error(), view);
        return nullptr;
    }
    auto *doc = new toml_doc{std::move(result).table(), {}};
    (void)add(*doc, doc->root, TOML_NONE);
    find_offsets_of(*doc, view);
    return doc;
}

extern "C" void toml_free(struct toml_doc *doc)
{
    delete doc;
}

extern "C" const struct toml_node *toml_node(const struct toml_doc *doc, size_t index)
{
    return &doc->node[index];
}

extern "C" size_t toml_count(const struct toml_doc *doc)
{
    return doc->node.size();
}

extern "C" size_t toml_find(const struct toml_doc *doc, size_t table, const char *key)
{
    std::string_view wanted(key);
    size_t at = doc->node[table].kind == TOML_KIND_TABLE ? doc->node[table].first : TOML_NONE;
    while (at != TOML_NONE &&
           std::string_view(doc->node[at].key, doc->node[at].key_length) != wanted) {
        at = doc->node[at].next;
    }
    return at;
}

extern "C" const char *toml_kind_name(enum toml_kind kind)
{
    switch (kind) {
    case TOML_KIND_STRING:
        return "a string";
    case TOML_KIND_INTEGER:
        return "an integer";
    case TOML_KIND_FLOAT:
        return "a number";
    case TOML_KIND_BOOL:
        return "true or false";
    case TOML_KIND_TIME:
        return "a date or time";
    case TOML_KIND_ARRAY:
        return "a list";
    case TOML_KIND_TABLE:
        return "a table";
    }
    return "";
}
