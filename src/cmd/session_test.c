/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/session.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

#define START_NS NS_PER_S

static void fill_id(uint8_t id[SESSION_ID_BYTES], int number)
{
    memset(id, 0, SESSION_ID_BYTES);
    memcpy(id, &number, sizeof number);
}

TEST(a_session_ends_after_a_week_without_use_and_after_a_month)
{
    struct sessions *sessions = sessions_new();
    uint8_t id[SESSION_ID_BYTES];
    const uint8_t token[TOKEN_HASH_BYTES] = {7};
    int64_t day_ns = 86400 * NS_PER_S;
    fill_id(id, 1);
    sessions_add(sessions, id, token, START_NS);
    const uint8_t *found = sessions_use(sessions, id, START_NS + 1);
    CHECK(found != NULL && memcmp(found, token, sizeof token) == 0);
    for (int day = 6; day < 30; day += 6) {
        CHECK(sessions_use(sessions, id, START_NS + day * day_ns) != NULL);
    }
    CHECK(sessions_use(sessions, id, START_NS + 30 * day_ns) == NULL);
    fill_id(id, 2);
    sessions_add(sessions, id, token, START_NS + 30 * day_ns);
    CHECK(sessions_count(sessions) == 1); /* what is over makes room */
    CHECK(sessions_use(sessions, id, START_NS + 37 * day_ns) == NULL);
    sessions_free(sessions);
}

TEST(a_session_ends_by_itself_and_with_its_token)
{
    struct sessions *sessions = sessions_new();
    OWN_FREE struct token_list *list = mem_new(1, sizeof *list);
    uint8_t id[SESSION_ID_BYTES];
    uint8_t token[TOKEN_HASH_BYTES] = {0};
    for (int i = 0; i < 4; i++) {
        fill_id(id, i);
        token[0] = (uint8_t)(i % 2);
        sessions_add(sessions, id, token, START_NS);
    }
    fill_id(id, 0);
    sessions_remove(sessions, id);
    CHECK(sessions_use(sessions, id, START_NS) == NULL && sessions_count(sessions) == 3);
    list->count = 1; /* its hash is all zero, that of tokens 0 and 2 */
    sessions_keep(sessions, list);
    CHECK(sessions_count(sessions) == 1);
    fill_id(id, 2);
    CHECK(sessions_use(sessions, id, START_NS) != NULL);
    sessions_free(sessions);
}

TEST(the_session_that_was_not_used_longest_makes_room)
{
    struct sessions *sessions = sessions_new();
    const uint8_t token[TOKEN_HASH_BYTES] = {0};
    uint8_t id[SESSION_ID_BYTES];
    for (int i = 0; i < SESSIONS_MAX; i++) {
        fill_id(id, i);
        sessions_add(sessions, id, token, START_NS + i);
    }
    fill_id(id, 0);
    CHECK(sessions_use(sessions, id, START_NS + SESSIONS_MAX) != NULL);
    fill_id(id, SESSIONS_MAX);
    sessions_add(sessions, id, token, START_NS + SESSIONS_MAX);
    CHECK(sessions_count(sessions) == SESSIONS_MAX);
    fill_id(id, 0);
    CHECK(sessions_use(sessions, id, START_NS + SESSIONS_MAX) != NULL);
    fill_id(id, 1);
    CHECK(sessions_use(sessions, id, START_NS + SESSIONS_MAX) == NULL);
    sessions_free(sessions);
}

