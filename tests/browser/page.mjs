// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The page in a real browser against the mock server. node page.mjs [PART OF A NAME]
import { readFileSync } from 'node:fs';
import { launch, manualMock, openPage, settle } from './browser.mjs';
import { assert, run, test } from './tap.mjs';
import { HOSTILE } from '../../web/mock/machine.mjs';

const { browser, close } = await launch();

/** A test with a mock and a page that has played a little; no error may have been reported. */
function onPage(name, options, body) {
  const { mockOptions = {}, mayFail = false, play = 20, ...view } = options;
  test(name, async () => {
    const mock = await manualMock(mockOptions);
    const opened = await openPage(browser, mock.url, view);
    try {
      await opened.page.waitForSelector('main :is(.tile, .cell, .no-gpu, .view-head)');
      mock.play(play);
      await settle(opened.page);
      await body({ ...opened, mock, step: async (count = 1) => { mock.play(count); await settle(opened.page); } });
      if (!mayFail) assert.deepEqual(opened.errors, []);
    } finally {
      await opened.close();
      await mock.stop();
    }
  });
}

const text = (page, selector) => page.locator(selector).first().innerText();
const rowUsers = (page) => page.locator('.processes tbody tr td.user').allInnerTexts();
const noSideways = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

onPage('eight GPUs are eight tiles with figures, and the line at the top counts them', {}, async ({ page }) => {
  assert.equal(await page.locator('.tile').count(), 8);
  assert.match(await text(page, '[data-gpu="0"] .figure'), /^\d+\s*%$/);
  assert.match(await text(page, '[data-gpu="0"] .memory'), /7\d\.\d\s\/ 80\sGiB/);
  assert.match(await text(page, '[data-gpu="0"]'), /\/ 700\sW/);
  assert.match(await text(page, '.sentence'), /8 GPUs · 5 busy · 2 free · 1 held idle/);
  assert.match(await text(page, '[data-gpu="1"]'), /free/);
  assert.match(await text(page, '[data-gpu="4"]'), /held idle/);
  assert.match(await text(page, '.free-line'), /CUDA_VISIBLE_DEVICES=1,6/);
});

onPage('values change in place with each message', {}, async ({ page, step }) => {
  const seen = new Set();
  await page.evaluate(() => { window.tile = document.querySelector('[data-gpu="0"]'); });
  for (let i = 0; i < 12; i += 1) { await step(4); seen.add(await text(page, '[data-gpu="0"] .figure')); }
  assert.ok(seen.size > 2, [...seen].join());
  assert.ok(await page.evaluate(() => window.tile === document.querySelector('[data-gpu="0"]')));
});

onPage('one GPU, sixteen and sixty-four are shown', { mockOptions: { gpus: 1 } }, async ({ page }) => {
  assert.equal(await page.locator('.tile').count(), 1);
  for (const [gpus, selector] of [[16, '.tile'], [64, '.cell']]) {
    const mock = await manualMock({ gpus });
    const other = await openPage(browser, mock.url);
    await other.page.waitForSelector(selector);
    assert.equal(await other.page.locator(selector).count(), gpus);
    await other.close();
    await mock.stop();
  }
});

