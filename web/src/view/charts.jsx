// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The grid of charts of one owner (a GPU, the host) or of several at once, with its toolbar.
import { signal, useSignal, useComputed } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Chart } from './chart.js';
import { saveCsv, savePng } from './export.js';
import { timeline } from '../data/timeline.js';
import { GPU_CHARTS, HOST_CHARTS, seriesOf } from '../data/series.js';
import { onFrame, requestFrame } from '../data/frame.js';
import { findGpu, hello, system } from '../data/store.js';
import { themeVersion } from '../state/theme.js';
import { param, route, setParams } from '../state/route.js';
import { SPANS, goLive, span, timeWindow, togglePause, zoomTo } from '../state/span.js';
import { clock } from './parts.jsx';
import { clockTime, show, split } from '../words/format.js';

const HEIGHT = 132;
const HEIGHT_FOCUSED = 340;
const TEXT_EVERY_MS = 900; // figures that change faster cannot be read
const COLOURS = 8;

/** The row under the cursor of any chart; all charts show their values there. */
const cursorRow = signal(null);

let batches = 0;

function overlays() {
  return new Map(param('overlay').split(' ').filter((part) => part.includes(':')).map((part) => part.split(':')));
}

function setOverlay(chart, id) {
  const map = overlays();
  if (id) map.set(chart, id);
  else map.delete(chart);
  setParams({ overlay: [...map].map(([key, value]) => `${key}:${value}`).join(' ') });
}

/** Lines of a chart: its series for one owner, or its first series for each of several. */
function linesOf(spec, owners, isHost, overlay) {
  const lines = [];
  const ids = owners.length > 1 ? spec.series.slice(0, 1) : spec.series;
  for (const { owner, label, slot } of owners) {
    ids.forEach((id, i) => {
      if (!timeline.has(owner, id)) return;
      const series = seriesOf(isHost, id);
      const several = owners.length > 1;
      lines.push({ owner, ownerLabel: label, series, unit: series.unit, label: several ? label : series.label, colour: `s${(several ? slot : i) % COLOURS + 1}`, isDashed: several && slot >= COLOURS });
    });
  }
  if (overlay && lines.length) {
    const series = seriesOf(isHost, overlay);
    owners.forEach(({ owner, label, slot }) => {
      if (!series || !timeline.has(owner, overlay)) return;
      lines.push({ owner, ownerLabel: label, series, unit: series.unit, label: owners.length > 1 ? `${label} ${series.label}` : overlayLabel(overlay, isHost), colour: owners.length > 1 ? `s${slot % COLOURS + 1}` : 's5', isDashed: true, isRight: true });
    });
  }
  return lines;
}

function chartOfSeries(id, isHost) {
  return (isHost ? HOST_CHARTS : GPU_CHARTS).find((spec) => spec.series.includes(id));
}

function overlayLabel(id, isHost) {
  const chart = chartOfSeries(id, isHost);
  return chart.series.length > 1 ? `${chart.title}: ${seriesOf(isHost, id).label}` : chart.title;
}

function OverlayPicker({ spec, owners, isHost, chosen }) {
  const all = isHost ? HOST_CHARTS : GPU_CHARTS;
  const available = (id) => owners.some(({ owner }) => timeline.has(owner, id));
  const near = spec.companions.map((id) => all.find((c) => c.id === id)?.series[0]).filter((id) => id && available(id));
  const rest = all.filter((c) => c !== spec).flatMap((c) => c.series).filter((id) => !near.includes(id) && available(id));
  const option = (id) => <option key={id} value={id}>{overlayLabel(id, isHost)}</option>;
  return (
    <select class="overlay" aria-label={`Overlay on ${spec.title}`} title="Draw a second metric into this chart" value={chosen ?? ''} onChange={(event) => setOverlay(spec.id, event.currentTarget.value)}>
      <option value="">+ overlay</option>
      <optgroup label="Often compared">{near.map(option)}</optgroup>
      <optgroup label="Everything else">{rest.map(option)}</optgroup>
    </select>
  );
}

/** min, mean, max and newest known of a column. */
function measure(values) {
  let [low, high, sum, count, last] = [Infinity, -Infinity, 0, 0, null];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
    sum += value;
    count += 1;
  }
  if (values.length && !Number.isNaN(values.at(-1))) last = values.at(-1);
  return count ? { low, high, mean: sum / count, last } : { low: null, high: null, mean: null, last: null };
}

