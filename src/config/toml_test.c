/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* The language's own test files, as Debian packages them: valid ones are read, others refused. */
#include "config/toml.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/own.h"
#include "base/text.h"
#include "tests/check.h"

#include <ftw.h>

#define CORPUS "/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests"
#define FILES_LEAST 80

static int files;

/* Files of TOML 1.1: toml++ reads 1.0. */
static bool is_other_version(const char *path)
{
    static const char *const names[] = {
        "valid/string/escape-esc.toml", /* \\e */
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (text_ends(path, names[i])) {
            return true;
        }
    }
    return false;
}

static int check_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)where;
    if (kind != FTW_F || !text_ends(path, ".toml") || is_other_version(path)) {
        return 0;
    }
    OWN_BUF struct buf text = {0};
    CHECK_INT(file_read(path, 1 << 20, &text, NULL), 0);
    struct toml_error error = {0};
    struct toml_doc *doc = toml_parse(buf_string(&text), text.length, &error);
    bool is_valid = strstr(path, "/tests/valid/") != NULL;
    if (!CHECK((doc != NULL) == is_valid)) {
        printf("# %s: %s\n", path, error.text);
    }
    CHECK(doc != NULL || error.place.line > 0);
    toml_free(doc);
    files++;
    return 0;
}

TEST(the_languages_own_files_are_read_or_refused_as_they_should)
{
    if (access(CORPUS, F_OK) != 0) {
        printf("# not here: " CORPUS "\n");
        CHECK(getenv("CI") == NULL);
        return;
    }
    CHECK_INT(nftw(CORPUS, check_one, 16, FTW_PHYS), 0);
    CHECK(files >= FILES_LEAST);
}

MAIN(RUN(the_languages_own_files_are_read_or_refused_as_they_should))
