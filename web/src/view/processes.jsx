// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The process table: of the machine, or of one GPU. Filter and order live in the address.
import { useComputed } from '@preact/signals';
import { processes, gpus, hello } from '../data/store.js';
import { serverNow } from '../data/connection.js';
import { param, setParams, linkTo } from '../state/route.js';
import { clock } from './parts.jsx';
import { show, duration, clip, DASH } from '../words/format.js';

const ROWS_MOST = 200;
const SORT_DEFAULT = '-memory';

const COLUMNS = [
  { id: 'user', title: 'User', of: (p) => p.user },
  { id: 'pid', title: 'PID', of: (p) => p.pid, isNumber: true, class: 'wide' },
  { id: 'name', title: 'Name', of: (p) => p.name },
  { id: 'gpu', title: 'GPU', of: (p) => p.position, isNumber: true },
  { id: 'memory', title: 'Memory', of: (p) => p.memory, isNumber: true },
  { id: 'busy', title: 'SM', of: (p) => p.sm, isNumber: true },
  { id: 'media', title: 'Enc · dec', of: (p) => Math.max(p.encoder ?? -1, p.decoder ?? -1), isNumber: true, class: 'wider' },
  { id: 'cpu', title: 'CPU', of: (p) => p.cpu, isNumber: true, class: 'wide' },
  { id: 'host', title: 'RAM', of: (p) => p.host_memory, isNumber: true, class: 'wide' },
  { id: 'since', title: 'Since', of: (p) => (p.started ? -p.started : null), isNumber: true },
  { id: 'command', title: 'Command', of: (p) => p.command, class: 'wider' },
];

function compare(a, b) {
  if (a == null || b == null) return (a == null) - (b == null); // unknown last, in both orders
  return typeof a === 'string' ? a.localeCompare(b) : a - b;
}

/** Every word must occur in user, name, command or pid. */
function matcher(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return (p) => {
    if (!words.length) return true;
    const hay = `${p.user ?? ''} ${p.name ?? ''} ${p.command ?? ''} ${p.pid}`.toLowerCase();
    return words.every((word) => hay.includes(word));
  };
}

function visible(owners) {
  const sort = param('sort', SORT_DEFAULT);
  const column = COLUMNS.find((c) => c.id === sort.replace('-', '')) ?? COLUMNS[4];
  const sign = sort.startsWith('-') ? -1 : 1;
  const position = new Map(gpus.value.map((gpu, i) => [gpu.uuid, i]));
  const user = param('user');
  const matches = matcher(param('q'));
  return processes.value
    .filter((p) => (!owners || owners.includes(p.gpu)) && (!user || p.user === user) && matches(p))
    .map((p) => ({ ...p, position: position.get(p.gpu) ?? null }))
    .sort((a, b) => {
      const [x, y] = [column.of(a), column.of(b)];
      const order = x == null || y == null ? compare(x, y) : sign * compare(x, y);
      return order || a.pid - b.pid;
    });
}

function Head({ column }) {
  const sort = param('sort', SORT_DEFAULT);
  const isActive = sort.replace('-', '') === column.id;
  const isDown = sort.startsWith('-');
  const next = isActive ? `${isDown ? '' : '-'}${column.id}` : `${column.isNumber && column.id !== 'gpu' ? '-' : ''}${column.id}`;
  const arrow = <span aria-hidden="true" class="arrow">{isActive ? (isDown ? '↓' : '↑') : ''}</span>;
  return (
    <th class={`${column.class ?? ''} ${column.isNumber ? 'right' : ''}`} scope="col" aria-sort={isActive ? (isDown ? 'descending' : 'ascending') : 'none'}>
      <button type="button" onClick={() => setParams({ sort: next === SORT_DEFAULT ? '' : next })}>{column.isNumber && arrow}{column.title}{!column.isNumber && arrow}</button>
    </th>
  );
}

function gpuLabel(gpu) {
  if (!gpu) return DASH;
  return gpu.isInstance ? `${gpu.index} ${gpu.name.replace(/^.*MIG /, '')}` : String(gpu.index);
}

function Row({ p }) {
  const gpu = gpus.value[p.position];
  const media = p.encoder == null && p.decoder == null ? DASH : `${show('ratio', p.encoder)} · ${show('ratio', p.decoder)}`;
  const hidden = hello.value?.hides_commands ? 'Hidden from this role' : 'The host does not tell';
  return (
    <tr>
      <td class="user"><button type="button" class="plain clip" title={`Only ${p.user ?? 'unknown'}`} onClick={() => setParams({ user: param('user') ? '' : p.user })}>{clip(p.user ?? DASH, 24)}</button></td>
      <td class="num right wide">{p.pid}</td>
      <td class="name"><span class="clip" title={`${p.name ?? ''} · ${(p.kinds ?? []).join(', ')}`}>{clip(p.name || DASH)}</span></td>
      <td class="num right">{gpu ? <a href={linkTo('gpu', gpu.uuid)}>{clip(gpuLabel(gpu), 14)}</a> : DASH}</td>
      <td class="num right">{show('bytes', p.memory)}</td>
      <td class="num right">{show('ratio', p.sm)}</td>
      <td class="num right wider">{media}</td>
      <td class="num right wide">{show('ratio', p.cpu)}</td>
      <td class="num right wide">{show('bytes', p.host_memory)}</td>
      <td class="num right" title={p.started ? new Date(p.started * 1000).toLocaleString() : 'Start time unknown'}>{p.started ? duration(serverNow() - p.started) : DASH}</td>
      <td class="command wider"><span class="clip" title={p.command ?? hidden}>{p.command ? clip(p.command, 400) : DASH}</span></td>
    </tr>
  );
}

export function Processes({ owners }) {
  clock.value;
  const list = useComputed(() => visible(owners)).value;
  const user = param('user');
  const isFiltered = user || param('q');
  return (
    <section class="processes" aria-label="Processes">
      <header class="section-head">
        <h2>Processes <span class="num dim">{list.length}</span></h2>
        <input type="search" aria-label="Filter processes by user, name or PID" placeholder="filter by user, name, PID   /" value={param('q')} onInput={(event) => setParams({ q: event.currentTarget.value })} />
        {user && <button type="button" class="chip" onClick={() => setParams({ user: '' })}>user {clip(user, 24)} ×</button>}
      </header>
      {list.length === 0 ? <p class="dim">{isFiltered ? 'No process matches the filter.' : 'No active GPU processes.'}</p> : (
        <div class="table-frame">
          <table>
            <thead><tr>{COLUMNS.map((column) => <Head key={column.id} column={column} />)}</tr></thead>
            <tbody>{list.slice(0, ROWS_MOST).map((p) => <Row key={`${p.gpu} ${p.pid}`} p={p} />)}</tbody>
          </table>
        </div>
      )}
      {list.length > ROWS_MOST && <p class="dim">{list.length - ROWS_MOST} more: filter to see them.</p>}
    </section>
  );
}