/** A figure of a legend row; its unit only where it is not that of the first figure. */
function beside(unit, reading, name) {
  const [number, sign] = split(unit, reading?.[name]);
  return sign === split(unit, reading?.at)[1] ? number : show(unit, reading?.[name]);
}

function LegendRow({ line, reading }) {
  const at = useComputed(() => show(line.unit, reading.value?.at));
  const low = useComputed(() => beside(line.unit, reading.value, 'low'));
  const mean = useComputed(() => beside(line.unit, reading.value, 'mean'));
  const high = useComputed(() => beside(line.unit, reading.value, 'high'));
  return (
    <tr>
      <th scope="row"><i class={`key ${line.colour} ${line.isDashed ? 'dashed' : ''}`} aria-hidden="true" /><span class="clip" title={line.label}>{line.label}</span></th>
      <td class="num at">{at}</td><td class="num">{low}</td><td class="num">{mean}</td><td class="num">{high}</td>
    </tr>
  );
}

function ChartCard({ spec, owners, isHost }) {
  const overlay = overlays().get(spec.id);
  const isFocused = param('focus') === spec.id;
  const [present, setPresent] = useState('');
  const lines = useMemo(() => linesOf(spec, owners, isHost, overlay), [spec, owners, isHost, overlay, present]);
  const readings = useMemo(() => lines.map(() => signal(null)), [lines]);
  const batch = useMemo(() => (batches += 1), [lines]); // rows are made anew with their readings
  const box = useRef(null);
  const chart = useRef(null);
  const isSeen = useRef(true);
  const height = isFocused ? HEIGHT_FOCUSED : HEIGHT;
  const missing = useSignal(false);

  // A series that appears later joins its chart.
  useEffect(() => onFrame(() => {
    const ids = overlay ? [...spec.series, overlay] : spec.series;
    const now = owners.map(({ owner }) => ids.map((id) => (timeline.has(owner, id) ? 1 : 0)).join('')).join(' ');
    if (now !== present) setPresent(now);
  }), [spec, owners, overlay, present]);

  useEffect(() => {
    if (!lines.length) return undefined;
    const limit = spec.limit && owners.length === 1 ? () => limitOf(owners[0].owner, spec.limit, isHost) : null;
    const view = new Chart(box.current, { lines, height, limit, onZoom: zoomTo, onReset: goLive, onCursor: (row) => { cursorRow.value = row; requestFrame(); } });
    chart.current = view;
    let drawn = '';
    let wasIn = true;
    let late = 0;
    let [saidAt, saidRow, saidFrom] = [-Infinity, null, NaN];
    const paint = () => {
      if (!isSeen.current) return;
      const { from, to, isFixed } = timeWindow();
      const row = cursorRow.peek();
      const key = isFixed && to < timeline.lastTime ? `${from} ${to} ${row} ${timeline.start}` : `${from} ${to} ${timeline.version} ${row}`;
      if (key === drawn) return;
      const [first, end] = timeline.range(from, to);
      const columns = [timeline.time.subarray(first, end), ...lines.map((line) => timeline.slice(line.owner, line.series.id, first, end) ?? new Float32Array(end - first).fill(NaN))];
      const cursorOnly = drawn.split(' ').slice(0, 3).join(' ') === key.split(' ').slice(0, 3).join(' ');
      if (!cursorOnly) view.draw(columns, from, to);
      drawn = key;
      let some = false;
      const isOnlyNewer = row === saidRow && from !== saidFrom && !isFixed;
      clearTimeout(late);
      if (isOnlyNewer && performance.now() - saidAt < TEXT_EVERY_MS) {
        late = setTimeout(() => { drawn = ''; requestFrame(); }, TEXT_EVERY_MS);
        return;
      }
      [saidAt, saidRow, saidFrom] = [performance.now(), row, from];
      lines.forEach((_, i) => {
        const values = columns[i + 1];
        const m = measure(values);
        some ||= m.high != null;
        const atCursor = row == null ? m.last : values[row];
        readings[i].value = { ...m, at: Number.isNaN(atCursor) ? null : atCursor };
      });
      if (some !== wasIn) { wasIn = some; missing.value = !some; }
    };
    const eye = new IntersectionObserver(([entry]) => { isSeen.current = entry.isIntersecting; drawn = ''; if (isSeen.current) paint(); }, { rootMargin: '80px' });
    const size = new ResizeObserver(() => view.resize(height));
    eye.observe(box.current);
    size.observe(box.current);
    const stop = onFrame(paint);
    const stopTheme = themeVersion.subscribe(() => view.redraw());
    paint();
    return () => { clearTimeout(late); stop(); stopTheme(); eye.disconnect(); size.disconnect(); view.destroy(); chart.current = null; };
  }, [lines, height]);

  if (!lines.length) return null;
  const name = `${hello.value?.server_name ?? ''}-${owners.length === 1 ? owners[0].label : 'gpus'}-${spec.id}`;
  return (
    <article class={`chart ${isFocused ? 'is-focused' : ''}`} data-chart={spec.id}>
      <header>
        <h3><button type="button" class="plain" aria-expanded={isFocused} title={isFocused ? 'Smaller (Esc)' : 'Larger'} onClick={() => setParams({ focus: isFocused ? '' : spec.id })}>{spec.title}</button></h3>
        <span class="tools">
          <OverlayPicker spec={spec} owners={owners} isHost={isHost} chosen={overlay} />
          <button type="button" class="quiet" title="Save this chart as an image" onClick={() => savePng(name, chart.current, `${owners.length === 1 ? `${owners[0].label} · ` : ''}${spec.title}`, lines)}>PNG</button>
          <button type="button" class="quiet" title="Save the values that are shown" onClick={() => saveCsv(name, lines)}>CSV</button>
        </span>
      </header>
      <div class={`plot ${missing.value ? 'is-empty' : ''}`} ref={box} role="img" aria-label={`${spec.title} over time; values in the table below`} />
      <table class="legend">
        <thead><tr><th scope="col"><span class="unseen">line</span></th><th scope="col">{cursorRow.value == null ? 'now' : 'at'}</th><th scope="col">min</th><th scope="col">avg</th><th scope="col">max</th></tr></thead>
        <tbody>{lines.map((line, i) => <LegendRow key={`${batch} ${i}`} line={line} reading={readings[i]} />)}</tbody>
      </table>
    </article>
  );
}

