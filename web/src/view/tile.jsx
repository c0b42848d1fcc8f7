// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// One GPU of the overview. Rows are fixed: a tile keeps its place and its height.
import { useComputed } from '@preact/signals';
import { Figure, Value, ValueOf, Bar, Headroom, Spark, clock } from './parts.jsx';
import { healthOf, useOf, staleness } from '../data/judge.js';
import { processesOf, instancesOf } from '../data/store.js';
import { serverNow } from '../data/connection.js';
import { linkTo } from '../state/route.js';
import { duration, shortName, clip, show, showOf, DASH } from '../words/format.js';

/** The word in the corner: what is wrong, else whether it is free. */
export function StateWord({ gpu }) {
  clock.value;
  const health = healthOf(gpu);
  const old = staleness(gpu);
  if (health.level !== 'ok') return <span class={`word ${health.level}`} title={health.detail}>{health.word}</span>;
  if (old) return <span class="word warn">{duration(old)} old</span>;
  const use = useOf(gpu);
  if (use === 'busy') return <span class="word" />;
  if (use === 'unknown') return <span class="word dim" title="The card does not say whether it is used">unknown</span>;
  return <span class={`word ${use === 'free' ? 'free' : 'idle'}`}>{use}</span>;
}

export function healthSentence(health) {
  const since = health.since ? `, ${duration(serverNow() - health.since)}` : '';
  return `${health.detail || health.word}${since}`;
}

function Holder({ process }) {
  clock.value;
  const since = process.started ? duration(serverNow() - process.started) : '';
  return (
    <span class="holder">
      <b title={process.user}>{clip(process.user ?? DASH, 24)}</b>
      <span class="clip" title={process.name}>{clip(process.name ?? `pid ${process.pid}`)}</span>
      <span class="num dim">{since}</span>
    </span>
  );
}

function Holders({ gpu }) {
  const health = healthOf(gpu);
  const list = processesOf.value.get(gpu.uuid) ?? [];
  const rows = health.level === 'ok' ? 2 : 1;
  const more = list.length > rows ? list.length - rows + 1 : 0;
  const shown = list.slice(0, more && rows > 1 ? rows - 1 : rows);
  return (
    <div class="holders">
      {health.level !== 'ok' && <span class={`clip ${health.level}`} title={health.detail}>{healthSentence(health)}</span>}
      {shown.map((process) => <Holder key={`${process.pid}`} process={process} />)}
      {more > 0 && rows > 1 && <span class="dim">and {more} more</span>}
      {!list.length && health.level === 'ok' && <span class="dim">–</span>}
    </div>
  );
}

function Instance({ gpu }) {
  const list = processesOf.value.get(gpu.uuid) ?? [];
  const { values } = gpu;
  const memory = useComputed(() => showOf('bytes', values.get('memory_used').value, values.get('memory_total').value));
  return (
    <a class="instance" href={linkTo('gpu', gpu.uuid)}>
      <b class="clip" title={gpu.name}>{clip(gpu.name.replace(/^.*MIG /, ''), 20)}</b>
      <Bar cells={values} part="memory_used" whole="memory_total" />
      <span class="num">{memory}</span>
      <span class="clip dim" title={list.map((p) => `${p.user} ${p.name}`).join(', ')}>
        {list.length ? clip(list[0].user ?? list[0].name ?? '', 24) : 'free'}
      </span>
    </a>
  );
}

export function Instances({ gpu }) {
  return <div class="instances">{instancesOf(gpu).map((part) => <Instance key={part.uuid} gpu={part} />)}</div>;
}

function classOf(gpu) {
  clock.value;
  const { level, word } = healthOf(gpu);
  const isOld = staleness(gpu) > 0 || word === 'lost';
  return `tile${level === 'ok' ? '' : ` is-${level}`}${isOld ? ' is-old' : ''}`;
}

export function Tile({ gpu }) {
  const { values } = gpu;
  const name = useComputed(() => classOf(gpu));
  const hasInstances = instancesOf(gpu).length > 0;
  const power = useComputed(() => showOf('watts', values.get('power_draw').value, values.get('power_limit').value));
  return (
    <article class={name} data-gpu={gpu.index}>
      <header>
        <h3><a class="cover" href={linkTo('gpu', gpu.uuid)}><b>{gpu.index ?? '?'}</b> <span class="clip" title={gpu.name}>{clip(shortName(gpu.name))}</span></a></h3>
        <StateWord gpu={gpu} />
      </header>
      <div class="course">
        <Figure cells={values} name="utilization" unit="ratio" />
        <Spark owner={gpu.uuid} id="utilization" top={1} label={`Utilisation of GPU ${gpu.index}, last two minutes`} />
      </div>
      <div class="row memory"><span class="dim">mem</span><ValueOf cells={values} part="memory_used" whole="memory_total" unit="bytes" /><Bar cells={values} part="memory_used" whole="memory_total" /></div>
      <div class="row"><span class="num" title="Power against the limit">{power}</span><span class="temperature"><Value cells={values} name="temperature" unit="celsius" /> <Headroom cells={values} /></span></div>
      {hasInstances ? <Instances gpu={gpu} /> : <Holders gpu={gpu} />}
    </article>
  );
}

/** The dense form, for many GPUs. */
export function Cell({ gpu }) {
  const { values } = gpu;
  const name = useComputed(() => classOf(gpu).replace('tile', 'cell'));
  const level = useComputed(() => ({ background: `color-mix(in oklab, var(--scale-low), var(--scale-high) ${((values.get('utilization').value ?? 0) * 100).toFixed(0)}%)` }));
  const temperature = useComputed(() => show('celsius', values.get('temperature').value));
  const list = processesOf.value.get(gpu.uuid) ?? [];
  return (
    <article class={name} data-gpu={gpu.index}>
      <header>
        <h3><a class="cover" href={linkTo('gpu', gpu.uuid)} title={gpu.name} aria-label={`GPU ${gpu.index}`}><b>{gpu.index ?? '?'}</b></a></h3>
        <StateWord gpu={gpu} />
      </header>
      <div class="course"><Swatch style={level} /><Figure cells={values} name="utilization" unit="ratio" /><span class="num dim">{temperature}</span></div>
      <Bar cells={values} part="memory_used" whole="memory_total" />
      <span class="clip dim" title={list.map((p) => `${p.user} ${p.name}`).join(', ')}>{list.length ? clip(list[0].user ?? list[0].name ?? '', 20) : '–'}</span>
    </article>
  );
}

function Swatch({ style }) {
  return <i class="swatch" aria-hidden="true" style={style.value} />;
}
