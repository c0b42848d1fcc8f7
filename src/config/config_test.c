/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/config.h"

#include "base/text.h"
#include "config/options.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>

static const struct config_checks no_checks;

static struct config *parse(const char *text, struct err *err)
{
    struct config *config = NULL;
    (void)config_parse(text, strlen(text), "config.toml", &no_checks, &config, err);
    return config;
}

TEST(a_full_config_is_read) /* GM-023 to GM-032, GM-126 */
{
    struct err err = {0};
    struct config *config =
        parse("[slack]\nwebhook_url = \"https://hooks.example.net/T/B/x\"\n"
              "[storage]\ncsv_dir = \"/var/lib/gpumanager\"\ncompact_after = \"30d\"\n"
              "[sample]\ninterval = \"7s\"\nnvidia_smi = \"/opt/bin/nvidia-smi\"\n"
              "[[report]]\nname = \"daily\"\nreport_time = \"0 9 * * 1\"\ninterval = \"7d\"\n"
              "format = \"blocks\"\ninclude = [\"coverage\"]\n"
              "[[report]]\nname = \"b\"\n"
              "[general]\ntimezone = \"Asia/Seoul\"\nserver_name = \"host-a\"\n",
              &err);
    CHECK_TEXT(err.text, "");
    REQUIRE(config != NULL);
    CHECK_TEXT(config->webhook_url, "https://hooks.example.net/T/B/x");
    CHECK_TEXT(config->csv_dir, "/var/lib/gpumanager");
    CHECK_INT(config->compact_after_s, 30 * 86400);
    CHECK_TEXT(config->sample_interval, "7s");
    CHECK_INT(config->sample_interval_s, 7);
    CHECK_TEXT(config->nvidia_smi, "/opt/bin/nvidia-smi");
    CHECK_TEXT(config->timezone, "Asia/Seoul");
    CHECK_TEXT(config->server_name, "host-a");
    REQUIRE(CHECK_INT(config->report_count, 2));
    CHECK_TEXT(config->report[0].name, "daily");
    CHECK_TEXT(config->report[0].report_time, "0 9 * * 1");
    CHECK_TEXT(config->report[0].interval, "7d");
    CHECK_TEXT(config->report[0].format, "blocks");
    CHECK_TEXT(config->report[0].include[0], "coverage");
    CHECK(config->report[0].include[1] == NULL);
    CHECK_INT(config->report[0].line, 9);
    CHECK_TEXT(config->report[1].report_time, "0 9 * * *");
    CHECK_TEXT(config->report[1].interval, "1d");
    CHECK_TEXT(config->report[1].format, "text");
    CHECK(config->report[1].include[0] == NULL);
    CHECK(config->warning[0] == NULL);
    config_free(config);
}

/* What is wrong is named with its place; nothing else is. */
static void check_refused(const char *text, const char *const *parts)
{
    struct err err = {0};
    struct config *config = parse(text, &err);
    CHECK(config == NULL);
    config_free(config);
    for (; *parts != NULL; parts++) {
        if (!CHECK(strstr(err.text, *parts) != NULL)) {
            printf("# \"%s\" is not in \"%s\"\n", *parts, err.text);
        }
    }
}

TEST(an_unknown_key_is_named_with_its_place_and_the_nearest_known_one)
{
    check_refused("[sample]\nintervall = \"1m\"\n",
                  (const char *const[]){"config.toml:2:1: unknown key 'intervall' in [sample]",
                                        "did you mean 'interval'?", "general.strict = false",
                                        NULL});
    check_refused("[samplee]\ninterval = \"1m\"\n",
                  (const char *const[]){"config.toml:1:", "did you mean [sample]?", NULL});
    check_refused("webhook_url = \"https://h.example/SECRET\"\n",
                  (const char *const[]){"did you mean 'webhook_url' in [slack]?", NULL});
}

TEST(without_strict_an_unknown_key_is_a_warning)
{
    struct err err = {0};
    struct config *config =
        parse("[sample]\nintervall = \"1m\"\n[general]\nstrict = false\n", &err);
    REQUIRE(config != NULL);
    REQUIRE(config->warning[0] != NULL);
    CHECK(strstr(config->warning[0], "config.toml:2:1: unknown key 'intervall'") != NULL);
    CHECK_TEXT(config->sample_interval, "1m");
    config_free(config);
}

TEST(the_older_forms_are_read) /* GM-033, GM-034, GM-038 */
{
    struct err err = {0};
    struct config *config = parse("[report]\nsend_time = \"09:05\"\ninterval = \"12h\"\n", &err);
    REQUIRE(config != NULL);
    CHECK_INT(config->report_count, 1);
    CHECK_TEXT(config->report[0].name, "default");
    CHECK_TEXT(config->report[0].report_time, "5 9 * * *");
    CHECK_TEXT(config->report[0].interval, "12h");
    config_free(config);
}

