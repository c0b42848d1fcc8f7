// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Base units to what people read. Every function accepts null and NaN: a dash.
export const DASH = '–';
const NBSP = '\u00a0';
const GIB = 2 ** 30;

function isUnknown(value) {
  return value == null || !Number.isFinite(Number(value));
}

function scaled(value, steps) {
  for (const [size, name, digits, unit = size] of steps) {
    if (size && Math.abs(value) >= size) return [(value / unit).toFixed(digits ?? 1), name];
  }
  return [value.toFixed(0), steps.at(-1)[1]];
}

function rate(value) {
  return scaled(value, [[1e11, 'GB/s', 0, 1e9], [1e9, 'GB/s'], [1e8, 'MB/s', 0, 1e6], [1e6, 'MB/s'], [1e3, 'kB/s', 0], [0, 'B/s', 0]]);
}

function bytes(value) {
  if (value >= 1024 * GIB) return [(value / 1024 / GIB).toFixed(2), 'TiB'];
  if (value >= 100 * GIB) return [(value / GIB).toFixed(0), 'GiB'];
  if (value >= GIB) return [(value / GIB).toFixed(1), 'GiB'];
  if (value >= 2 ** 20 || value === 0) return [(value / 2 ** 20).toFixed(0), 'MiB'];
  return [(value / 1024).toFixed(0), 'KiB'];
}

const SPLITTERS = {
  ratio: (v) => [(v * 100).toFixed(0), '%'],
  ratio_per_watt: (v) => [(v * 100).toFixed(2), '%/W'],
  bytes,
  bytes_per_s: rate,
  watts: (v) => (v >= 10000 ? [(v / 1000).toFixed(1), 'kW'] : [v.toFixed(0), 'W']),
  joules: (v) => (v >= 3.6e6 ? [(v / 3.6e6).toFixed(2), 'kWh'] : [(v / 3600).toFixed(0), 'Wh']),
  hertz: (v) => [(v / 1e6).toFixed(0), 'MHz'],
  celsius: (v) => [v.toFixed(0), '°C'],
  per_s: (v) => [v < 10 ? v.toFixed(1) : v.toFixed(0), '/s'],
  number: (v) => [v.toFixed(2), ''],
  count: (v) => [Number.isInteger(v) ? String(v) : v.toFixed(1), ''],
  state: (v) => [String(v), ''],
};

/** [number, unit] as text. */
export function split(unit, value) {
  if (isUnknown(value)) return [DASH, ''];
  if (unit === 'seconds') return [seconds(value), ''];
  return (SPLITTERS[unit] ?? SPLITTERS.count)(Number(value));
}

export function show(unit, value) {
  const [number, name] = split(unit, value);
  return name ? `${number}${NBSP}${name}` : number;
}

/** "71.2 / 80 GiB": the part in the unit of the whole. */
export function showOf(unit, part, whole) {
  if (isUnknown(whole) || !whole) return show(unit, part);
  if (unit === 'bytes') {
    const size = whole >= GIB ? GIB : 2 ** 20;
    const digits = size === GIB && whole < 300 * GIB ? 1 : 0;
    const text = isUnknown(part) ? DASH : (part / size).toFixed(digits);
    return `${text}${NBSP}/ ${(whole / size).toFixed(whole >= 10 * size ? 0 : 1)}${NBSP}${size === GIB ? 'GiB' : 'MiB'}`;
  }
  const [number] = split(unit, part);
  return `${number}${NBSP}/ ${show(unit, whole)}`;
}

function seconds(value) {
  if (value === 0) return `0${NBSP}s`;
  if (value < 0.1) return `${(value * 1000).toFixed(value < 0.01 ? 2 : 0)}${NBSP}ms`;
  if (value < 60 && !Number.isInteger(value)) return `${value.toFixed(1)}${NBSP}s`;
  return duration(value);
}

export function duration(value) {
  if (isUnknown(value)) return DASH;
  const s = Math.max(0, Math.floor(value));
  if (s < 60) return `${s}${NBSP}s`;
  if (s < 3600) return `${Math.floor(s / 60)}${NBSP}min`;
  if (s < 86400) return `${Math.floor(s / 3600)}${NBSP}h${NBSP}${Math.floor((s % 3600) / 60)}${NBSP}min`;
  return `${Math.floor(s / 86400)}${NBSP}d${NBSP}${Math.floor((s % 86400) / 3600)}${NBSP}h`;
}

export function power(watts) {
  return watts >= 1000 ? `${(watts / 1000).toFixed(1)}${NBSP}kW` : show('watts', watts);
}

export function clockTime(time) {
  return new Date(time * 1000).toLocaleTimeString([], { hour12: false });
}

/** "NVIDIA H100 80GB HBM3" is "H100 80GB HBM3" where room is short. */
export function shortName(name) {
  return name.replace(/^(NVIDIA|AMD|Intel(\(R\))?)\s+/i, '').replace(/^GeForce\s+/, '');
}

// Characters that would hide, reverse or break a line: a name shows them instead of obeying.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A name from outside, fit for a line; the whole stands in the title. */
export function clip(text, length = 80) {
  const points = [...String(text ?? '').slice(0, 4 * length).replace(CONTROLS, '\ufffd')];
  return points.length > length ? `${points.slice(0, length - 1).join('')}…` : points.join('');
}
