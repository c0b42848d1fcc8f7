/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* Sixty lines of test framework; the output is TAP, one line a test, so that Meson counts them.
 * A test is a sentence: TEST(absent_values_have_no_line) { … }. CHECK goes on after a failure,
 * REQUIRE leaves the test. End the file with MAIN(RUN(a), RUN(b)). */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int check_failures;

#define TEST(name) static void name(void)

#define CHECK(claim) check_claim((claim), #claim, __FILE__, __LINE__)
#define REQUIRE(claim)                                                                             \
    do {                                                                                           \
        if (!CHECK(claim)) {                                                                       \
            return;                                                                                \
        }                                                                                          \
    } while (0)
#define CHECK_TEXT(got, wanted) check_text((got), (wanted), __FILE__, __LINE__)
#define CHECK_INT(got, wanted) check_int((long long)(got), (long long)(wanted), __FILE__, __LINE__)
#define CHECK_NEAR(got, wanted, by) CHECK(fabs((got) - (wanted)) <= (by))

static inline bool check_claim(bool is_true, const char *claim, const char *file, int line)
{
    if (!is_true) {
        printf("# %s:%d: not so: %s\n", file, line, claim);
        check_failures++;
    }
    return is_true;
}

static inline bool check_text(const char *got, const char *wanted, const char *file, int line)
{
    bool is_same = got != NULL && strcmp(got, wanted) == 0;
    if (!is_same) {
        printf("# %s:%d: got \"%s\"\n#   wanted \"%s\"\n", file, line, got ? got : "(null)",
               wanted);
        check_failures++;
    }
    return is_same;
}

static inline bool check_int(long long got, long long wanted, const char *file, int line)
{
    if (got != wanted) {
        printf("# %s:%d: got %lld, wanted %lld\n", file, line, got, wanted);
        check_failures++;
    }
    return got == wanted;
}

struct check_case {
    const char *name;
    void (*run)(void);
};

#define RUN(name)                                                                                  \
    {                                                                                              \
#name, name                                                                                \
    }
#define MAIN(...)                                                                                  \
    int main(void)                                                                                 \
    {                                                                                              \
        static const struct check_case cases[] = {__VA_ARGS__};                                    \
        size_t count = sizeof cases / sizeof cases[0];                                             \
        int failed = 0;                                                                            \
        printf("1..%zu\n", count);                                                                 \
        for (size_t i = 0; i < count; i++) {                                                       \
            check_failures = 0;                                                                    \
            cases[i].run();                                                                        \
            printf("%sok %zu - %s\n", check_failures == 0 ? "" : "not ", i + 1, cases[i].name);    \
            (void)fflush(stdout);                                                                  \
            failed += check_failures != 0;                                                         \
        }                                                                                          \
        return failed != 0;                                                                        \
    }

#endif