function limitOf(owner, key, isHost) {
  return (isHost ? system.raw : findGpu(owner)?.values.raw)?.[key] ?? null;
}

function Toolbar({ owners, isHost, extra }) {
  const { from, to, isFixed } = timeWindow();
  const current = span();
  const at = useComputed(() => { clock.value; const row = cursorRow.value; return row == null ? '' : `at ${clockTime(timeline.time[timeline.range(timeWindow().from, timeWindow().to)[0] + row])}`; });
  const specs = isHost ? HOST_CHARTS : GPU_CHARTS;
  const everything = () => saveCsv(`${hello.value?.server_name ?? 'gpumanager'}-${owners.length === 1 ? owners[0].label : 'gpus'}`, specs.flatMap((spec) => linesOf(spec, owners, isHost)));
  return (
    <div class="toolbar" role="toolbar" aria-label="Time span">
      <span class="spans">
        {SPANS.map(([seconds, name]) => <button key={seconds} type="button" aria-pressed={!isFixed && current === seconds} onClick={() => setParams({ span: seconds === 120 ? '' : seconds, from: '', to: '' })}>{name}</button>)}
      </span>
      <button type="button" aria-pressed={isFixed} onClick={togglePause}>{isFixed ? '▶ live' : '❚❚ pause'}</button>
      <span class="num dim shown">{isFixed ? `${clockTime(from)} – ${clockTime(to)}` : 'live'} {at}</span>
      {extra}
      <button type="button" class="quiet" title="All values that are shown, in base units" onClick={everything}>CSV of all</button>
    </div>
  );
}

export function ChartGrid({ owners, isHost = false, extra }) {
  route.value; // spans, overlays and focus live in the address
  const specs = isHost ? HOST_CHARTS : GPU_CHARTS;
  const key = owners.map(({ owner, label }) => `${owner} ${label}`).join();
  const stable = useMemo(() => owners, [key]);
  useEffect(() => { requestFrame(); });
  return (
    <>
      <Toolbar owners={stable} isHost={isHost} extra={extra} />
      <div class="charts">{specs.map((spec) => <ChartCard key={`${spec.id} ${key}`} spec={spec} owners={stable} isHost={isHost} />)}</div>
    </>
  );
}
