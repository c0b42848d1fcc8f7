// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// One GPU: who it is, hero numbers, its charts, its processes, everything it tells.
import { useComputed } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Figure, Value, Bar, Headroom, clock } from './parts.jsx';
import { ChartGrid } from './charts.jsx';
import { Processes } from './processes.jsx';
import { AllValues } from './values.jsx';
import { Instances, StateWord, healthSentence } from './tile.jsx';
import { findGpu, wholeGpus, gpus, hasData, instancesOf } from '../data/store.js';
import { healthOf, useOf, staleness } from '../data/judge.js';
import { linkTo, param, setParams } from '../state/route.js';
import { duration, show, clip } from '../words/format.js';

export function GpuView({ name }) {
  const gpu = gpus.value && findGpu(name);
  if (!hasData.value) return <p class="empty" role="status">Waiting for the first numbers…</p>;
  if (!gpu) return <section class="no-gpu"><h2>No such GPU here</h2><p>{clip(name)} is not, or no longer, in this machine. <a href={linkTo('overview')}>Overview</a></p></section>;
  return <Known key={gpu.uuid} gpu={gpu} />;
}

function neighbours(gpu) {
  const list = wholeGpus.value;
  const at = list.indexOf(gpu);
  if (at < 0 || list.length < 2) return [];
  return [[list[(at + list.length - 1) % list.length], 'Previous'], [list[(at + 1) % list.length], 'Next']];
}

function Known({ gpu }) {
  const compared = param('compare').split(' ').map(findGpu).filter((other) => other && other !== gpu);
  const owners = useMemo(() => [gpu, ...compared].map(ownerOf), [gpu, param('compare')]);
  const parts = instancesOf(gpu);
  return (
    <article class="gpu-view" data-gpu={gpu.index}>
      <header class="view-head">
        <a class="back" href={linkTo('overview')} aria-label="Back to the overview">←</a>
        <h2><b>{gpu.index}</b> <span class="clip" title={gpu.name}>{clip(gpu.name)}</span></h2>
        <StateWord gpu={gpu} />
        <Tags gpu={gpu} />
        <nav aria-label="Other GPUs">{neighbours(gpu).map(([other, word]) => <a key={word} href={linkTo('gpu', other.uuid)} aria-label={`${word} GPU, ${other.index}`}>{word === 'Next' ? '›' : '‹'}</a>)}</nav>
      </header>
      <Heroes gpu={gpu} />
      {parts.length > 0 && <section class="instances wide-instances" aria-label="MIG instances"><h3>Instances</h3><Instances gpu={gpu} /></section>}
      <section aria-label="Charts"><h2 class="unseen">Charts</h2><ChartGrid owners={owners} extra={<Compare gpu={gpu} />} /></section>
      <Processes owners={[gpu.uuid, ...parts.map((part) => part.uuid)]} />
      <AllValues gpu={gpu} />
    </article>
  );
}

export function ownerOf(gpu) {
  return { owner: gpu.uuid, label: `GPU ${gpu.index}`, slot: wholeGpus.value.indexOf(gpu) < 0 ? gpu.index ?? 0 : wholeGpus.value.indexOf(gpu) };
}

function Compare({ gpu }) {
  const others = wholeGpus.value.filter((other) => other !== gpu);
  if (!others.length) return null;
  const chosen = param('compare').split(' ').filter(Boolean);
  const toggle = (value) => setParams({ compare: (chosen.includes(value) ? chosen.filter((c) => c !== value) : [...chosen, value]).join(' ') });
  return (
    <>
      <select class="compare" aria-label="Compare with another GPU" value="" onChange={(event) => { if (event.currentTarget.value) toggle(event.currentTarget.value); event.currentTarget.value = ''; }}>
        <option value="">compare</option>
        {others.map((other) => <option key={other.uuid} value={String(other.index)}>{chosen.includes(String(other.index)) ? '✓ ' : ''}GPU {other.index}</option>)}
      </select>
      {chosen.map((value) => <button key={value} type="button" class="chip" onClick={() => toggle(value)}>GPU {value} ×</button>)}
    </>
  );
}

function Tags({ gpu }) {
  clock.value;
  const { values, texts, fields } = gpu;
  const pace = fields.get('pace').value;
  const old = staleness(gpu);
  const link = values.get('pcie_gen').value == null ? null : `PCIe ${values.get('pcie_gen').value} ×${values.get('pcie_width').value ?? '?'}`;
  const state = values.get('performance_state').value;
  const driver = texts.get('driver_version').value;
  const tags = [state == null ? null : `P${state}`, link, driver && `driver ${driver}`, fields.get('source').value, pace?.fast && (old ? `read ${duration(old)} ago` : `read every ${show('seconds', pace.fast)}`), gpu.uuid];
  return <p class="tags">{tags.filter(Boolean).map((tag) => <span key={tag} class={tag === gpu.uuid ? 'uuid' : ''}>{clip(String(tag), 60)}</span>)}</p>;
}

function Hero({ title, children, foot }) {
  return <div class="hero"><dt>{title}</dt><dd>{children}</dd><dd class="foot">{foot}</dd></div>;
}

function Heroes({ gpu }) {
  const { values } = gpu;
  clock.value;
  const health = healthOf(gpu);
  const use = useOf(gpu);
  const fan = useComputed(() => values.get('fan_speed').value != null);
  return (
    <dl class={`heroes ${staleness(gpu) || health.word === 'lost' ? 'is-old' : ''}`}>
      <Hero title="Utilisation" foot={<Bar cells={values} part="utilization" />}><Figure cells={values} name="utilization" unit="ratio" /></Hero>
      <Hero title="Temperature" foot={<span class="dim"><Headroom cells={values} /> to slowdown</span>}><Figure cells={values} name="temperature" unit="celsius" /></Hero>
      <Hero title="Memory" foot={<><Bar cells={values} part="memory_used" whole="memory_total" /><span class="dim">of <Value cells={values} name="memory_total" unit="bytes" /></span></>}><Figure cells={values} name="memory_used" unit="bytes" /></Hero>
      <Hero title="Power" foot={<><Bar cells={values} part="power_draw" whole="power_limit" /><span class="dim">of <Value cells={values} name="power_limit" unit="watts" /></span></>}><Figure cells={values} name="power_draw" unit="watts" /></Hero>
      <Hero title="Clock" foot={<span class="dim">of <Value cells={values} name="clock_graphics_max" unit="hertz" /></span>}><Figure cells={values} name="clock_graphics" unit="hertz" /></Hero>
      {fan.value && <Hero title="Fan" foot={<Bar cells={values} part="fan_speed" />}><Figure cells={values} name="fan_speed" unit="ratio" /></Hero>}
      <Hero title="Health" foot={<span class={health.level === 'ok' ? 'dim' : health.level}>{health.level === 'ok' ? use : healthSentence(health)}</span>}><span class={`figure ${health.level}`}><b class="health">{health.word}</b></span></Hero>
    </dl>
  );
}

/** The same charts with one line a GPU. */
export function AllCharts() {
  const owners = useMemo(() => wholeGpus.value.map(ownerOf), [wholeGpus.value]);
  return (
    <section aria-label="All GPUs">
      <header class="view-head"><a class="back" href={linkTo('overview')} aria-label="Back to the overview">←</a><h2>All GPUs</h2></header>
      {owners.length > 0 && <ChartGrid owners={owners} />}
    </section>
  );
}
