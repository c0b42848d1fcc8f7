// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The registry as the server will tell it, read from the one table of the program.
import { readFileSync } from 'node:fs';

const table = readFileSync(new URL('../../src/model/metrics.def', import.meta.url), 'utf8').split('/* clang-format off */')[1];

function rows(macro, pattern) {
  return [...table.matchAll(new RegExp(`^${macro}\\(${pattern}\\)$`, 'gm'))];
}

const WORD = '\\s*([A-Z_0-9a-z.]+),';
const TEXT = '\\s*"((?:[^"\\\\]|\\\\.)*)"';

export const metrics = rows('METRIC', `${WORD}${TEXT},${WORD}${WORD}${WORD}${WORD}${WORD}${TEXT},${TEXT}`)
  .map(([, , key, unit, kind, pace, decimals, , , help]) => ({ key, unit: unit.toLowerCase(), kind: kind.toLowerCase(), pace: pace.toLowerCase(), decimals: Number(decimals), help }));

export const texts = [
  ...rows('GPU_TEXT', `${WORD}${TEXT},${TEXT},${TEXT}`).map(([, , key, , help]) => ({ key, help })),
  { key: 'driver_version', help: 'Version of the driver' },
  { key: 'cuda_version', help: 'Highest CUDA version of the driver' },
];

export const linkMetrics = rows('LINK_METRIC', `${WORD}${TEXT},${WORD}${WORD}${WORD}${TEXT}`)
  .map(([, , key, unit, kind, , help]) => ({ key, unit: unit.toLowerCase(), kind: kind.toLowerCase(), help }));