TEST(five_failures_within_a_minute_make_an_address_wait)
{
    struct failures *failures = failures_new();
    for (int i = 0; i < FAILURES_MOST; i++) {
        CHECK(failures_wait_s(failures, "10.0.0.1", START_NS + i * NS_PER_S) == 0);
        failures_add(failures, "10.0.0.1", START_NS + i * NS_PER_S);
    }
    CHECK(failures_wait_s(failures, "10.0.0.1", START_NS + 4 * NS_PER_S) == 56);
    CHECK(failures_wait_s(failures, "10.0.0.1", START_NS + 60 * NS_PER_S - 1) == 1);
    CHECK(failures_wait_s(failures, "10.0.0.1", START_NS + 60 * NS_PER_S) == 0);
    CHECK(failures_wait_s(failures, "10.0.0.2", START_NS) == 0);
    CHECK(failures_wait_s(failures, "unix", START_NS) == 0);
    for (int i = 0; i < FAILURES_MOST; i++) {
        failures_add(failures, "2001:db8::1", START_NS);
    }
    CHECK(failures_wait_s(failures, "2001:db8::ffff:2", START_NS) == 60);
    CHECK(failures_wait_s(failures, "2001:db8:0:1::1", START_NS) == 0);
    CHECK(failures_wait_s(failures, "::1", START_NS) == 0);
    failures_free(failures);
}

TEST(addresses_that_fail_are_remembered_up_to_a_bound)
{
    struct failures *failures = failures_new();
    for (int i = 0; i < FAILURES_MOST; i++) {
        failures_add(failures, "192.0.2.1", START_NS);
    }
    for (int i = 0; i < 3000; i++) {
        char peer[32];
        (void)snprintf(peer, sizeof peer, "10.0.%d.%d", i / 250, i % 250);
        failures_add(failures, peer, START_NS + 1 + i);
    }
    CHECK(failures_wait_s(failures, "192.0.2.1", START_NS + 3001) == 0);
    failures_free(failures);
}

TEST(the_texts_of_a_request_are_read)
{
    struct span span;
    uint8_t id[SESSION_ID_BYTES];
    char name[COOKIE_NAME_SIZE];
    char text[40];
    CHECK(session_bearer("Bearer  abc ", &span) && span_equals(span, "abc"));
    CHECK(session_bearer("bearer abc", &span) && !session_bearer("Basic abc", &span));
    CHECK(!session_bearer("", &span) && !session_bearer("Bearer", &span));
    CHECK(session_cookie("a=b; g=000102030405060708090a0b0c0d0e0f", "g", id) && id[15] == 15);
    CHECK(session_cookie("g=x; g=000102030405060708090a0b0c0d0eff;", "g", id) && id[15] == 255);
    CHECK(!session_cookie("gg=000102030405060708090a0b0c0d0e0f", "g", id));
    CHECK(!session_cookie("g=000102030405060708090a0b0c0d0e0", "g", id));
    CHECK(!session_cookie("g; =; ;", "g", id) && !session_cookie("", "g", id));
    static const char *const hosts[][2] = {{"localhost:1312", "gpumanager_1312"},
                                           {"localhost", "gpumanager"},
                                           {"[::1]:80", "gpumanager_80"},
                                           {"[::1]", "gpumanager"},
                                           {"x:123456", "gpumanager"},
                                           {"", "gpumanager"}};
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        session_cookie_name(hosts[i][0], name);
        CHECK(strcmp(name, hosts[i][1]) == 0);
    }
    CHECK(session_form_token(span_of("a=1&token=+g%70m_1%0D%0a&b"), text, sizeof text) &&
          strcmp(text, "gpm_1") == 0);
    static const char *const bad[] = {"",
                                      "token",
                                      "token=",
                                      "tokens=a",
                                      "token=%0",
                                      "token=%zz",
                                      "token=a%00b",
                                      "a=token=b",
                                      "token=0123456789012345678901234567890123456789"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (!CHECK(!session_form_token(span_of(bad[i]), text, sizeof text))) {
            printf("# %s\n", bad[i]);
        }
    }
}

MAIN(RUN(a_session_ends_after_a_week_without_use_and_after_a_month),
     RUN(a_session_ends_by_itself_and_with_its_token),
     RUN(the_session_that_was_not_used_longest_makes_room),
     RUN(five_failures_within_a_minute_make_an_address_wait),
     RUN(addresses_that_fail_are_remembered_up_to_a_bound), RUN(the_texts_of_a_request_are_read))
