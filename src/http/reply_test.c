/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "http/reply.h"

#include "tests/check.h"

TEST(a_date_has_the_form_of_the_standard)
{
    char text[40];
    reply_date(784111777, text, sizeof text);
    CHECK_TEXT(text, "Sun, 06 Nov 1994 08:49:37 GMT");
    reply_date(0, text, sizeof text);
    CHECK_TEXT(text, "Thu, 01 Jan 1970 00:00:00 GMT");
}

TEST(an_etag_is_found_in_a_list)
{
    CHECK(reply_matches_etag("\"a\"", "\"a\""));
    CHECK(reply_matches_etag("W/\"a\"", "\"a\""));
    CHECK(reply_matches_etag("\"b\", W/\"a\"", "\"a\""));
    CHECK(reply_matches_etag("*", "\"a\""));
    CHECK(!reply_matches_etag("", "\"a\""));
    CHECK(!reply_matches_etag("\"ab\"", "\"a\""));
    CHECK(!reply_matches_etag("a", "\"a\""));
}

TEST(gzip_is_taken_when_it_is_wanted)
{
    CHECK(reply_takes_gzip("gzip, deflate, br"));
    CHECK(reply_takes_gzip("br;q=1.0, GZIP;q=0.5"));
    CHECK(reply_takes_gzip("*"));
    CHECK(!reply_takes_gzip(""));
    CHECK(!reply_takes_gzip("identity"));
    CHECK(!reply_takes_gzip("gzip;q=0"));
    CHECK(!reply_takes_gzip("gzip; q=0.000, *"));
    CHECK(!reply_takes_gzip("xgzip"));
}

MAIN(RUN(a_date_has_the_form_of_the_standard), RUN(an_etag_is_found_in_a_list),
     RUN(gzip_is_taken_when_it_is_wanted))
