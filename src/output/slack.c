/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "output/slack.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "output/answer.h"
#include "output/post.h"
#include "output/queue.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS (60 * NS_PER_S)
#define DEADLINE_NS (10 * NS_PER_S)
#define BACKOFF_FIRST_NS NS_PER_S
#define BACKOFF_MOST_NS (30 * NS_PER_S)
#define BLOCKS_MAX 50

/* One run's deliveries share one patience. */
struct run {
    const struct slack_options *options;
    int64_t give_up_ns; /* monotonic */
    int64_t deadline_ns;
    struct queue *queue;
    char *copy; /* name in the queue of the new message while it is tried again; owned */
};

/* What waits for another try lies in the queue meanwhile, so that a run that is ended by force
 * loses nothing. Without the queue's lock another run would send the copy. */
static void copy_before_wait(struct run *run, const char *body)
{
    const struct slack_options *options = run->options;
    if (run->copy != NULL) {
        return;
    }
    if (run->queue->lock < 0) {
        queue_close(run->queue);
        if (queue_make(options->state_dir, NULL) != 0 ||
            queue_open(run->queue, options->state_dir, 0, NULL) != 0) {
            queue_close(run->queue);
            return;
        }
    }
    (void)queue_add(options->state_dir, options->now_s, body, &run->copy, NULL);
}

static int64_t wait_for(const struct post_answer *answer, int64_t backoff_ns)
{
    return answer->retry_after_s > 0 && answer->retry_after_s < INT64_MAX / NS_PER_S
               ? answer->retry_after_s * NS_PER_S
               : backoff_ns;
}

/* Sends until it is delivered, refused, or the patience is over: then the verdict is ANSWER_RETRY
 * or ANSWER_KEEP. Negative: the request could not be made at all. */
static int deliver_one(struct run *run, const char *body, bool is_new, enum answer_verdict *verdict,
                       struct err *err)
{
    const char *url = run->options->webhook_url;
    for (int64_t backoff_ns = BACKOFF_FIRST_NS;; backoff_ns *= 2) {
        struct post_answer answer;
        int code = post_json(url, body, run->deadline_ns, &answer, err);
        if (code != 0) {
            return code;
        }
        backoff_ns = backoff_ns < BACKOFF_MOST_NS ? backoff_ns : BACKOFF_MOST_NS;
        int64_t wait_ns = wait_for(&answer, backoff_ns);
        *verdict = answer_judge(&answer, url, err);
        post_answer_fini(&answer);
        if (*verdict != ANSWER_RETRY || wait_ns > run->give_up_ns - clock_mono_ns()) {
            return 0;
        }
        if (is_new) {
            copy_before_wait(run, body);
        }
        clock_sleep_ns(wait_ns);
    }
}

/* "2 days 3 h", "5 h 20 min", "7 min", "40 s" */
static void format_age(int64_t age_s, char *out, size_t size)
{
    long long days = age_s / 86400;
    long long hours = age_s / 3600 % 24;
    long long minutes = age_s / 60 % 60;
    if (days > 0) {
        (void)snprintf(out, size, "%lld day%s %lld h", days, days > 1 ? "s" : "", hours);
    } else if (hours > 0) {
        (void)snprintf(out, size, "%lld h %lld min", hours, minutes);
    } else if (minutes > 0) {
        (void)snprintf(out, size, "%lld min", minutes);
    } else {
        (void)snprintf(out, size, "%lld s", (long long)age_s);
    }
}

/* The message with a line that says how late it is. A body that is not what we write is sent as it
 * is. Caller frees. */
static char *with_age(const char *body, int64_t age_s)
{
    json_t *json = json_loads(body, 0, NULL);
    const char *text = json_string_value(json_object_get(json, "text"));
    if (text == NULL) {
        json_decref(json);
        return mem_copy_text(body);
    }
    char age[64];
    format_age(age_s > 0 ? age_s : 0, age, sizeof age);
    OWN_FREE char *late = mem_format("Sent %s late: Slack could not be reached before.", age);
    OWN_FREE char *whole = mem_format("%s\n%s", text, late);
    (void)json_object_set_new(json, "text", json_string(whole));
    json_t *blocks = json_object_get(json, "blocks");
    if (json_is_array(blocks) && json_array_size(blocks) < BLOCKS_MAX) {
        (void)json_array_append_new(blocks, json_pack("{s:s,s:[{s:s,s:s}]}", "type", "context",
                                                      "elements", "type", "mrkdwn", "text", late));
    }
    char *out = json_dumps(json, JSON_ENSURE_ASCII);
    json_decref(json);
    return out != NULL ? out : mem_copy_text(body);
}

static bool is_given_up(const struct run *run, const struct queue *queue, size_t i,
                        const struct kept *kept)
{
    return queue->count - i > QUEUE_MAX || run->options->now_s - kept->kept_s > QUEUE_AGE_MAX_S;
}

