/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/config.h"

#include "base/text.h"
#include "config/options.h"
#include "tests/check.h"

#include <errno.h>

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

MAIN(RUN(a_full_config_is_read))
