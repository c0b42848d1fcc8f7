// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The tab's title and icon tell trouble from afar.
import { effect } from '@preact/signals';
import { connection } from '../data/connection.js';
import { hello, wholeGpus, trouble, hasData } from '../data/store.js';
import { unwell, summary } from '../data/judge.js';

export function startTab() {
  const icon = document.querySelector('link[rel=icon]');
  let shown = '';
  effect(() => {
    const name = hello.value?.server_name || 'gpumanager';
    const level = levelNow();
    const title = titleOf(name);
    if (document.title !== title) document.title = title;
    if (level === shown) return;
    shown = level;
    icon.href = level === 'ok' ? 'favicon.svg' : `favicon-${level}.svg`;
  });
}

function levelNow() {
  if (['lost', 'signin'].includes(connection.value.state)) return 'bad';
  const list = unwell();
  if (list.some(({ health }) => health.level === 'bad')) return 'bad';
  return list.length || trouble.value.length ? 'warn' : 'ok';
}

function titleOf(name) {
  if (connection.value.state === 'lost') return `⚠ no connection · ${name}`;
  if (!hasData.value) return name;
  const { total, busy } = summary();
  const list = unwell();
  if (!list.length) return total ? `${busy}/${total} busy · ${name}` : `no GPU · ${name}`;
  const { gpu, health } = list[0];
  const more = list.length > 1 ? ` +${list.length - 1}` : '';
  const index = wholeGpus.value.length > 1 ? ` ${gpu.index}` : '';
  return `⚠ GPU${index} ${health.word}${more} · ${name}`;
}