TEST(an_empty_file_gives_the_defaults) /* GM-024 to GM-032 */
{
    struct err err = {0};
    struct config *config = parse("", &err);
    REQUIRE(config != NULL);
    CHECK_TEXT(config->webhook_url, "");
    CHECK_TEXT(config->sample_interval, "1m");
    CHECK_TEXT(config->timezone, "");
    CHECK_INT(config->compact_after_s, -1);
    CHECK_INT(config->report_count, 1);
    CHECK_TEXT(config->report[0].name, "default");
    CHECK_TEXT(config->report[0].report_time, "0 9 * * *");
    CHECK_TEXT(config->report[0].interval, "1d");
    CHECK(text_ends(config->csv_dir, "/.local/share/gpumanager"));
    config_free(config);
}

TEST(bad_values_are_refused_in_the_predecessors_words) /* GM-028, Part B */
{
    static const struct {
        const char *text, *part;
    } rows[] = {
        {"[sample]\ninterval = \"5\"\n",
         "sample.interval must be a number followed by s, m, h, or d (for example: 11s, 2m, 1h, "
         "1d)"},
        {"[sample]\ninterval = \"0m\"\n", "sample.interval must be positive"},
        {"[sample]\ninterval = 60\n", "must be a string in quotes"},
        {"[[report]]\nname = \"Daily\"\n", "report.name must be 1 to 32 characters"},
        {"[[report]]\nname = \"a/../b\"\n", "report.name must be 1 to 32 characters"},
        {"[[report]]\ninterval = \"1d\"\n", "report.name is missing"},
        {"[[report]]\nname = \"a\"\n[[report]]\nname = \"a\"\n",
         "config.toml:4:8: report.name 'a' is already the name of the report in line 1"},
        {"[slack]\nwebhook_url = \"hooks.example/SECRET\"\n", "slack.webhook_url must be"},
        {"[[report]]\nname = \"a\"\nformat = \"html\"\n", "report.format must be"},
        {"[[report]]\nname = \"a\"\ninclude = [\"cover\"]\n", "report.include must be"},
        {"[storage]\ncompact_after = \"1h\"\n", "storage.compact_after must be"},
        {"[sample]\nnvidia_smi = \"rel/path\"\n", "sample.nvidia_smi must be a path"},
        {"[storage]\ncsv_dir = \"/a\\nb\"\n", "storage.csv_dir must not hold control"},
        {"[general]\ntimezone = \"UTC\"\n[general]\n", "config.toml:3:"},
        {"[general]\n[\n", "config.toml:2:1: a section needs a name"},
        {"[general]\nstrict = [ }\n", "config.toml:1:1: this is not TOML"},
        {"\xc2\xb5 = 1\n", "config.toml:1:1: "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_refused(rows[i].text, (const char *const[]){rows[i].part, NULL});
        struct err err = {0};
        config_free(parse(rows[i].text, &err));
        CHECK(strstr(err.text, "SECRET") == NULL);
    }
}

TEST(a_byte_order_mark_is_skipped_and_utf_16_is_named) /* CF01 */
{
    const char *root = getenv("SOURCE_ROOT");
    REQUIRE(root != NULL);
    char path[512];
    struct err err = {0};
    struct config *config = NULL;
    (void)snprintf(path, sizeof path, "%s/tests/cases/CF01a.toml", root);
    if (!CHECK_INT(config_load(path, &no_checks, &config, &err), 0)) {
        printf("# %s\n", err.text);
    }
    CHECK(config != NULL && strcmp(config->report[0].name, "daily") == 0);
    config_free(config);
    (void)snprintf(path, sizeof path, "%s/tests/cases/CF01b.toml", root);
    CHECK_INT(config_load(path, &no_checks, &config, &err), -EINVAL);
    CHECK(strstr(err.text, "UTF-16") != NULL && strstr(err.text, path) != NULL);
}

TEST(a_missing_file_is_never_replaced_by_another) /* GM-021, Part C gpumanager 12 */
{
    struct err err = {0};
    struct config *config = NULL;
    char *path = config_find("/nonexistent/config.toml");
    CHECK_TEXT(path, "/nonexistent/config.toml");
    CHECK_INT(config_load(path, &no_checks, &config, &err), -ENOENT);
    CHECK_TEXT(err.text, "Config file not found: /nonexistent/config.toml");
    free(path);
}

MAIN(RUN(a_full_config_is_read),
     RUN(an_unknown_key_is_named_with_its_place_and_the_nearest_known_one),
     RUN(without_strict_an_unknown_key_is_a_warning), RUN(the_older_forms_are_read),
     RUN(an_empty_file_gives_the_defaults), RUN(bad_values_are_refused_in_the_predecessors_words),
     RUN(a_byte_order_mark_is_skipped_and_utf_16_is_named),
     RUN(a_missing_file_is_never_replaced_by_another))
