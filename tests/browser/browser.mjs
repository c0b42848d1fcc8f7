// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// A browser with the page, and a mock that plays two minutes of past before the test looks.
import { createRequire } from 'node:module';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startMock } from '../../web/mock.mjs';

const { chromium } = createRequire(new URL('../../web/package.json', import.meta.url))('playwright-core');
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const FLAGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'];
const STEP_S = 0.5;

export async function launch() {
  const profile = mkdtempSync(join(tmpdir(), 'gpumanager-page-'));
  const browser = await chromium.launch({ executablePath: EXECUTABLE, args: FLAGS, env: { ...process.env, HOME: profile } });
  return { browser, close: async () => { await browser.close(); rmSync(profile, { recursive: true, force: true }); } };
}

/** { page, errors }: errors collects console errors, page errors and CSP violations. */
export async function openPage(browser, url, { width = 1280, height = 900, dark = false, scale = 1, hash = '', touch = false, watchFirst = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? 'dark' : 'light', deviceScaleFactor: scale, hasTouch: touch, reducedMotion: 'reduce', acceptDownloads: true });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()); });
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('dialog', (dialog) => { errors.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.addInitScript(() => addEventListener('securitypolicyviolation', (event) => console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`)));
  if (watchFirst) {
    await page.addInitScript(() => {
      const look = () => { if (/\d/.test(document.querySelector('.figure b')?.textContent)) performance.mark('first-numbers'); else requestAnimationFrame(look); };
      requestAnimationFrame(look);
    });
  }
  await page.goto(`${url}${hash}`);
  return { page, errors, close: () => context.close() };
}

/** A mock whose clock the test moves. */
export async function manualMock(options = {}) {
  const mock = await startMock({ isManual: true, ...options });
  mock.now = Date.now() / 1000 - 121;
  mock.machine.time = mock.now;
  /** Sends `count` messages, half a second of the machine apart. */
  mock.play = (count = 1) => { for (let i = 0; i < count; i += 1) mock.tick(mock.now += STEP_S); };
  return mock;
}

/** Resolves once the page has drawn what it received. */
export async function settle(page) {
  await page.evaluate(() => new Promise((done) => { setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 60); }));
}