/* One kept message. 0: go on with the next one; -EAGAIN: this run brings nothing through. */
static int deliver_kept(struct run *run, const struct queue *queue, size_t i,
                        struct slack_outcome *outcome, struct err *err)
{
    struct kept kept;
    int code = queue_read(queue, i, &kept, err);
    if (code == -EBADMSG) {
        queue_set_aside(queue, i);
        outcome->dropped++;
        return 0;
    }
    if (code != 0) {
        outcome->trouble = *err;
        return 0; /* not readable now; a later run may */
    }
    OWN_FREE char *body = kept.body;
    if (is_given_up(run, queue, i, &kept)) {
        outcome->dropped++;
        return queue_remove(queue, queue->name[i], err) == 0 ? 0 : -EIO;
    }
    OWN_FREE char *late = with_age(body, run->options->now_s - kept.kept_s);
    enum answer_verdict verdict = ANSWER_RETRY;
    code = deliver_one(run, late, false, &verdict, err);
    if (code != 0 || verdict == ANSWER_RETRY || verdict == ANSWER_KEEP) {
        return code != 0 ? code : -EAGAIN;
    }
    if (verdict == ANSWER_BAD_WEBHOOK) {
        return -EPERM;
    }
    *(verdict == ANSWER_DELIVERED ? &outcome->sent_late : &outcome->dropped) += 1;
    /* One that cannot be removed would be sent again by every run. */
    return queue_remove(queue, queue->name[i], err) == 0 ? 0 : -EIO;
}

static int deliver_all_kept(struct run *run, const struct queue *queue,
                            struct slack_outcome *outcome, struct err *err)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < queue->count; i++) {
        code = deliver_kept(run, queue, i, outcome, err);
    }
    return code;
}

/* The sentence in `err` says why it was not delivered; the next one what becomes of it. */
static int keep(const struct run *run, const char *body, struct err *err)
{
    const struct slack_options *options = run->options;
    struct err why = {0};
    OWN_FREE char *reason = mem_copy_text(err != NULL ? err->text : "");
    if (run->copy == NULL && queue_add(options->state_dir, options->now_s, body, NULL, &why) != 0) {
        return err_set(err, -EIO, "%s; the message is lost, as it could not be kept: %s", reason,
                       why.text);
    }
    return err_set(err, -EAGAIN, "%s; the message was kept and the next report sends it first",
                   reason);
}

static int deliver_new(struct run *run, const char *body, struct slack_outcome *outcome,
                       struct err *err)
{
    enum answer_verdict verdict = ANSWER_RETRY;
    int code = deliver_one(run, body, true, &verdict, err);
    if (code != -EINVAL && (code != 0 || verdict == ANSWER_RETRY || verdict == ANSWER_KEEP)) {
        return keep(run, body, err);
    }
    if (run->copy != NULL) {
        (void)queue_remove(run->queue, run->copy, &outcome->trouble);
    }
    return code != 0 || verdict == ANSWER_DELIVERED ? code : -EPERM;
}

static int check_url(const char *url, struct err *err)
{
    if (url == NULL || url[0] == '\0') {
        return err_set(err, -EINVAL, "Slack webhook URL is not configured");
    }
    if (!text_starts(url, "https://") && !text_starts(url, "http://")) {
        return err_set(err, -EINVAL, "slack.webhook_url must begin with https://");
    }
    return 0;
}

int slack_deliver(const struct slack_options *options, const char *body,
                  struct slack_outcome *outcome, struct err *err)
{
    struct err local = {0};
    err = err != NULL ? err : &local;
    *outcome = (struct slack_outcome){0};
    int code = check_url(options->webhook_url, err);
    if (code != 0) {
        return code;
    }
    int64_t patience_ns = options->patience_ns > 0 ? options->patience_ns : PATIENCE_NS;
    struct queue queue;
    struct run run = {.options = options,
                      .give_up_ns = clock_mono_ns() + patience_ns,
                      .deadline_ns = options->deadline_ns > 0 ? options->deadline_ns : DEADLINE_NS,
                      .queue = &queue};
    code = queue_open(&queue, options->state_dir, patience_ns, err);
    bool is_broken = code != 0 && code != -EBUSY;
    if (code == 0) {
        if (queue.count > 0) {
            copy_before_wait(&run, body); /* the tries of older ones may take long */
        }
        code = deliver_all_kept(&run, &queue, outcome, err);
        is_broken = code == -EIO;
    }
    if (is_broken) {
        outcome->trouble = *err;
    }
    /* Behind messages that wait, a new one waits too; whatever else is wrong with the queue must
     * not hold it up. */
    bool is_waiting = code == -EAGAIN || code == -EBUSY;
    code = is_waiting ? keep(&run, body, err) : deliver_new(&run, body, outcome, err);
    free(run.copy);
    queue_close(&queue);
    return code;
}
