// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// What the server told last (docs/page-protocol.md). Plain objects hold the truth; a signal exists
// only for what is on screen, and follows with the next frame.
import { signal, computed } from '@preact/signals';
import { later } from './frame.js';

/** Named values of one thing. Unknown is null. */
export class Cells {
  raw = {};
  #cells = new Map();

  /** The signal of a name, made when first asked for. */
  get(key) {
    let cell = this.#cells.get(key);
    if (!cell) this.#cells.set(key, (cell = signal(this.raw[key] ?? null)));
    return cell;
  }

  set(key, value) {
    this.raw[key] = value;
    const cell = this.#cells.get(key);
    if (cell) later(cell, value ?? null);
  }

  /** Takes `all` and forgets every name that is not in it. */
  replace(all) {
    for (const key of Object.keys(this.raw)) if (!(key in all)) this.set(key, null);
    this.merge(all);
  }

  merge(changes) {
    for (const key of Object.keys(changes)) this.set(key, changes[key]);
  }
}

export class Gpu {
  values = new Cells();
  texts = new Cells();
  fields = new Cells(); // everything else: index, name, health, use, age, fans, links, …

  constructor(uuid) {
    this.uuid = uuid;
  }

  take(record, isWhole) {
    const { uuid: _, values, texts, ...rest } = record;
    if (isWhole) {
      this.values.replace(values ?? {});
      this.texts.replace(texts ?? {});
      this.fields.replace(rest);
      return;
    }
    if (values) this.values.merge(values);
    if (texts) this.texts.merge(texts);
    this.fields.merge(rest);
  }

  get index() { return this.fields.raw.index ?? null; }
  get name() { return String(this.fields.raw.name ?? 'GPU'); }
  get isInstance() { return this.fields.raw.parent != null; }
}

export const hello = signal(null);
export const hasData = signal(false);
export const gpus = signal([]); // of the server's order, MIG instances after their parent
export const processes = signal([]);
export const trouble = signal([]);
export const system = new Cells();
export const wholeGpus = computed(() => gpus.value.filter((gpu) => !gpu.isInstance));
export const processesOf = computed(() => {
  const lists = new Map();
  for (const process of processes.value) {
    if (!lists.has(process.gpu)) lists.set(process.gpu, []);
    lists.get(process.gpu).push(process);
  }
  for (const list of lists.values()) list.sort((a, b) => (b.memory ?? 0) - (a.memory ?? 0));
  return lists;
});

const known = new Map(); // uuid -> Gpu; what is on screen survives a new `full`
let processList = [];
let identity = '';

export const registry = computed(() => new Map((hello.value?.metrics ?? []).map((m) => [m.key, m])));

export function instancesOf(gpu) {
  return gpus.value.filter((other) => other.fields.raw.parent === gpu.uuid);
}

export function findGpu(name) {
  return gpus.value.find((gpu) => gpu.uuid === name)
    ?? gpus.value.find((gpu) => !gpu.isInstance && String(gpu.index) === name) ?? null;
}

export function takeFull(message) {
  const list = (message.gpus ?? []).map((record) => {
    let gpu = known.get(record.uuid);
    if (!gpu) known.set(record.uuid, (gpu = new Gpu(record.uuid)));
    gpu.take(record, true);
    return gpu;
  });
  const present = new Set(list.map((gpu) => gpu.uuid));
  for (const uuid of known.keys()) if (!present.has(uuid)) known.delete(uuid);
  const now = list.map((gpu) => `${gpu.uuid} ${gpu.index} ${gpu.name} ${gpu.fields.raw.parent}`).join('\n');
  if (now !== identity) gpus.value = list; // else the same objects: nothing to build anew
  identity = now;
  system.replace(message.system ?? {});
  takeProcesses(message.processes ?? []);
  later(trouble, message.trouble ?? []);
  hasData.value = true;
}

export function takeDelta(message) {
  for (const [uuid, record] of Object.entries(message.gpus ?? {})) known.get(uuid)?.take(record, false);
  if (message.system) system.merge(message.system);
  if (message.processes) takeProcesses(message.processes);
  if (message.process_values) takeProcessValues(message.process_values);
  if (message.trouble) later(trouble, message.trouble);
}

export function currentGpus() {
  return known.values();
}

function takeProcesses(list) {
  processList = list;
  later(processes, list);
}

function takeProcessValues(changes) {
  processList = processList.slice();
  for (const [position, values] of changes) {
    if (processList[position]) processList[position] = { ...processList[position], ...values };
  }
  later(processes, processList);
}
