// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Screenshots to look at, and those of docs/images: node shots.mjs FOLDER [NAME...]
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { smallPng } from './png.mjs';
import { launch, manualMock, openPage, settle } from '../tests/browser/browser.mjs';

const SHOTS = {
  overview: { gpus: 8, scenarios: ['throttled'] },
  'overview-dark': { gpus: 8, scenarios: ['throttled'], dark: true },
  'overview-1': { gpus: 1 },
  'overview-64': { gpus: 64, scenarios: ['throttled', 'lost'], width: 1920 },
  'overview-64-dark': { gpus: 64, scenarios: ['throttled', 'lost'], width: 1280, dark: true },
  'overview-1920': { gpus: 16, scenarios: ['lost', 'trouble', 'ecc'], width: 1920 },
  'overview-3840': { gpus: 16, scenarios: ['mig'], width: 3840, height: 2000 },
  lost: { gpus: 8, scenarios: ['lost', 'stale', 'mig'], dark: true },
  none: { scenarios: ['none'] },
  simulated: { gpus: 8, simulated: true },
  gpu: { gpus: 8, scenarios: ['throttled'], hash: '#/gpu/2', full: true },
  'gpu-dark': { gpus: 8, hash: '#/gpu/3?overlay=temperature%3Apower_draw', dark: true, width: 1920 },
  'gpu-compare': { gpus: 8, hash: '#/gpu/0?compare=2+3&focus=power' },
  charts: { gpus: 8, hash: '#/charts', dark: true },
  host: { gpus: 2, hash: '#/host' },
  phone: { gpus: 8, scenarios: ['throttled'], width: 360, height: 780 },
  'phone-gpu': { gpus: 8, hash: '#/gpu/0', width: 360, height: 1600, dark: true },
  hostile: { gpus: 8, scenarios: ['hostile'] },
  longnames: { gpus: 8, scenarios: ['longnames'], width: 360, height: 1600 },
};

const [folder, ...names] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const { browser, close } = await launch();
for (const name of names.length ? names : Object.keys(SHOTS)) {
  const { gpus = 8, scenarios = [], simulated = false, full = false, ...view } = SHOTS[name];
  const mock = await manualMock({ gpus, scenarios, simulated });
  const opened = await openPage(browser, mock.url, view);
  await opened.page.waitForSelector('.tile, .cell, .no-gpu, .chart, .view-head');
  mock.play(240);
  await settle(opened.page);
  await opened.page.waitForTimeout(1000); // figures follow at most once a second
  writeFileSync(join(folder, `${name}.png`), smallPng(await opened.page.screenshot({ fullPage: full })));
  if (opened.errors.length) console.log(name, opened.errors.slice(0, 5));
  await opened.close();
  await mock.stop();
}
await close();
