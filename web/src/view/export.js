// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// What is shown, as a file: CSV of the visible rows, PNG of one chart.
import { colour } from '../state/theme.js';
import { timeline } from '../data/timeline.js';
import { timeWindow } from '../state/span.js';

function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, '_').slice(0, 100);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function stamp() {
  return new Date().toISOString().slice(0, 19).replace(/:/g, '');
}

/** A cell that no spreadsheet takes for a formula. */
function cell(text) {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

/** lines: [{ owner, ownerLabel, series }]; base units, empty where nothing is known. */
export function saveCsv(name, lines) {
  const { from, to } = timeWindow();
  const [first, end] = timeline.range(from, to);
  const head = ['time', ...lines.map((line) => `${line.ownerLabel} ${line.series.id} (${line.series.unit})`)];
  const columns = lines.map((line) => timeline.slice(line.owner, line.series.id, first, end));
  const rows = [head.map(cell).join(',')];
  for (let i = 0; i < end - first; i += 1) {
    const time = timeline.time[first + i];
    if (time < from || time > to) continue;
    const values = columns.map((column) => (column && !Number.isNaN(column[i]) ? String(Number(column[i].toPrecision(7))) : ''));
    rows.push([new Date(time * 1000).toISOString(), ...values].join(','));
  }
  save(new Blob([`${rows.join('\r\n')}\r\n`], { type: 'text/csv' }), `${name}-${stamp()}.csv`);
}

export function savePng(name, chart, title, lines) {
  const plot = chart.canvas;
  const scale = devicePixelRatio || 1;
  const head = 26 * scale;
  const canvas = document.createElement('canvas');
  canvas.width = plot.width;
  canvas.height = plot.height + head;
  const pen = canvas.getContext('2d');
  pen.fillStyle = colour('surface');
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(plot, 0, head);
  pen.font = `600 ${13 * scale}px system-ui, sans-serif`;
  pen.fillStyle = colour('text');
  pen.textBaseline = 'middle';
  pen.fillText(title, 8 * scale, head / 2);
  let x = 20 * scale + pen.measureText(title).width;
  pen.font = `${12 * scale}px system-ui, sans-serif`;
  for (const line of lines) {
    pen.fillStyle = colour(line.colour);
    pen.fillRect(x, head / 2 - 4 * scale, 8 * scale, 8 * scale);
    pen.fillStyle = colour('text-dim');
    pen.fillText(line.label, x + 12 * scale, head / 2);
    x += 26 * scale + pen.measureText(line.label).width;
  }
  canvas.toBlob((blob) => save(blob, `${name}-${stamp()}.png`));
}
