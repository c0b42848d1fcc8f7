// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Builds the page, then runs every file of this folder that speaks TAP; node all.mjs
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { buildPage } from '../../web/build.mjs';

await buildPage();
for (const file of ['static.mjs', 'page.mjs', 'cost.mjs']) {
  console.log(`# ${file}`);
  const { status } = spawnSync(process.execPath, [fileURLToPath(new URL(file, import.meta.url))], { stdio: 'inherit' });
  if (status) process.exitCode = 1;
}
