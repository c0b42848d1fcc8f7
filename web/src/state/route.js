// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The address is the state: #/gpu/UUID?span=300&overlay=power:temperature … A view can be sent.
import { signal } from '@preact/signals';

/** { view: overview | gpu | host | charts, gpu, params: URLSearchParams } */
export const route = signal(parse());

function parse() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  const [view = '', ...rest] = path.split('/');
  const known = ['gpu', 'host', 'charts'].includes(view) ? view : 'overview';
  let gpu = rest.join('/');
  try {
    gpu = decodeURIComponent(gpu);
  } catch { /* not ours: taken as it is */ }
  return { view: known, gpu, params: new URLSearchParams(query) };
}

function format({ view, gpu, params }) {
  const path = view === 'overview' ? '' : view === 'gpu' ? `gpu/${encodeURIComponent(gpu)}` : view;
  const query = params.toString();
  return `#/${path}${query ? `?${query}` : ''}`;
}

/** The address of a view; span and filter go along, what belongs to one chart does not. */
export function linkTo(view, gpu = '') {
  const params = new URLSearchParams();
  for (const name of ['span', 'q', 'user', 'sort']) {
    const value = route.value.params.get(name);
    if (value) params.set(name, value);
  }
  return format({ view, gpu, params });
}

export function go(view, gpu = '') {
  location.hash = linkTo(view, gpu);
}

export function param(name, fallback = '') {
  return route.value.params.get(name) ?? fallback;
}

/** Changes the address without a new entry in the history; an empty value leaves it out. */
export function setParams(changes) {
  const params = new URLSearchParams(route.value.params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === '' || value == null) params.delete(name);
    else params.set(name, value);
  }
  route.value = { ...route.value, params };
  history.replaceState(null, '', format(route.value));
}

addEventListener('hashchange', () => {
  const next = parse();
  const moved = next.view !== route.value.view || next.gpu !== route.value.gpu;
  route.value = next;
  if (moved) scrollTo(0, 0);
});
