/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* What needs no server; delivery is tested by tests/scenario/test_slack.py. */
#include "output/slack.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/spawn.h"
#include "output/answer.h"
#include "output/queue.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#define URL "https://hooks.example/services/T0/B0/s3cr3t-token"
#define NOW_S INT64_C(1774164600)

TEST(an_answer_says_what_becomes_of_the_message)
{
    static const struct {
        long status;
        const char *body;
        enum answer_verdict verdict;
        const char *sentence;
    } rows[] = {
        {200, "ok", ANSWER_DELIVERED, ""},
        {204, "", ANSWER_DELIVERED, ""},
        {200, "\n<html>", ANSWER_KEEP,
         "Slack webhook returned HTTP 200 with a web page instead of a webhook's answer"},
        {500, "", ANSWER_RETRY, "Slack webhook returned HTTP 500"},
        {429, "rate_limited\n", ANSWER_RETRY, "Slack webhook returned HTTP 429: rate_limited"},
        {408, "", ANSWER_RETRY, "Slack webhook returned HTTP 408"},
        {400, "invalid_payload", ANSWER_BAD_MESSAGE,
         "Slack webhook returned HTTP 400: invalid_payload"},
        {404, "no_service", ANSWER_BAD_WEBHOOK, "Slack webhook returned HTTP 404: no_service"},
        {403, "bad /s3cr3t-token/", ANSWER_BAD_WEBHOOK, "Slack webhook returned HTTP 403"},
        {302, "", ANSWER_BAD_WEBHOOK,
         "Slack webhook returned HTTP 302 (redirects are not followed)"},
        {502, "<html>\nx", ANSWER_RETRY, "Slack webhook returned HTTP 502"},
        {410, "\x1b[2Jgone\xff", ANSWER_BAD_WEBHOOK, "Slack webhook returned HTTP 410: ?[2Jgone?"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct post_answer answer = {.status = rows[i].status};
        buf_text(&answer.body, rows[i].body);
        struct err err = {0};
        CHECK_INT(answer_judge(&answer, URL, &err), rows[i].verdict);
        CHECK_TEXT(err.text, rows[i].sentence);
        post_answer_fini(&answer);
    }
}

TEST(without_an_answer_the_failure_is_told_in_the_predecessors_words)
{
    struct post_answer answer = {.failure = "[Errno 111] Connection refused"};
    struct err err = {0};
    CHECK_INT(answer_judge(&answer, URL, &err), ANSWER_RETRY);
    CHECK_TEXT(err.text, "Failed to send Slack webhook: [Errno 111] Connection refused");
    answer.is_lasting = true;
    CHECK_INT(answer_judge(&answer, URL, &err), ANSWER_KEEP);
}

static void remove_tree(const char *path)
{
    const char *const argv[] = {"rm", "-rf", path, NULL};
    OWN_SPAWN_RESULT struct spawn_result result;
    CHECK_INT(spawn_run(&(struct spawn){.argv = argv}, &result, NULL), 0);
}

TEST(kept_messages_come_back_in_order_and_private)
{
    char state[] = "/tmp/gpumanager-queue-XXXXXX";
    REQUIRE(mkdtemp(state) != NULL);
    for (int i = 0; i < 3; i++) {
        OWN_FREE char *body = mem_format("{\"text\": \"%d \\\"x\\\"\"}", i);
        CHECK_INT(queue_add(state, NOW_S + (i == 2 ? -60 : 0), body, NULL, NULL), 0);
    }
    CHECK_INT(queue_count(state), 3);
    struct queue queue;
    REQUIRE(CHECK_INT(queue_open(&queue, state, 0, NULL), 0));
    static const int order[] = {2, 0, 1};
    for (size_t i = 0; i < 3; i++) {
        struct kept kept = {0};
        OWN_FREE char *wanted = mem_format("{\"text\": \"%d \\\"x\\\"\"}", order[i]);
        CHECK_INT(queue_read(&queue, i, &kept, NULL), 0);
        CHECK_TEXT(kept.body, wanted);
        free(kept.body);
        struct stat status;
        CHECK_INT(fstatat(queue.folder, queue.name[i], &status, 0), 0);
        CHECK_INT(status.st_mode & 07777, 0600);
    }
    struct queue second;
    CHECK_INT(queue_open(&second, state, 0, NULL), -EBUSY);
    queue_close(&second);
    queue_close(&queue);
    remove_tree(state);
}

TEST(a_torn_message_is_set_aside_not_deleted)
{
    char state[] = "/tmp/gpumanager-queue-XXXXXX";
    REQUIRE(mkdtemp(state) != NULL);
    CHECK_INT(queue_add(state, NOW_S, "{}", NULL, NULL), 0);
    OWN_FREE char *path = mem_format("%s/queue/%019lld.json", state, (long long)NOW_S * 1000);
    CHECK_INT(file_write(path, "{\"kept\": 1", 10, 0600, FILE_REPLACE, NULL), 0);
    struct queue queue;
    struct kept kept = {0};
    REQUIRE(CHECK_INT(queue_open(&queue, state, 0, NULL), 0));
    CHECK_INT(queue_read(&queue, 0, &kept, NULL), -EBADMSG);
    queue_set_aside(&queue, 0);
    queue_close(&queue);
    CHECK_INT(queue_count(state), 0);
    OWN_FREE char *aside = mem_format("%s.unreadable", path);
    CHECK_INT(access(aside, F_OK), 0);
    remove_tree(state);
}

TEST(a_missing_url_is_named_without_trying)
{
    struct slack_options options = {.webhook_url = "", .state_dir = "/nonexistent"};
    struct slack_outcome outcome;
    struct err err = {0};
    CHECK_INT(slack_deliver(&options, "{}", &outcome, &err), -EINVAL);
    CHECK_TEXT(err.text, "Slack webhook URL is not configured");
    options.webhook_url = "ftp://x/s3cr3t-token";
    CHECK_INT(slack_deliver(&options, "{}", &outcome, &err), -EINVAL);
    CHECK(strstr(err.text, "s3cr3t") == NULL);
}

MAIN(RUN(an_answer_says_what_becomes_of_the_message),
     RUN(without_an_answer_the_failure_is_told_in_the_predecessors_words),
     RUN(kept_messages_come_back_in_order_and_private),
     RUN(a_torn_message_is_set_aside_not_deleted), RUN(a_missing_url_is_named_without_trying))
