// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Writes the page to a folder (default web/dist): same input, same bytes. Fails over the budget.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const BUDGET_BYTES = 60 * 1024;
const here = dirname(fileURLToPath(import.meta.url));
const ICON_COLOURS = { '': '#2f6fd0', '-warn': '#c27c0e', '-bad': '#d13438' };

function icon(colour, isTrouble) {
  const mark = isTrouble ? '<path d="M8 3.5v5M8 11v1.5" stroke="#fff" stroke-width="2"/>' : '<path d="M4 12V9M8 12V4M12 12V7" stroke="#fff" stroke-width="2"/>';
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="${colour}"/>${mark}</svg>\n`;
}

/** Takes the one way to build elements from text out of preact: nobody here can use it by mistake. */
const withoutHtml = {
  name: 'without-html',
  setup(esbuild) {
    esbuild.onLoad({ filter: /preact[\\/]dist[\\/]preact\.m?js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll('.innerHTML', '.textContent'),
    }));
  },
};

export async function buildPage(folder = join(here, 'dist')) {
  const result = await build({
    absWorkingDir: here,
    entryPoints: { app: 'src/main.jsx' },
    outdir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: ['es2022', 'chrome123', 'firefox120', 'safari17.5'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    plugins: [withoutHtml],
    legalComments: 'eof',
    logLevel: 'warning',
  });
  const files = new Map(result.outputFiles.map((file) => [file.path.split(/[\\/]/).at(-1), file.contents]));
  files.set('index.html', readFileSync(join(here, 'src/index.html')));
  for (const [suffix, colour] of Object.entries(ICON_COLOURS)) files.set(`favicon${suffix}.svg`, Buffer.from(icon(colour, suffix !== '')));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  let total = 0;
  const sizes = [];
  for (const [name, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    writeFileSync(join(folder, name), bytes);
    const packed = gzipSync(bytes, { level: 9 }).length;
    total += packed;
    sizes.push({ name, bytes: bytes.length, packed });
  }
  return { sizes, total };
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  const { sizes, total } = await buildPage(process.argv[2] && resolve(process.argv[2]));
  for (const { name, bytes, packed } of sizes) console.log(`${name.padEnd(18)} ${String(bytes).padStart(7)} ${String(packed).padStart(6)} gzip`);
  console.log(`${'total'.padEnd(18)} ${' '.repeat(7)} ${String(total).padStart(6)} gzip, budget ${BUDGET_BYTES}`);
  if (total > BUDGET_BYTES) {
    console.error('The page is over its budget.');
    process.exit(1);
  }
}
