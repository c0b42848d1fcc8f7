/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "report/report.h"

#include "base/mem.h"
#include "base/own.h"
#include "tests/check.h"

#include <jansson.h>
#include <stdlib.h>

#define NOW_S INT64_C(1774164600) /* 2026-03-22T16:30:00+09:00 */
#define PARTS 4

/* A report over GPUs that are filled in by hand. */
struct stage {
    struct zone zone;
    struct archive_result result;
    struct report report;
};

static void stage_init(struct stage *stage, size_t gpus)
{
    *stage = (struct stage){0};
    CHECK_INT(zone_open(&stage->zone, "Asia/Seoul", NULL), 0);
    stage->result.gpu = mem_new(gpus + 1, sizeof *stage->result.gpu);
    stage->result.gpu_count = gpus;
    stage->report = (struct report){.server_name = "host-a",
                                    .report_name = "daily",
                                    .zone = &stage->zone,
                                    .now_s = NOW_S,
                                    .sample_interval_s = 60,
                                    .result = &stage->result,
                                    .bucket_count = PARTS};
    CHECK_INT(window_resolve("1d", &stage->zone, NOW_S, &stage->report.window, NULL), 0);
    for (size_t i = 0; i < gpus; i++) {
        struct archive_gpu *gpu = &stage->result.gpu[i];
        gpu->index = (int)i;
        (void)snprintf(gpu->uuid, sizeof gpu->uuid, "GPU-%zu", i);
        (void)snprintf(gpu->name, sizeof gpu->name, "NVIDIA H100, \"80GB\"");
        gpu->first_s = NOW_S - 3600;
        gpu->last_s = NOW_S - 60;
        gpu->bucket = mem_new(PARTS, sizeof *gpu->bucket);
    }
}

static void stage_fini(struct stage *stage)
{
    for (size_t i = 0; i < stage->result.gpu_count; i++) {
        free(stage->result.gpu[i].bucket);
    }
    free(stage->result.gpu);
}

static void fill(struct stage *stage, size_t i, int64_t sum_micro, int64_t count)
{
    struct archive_gpu *gpu = &stage->result.gpu[i];
    gpu->sum_micro = sum_micro;
    gpu->count = count;
    gpu->sample_count = count;
    gpu->max_micro = count > 0 ? 100000000 : 0;
    gpu->bucket[1] = (struct archive_bucket){sum_micro, count};
    gpu->bucket[3] = gpu->bucket[1];
}

static void check_report(void (*write)(const struct report *, struct buf *),
                         const struct stage *stage, const char *wanted)
{
    OWN_BUF struct buf out = {0};
    write(&stage->report, &out);
    CHECK_TEXT(buf_string(&out), wanted);
}

TEST(the_message_is_the_predecessors_to_the_letter) /* GM-060 … GM-063, GM-057 */
{
    struct stage stage;
    stage_init(&stage, 3);
    fill(&stage, 0, 100000000, 3); /* 33.333… */
    fill(&stage, 1, 0, 5);
    fill(&stage, 2, 0, 0);
    check_report(report_text, &stage,
                 "[host-a/daily] 2026.03.22 16:30:00 KST\nWindow: last 1d\n"
                 "GPU 0: 33.33%\nGPU 1: 0.00%\nGPU 2: n/a");
    stage.report.report_name = "default";
    stage.report.server_name = "";
    CHECK_INT(window_resolve("since:month", &stage.zone, NOW_S, &stage.report.window, NULL), 0);
    check_report(report_text, &stage,
                 "[gpumanager] 2026.03.22 16:30:00 KST\nWindow: since 2026-03-01 00:00\n"
                 "GPU 0: 33.33%\nGPU 1: 0.00%\nGPU 2: n/a");
    stage_fini(&stage);
}

TEST(an_empty_window_says_so) /* GM-064 */
{
    struct stage stage;
    stage_init(&stage, 0);
    check_report(report_text, &stage,
                 "[host-a/daily] 2026.03.22 16:30:00 KST\nWindow: last 1d\n"
                 "No GPU samples found in the selected window.");
    stage_fini(&stage);
}

TEST(coverage_is_shown_when_asked_for)
{
    struct stage stage;
    stage_init(&stage, 1);
    fill(&stage, 0, 100000000, 2);
    stage.report.has_coverage = true;
    check_report(report_text, &stage,
                 "[host-a/daily] 2026.03.22 16:30:00 KST\nWindow: last 1d\n"
                 "GPU 0: 50.00% (2 of 1440 samples)");
    stage_fini(&stage);
}

TEST(slack_sees_three_characters_escaped_once) /* SL05 */
{
    struct stage stage;
    stage_init(&stage, 0);
    stage.report.server_name = "R&D <!channel> <@U1>";
    OWN_BUF struct buf out = {0};
    report_slack_text(&stage.report, &out);
    CHECK(strstr(out.data, "[R&amp;D &lt;!channel&gt; &lt;@U1&gt;/daily]") != NULL);
    CHECK(strstr(out.data, "&amp;lt;") == NULL);
    stage_fini(&stage);
}

TEST(the_body_is_written_as_the_predecessor_wrote_it) /* GM-065 */
{
    struct stage stage;
    stage_init(&stage, 1);
    fill(&stage, 0, 50000000, 1);
    stage.report.server_name = "라";
    OWN_BUF struct buf out = {0};
    report_slack_body(&stage.report, false, &out);
    CHECK_TEXT(out.data, "{\"text\": \"[\\ub77c/daily] 2026.03.22 16:30:00 KST\\nWindow: last 1d"
                         "\\nGPU 0: 50.00%\"}");
    stage_fini(&stage);
}

