// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Keys, listed once: the help dialog shows the same table.
import { signal } from '@preact/signals';
import { go, route, setParams, param } from './route.js';
import { togglePause, goLive, timeWindow } from './span.js';
import { toggleTheme } from './theme.js';
import { findGpu, wholeGpus } from '../data/store.js';

const DIGITS_WAIT_MS = 700;

export const isHelpOpen = signal(false);
/** What was typed after `g`, while more may come; null otherwise. */
export const typedNumber = signal(null);
let digitsTimer = 0;

export const KEYS = [
  ['/', 'search or filter what is on the page'],
  ['g then a number', 'go to that GPU'],
  ['g o · g h · g c', 'overview · host · all GPUs in one chart'],
  ['[ · ]', 'previous · next GPU'],
  ['space', 'pause and go on'],
  ['t', 'light or dark'],
  ['Esc', 'close, leave the zoom, go back'],
  ['?', 'this help'],
];

const ACTIONS = {
  '/': focusSearch,
  '?': () => { isHelpOpen.value = true; },
  g: () => startNumber(),
  t: toggleTheme,
  ' ': togglePause,
  '[': () => step(-1),
  ']': () => step(1),
  Escape: escape,
};

export function startKeyboard() {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isHelpOpen.value) return;
    const target = event.target;
    if (target.matches?.('input, select, textarea')) {
      if (event.key === 'Escape') leaveField(target);
      return;
    }
    if (event.key === ' ' && target.matches?.('button, a, summary')) return;
    const handled = typedNumber.value != null && afterG(event.key);
    if (!handled && !ACTIONS[event.key]) return;
    event.preventDefault();
    if (!handled) ACTIONS[event.key]();
  });
}

function leaveField(field) {
  if (field.type === 'search' && field.value) {
    field.value = '';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    return;
  }
  field.blur();
}

function focusSearch() {
  document.querySelector('input[type=search]')?.focus();
}

function startNumber() {
  typedNumber.value = '';
  waitForMore();
}

function waitForMore() {
  clearTimeout(digitsTimer);
  digitsTimer = setTimeout(finishNumber, typedNumber.value === '' ? 3 * DIGITS_WAIT_MS : DIGITS_WAIT_MS);
}

function finishNumber() {
  clearTimeout(digitsTimer);
  const gpu = typedNumber.value ? findGpu(String(Number(typedNumber.value))) : null;
  typedNumber.value = null;
  if (gpu) go('gpu', gpu.uuid);
}

function afterG(key) {
  const views = { o: 'overview', h: 'host', c: 'charts' };
  if (/^\d$/.test(key)) {
    typedNumber.value += key;
    const more = wholeGpus.value.some((gpu) => String(gpu.index) !== typedNumber.value
      && String(gpu.index).startsWith(typedNumber.value));
    if (more) waitForMore();
    else finishNumber();
    return true;
  }
  const typed = typedNumber.value;
  if (key === 'Enter' || key === 'Escape') {
    if (key === 'Escape') typedNumber.value = null;
    finishNumber();
    return true;
  }
  typedNumber.value = null;
  if (typed === '' && views[key]) {
    go(views[key]);
    return true;
  }
  return false;
}

function step(by) {
  const list = wholeGpus.value;
  if (!list.length) return;
  const at = list.findIndex((gpu) => gpu.uuid === route.value.gpu);
  const next = at < 0 ? list[by > 0 ? 0 : list.length - 1] : list[(at + by + list.length) % list.length];
  go('gpu', next.uuid);
}

function escape() {
  if (timeWindow().isFixed) return goLive();
  if (param('focus')) return setParams({ focus: '' });
  if (route.value.view !== 'overview') go('overview');
}
