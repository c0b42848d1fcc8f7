/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* `gpumanager driver`: what serve starts for each driver. It is not for people, so it has no row in
 * the table of commands. */
#include "sampler/driver.h"
#include "cmd/cmd.h"

int cmd_driver(int argc, char **argv)
{
    struct driver_options options = {0};
    struct err err = {0};
    int code = driver_parse(argc, argv, &options, &err);
    if (code != 0) {
        return cmd_fail_usage(&err);
    }
    code = driver_run(DRIVER_FD, &options, &err);
    return code == 0 ? CMD_OK : cmd_fail(&err);
}
