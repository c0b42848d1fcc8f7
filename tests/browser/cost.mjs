// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// What the page costs, printed: main thread and heap with 16 GPUs, charts visible, 2 updates a second.
import { startMock } from '../../web/mock.mjs';
import { launch, openPage } from './browser.mjs';
import { diag, run, test } from './tap.mjs';

const SECONDS = Number(process.env.COST_SECONDS ?? 15);
const { browser, close } = await launch();

for (const [name, hash] of [['overview', '#/'], ['one GPU', '#/gpu/0'], ['charts of all GPUs', '#/charts']]) {
  test(`cost of 16 GPUs at 2/s, ${name}`, async () => {
    const mock = await startMock({ gpus: 16 });
    const { page, close: closePage } = await openPage(browser, mock.url, { width: 1600, height: 1400, hash, watchFirst: true });
    await page.waitForSelector('main :is(.tile, .chart)');
    const first = await page.evaluate(() => performance.getEntriesByName('first-numbers')[0]?.startTime - performance.getEntriesByType('navigation')[0].responseEnd);
    if (Number.isFinite(first)) diag(`first numbers ${first.toFixed(0)} ms after the HTML`);
    await page.waitForTimeout(2000);
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable');
    const read = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return Object.fromEntries((await session.send('Performance.getMetrics')).metrics.map((m) => [m.name, m.value]));
    };
    const before = await read();
    await page.waitForTimeout(SECONDS * 1000);
    const after = await read();
    const passed = after.Timestamp - before.Timestamp;
    diag(`main thread ${(100 * (after.TaskDuration - before.TaskDuration) / passed).toFixed(1)} % of a core; script ${(100 * (after.ScriptDuration - before.ScriptDuration) / passed).toFixed(1)} %`);
    diag(`heap ${(before.JSHeapUsedSize / 1e6).toFixed(1)} MB, after ${passed.toFixed(0)} s ${(after.JSHeapUsedSize / 1e6).toFixed(1)} MB; nodes ${before.Nodes} -> ${after.Nodes}; last message ${mock.bytes} bytes`);
    await closePage();
    await mock.stop();
  });
}

await run();
await close();