onPage('a tile opens its GPU: heroes, charts, processes, all values', {}, async ({ page, step }) => {
  await page.locator('[data-gpu="3"] a').first().click();
  await page.waitForSelector('.gpu-view');
  await step(30);
  assert.match(page.url(), /#\/gpu\/GPU-/);
  assert.match(await text(page, '.heroes'), /Utilisation[\s\S]*Temperature[\s\S]*Memory[\s\S]*Power[\s\S]*Clock[\s\S]*Health/);
  assert.match(await text(page, '.tags'), /P0[\s\S]*PCIe 5 ×16[\s\S]*driver 580\.159[\s\S]*nvml[\s\S]*read every 0\.5\ss/);
  const charts = await page.locator('.chart').evaluateAll((all) => all.map((chart) => chart.dataset.chart));
  assert.deepEqual(charts, ['utilization', 'memory', 'temperature', 'power', 'clocks', 'appclocks', 'pcie', 'nvlink', 'efficiency', 'media', 'errors']);
  assert.match(await text(page, '[data-chart=power] .legend'), /board\s+\d+\sW\s+\d+\s+\d+\s+\d+/);
  assert.equal(await page.locator('.processes tbody tr').count(), 4);
  assert.match(await text(page, '.all-values'), /PCI bus ID/);
  await page.goBack();
  await page.waitForSelector('.tile');
});

onPage('a chart draws only what is known: nothing before the first sample, a gap where numbers were missing', { hash: '#/gpu/0', play: 60 }, async ({ page, mock }) => {
  const painted = (from, to) => page.locator('[data-chart=temperature] canvas').evaluate((canvas, [a, b]) => {
    const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let count = 0;
    for (let y = 12; y < canvas.height - 30; y += 1) for (let x = Math.floor(a * canvas.width); x < b * canvas.width; x += 1) {
      const i = 4 * (y * canvas.width + x);
      if (data[i + 3] > 128 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 60) count += 1;
    }
    return count;
  }, [from, to]);
  assert.equal(await painted(0.25, 0.5), 0);
  assert.ok(await painted(0.75, 0.9) > 10);
  mock.now += 30;
  mock.play(20);
  await settle(page);
  assert.equal(await painted(0.69, 0.83), 0);
  assert.ok(await painted(0.5, 0.6) > 10);
});

onPage('drag zooms all charts, the address keeps it, Esc and double click go live', { hash: '#/gpu/0', play: 240 }, async ({ page, step }) => {
  const box = await page.locator('[data-chart=memory] .u-over').boundingBox();
  await page.mouse.move(box.x + 60, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + 160, box.y + 44, { steps: 4 });
  await page.mouse.up();
  assert.match(page.url(), /from=[\d.]+&to=[\d.]+/);
  assert.match(await text(page, '.shown'), /\d\d:\d\d:\d\d – \d\d:\d\d:\d\d/);
  const before = await text(page, '.shown');
  await step(10);
  assert.equal(await text(page, '.shown'), before);
  await page.keyboard.press('Escape');
  assert.doesNotMatch(page.url(), /from=/);
});

onPage('the cursor is common: pointing at one chart reads all of them', { hash: '#/gpu/0', play: 240 }, async ({ page, step }) => {
  const box = await page.locator('[data-chart=utilization] .u-over').boundingBox();
  await page.mouse.move(box.x + 30, box.y + 40);
  await step(1);
  assert.match(await text(page, '[data-chart=power] .legend thead'), /at/);
  assert.match(await text(page, '.shown'), /at \d\d:\d\d:\d\d/);
  await page.mouse.move(2, 2);
  await step(1);
  assert.match(await text(page, '[data-chart=power] .legend thead'), /now/);
});

onPage('pause holds the picture; a second metric is overlaid on a second axis and stays in the address', { hash: '#/gpu/0', play: 100 }, async ({ page, step }) => {
  await page.keyboard.press(' ');
  assert.match(await text(page, '.toolbar'), /▶ live/);
  await page.keyboard.press(' ');
  await page.locator('[data-chart=temperature] select').selectOption('power_draw');
  await step(1);
  assert.match(page.url(), /overlay=temperature%3Apower_draw/);
  assert.match(await text(page, '[data-chart=temperature] .legend'), /Power\s+\d+\sW/);
  assert.equal(await page.locator('[data-chart=temperature] .u-axis').count(), 3);
});

onPage('CSV and PNG of what is shown', { hash: '#/gpu/0', play: 100 }, async ({ page }) => {
  const get = async (name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), page.locator('[data-chart=power]').getByText(name, { exact: true }).click()]);
    return { name: download.suggestedFilename(), data: readFileSync(await download.path()) };
  };
  const csv = await get('CSV');
  assert.match(csv.name, /^gpu-box-3-GPU_0-power-.*\.csv$/);
  const lines = csv.data.toString().trim().split('\r\n');
  assert.equal(lines[0], 'time,GPU 0 power_draw (watts)');
  assert.match(lines[1], /^\d{4}-\d\d-\d\dT[\d:.]+Z,\d+(\.\d+)?$/);
  assert.ok(lines.length > 90);
  assert.equal((await get('PNG')).data.subarray(1, 4).toString(), 'PNG');
});