/* Length in characters, as Slack counts. */
static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        count += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return count;
}

static void check_block(const json_t *block)
{
    const json_t *text = json_object_get(block, "text");
    const char *type = json_string_value(json_object_get(block, "type"));
    REQUIRE(type != NULL);
    if (strcmp(type, "context") == 0) {
        text = json_array_get(json_object_get(block, "elements"), 0);
    }
    const char *words = json_string_value(json_object_get(text, "text"));
    REQUIRE(words != NULL && words[0] != '\0');
    CHECK(characters(words) <= (strcmp(type, "header") == 0 ? 150 : 3000));
    CHECK(strchr(words, '<') == NULL && strchr(words, '>') == NULL);
}

TEST(blocks_stay_within_what_slack_takes)
{
    static const size_t sizes[] = {0, 1, 16, 3000};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct stage stage;
        stage_init(&stage, sizes[i]);
        char server[400];
        memset(server, '&', sizeof server - 1);
        server[sizeof server - 1] = '\0';
        stage.report.server_name = server;
        for (size_t gpu = 0; gpu < sizes[i]; gpu++) {
            fill(&stage, gpu, (int64_t)gpu * 1000000, 60);
            (void)snprintf(stage.result.gpu[gpu].name, GPU_NAME_SIZE, "<!here> `x` & y");
        }
        OWN_BUF struct buf out = {0};
        report_slack_body(&stage.report, true, &out);
        json_t *body = json_loads(out.data, 0, NULL);
        const json_t *blocks = json_object_get(body, "blocks");
        CHECK(json_string_value(json_object_get(body, "text")) != NULL);
        CHECK(json_array_size(blocks) >= 3 && json_array_size(blocks) <= 50);
        for (size_t b = 0; b < json_array_size(blocks); b++) {
            check_block(json_array_get(blocks, b));
        }
        json_decref(body);
        stage_fini(&stage);
    }
}

TEST(the_forms_for_programs_hold_every_figure)
{
    struct stage stage;
    stage_init(&stage, 2);
    fill(&stage, 0, 100000000, 3);
    OWN_BUF struct buf out = {0};
    report_json(&stage.report, &out);
    json_t *json = json_loads(out.data, 0, NULL);
    const json_t *gpus = json_object_get(json, "gpus");
    CHECK_INT(json_array_size(gpus), 2);
    CHECK_NEAR(json_number_value(json_object_get(json_array_get(gpus, 0), "average_percent")),
               33.33, 1e-9);
    CHECK(json_is_null(json_object_get(json_array_get(gpus, 1), "average_percent")));
    CHECK_INT(json_integer_value(json_object_get(json_array_get(gpus, 0), "expected_count")), 1440);
    json_decref(json);
    check_report(
        report_csv, &stage,
        "report,from,to,gpu_index,gpu_uuid,gpu_name,average_percent,least_percent,most_percent,"
        "coverage,sample_count,valid_count,expected_count\n"
        "daily,2026-03-21T16:30:00+09:00,2026-03-22T16:30:00+09:00,0,GPU-0,\"NVIDIA H100, "
        "\"\"80GB\"\"\",33.33,0.00,100.00,0.0021,3,3,1440\n"
        "daily,2026-03-21T16:30:00+09:00,2026-03-22T16:30:00+09:00,1,GPU-1,\"NVIDIA H100, "
        "\"\"80GB\"\"\",,,,0.0000,0,0,1440\n");
    stage_fini(&stage);
}

TEST(pictures_are_self_contained_and_show_names_as_text)
{
    static void (*const forms[])(const struct report *, struct buf *) = {report_svg, report_html};
    for (size_t i = 0; i < 2; i++) {
        struct stage stage;
        stage_init(&stage, 2);
        stage.report.server_name = "<script>alert(1)</script>&\x01";
        fill(&stage, 0, 100000000, 3);
        OWN_BUF struct buf out = {0};
        forms[i](&stage.report, &out);
        CHECK(strstr(out.data, "<script") == NULL);
        CHECK(strstr(out.data, "&#60;script&#62;") != NULL);
        CHECK(strstr(out.data, "src=") == NULL && strstr(out.data, "href=") == NULL);
        CHECK(strstr(out.data, "url(") == NULL && strstr(out.data, "nan") == NULL);
        CHECK(strstr(out.data, "33.33%") != NULL && strstr(out.data, "n/a") != NULL);
        stage_fini(&stage);
    }
}

TEST(a_course_is_broken_where_samples_are_missing)
{
    struct stage stage;
    stage_init(&stage, 1);
    fill(&stage, 0, 50000000, 1); /* parts 1 and 3 of 4 */
    OWN_BUF struct buf out = {0};
    report_svg(&stage.report, &out);
    const char *line = strstr(out.data, "class=\"line\" d=\"");
    REQUIRE(line != NULL);
    const char *end = strchr(line + 16, '"');
    int runs = 0;
    for (const char *at = line; at < end; at++) {
        runs += *at == 'M';
    }
    CHECK_INT(runs, 2);
    stage_fini(&stage);
}

MAIN(RUN(the_message_is_the_predecessors_to_the_letter), RUN(an_empty_window_says_so),
     RUN(coverage_is_shown_when_asked_for), RUN(slack_sees_three_characters_escaped_once),
     RUN(the_body_is_written_as_the_predecessor_wrote_it), RUN(blocks_stay_within_what_slack_takes),
     RUN(the_forms_for_programs_hold_every_figure),
     RUN(pictures_are_self_contained_and_show_names_as_text),
     RUN(a_course_is_broken_where_samples_are_missing))
