// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The first look: what is wrong, what is free, who uses what.
import { useComputed } from '@preact/signals';
import { useState } from 'preact/hooks';
import { Tile, Cell, healthSentence } from './tile.jsx';
import { HostStrip } from './host.jsx';
import { Processes } from './processes.jsx';
import { ChartGrid } from './charts.jsx';
import { ownerOf } from './gpu.jsx';
import { clock } from './parts.jsx';
import { wholeGpus, trouble, hasData } from '../data/store.js';
import { unwell, summary } from '../data/judge.js';
import { serverNow } from '../data/connection.js';
import { linkTo } from '../state/route.js';
import { duration } from '../words/format.js';

const TILES_MOST = 16;

export function Overview() {
  if (!hasData.value) return <p class="empty" role="status">Waiting for the first numbers…</p>;
  const list = wholeGpus.value;
  if (!list.length) return <><NoGpu /><HostStrip /></>;
  const Item = list.length > TILES_MOST ? Cell : Tile;
  return (
    <>
      <Wrong />
      <section aria-label="GPUs">
        <h2 class="unseen">GPUs</h2>
        <div class={Item === Cell ? 'cells' : `tiles tiles-${Math.min(list.length, 9)}`}>{list.map((gpu) => <Item key={gpu.uuid} gpu={gpu} />)}</div>
        <Free />
      </section>
      {list.length === 1 && <section aria-label="Charts"><h2 class="unseen">Charts</h2><ChartGrid owners={[ownerOf(list[0])]} /></section>}
      <HostStrip />
      <Processes />
    </>
  );
}

function Wrong() {
  clock.value;
  const list = unwell();
  if (!list.length && !trouble.value.length) return null;
  return (
    <section class="wrong" aria-label="What is wrong" role="status">
      <ul>
        {list.map(({ gpu, health }) => (
          <li key={gpu.uuid} class={health.level}>
            <a href={linkTo('gpu', gpu.uuid)}>GPU {gpu.index}{gpu.isInstance ? ' (instance)' : ''}</a> <b>{health.word}</b> <span>{healthSentence(health)}</span>
          </li>
        ))}
        {trouble.value.map((item) => (
          <li key={item.source} class="warn"><b>{item.source}</b> <span>{item.sentence}{item.since ? `, ${duration(serverNow() - item.since)}` : ''}</span></li>
        ))}
      </ul>
    </section>
  );
}

function Free() {
  const free = useComputed(() => summary().freeGpus.map((gpu) => gpu.index).join(','));
  const [copied, setCopied] = useState(false);
  if (!free.value || wholeGpus.value.length < 2) return null;
  const text = `CUDA_VISIBLE_DEVICES=${free.value}`;
  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch { /* the text can be selected */ }
  }
  return (
    <p class="free-line">Free now: <b class="num">{free.value.replaceAll(',', ', ')}</b> <code>{text}</code> <button type="button" class="quiet" onClick={copy}>{copied ? 'copied' : 'copy'}</button></p>
  );
}

function NoGpu() {
  return (
    <section class="no-gpu" role="status">
      <h2>This machine shows no GPU</h2>
      {trouble.value.length > 0 && <p>What was tried:</p>}
      <dl>{trouble.value.map((item) => <div key={item.source}><dt>{item.source}</dt><dd>{item.sentence}</dd></div>)}</dl>
      <p class="dim">The page goes on trying and shows a GPU as soon as there is one.</p>
    </section>
  );
}
