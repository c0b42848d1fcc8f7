/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "cmd/guard.h"

#include "tests/check.h"

TEST(only_names_that_are_ours_are_answered)
{
    char listed[] = "gpu.example.org";
    char *hosts[] = {listed, NULL};
    static const struct {
        const char *host;
        bool is_allowed;
    } rows[] = {
        {"localhost:1312", true},
        {"LOCALHOST", true},
        {"127.0.0.1:1312", true},
        {"10.1.2.3", true},
        {"[::1]:1312", true},
        {"[2001:db8::1]", true},
        {"gpu.example.org", true},
        {"GPU.example.org:443", true},
        {"evil.example.org", false},
        {"localhost.evil.org", false},
        {"", false},
        {"[::1", false},
        {"[::1]x", false},
        {":1312", false},
        {"127.0.0.1.evil.org", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!CHECK(guard_host(rows[i].host, hosts) == rows[i].is_allowed)) {
            printf("# %s\n", rows[i].host);
        }
    }
    CHECK(!guard_host("gpu.example.org", NULL));
}

TEST(pages_of_others_are_kept_out)
{
    char listed[] = "gpu.example.org";
    char *hosts[] = {listed, NULL};
    CHECK(guard_origin("", "localhost:1312", NULL));
    CHECK(guard_origin("http://localhost:1312", "localhost:1312", NULL));
    CHECK(guard_origin("https://gpu.example.org", "127.0.0.1:1312", hosts));
    CHECK(!guard_origin("http://localhost:8080", "localhost:1312", NULL));
    CHECK(!guard_origin("http://evil.example.org", "localhost:1312", NULL));
    CHECK(!guard_origin("null", "localhost:1312", NULL));
    CHECK(!guard_origin("http://localhost:1312.evil.org", "localhost:1312", NULL));
}

TEST(what_only_this_machine_reaches_is_known)
{
    CHECK(guard_is_loopback("127.0.0.1:1312") && guard_is_loopback("[::1]:1"));
    CHECK(guard_is_loopback("unix:/run/x") && guard_is_loopback("localhost:1"));
    CHECK(!guard_is_loopback("0.0.0.0:1312") && !guard_is_loopback("[::]:1312"));
    CHECK(!guard_is_loopback("10.0.0.1:1312") && !guard_is_loopback("host:1"));
}

MAIN(RUN(only_names_that_are_ours_are_answered), RUN(pages_of_others_are_kept_out),
     RUN(what_only_this_machine_reaches_is_known))
