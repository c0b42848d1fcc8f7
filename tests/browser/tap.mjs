// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// TAP from async functions: test(name, body); a body throws to fail. run() prints and sets the exit status.
import assert from 'node:assert/strict';

const tests = [];

export function test(name, body) { tests.push({ name, body }); }

export async function run() {
  const wanted = process.argv[2];
  const chosen = tests.filter(({ name }) => !wanted || name.includes(wanted));
  console.log(`1..${chosen.length}`);
  let failures = 0;
  for (const [i, { name, body }] of chosen.entries()) {
    try {
      await body();
      console.log(`ok ${i + 1} - ${name}`);
    } catch (error) {
      failures += 1;
      console.log(`not ok ${i + 1} - ${name}`);
      console.log(String(error.stack ?? error).replace(/^/gm, '# '));
    }
  }
  process.exitCode = failures ? 1 : 0;
}

export function diag(text) { console.log(`# ${text}`); }
export { assert };
