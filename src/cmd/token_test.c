/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/token.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/own.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

#define HASH_A "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define HASH_B "ff112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static int parse(const char *text, struct token_list *out, struct err *err)
{
    return token_parse(text, strlen(text), "FILE", out, err);
}

TEST(a_token_file_is_read_as_it_was_written)
{
    OWN_FREE struct token_list *list = mem_new(1, sizeof *list);
    OWN_FREE struct token_list *again = mem_new(1, sizeof *again);
    REQUIRE(parse("# words\n\nops operator 1700000000 " HASH_A "\r\nwall-1 viewer 5 " HASH_B, list,
                  NULL) == 0);
    REQUIRE(list->count == 2);
    CHECK(list->token[0].role == TOKEN_OPERATOR && list->token[0].created_s == 1700000000);
    CHECK(strcmp(list->token[1].name, "wall-1") == 0 && list->token[1].role == TOKEN_VIEWER);
    CHECK(list->token[1].hash[0] == 0xff && list->token[1].hash[31] == 0xff);
    OWN_BUF struct buf text = {0};
    token_format(list, &text);
    REQUIRE(token_parse(buf_string(&text), text.length, "FILE", again, NULL) == 0);
    OWN_BUF struct buf same = {0};
    token_format(again, &same);
    CHECK_TEXT(buf_string(&same), buf_string(&text));
    CHECK(parse("", again, NULL) == 0 && again->count == 0);
}

TEST(a_line_that_is_no_token_is_refused_by_its_number_and_not_shown)
{
    static const char *const lines[] = {
        "ops operator 1700000000",
        "ops operator 1700000000 " HASH_A " more",
        "ops admin 1700000000 " HASH_A,
        "Ops operator 1700000000 " HASH_A,
        "ops operator x " HASH_A,
        "ops operator 1 " HASH_A "00",
        "ops operator 1 zz112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
        " operator 1 " HASH_A,
        "abcdefghijabcdefghijabcdefghijabc operator 1 " HASH_A,
        "gpm_0123456789abcdef0123456789abcdef",
    };
    OWN_FREE struct token_list *list = mem_new(1, sizeof *list);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct err err = {0};
        OWN_FREE char *text = mem_format("# first\n%s\n", lines[i]);
        if (!CHECK(parse(text, list, &err) == -EINVAL &&
                   strcmp(err.text, "FILE:2: this line is no token") == 0)) {
            printf("# %s: %s\n", lines[i], err.text);
        }
    }
    struct err err = {0};
    CHECK(parse("a viewer 1 " HASH_A "\na viewer 2 " HASH_B "\n", list, &err) == -EINVAL);
    CHECK(list->count == 0);
}

TEST(more_tokens_than_the_most_are_refused)
{
    OWN_FREE struct token_list *list = mem_new(1, sizeof *list);
    OWN_BUF struct buf text = {0};
    for (int i = 0; i < TOKENS_MAX; i++) {
        buf_format(&text, "t%d viewer 1 " HASH_A "\n", i);
    }
    CHECK(parse(buf_string(&text), list, NULL) == 0 && list->count == TOKENS_MAX);
    buf_text(&text, "more viewer 1 " HASH_A "\n");
    CHECK(parse(buf_string(&text), list, NULL) == -EFBIG);
}

TEST(a_token_is_found_by_all_of_its_hash)
{
    OWN_FREE struct token_list *list = mem_new(1, sizeof *list);
    REQUIRE(parse("a viewer 1 " HASH_A "\nb operator 1 " HASH_B "\n", list, NULL) == 0);
    uint8_t hash[TOKEN_HASH_BYTES];
    REQUIRE(token_from_hex(HASH_B, strlen(HASH_B), hash, sizeof hash));
    const struct token *found = token_match(list, hash);
    CHECK(found != NULL && strcmp(found->name, "b") == 0);
    for (size_t i = 0; i < sizeof hash; i++) {
        hash[i] ^= 1;
        CHECK(token_match(list, hash) == NULL);
        hash[i] ^= 1;
    }
    CHECK(token_is_same("ab", "ab", 2) && !token_is_same("ab", "ac", 2) &&
          token_is_same("", "", 0));
    CHECK(token_find(list, "a") == &list->token[0] && token_find(list, "c") == NULL);
}

MAIN(RUN(a_token_file_is_read_as_it_was_written),
     RUN(a_line_that_is_no_token_is_refused_by_its_number_and_not_shown),
     RUN(more_tokens_than_the_most_are_refused), RUN(a_token_is_found_by_all_of_its_hash))