onPage('processes filter by user and name, sort by column, and the address carries it', {}, async ({ page }) => {
  await page.keyboard.press('/');
  await page.keyboard.type('vllm');
  await settle(page);
  assert.ok((await page.locator('.processes tbody tr').count()) > 0);
  assert.ok((await page.locator('.processes td.name').allInnerTexts()).every((name) => name === 'vllm'));
  assert.match(page.url(), /q=vllm/);
  await page.keyboard.press('Escape');
  await settle(page);
  assert.doesNotMatch(page.url(), /q=/);
  await page.getByRole('button', { name: 'User', exact: false }).first().click();
  await settle(page);
  const users = await rowUsers(page);
  assert.deepEqual(users, [...users].sort());
  assert.match(page.url(), /sort=user/);
  await page.locator('.processes td.user button').first().click();
  await settle(page);
  assert.equal(new Set(await rowUsers(page)).size, 1);
  await page.reload();
  await page.waitForSelector('.processes tbody tr');
  assert.deepEqual([...new Set(await rowUsers(page))], [users[0]]);
});

onPage('an address with a filter that matches nothing says so', { hash: '#/?q=nobody' }, async ({ page }) => {
  assert.match(await text(page, '.processes'), /No process matches/);
});

onPage('hostile names are text: no element, no script, no error', { mockOptions: { scenarios: ['hostile'] } }, async ({ page, step }) => {
  for (const hash of ['#/', '#/gpu/0', '#/charts', '#/gpu/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E', '#/?q=%3Cscript%3E&user=%22%3E', '#/gpu/%E0%A4%A', '#/gpu/0?overlay=__proto__:constructor&sort=__proto__&span=abc&from=x&compare=%3Cb%3E']) {
    await page.evaluate((to) => { location.hash = to; }, hash);
    await step(2);
    assert.equal(await page.locator('main img, main script, main svg, main b > img').count(), 0);
  }
  assert.equal(await page.evaluate(() => window.pwned), undefined);
  await page.evaluate(() => { location.hash = '#/'; });
  await step(1);
  const shown = await page.locator('.processes').innerText();
  assert.ok(shown.includes(HOSTILE[0]));
  assert.doesNotMatch(shown, /\u202e/);
});

onPage('names of sixty characters keep every tile in place', { mockOptions: { scenarios: ['longnames'] } }, async ({ page }) => {
  const heights = await page.locator('.tile').evaluateAll((all) => all.map((tile) => tile.offsetHeight));
  assert.equal(new Set(heights).size, 1);
  assert.ok(await noSideways(page) <= 0);
});

onPage('a GPU that is lost: words on tile, list, tab title and icon; and back', {}, async ({ page, mock, step }) => {
  mock.machine.lose(5);
  await step(2);
  assert.match(await text(page, '[data-gpu="5"]'), /lost[\s\S]*does not answer/);
  assert.match(await text(page, '.wrong'), /GPU 5\s+lost/);
  assert.match(await page.title(), /^⚠ GPU 5 lost · gpu-box-3$/);
  assert.match(await page.locator('link[rel=icon]').getAttribute('href'), /favicon-bad/);
  mock.machine.find(5);
  await step(2);
  assert.equal(await page.locator('.wrong').count(), 0);
  assert.match(await page.title(), /^5\/8 busy/);
});

onPage('throttled says why; values that are old say how old', { mockOptions: { scenarios: ['throttled', 'stale'] } }, async ({ page }) => {
  assert.match(await text(page, '[data-gpu="2"]'), /throttled[\s\S]*thermal slowdown/);
  assert.match(await page.locator('[data-gpu="2"]').getAttribute('class'), /is-warn is-old/);
});

onPage('without a GPU the page says what was tried', { mockOptions: { scenarios: ['none'] } }, async ({ page }) => {
  assert.match(await text(page, '.no-gpu'), /no GPU[\s\S]*libnvidia-ml[\s\S]*nvidia-smi was not found/);
  assert.match(await page.title(), /no GPU/);
});

onPage('simulated GPUs are announced', { mockOptions: { simulated: true } }, async ({ page }) => {
  assert.match(await text(page, '.banner.simulated'), /SIMULATED/);
});

onPage('MIG instances stand under their GPU and open', { mockOptions: { scenarios: ['mig'] } }, async ({ page }) => {
  assert.equal(await page.locator('.tile').count(), 8);
  assert.equal(await page.locator('[data-gpu="0"] .instance').count(), 4);
  await page.locator('[data-gpu="0"] .instance').nth(1).click();
  assert.match(await text(page, '.view-head'), /2g\.20gb/);
});

