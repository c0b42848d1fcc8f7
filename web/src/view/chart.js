// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// One uPlot, fed from the timeline. Knows lines, units and a window of time; nothing of GPUs.
import uPlot from 'uplot';
import { colour } from '../state/theme.js';
import { split } from '../words/format.js';

const FIXED_TOP = { ratio: 1 };
const FONT = '11px system-ui, sans-serif';

/** Lines of one chart: unknown values end a line, and the next known one begins another. */
function paths(u, index, from, to) {
  const xs = u.data[0];
  const ys = u.data[index];
  const x = u.scales.x;
  const y = u.scales[u.series[index].scale];
  const { left, top, width, height } = u.bbox;
  const perX = width / (x.max - x.min);
  const perY = height / (y.max - y.min || 1);
  const stroke = new Path2D();
  const fill = u.series[index].fill ? new Path2D() : null;
  const floor = top + height;
  let first = null;
  let last = 0;
  const endRun = () => {
    if (first != null && fill) { fill.lineTo(last, floor); fill.lineTo(first, floor); }
    if (first != null && first === last) stroke.lineTo(last + 1, 0 + lastY); // a lone point stays visible
    first = null;
  };
  let lastY = 0;
  for (let i = from; i <= to; i += 1) {
    if (Number.isNaN(ys[i])) { endRun(); continue; }
    const px = left + (xs[i] - x.min) * perX;
    const py = floor - (ys[i] - y.min) * perY;
    if (first == null) {
      first = px;
      stroke.moveTo(px, py);
      if (fill) { fill.moveTo(px, floor); fill.lineTo(px, py); }
    } else {
      stroke.lineTo(px, py);
      if (fill) fill.lineTo(px, py);
    }
    last = px;
    lastY = py;
  }
  endRun();
  return { stroke, fill, clip: null, flags: 1 };
}

function niceTop(unit, highest) {
  if (!(highest > 0)) return unit === 'bytes_per_s' ? 1e3 : 1;
  const base = unit === 'bytes' ? 2 ** (10 * Math.floor(Math.log2(highest) / 10)) : 1;
  const scaled = (highest / base) * 1.05;
  const power = 10 ** Math.floor(Math.log10(scaled));
  const step = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((s) => s * power >= scaled);
  return step * power * base;
}

function axis(scale, unit, side) {
  return {
    scale,
    side,
    size: 58,
    gap: 4,
    font: FONT,
    stroke: () => colour('text-dim'),
    grid: side === 3 ? { stroke: () => colour('grid'), width: 1 } : { show: false },
    ticks: { show: false },
    splits: (u) => { const { max } = u.scales[scale]; return [0, max / 2, max]; },
    values: (_, marks) => marks.map((v) => { const [n, name] = split(unit, v); return name === '°C' ? `${n}°` : name === '%' ? `${n}%` : `${n.replace(/\.0+$/, '')} ${name}`; }),
  };
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

function timeAxis() {
  return {
    font: FONT,
    size: 22,
    gap: 4,
    stroke: () => colour('text-dim'),
    grid: { show: false },
    ticks: { show: false },
    incrs: TIME_STEPS,
    space: 76,
    values: (_, marks, __, ___, step) => marks.map((t) => {
      const d = new Date(t * 1000);
      const two = (n) => String(n).padStart(2, '0');
      if (step >= 86400) return `${d.getMonth() + 1}/${d.getDate()}`;
      return `${two(d.getHours())}:${two(d.getMinutes())}${step < 60 ? `:${two(d.getSeconds())}` : ''}`;
    }),
  };
}

/**
 * lines: [{ label, unit, colour role, isDashed, isRight }]; limit: () => number or null.
 * onZoom(from, to), onReset(), onCursor(row or null).
 */
export class Chart {
  constructor(element, { lines, height, limit, onZoom, onReset, onCursor }) {
    this.element = element;
    this.lines = lines;
    this.limit = limit;
    this.hasRight = lines.some((line) => line.isRight);
    const units = { y: lines.find((l) => !l.isRight)?.unit, y2: lines.find((l) => l.isRight)?.unit };
    this.units = units;
    const isAlone = lines.length === 1;
    this.plot = new uPlot({
      width: Math.max(80, element.clientWidth),
      height,
      padding: [8, this.hasRight ? 0 : 28, 0, 0],
      legend: { show: false },
      scales: { x: { time: true, auto: false }, y: { auto: false }, y2: { auto: false } },
      axes: [timeAxis(), axis('y', units.y, 3), ...(this.hasRight ? [axis('y2', units.y2, 1)] : [])],
      series: [{}, ...lines.map((line) => ({
        label: line.label,
        scale: line.isRight ? 'y2' : 'y',
        stroke: () => colour(line.colour),
        fill: isAlone ? () => colour('spark-fill') : undefined,
        width: 1.5,
        dash: line.isDashed ? [4, 3] : undefined,
        paths,
        points: { show: false },
      }))],
      cursor: {
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false },
        sync: { key: 'page', setSeries: false },
      },
      hooks: {
        setSelect: [(u) => {
          if (u.select.width > 4) onZoom(u.posToVal(u.select.left, 'x'), u.posToVal(u.select.left + u.select.width, 'x'));
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
        }],
        setCursor: [(u) => onCursor(u.cursor.left >= 0 ? u.cursor.idx : null)],
        draw: [(u) => this.#drawLimit(u)],
        ready: [(u) => u.over.addEventListener('dblclick', onReset)],
      },
    }, null, element);
  }

  /** columns: time, then one typed column a line. */
  draw(columns, from, to) {
    const tops = { y: 0, y2: 0 };
    this.lines.forEach((line, i) => {
      const key = line.isRight ? 'y2' : 'y';
      for (const value of columns[i + 1]) if (value > tops[key]) tops[key] = value;
    });
    this.isDrawn = true; // before that uPlot has no axes and cannot redraw
    const limit = this.limit?.();
    if (limit > tops.y) tops.y = limit;
    this.plot.batch(() => {
      this.plot.setData(columns, false);
      this.plot.setScale('x', { min: from, max: to });
      for (const key of this.hasRight ? ['y', 'y2'] : ['y']) {
        this.plot.setScale(key, { min: 0, max: FIXED_TOP[this.units[key]] ?? niceTop(this.units[key], tops[key]) });
      }
    });
  }

  resize(height) {
    if (!this.isDrawn) return;
    const width = this.element.clientWidth;
    if (width && (width !== this.plot.width || height !== this.plot.height)) this.plot.setSize({ width, height });
  }

  redraw() { if (this.isDrawn) this.plot.redraw(); }
  destroy() { this.plot.destroy(); }
  get canvas() { return this.plot.ctx.canvas; }

  #drawLimit(u) {
    const limit = this.limit?.();
    if (!(limit > 0)) return;
    const y = u.valToPos(limit, 'y', true);
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = colour('limit');
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }
}
