// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// What can be said of the page without a browser: same input, same bytes; budget; what must not occur.
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildPage } from '../../web/build.mjs';
import { assert, diag, run, test } from './tap.mjs';
import { Machine } from '../../web/mock/machine.mjs';
import { delta } from '../../web/mock/delta.mjs';
import { metrics } from '../../web/mock/registry.mjs';

const web = fileURLToPath(new URL('../../web/', import.meta.url));
const sources = ['src', 'mock'].flatMap((top) => readdirSync(join(web, top), { recursive: true }).map((name) => join(web, top, name)))
  .concat(readdirSync(web).map((name) => join(web, name))).filter((path) => /\.(m?jsx?|css|html)$/.test(path));

test('two builds are the same bytes, within the budget', async () => {
  const folders = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'gpumanager-dist-')));
  const [first, second] = [await buildPage(folders[0]), await buildPage(folders[1])];
  assert.deepEqual(first, second);
  for (const { name } of first.sizes) assert.ok(readFileSync(join(folders[0], name)).equals(readFileSync(join(folders[1], name))), name);
  diag(`${first.total} bytes gzip`);
  assert.ok(first.total <= 60 * 1024);
  const html = readFileSync(join(folders[0], 'index.html'), 'utf8');
  assert.doesNotMatch(html, /style=|<style|<script(?! src=)|\bon\w+=|(src|href)="(\/|https?:)/);
  assert.doesNotMatch(readFileSync(join(folders[0], 'app.js'), 'utf8'), /\.innerHTML|insertAdjacentHTML|\beval\(|new Function/);
  for (const folder of folders) rmSync(folder, { recursive: true });
});

test('our sources never build elements from text, and name no other server', () => {
  for (const path of sources) {
    const text = readFileSync(path, 'utf8');
    if (!path.endsWith('build.mjs')) assert.doesNotMatch(text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/, path);
    assert.doesNotMatch(text.replaceAll('http://www.w3.org/2000/svg', '').replaceAll('http://127.0.0.1', ''), /https?:\/\/\w/, path);
    assert.match(text.slice(0, 200), /SPDX-License-Identifier: MIT/, path);
  }
});

test('package-lock.json names no registry', () => {
  assert.doesNotMatch(readFileSync(join(web, 'package-lock.json'), 'utf8'), /"resolved"|https?:\/\/[^"]*registry/);
});

test('the mock tells every metric of the table', () => {
  const rows = readFileSync(new URL('../../src/model/metrics.def', import.meta.url), 'utf8').match(/^METRIC\(/gm).length;
  assert.equal(metrics.length, rows);
});

test('a full and its deltas make the next full', () => {
  const machine = new Machine({ gpus: 4, scenarios: ['throttled', 'mig'], now: 1000 });
  const copy = () => JSON.parse(JSON.stringify(machine.full()));
  let state = copy();
  for (let i = 1; i <= 50; i += 1) {
    const before = state;
    if (i === 20) machine.lose(5);
    if (i === 30) machine.processes.pop();
    machine.step(1000 + i / 2);
    const after = copy();
    const change = delta(before, after);
    state = JSON.parse(JSON.stringify(before));
    for (const gpu of state.gpus) {
      const { values, texts, ...rest } = change.gpus?.[gpu.uuid] ?? {};
      Object.assign(gpu, rest);
      Object.assign(gpu.values, values);
      Object.assign(gpu.texts, texts);
    }
    Object.assign(state.system, change.system);
    if (change.processes) state.processes = change.processes;
    for (const [at, values] of change.process_values ?? []) Object.assign(state.processes[at], values);
    Object.assign(state, { time: change.time, trouble: change.trouble ?? state.trouble });
    assert.deepEqual(state, after);
  }
});

await run();
