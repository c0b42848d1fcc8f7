/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
/* serve and token stand in the table of commands, which programs without a server link too. */
#include "cmd/cmd.h"

#include <errno.h>
#include <stddef.h>

int (*cmd_serve_run)(struct cmd *cmd);
int (*cmd_token_run)(struct cmd *cmd);

static int run(int (*function)(struct cmd *cmd), struct cmd *cmd)
{
    if (function != NULL) {
        return function(cmd);
    }
    struct err err = {0};
    (void)err_set(&err, -ENOSYS, "this program was built without the server");
    return cmd_fail(&err);
}

int cmd_serve(struct cmd *cmd)
{
    return run(cmd_serve_run, cmd);
}

int cmd_token(struct cmd *cmd)
{
    return run(cmd_token_run, cmd);
}
