// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The recent past: one row per message, one typed column per GPU and series, NaN where nothing is
// known. Rows are appended to buffers of twice the length and moved to the front when those are
// full, so that a chart reads plain subarrays and nothing is allocated per row.
import { SERIES } from './series.js';
import { currentGpus, system } from './store.js';

const ROWS_FEW_GPUS = 1800; // 15 minutes at 0.5 s
const ROWS_MANY_GPUS = 600;
export const HOST = 'host';

class Column {
  constructor(rows) {
    this.values = new Float32Array(2 * rows).fill(NaN);
    this.last = NaN; // of a counter: its value and when it last moved
    this.moved = NaN;
    this.rate = NaN;
  }

  /** Rate of a counter that may be read more rarely than rows come; NaN over a reset. */
  step(value, time, pace) {
    if (!(value >= 0)) return this.#forget();
    if (value === this.last) {
      if (time - this.moved > 1.5 * pace) { this.rate = 0; this.moved = time; }
      return this.rate;
    }
    this.rate = value > this.last ? (value - this.last) / (time - this.moved) : NaN;
    this.last = value;
    this.moved = time;
    return this.rate;
  }

  #forget() {
    this.last = this.moved = this.rate = NaN;
    return NaN;
  }
}

export class Timeline {
  constructor(rows = ROWS_FEW_GPUS) {
    this.rows = rows;
    this.time = new Float64Array(2 * rows);
    this.columns = new Map(); // owner -> Map(series id -> Column)
    this.end = 0;
    this.version = 0; // grows with every change
  }

  get start() { return Math.max(0, this.end - this.rows); }
  get lastTime() { return this.end ? this.time[this.end - 1] : NaN; }
  get firstTime() { return this.end ? this.time[this.start] : NaN; }

  /** A row in which nothing is known: lines end here. */
  gap(time) {
    if (this.end && time > this.lastTime) this.#nextRow(time);
  }

  append(time, interval) {
    if (this.end && time <= this.lastTime) return;
    this.#nextRow(time);
    const owners = new Set([HOST]);
    for (const gpu of currentGpus()) {
      owners.add(gpu.uuid);
      const { age, pace, state } = gpu.fields.raw;
      const fast = pace?.fast ?? interval;
      if (state === 'lost' || (age?.fast ?? 0) > Math.max(3, 3 * fast)) continue;
      this.#record(gpu.uuid, gpu.values.raw, time, interval, pace?.slow ?? 5);
    }
    this.#record(HOST, system.raw, time, interval, interval);
    for (const owner of this.columns.keys()) if (!owners.has(owner)) this.columns.delete(owner);
  }

  /** Values of a series between two row numbers, or null when it never had one. */
  slice(owner, id, from, to) {
    return this.columns.get(owner)?.get(id)?.values.subarray(from, to) ?? null;
  }

  has(owner, id) { return this.columns.get(owner)?.has(id) ?? false; }

  /** Rows [from, to) that cover a span of time, with one more on each side for lines that leave. */
  range(timeFrom, timeTo) {
    let from = this.#find(timeFrom);
    let to = this.#find(timeTo);
    if (from > this.start) from -= 1;
    if (to < this.end) to += 1;
    return [from, to];
  }

  resize(gpuCount) {
    const rows = gpuCount > 16 ? ROWS_MANY_GPUS : ROWS_FEW_GPUS;
    if (rows === this.rows) return;
    Object.assign(this, new Timeline(rows));
  }

  #find(time) {
    let low = this.start;
    let high = this.end;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.time[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #nextRow(time) {
    if (this.end === 2 * this.rows) this.#moveToFront();
    this.time[this.end] = time;
    this.end += 1;
    this.version += 1;
  }

  #moveToFront() {
    this.time.copyWithin(0, this.rows);
    for (const columns of this.columns.values()) {
      for (const { values } of columns.values()) {
        values.copyWithin(0, this.rows);
        values.fill(NaN, this.rows);
      }
    }
    this.end = this.rows;
  }

  #record(owner, raw, time, interval, slow) {
    let columns = this.columns.get(owner);
    if (!columns) this.columns.set(owner, (columns = new Map()));
    for (const series of SERIES) {
      if (series.isHost !== (owner === HOST)) continue;
      const value = series.of(raw);
      let column = columns.get(series.id);
      if (!column) {
        if (!Number.isFinite(value)) continue;
        columns.set(series.id, (column = new Column(this.rows)));
      }
      const number = value == null ? NaN : value;
      column.values[this.end - 1] = series.isRate
        ? column.step(number, time, series.isSlow ? slow : interval) : number;
    }
  }
}

export const timeline = new Timeline();
