// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Small pieces that many views use.
import { signal, useComputed } from '@preact/signals';
import { useRef, useEffect } from 'preact/hooks';
import { split, show, showOf } from '../words/format.js';
import { timeline } from '../data/timeline.js';
import { onFrame } from '../data/frame.js';
import { colour, themeVersion } from '../state/theme.js';
import { registry } from '../data/store.js';

/** Ticks once a second, for ages and durations. */
export const clock = signal(0);
setInterval(() => { if (!document.hidden) clock.value += 1; }, 1000);

export function whyUnknown(key) {
  const help = registry.value.get(key)?.help;
  return `${help ? `${help}. ` : ''}Unknown: this GPU or its driver does not report it.`;
}

/** One value, changing in place; unknown is a dash that says why. */
export function Value({ cells, name, unit }) {
  const cell = cells.get(name);
  const text = useComputed(() => show(unit, cell.value));
  const title = useComputed(() => (cell.value == null ? whyUnknown(name) : undefined));
  return <span class="num" title={title}>{text}</span>;
}

/** A hero number: the figure large, its unit small. */
export function Figure({ cells, name, unit }) {
  const cell = cells.get(name);
  const number = useComputed(() => split(unit, cell.value)[0]);
  const sign = useComputed(() => split(unit, cell.value)[1]);
  const title = useComputed(() => (cell.value == null ? whyUnknown(name) : undefined));
  return <span class="figure num" title={title}><b>{number}</b><small>{sign}</small></span>;
}

export function ValueOf({ cells, part, whole, unit }) {
  const text = useComputed(() => showOf(unit, cells.get(part).value, cells.get(whole).value));
  const title = useComputed(() => (cells.get(part).value == null ? whyUnknown(part) : undefined));
  return <span class="num" title={title}>{text}</span>;
}

/** A bar for part of whole; decoration for those who see, the number stands beside it. */
export function Bar({ cells, part, whole }) {
  const width = useComputed(() => {
    const total = whole ? cells.get(whole).value : 1;
    const ratio = total > 0 ? (cells.get(part).value ?? 0) / total : 0;
    return { transform: `scaleX(${Math.min(1, Math.max(0, ratio)).toFixed(3)})` };
  });
  return <span class="bar" aria-hidden="true"><BarFill style={width} /></span>;
}

function BarFill({ style }) {
  return <i style={style.value} />;
}

/** Distance to the card's own slowdown temperature: "−13". */
export function Headroom({ cells }) {
  const text = useComputed(() => {
    const [now, limit] = [cells.get('temperature').value, cells.get('temperature_slowdown').value];
    if (now == null || limit == null) return '';
    return `${now > limit ? '+' : '−'}${Math.abs(limit - now).toFixed(0)}`;
  });
  const level = useComputed(() => {
    const [now, limit] = [cells.get('temperature').value, cells.get('temperature_slowdown').value];
    return now != null && limit != null && limit - now <= 3 ? 'headroom warn' : 'headroom';
  });
  return <span class={level} title="Degrees to the temperature at which this card slows itself down">{text}</span>;
}

const SPARK_SECONDS = 120;

/** The last two minutes of one series, 0 to `top` (or the highest seen). */
export function Spark({ owner, id, top, label }) {
  const ref = useRef(null);
  useEffect(() => {
    const canvas = ref.current;
    let isVisible = true;
    let drawn = -1;
    const eye = new IntersectionObserver(([entry]) => { isVisible = entry.isIntersecting; drawn = -1; });
    const size = new ResizeObserver(() => { drawn = -1; paint(); });
    function paint() {
      const key = timeline.version * 1000 + themeVersion.peek();
      if (!isVisible || key === drawn) return;
      drawn = key;
      drawSpark(canvas, owner, id, top);
    }
    eye.observe(canvas);
    size.observe(canvas);
    const stop = onFrame(paint);
    return () => { stop(); eye.disconnect(); size.disconnect(); };
  }, [owner, id, top]);
  return <canvas class="spark" ref={ref} role="img" aria-label={label ?? 'last two minutes'} />;
}

function drawSpark(canvas, owner, id, top) {
  const scale = devicePixelRatio || 1;
  const width = Math.round(canvas.clientWidth * scale);
  const height = Math.round(canvas.clientHeight * scale);
  if (!width || !height) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const pen = canvas.getContext('2d');
  pen.clearRect(0, 0, width, height);
  const end = timeline.lastTime;
  const [from, to] = timeline.range(end - SPARK_SECONDS, end + 1);
  const values = timeline.slice(owner, id, from, to);
  if (!values) return;
  let highest = top ?? 0;
  if (!top) for (const value of values) if (value > highest) highest = value;
  const line = new Path2D();
  const area = new Path2D();
  const floor = height - scale;
  let first = null;
  let lastX = 0;
  const endRun = () => {
    if (first == null) return;
    area.lineTo(lastX, floor);
    area.lineTo(first, floor);
    first = null;
  };
  for (let i = 0; i < values.length; i += 1) {
    if (Number.isNaN(values[i])) { endRun(); continue; }
    const x = width * (1 - (end - timeline.time[from + i]) / SPARK_SECONDS);
    const y = floor - (highest ? Math.min(1, values[i] / highest) : 0) * (floor - 2 * scale);
    if (first == null) { first = x; line.moveTo(x, y); area.moveTo(x, floor); area.lineTo(x, y); } else { line.lineTo(x, y); area.lineTo(x, y); }
    lastX = x;
  }
  endRun();
  pen.fillStyle = colour('spark-fill');
  pen.fill(area);
  pen.strokeStyle = colour('accent');
  pen.lineWidth = 1.25 * scale;
  pen.lineJoin = 'round';
  pen.stroke(line);
}
