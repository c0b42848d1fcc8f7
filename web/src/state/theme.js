// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Light and dark: the system's choice until a person chooses. Canvas colours follow.
import { signal } from '@preact/signals';

const KEY = 'gpumanager.theme';
const system = matchMedia('(prefers-color-scheme: dark)');
let chosen = read();

/** Grows when the colours change. */
export const themeVersion = signal(0);

function read() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

export function isDark() {
  return chosen ? chosen === 'dark' : system.matches;
}

function apply() {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  colours.clear();
  themeVersion.value += 1;
}

export function toggleTheme() {
  chosen = isDark() ? 'light' : 'dark';
  if ((chosen === 'dark') === system.matches) chosen = null; // as the system: follow it again
  try {
    if (chosen) localStorage.setItem(KEY, chosen);
    else localStorage.removeItem(KEY);
  } catch { /* no storage: for this visit only */ }
  apply();
}

const colours = new Map();
const probe = document.createElement('i');
probe.hidden = true;

/** What a role of style/roles.css is right now, for canvas. */
export function colour(role) {
  let value = colours.get(role);
  if (!value) {
    probe.style.color = `var(--${role})`;
    colours.set(role, (value = getComputedStyle(probe).color));
  }
  return value;
}

export function startTheme() {
  document.body.append(probe);
  system.addEventListener('change', apply);
  apply();
}
