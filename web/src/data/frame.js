// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// One batch of DOM work per animation frame: whoever changes something calls `later` or
// `requestFrame`; nothing is drawn in hidden tabs or while the page is being scrolled.
import { batch } from '@preact/signals';

const SCROLL_QUIET_MS = 100;
const pending = new Map();
const painters = new Set();
let isRequested = false;
let lastScroll = -Infinity;

addEventListener('scroll', () => { lastScroll = performance.now(); }, { passive: true, capture: true });

/** The signal takes the value with the next frame; the newest one wins. */
export function later(cell, value) {
  pending.set(cell, value);
  requestFrame();
}

/** Calls `paint` in each frame, until the returned function is called. */
export function onFrame(paint) {
  painters.add(paint);
  return () => painters.delete(paint);
}

export function requestFrame() {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(frame);
}

function frame() {
  if (performance.now() - lastScroll < SCROLL_QUIET_MS) {
    requestAnimationFrame(frame);
    return;
  }
  isRequested = false;
  batch(() => {
    for (const [cell, value] of pending) cell.value = value;
    pending.clear();
  });
  for (const paint of painters) paint();
}
