/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "config/edit.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/own.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct config_checks no_checks;

/* A folder of its own for each test, with the text as config.toml. */
struct place {
    char folder[64];
    char path[128];
};

static struct place place_with(const char *text)
{
    struct place place = {.folder = "/tmp/gpumanager-edit-XXXXXX"};
    CHECK(mkdtemp(place.folder) != NULL);
    (void)snprintf(place.path, sizeof place.path, "%s/config.toml", place.folder);
    if (text != NULL) {
        CHECK_INT(file_write(place.path, text, strlen(text), 0600, FILE_NEW_ONLY, NULL), 0);
    }
    return place;
}

static void check_file(const struct place *place, const char *wanted)
{
    OWN_BUF struct buf now = {0};
    CHECK_INT(file_read(place->path, 1 << 20, &now, NULL), 0);
    CHECK_TEXT(buf_string(&now), wanted);
}

static void leave(const struct place *place)
{
    (void)unlink(place->path);
    CHECK_INT(rmdir(place->folder), 0); /* nothing else was left there */
}

static int set(const struct place *place, const char *section, const char *report, const char *key,
               const char *value, struct err *err)
{
    const struct config_change change = {section, report, key, value};
    return config_set(place->path, &change, 1, &no_checks, err);
}

static int add(const struct place *place, char *name, struct err *err)
{
    char time[] = "0 9 * * 1";
    char window[] = "7d";
    const struct config_report report = {.name = name, .report_time = time, .interval = window};
    return config_add_report(place->path, &report, &no_checks, err);
}

