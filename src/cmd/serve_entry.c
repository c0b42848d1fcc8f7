/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* serve stands in the table of commands, which programs without a server link too. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stddef.h>

int (*cmd_serve_run)(struct cmd *cmd);

int cmd_serve(struct cmd *cmd)
{
    if (cmd_serve_run != NULL) {
        return cmd_serve_run(cmd);
    }
    struct err err = {0};
    (void)err_set(&err, -ENOSYS, "this program was built without the server");
    return cmd_fail(&err);
}