onPage('a lost connection is said with the age of the numbers, and the page comes back by itself', { mayFail: true }, async ({ page, mock }) => {
  await mock.stop();
  await page.waitForSelector('.banner.lost');
  assert.match(await text(page, '.banner.lost'), /Connection lost\. What you see is from \d\d:\d\d:\d\d/);
  assert.match(await page.title(), /no connection/);
  assert.equal(await page.locator('.tile').count(), 8);
  await page.waitForTimeout(2500);
  await mock.start();
  await page.waitForFunction(() => !document.querySelector('.banner.lost'), null, { timeout: 20000 });
  mock.play(2);
  await settle(page);
  // It may poll for a moment before its next try of the WebSocket.
  await page.waitForFunction(() => /live 0\.5\s*s/.test(document.querySelector('.connection').textContent), null, { timeout: 30000 });
});

onPage('where WebSockets do not get through the page polls', { mayFail: true }, async ({ page, mock }) => {
  mock.refuseSockets = true;
  await mock.stop();
  await mock.start();
  await page.waitForFunction(() => /every 2 s/.test(document.querySelector('.connection').textContent), null, { timeout: 20000 });
  const before = await text(page, '[data-gpu="0"]');
  for (let i = 0; i < 8; i += 1) mock.machine.step(mock.now += 5);
  await page.waitForFunction((old) => document.querySelector('[data-gpu="0"]').innerText !== old, before, { timeout: 8000 });
});

onPage('keyboard: g and a number, [ and ], ?, Esc, t', {}, async ({ page }) => {
  await page.keyboard.press('g');
  await page.keyboard.press('3');
  await page.waitForSelector('.gpu-view[data-gpu="3"]');
  await page.keyboard.press(']');
  await page.waitForSelector('.gpu-view[data-gpu="4"]');
  await page.keyboard.press('Escape');
  await page.waitForSelector('.tile');
  await page.keyboard.press('?');
  assert.ok(await page.locator('dialog').evaluate((dialog) => dialog.open));
  await page.keyboard.press('Escape');
  assert.ok(!(await page.locator('dialog').evaluate((dialog) => dialog.open)));
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  assert.equal(await theme(), 'light');
  await page.keyboard.press('t');
  assert.equal(await theme(), 'dark');
  await page.reload();
  await page.waitForSelector('.tile');
  assert.equal(await theme(), 'dark');
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await page.waitForSelector('[data-chart=net]');
});

for (const width of [320, 360, 480, 768, 1280, 3840]) {
  onPage(`nothing is wider than ${width} pixels`, { width, height: 800, mockOptions: { scenarios: ['longnames', 'mig', 'throttled'] } }, async ({ page, step }) => {
    for (const hash of ['#/', '#/gpu/1', '#/charts', '#/host']) {
      await page.evaluate((to) => { location.hash = to; }, hash);
      await step(2);
      assert.ok(await noSideways(page) <= 0, hash);
    }
  });
}

onPage('every control has a name, headings and landmarks are there', { hash: '#/gpu/0' }, async ({ page }) => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, a, select, input, [role=img]')].filter((element) => !(element.getAttribute('aria-label') || element.textContent.trim() || element.title)).map((element) => element.outerHTML.slice(0, 90)));
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator('h1').count(), 1);
  assert.equal(await page.locator('main').count(), 1);
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'en');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
});

for (const dark of [false, true]) {
  onPage(`text has contrast AA in the ${dark ? 'dark' : 'light'} theme`, { dark, mockOptions: { scenarios: ['throttled', 'lost', 'trouble'] } }, async ({ page, step }) => {
    for (const hash of ['#/', '#/gpu/2']) {
      await page.evaluate((to) => { location.hash = to; }, hash);
      await step(3);
      assert.deepEqual(await page.evaluate(lowContrast), [], hash);
    }
  });
}

/** Runs in the page: texts under 4.5:1, except what is greyed because it is old. */
function lowContrast() {
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); return [...pen.getImageData(0, 0, 1, 1).data]; };
  const light = (c) => [0.2126, 0.7152, 0.0722].reduce((sum, w, i) => { const v = c[i] / 255; return sum + w * (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); }, 0);
  const ground = (element) => { for (let e = element; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
  const bad = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest('.is-old, option, .unseen, dialog')) continue;
    const [a, b] = [light(rgba(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.add(`${ratio.toFixed(2)} ${element.className} ${walker.currentNode.textContent.slice(0, 20)}`);
  }
  return [...bad];
}

onPage('works under a sub-path', { mockOptions: { base: '/gpu/box-3/' } }, async ({ page, step }) => {
  await step(2);
  assert.equal(await page.locator('.tile').count(), 8);
});

await run();
await close();
