// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The machine around the GPUs: a strip on the overview, six charts on its own view.
import { useComputed } from '@preact/signals';
import { Spark, clock } from './parts.jsx';
import { system } from '../data/store.js';
import { timeline, HOST } from '../data/timeline.js';
import { seriesOf } from '../data/series.js';
import { ChartGrid } from './charts.jsx';
import { linkTo } from '../state/route.js';
import { show, showOf, split } from '../words/format.js';

const CELLS = [
  { title: 'CPU', spark: 'cpu', top: 1, text: () => show('ratio', system.get('cpu').value) },
  { title: 'Memory', spark: 'memory_used', whole: 'memory_total', text: () => showOf('bytes', system.get('memory_used').value, system.get('memory_total').value) },
  { title: 'Swap', spark: 'swap_used', whole: 'swap_total', text: () => (system.get('swap_total').value === 0 ? 'none' : showOf('bytes', system.get('swap_used').value, system.get('swap_total').value)) },
  { title: 'Net', spark: 'net_rx', text: () => rates('net_rx', 'net_tx', '↓', '↑') },
  { title: 'Disk', spark: 'disk_read', text: () => rates('disk_read', 'disk_write', 'r', 'w') },
  { title: 'Load', spark: 'load1', text: () => ['load1', 'load5', 'load15'].map((key) => show('number', system.get(key).value)).join('  ') },
];

function newest(id) {
  const values = timeline.slice(HOST, id, timeline.end - 1, timeline.end);
  return values?.length ? values[0] : null;
}

function rates(one, other, markOne, markOther) {
  clock.value;
  system.get(one).value;
  const unit = seriesOf(true, one).unit;
  const [a, signA] = split(unit, newest(one));
  const [b, signB] = split(unit, newest(other));
  return signA === signB ? `${markOne} ${a} ${markOther} ${b} ${signB}` : `${markOne} ${a} ${signA}  ${markOther} ${b} ${signB}`;
}

function HostCell({ cell }) {
  const text = useComputed(cell.text);
  const top = cell.whole ? system.get(cell.whole).value : cell.top;
  return <div class="host-cell"><span class="dim">{cell.title}</span><span class="num">{text}</span><Spark owner={HOST} id={cell.spark} top={top || undefined} label={`${cell.title}, last two minutes`} /></div>;
}

export function HostStrip() {
  return (
    <section aria-label="Host" class="host">
      <h2 class="unseen">Host</h2>
      <a class="host-strip" href={linkTo('host')} title="Charts of the host">{CELLS.map((cell) => <HostCell key={cell.title} cell={cell} />)}</a>
    </section>
  );
}

export function HostView() {
  return (
    <section aria-label="Host">
      <header class="view-head"><a class="back" href={linkTo('overview')} aria-label="Back to the overview">←</a><h2>Host</h2></header>
      <ChartGrid owners={[{ owner: HOST, label: 'host', slot: 0 }]} isHost />
    </section>
  );
}
