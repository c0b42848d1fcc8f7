// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Which stretch of time all charts show: the newest `span` seconds, or a fixed window.
import { param, setParams } from './route.js';
import { timeline } from '../data/timeline.js';

export const SPANS = [[60, '1 min'], [120, '2 min'], [300, '5 min'], [900, '15 min']];
export const SPAN_DEFAULT = 120;

export function span() {
  const value = Number(param('span', SPAN_DEFAULT));
  return value >= 10 && value <= 31536000 ? value : SPAN_DEFAULT;
}

/** { from, to, isFixed } in seconds since 1970. */
export function timeWindow() {
  const from = Number(param('from'));
  const to = Number(param('to'));
  if (from > 0 && to > from) return { from, to, isFixed: true };
  const end = Number.isFinite(timeline.lastTime) ? timeline.lastTime : Date.now() / 1000;
  return { from: end - span(), to: end, isFixed: false };
}

export function zoomTo(from, to) {
  setParams({ from: from.toFixed(2), to: to.toFixed(2) });
}

export function goLive() {
  setParams({ from: '', to: '' });
}

export function togglePause() {
  const { from, to, isFixed } = timeWindow();
  if (isFixed) goLive();
  else zoomTo(from, to);
}
