/* SPDX-FileCopyrightText: 2026 gpumanager contributors
 * SPDX-License-Identifier: MIT */
#include "build_config.h"

#include <stdio.h>

int main(void)
{
    (void)printf("gpumanager %s\n", GPUMANAGER_VERSION);
    return 0;
}
