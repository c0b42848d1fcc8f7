// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// What changed between two `full` messages, in the words of docs/page-protocol.md.

function changes(before, after) {
  const result = {};
  for (const key of Object.keys(after)) if (JSON.stringify(after[key]) !== JSON.stringify(before[key])) result[key] = after[key];
  for (const key of Object.keys(before)) if (!(key in after)) result[key] = null;
  return Object.keys(result).length ? result : null;
}

function gpuChanges(before, after) {
  const { values: v0, texts: t0, ...rest0 } = before;
  const { values: v1, texts: t1, ...rest1 } = after;
  const result = changes(rest0, rest1) ?? {};
  const values = changes(v0, v1);
  const texts = changes(t0, t1);
  if (values) result.values = values;
  if (texts) result.texts = texts;
  return Object.keys(result).length ? result : null;
}

const identityOf = (full) => full.gpus.map((gpu) => `${gpu.uuid} ${gpu.index}`).join();
const processesOf = (full) => full.processes.map((p) => `${p.gpu} ${p.pid} ${p.started}`).join();

/** A delta, or null when only a `full` will do. */
export function delta(before, after) {
  if (identityOf(before) !== identityOf(after)) return null;
  const message = { type: 'delta', time: after.time };
  const gpus = {};
  after.gpus.forEach((gpu, i) => {
    const changed = gpuChanges(before.gpus[i], gpu);
    if (changed) gpus[gpu.uuid] = changed;
  });
  if (Object.keys(gpus).length) message.gpus = gpus;
  const system = changes(before.system, after.system);
  if (system) message.system = system;
  if (processesOf(before) !== processesOf(after)) message.processes = after.processes;
  else {
    const values = after.processes.map((p, i) => [i, changes(before.processes[i], p)]).filter(([, changed]) => changed);
    if (values.length) message.process_values = values;
  }
  if (JSON.stringify(before.trouble) !== JSON.stringify(after.trouble)) message.trouble = after.trouble;
  return message;
}