TEST(a_value_changes_and_every_other_byte_stays)
{
    static const struct {
        const char *before, *section, *report, *key, *value, *after;
    } rows[] = {
        {"# mine\n[general]\r\nserver_name   =  'a' # why\n\n[x]\n", "general", NULL, "server_name",
         "b \"c\"", NULL}, /* unknown section: refused */
        {"# mine\n[general]\nserver_name   =  'a' # why\n", "general", NULL, "server_name",
         "b \"c\"", "# mine\n[general]\nserver_name   =  \"b \\\"c\\\"\" # why\n"},
        {"[general]\r\ntimezone = \"UTC\"\r\n", "general", NULL, "server_name", "x",
         "[general]\r\ntimezone = \"UTC\"\r\nserver_name = \"x\"\r\n"},
        {"[storage]\ncsv_dir = \"/a\"\n", "sample", NULL, "interval", "7s",
         "[storage]\ncsv_dir = \"/a\"\n\n[sample]\ninterval = \"7s\"\n"},
        {"[storage]\ncsv_dir = \"/a\"", "sample", NULL, "interval", "7s",
         "[storage]\ncsv_dir = \"/a\"\n\n[sample]\ninterval = \"7s\"\n"},
        {"[[report]]\nname = \"a\"\n\n[[report]]\nname = \"b\"\n# tail\n", "report", "b",
         "interval", "7d",
         "[[report]]\nname = \"a\"\n\n[[report]]\nname = \"b\"\ninterval = \"7d\"\n# tail\n"},
        {"[report]\nsend_time = \"09:30\"\n", "report", "default", "report_time", "0 8 * * *",
         "[report]\nreport_time = \"0 8 * * *\"\n"},
        {"general = { timezone = \"UTC\" }\n", "general", NULL, "server_name", "x",
         "general = { server_name = \"x\", timezone = \"UTC\" }\n"},
        {"general.timezone = \"UTC\"\n", "general", NULL, "server_name", "x",
         "general.timezone = \"UTC\"\ngeneral.server_name = \"x\"\n"},
        {"\xef\xbb\xbf[general]\nserver_name = \"a\"\n", "general", NULL, "server_name", "b",
         "\xef\xbb\xbf[general]\nserver_name = \"b\"\n"},
        {"[general]\n# server_name = \"host\"\n\n# timezone = \"UTC\"\n", "general", NULL,
         "server_name", "b",
         "[general]\n# server_name = \"host\"\nserver_name = \"b\"\n\n# timezone = \"UTC\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct place place = place_with(rows[i].before);
        struct err err = {0};
        int code = set(&place, rows[i].section, rows[i].report, rows[i].key, rows[i].value, &err);
        CHECK_INT(code, rows[i].after != NULL ? 0 : -EINVAL);
        check_file(&place, rows[i].after != NULL ? rows[i].after : rows[i].before);
        leave(&place);
    }
}

TEST(a_value_that_means_the_same_is_not_written_again)
{
    struct place place = place_with("[sample]\ninterval = '1m'\n");
    struct stat before;
    struct stat after;
    CHECK_INT(stat(place.path, &before), 0);
    CHECK_INT(set(&place, "sample", NULL, "interval", "1m", NULL), 0);
    CHECK_INT(stat(place.path, &after), 0);
    CHECK_INT(after.st_ino, before.st_ino);
    leave(&place);
}

TEST(a_bad_value_changes_nothing)
{
    const char *text = "[sample]\ninterval = \"1m\"\n";
    struct place place = place_with(text);
    struct err err = {0};
    CHECK_INT(set(&place, "sample", NULL, "interval", "soon", &err), -EINVAL);
    CHECK(strstr(err.text, "nothing was changed") != NULL);
    CHECK(strstr(err.text, "sample.interval must be a number followed by s, m, h, or d") != NULL);
    CHECK_INT(set(&place, "sample", NULL, "colour", "red", &err), -EINVAL);
    check_file(&place, text);
    leave(&place);
}

TEST(a_report_is_added_behind_the_last_one)
{
    static const struct {
        const char *before, *after;
    } rows[] = {
        {"[[report]]\nname = \"a\" # first\n\n[general]\ntimezone = \"UTC\"\n",
         "[[report]]\nname = \"a\" # first\n\n[[report]]\nname = \"b\"\nreport_time = \"0 9 * * "
         "1\"\ninterval = \"7d\"\n\n[general]\ntimezone = \"UTC\"\n"},
        {"[[report]]\r\nname = \"a\"\r\n",
         "[[report]]\r\nname = \"a\"\r\n\r\n[[report]]\r\nname = \"b\"\r\nreport_time = \"0 9 * * "
         "1\"\r\ninterval = \"7d\"\r\n"},
        {"[general]\ntimezone = \"UTC\"",
         "[general]\ntimezone = \"UTC\"\n\n[[report]]\nname = \"default\"\n\n[[report]]\nname = "
         "\"b\"\nreport_time = \"0 9 * * "
         "1\"\ninterval = \"7d\"\n"},
        /* GM-033: the predecessor's only report stays, under the name it always had. */
        {"[report]\ninterval = \"1d\" # daily\n",
         "[[report]]\nname = \"default\"\ninterval = \"1d\" # daily\n\n[[report]]\nname = "
         "\"b\"\nreport_time = \"0 9 * * 1\"\ninterval = \"7d\"\n"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct place place = place_with(rows[i].before);
        char name[] = "b";
        struct err err = {0};
        if (!CHECK_INT(add(&place, name, &err), 0)) {
            printf("# %s\n", err.text);
        }
        check_file(&place, rows[i].after);
        CHECK_INT(add(&place, name, &err), -EEXIST);
        check_file(&place, rows[i].after);
        leave(&place);
    }
}

TEST(a_report_goes_with_the_comments_directly_above_it)
{
    static const struct {
        const char *before, *name, *after;
        int code;
    } rows[] = {
        {"# file\n\n# a is daily\n[[report]]\nname = \"a\"\n# inside\n\n# b\n[[report]]\nname = "
         "\"b\"\n",
         "a", "# file\n\n# b\n[[report]]\nname = \"b\"\n", 0},
        {"[[report]]\nname = \"a\"\n# about b\n[[report]]\nname = \"b\"\ninterval = \"1d\" # x\n",
         "b", "[[report]]\nname = \"a\"\n", 0},
        {"[[report]]\nname = \"a\"\n\n[[report]]\nname = \"b\"\n\n[general]\ntimezone = \"UTC\"\n",
         "b", "[[report]]\nname = \"a\"\n\n[general]\ntimezone = \"UTC\"\n", 0},
        {"[[report]]\r\nname = \"a\"\r\n\r\n[[report]]\r\nname = \"b\"\r\n", "b",
         "[[report]]\r\nname = \"a\"\r\n", 0},
        {"[[report]]\nname = \"a\"\n", "z", "[[report]]\nname = \"a\"\n", -ENOENT},
        {"report = [ { name = \"a\" }, { name = \"b\" } ]\n", "b",
         "report = [ { name = \"a\" }, { name = \"b\" } ]\n", -ENOTSUP},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct place place = place_with(rows[i].before);
        struct err err = {0};
        CHECK_INT(config_remove_report(place.path, rows[i].name, &no_checks, &err), rows[i].code);
        check_file(&place, rows[i].after);
        leave(&place);
    }
}

TEST(a_new_file_explains_every_option_and_sets_the_answers)
{
    struct place place = place_with(NULL);
    const struct config_change changes[] = {
        {"general", NULL, "server_name", "lab-1"},
        {"report", "default", "report_time", "0 8 * * *"},
    };
    struct err err = {0};
    if (!CHECK_INT(config_set(place.path, changes, 2, &no_checks, &err), 0)) {
        printf("# %s\n", err.text);
    }
    struct config *config = NULL;
    CHECK_INT(config_load(place.path, &no_checks, &config, &err), 0);
    REQUIRE(config != NULL);
    CHECK_TEXT(config->server_name, "lab-1");
    CHECK_INT(config->report_count, 1);
    CHECK_TEXT(config->report[0].report_time, "0 8 * * *");
    config_free(config);
    struct stat status;
    CHECK_INT(stat(place.path, &status), 0);
    CHECK_INT(status.st_mode & 07777, 0600);
    OWN_BUF struct buf text = {0};
    CHECK_INT(file_read(place.path, 1 << 20, &text, NULL), 0);
    CHECK(strstr(text.data, "# compact_after = \"never\"\n") != NULL);
    CHECK(strstr(text.data, "# server_name = \"\"\nserver_name = \"lab-1\"\n") != NULL);
    CHECK(strstr(text.data, "send_time") == NULL);
    leave(&place);
}

TEST(a_link_stays_a_link_and_the_group_keeps_its_right_to_read)
{
    struct place place = place_with("[general]\nserver_name = \"a\"\n");
    char link[160];
    (void)snprintf(link, sizeof link, "%s/link.toml", place.folder);
    CHECK_INT(symlink(place.path, link), 0);
    CHECK_INT(chmod(place.path, 0640), 0);
    const struct config_change change = {"general", NULL, "server_name", "b"};
    CHECK_INT(config_set(link, &change, 1, &no_checks, NULL), 0);
    check_file(&place, "[general]\nserver_name = \"b\"\n");
    struct stat status;
    CHECK_INT(lstat(link, &status), 0);
    CHECK(S_ISLNK(status.st_mode));
    CHECK_INT(stat(place.path, &status), 0);
    CHECK_INT(status.st_mode & 07777, 0640);
    CHECK_INT(chmod(place.path, 0644), 0);
    CHECK_INT(set(&place, "general", NULL, "server_name", "c", NULL), 0);
    CHECK_INT(stat(place.path, &status), 0);
    CHECK_INT(status.st_mode & 07777, 0600);
    (void)unlink(link);
    leave(&place);
}

TEST(text_in_strings_is_not_mistaken_for_structure)
{
    const char *head = "[general]\nstrict = false\n[other]\nnote = \"\"\"\n[[report]]\nname = 'x'\n"
                       "\"\"\"\n[[report]]\nname = \"a\"\n";
    char text[256];
    (void)snprintf(text, sizeof text, "%s[[report]]\nname = \"x\"\n", head);
    struct place place = place_with(text);
    struct err err = {0};
    CHECK_INT(config_remove_report(place.path, "x", &no_checks, &err), 0);
    check_file(&place, head);
    leave(&place);
}

TEST(a_secret_is_in_no_sentence)
{
    struct place place = place_with("[slack]\nwebhook_url = \"https://h.example/T/SECRET\" x\n");
    struct err err = {0};
    CHECK_INT(set(&place, "slack", NULL, "webhook_url", "https://h.example/T/SECRET2", &err),
              -EINVAL);
    CHECK(strstr(err.text, "SECRET") == NULL);
    leave(&place);
}

MAIN(RUN(a_value_changes_and_every_other_byte_stays),
     RUN(a_value_that_means_the_same_is_not_written_again), RUN(a_bad_value_changes_nothing),
     RUN(a_report_is_added_behind_the_last_one),
     RUN(a_report_goes_with_the_comments_directly_above_it),
     RUN(a_new_file_explains_every_option_and_sets_the_answers),
     RUN(a_link_stays_a_link_and_the_group_keeps_its_right_to_read),
     RUN(text_in_strings_is_not_mistaken_for_structure), RUN(a_secret_is_in_no_sentence))
