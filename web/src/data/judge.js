// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// What a person wants to know of a GPU, from facts: is it well, is it free, is it told freshly.
import { processesOf, wholeGpus, gpus, instancesOf } from './store.js';
import { serverNow, secondsSilent, interval } from './connection.js';

export const HELD_IDLE_AFTER_S = 600;
const BUSY_RATIO = 0.01;
const WORST_FIRST = { bad: 0, warn: 1, ok: 2 };
const LEVEL_OF_WORD = { ok: 'ok', throttled: 'warn', stale: 'warn', 'needs reset': 'bad', lost: 'bad' };
const idleSince = new Map(); // uuid -> server time, where the server does not tell

/** { word, detail, since, level } with level ok, warn or bad. */
export function healthOf(gpu) {
  const told = gpu.fields.get('health').value ?? {};
  const state = gpu.fields.get('state').value;
  const word = told.word ?? (state && state !== 'ok' ? state : 'ok');
  const level = told.level ?? LEVEL_OF_WORD[word] ?? 'bad';
  return { word, detail: told.detail ?? '', since: told.since ?? null, level };
}

/** busy, free, held idle, or unknown when the card does not say. */
export function useOf(gpu) {
  if (healthOf(gpu).word === 'lost') return 'unknown';
  const told = gpu.fields.get('use').value;
  if (told?.word) return told.word;
  const parts = instancesOf(gpu);
  const holders = [gpu, ...parts].some((part) => processesOf.value.get(part.uuid)?.length);
  const load = gpu.values.get('utilization').value;
  if (load == null && !holders) return parts.length ? 'free' : 'unknown';
  if (load > BUSY_RATIO || (load == null && holders)) {
    idleSince.delete(gpu.uuid);
    return 'busy';
  }
  if (!holders) return 'free';
  if (!idleSince.has(gpu.uuid)) idleSince.set(gpu.uuid, serverNow());
  return serverNow() - idleSince.get(gpu.uuid) >= HELD_IDLE_AFTER_S ? 'held idle' : 'busy';
}

/** Seconds since the fast values were read when that is worth saying, else 0. */
export function staleness(gpu) {
  const age = (gpu.fields.raw.age?.fast ?? 0) + Math.max(0, secondsSilent());
  const pace = gpu.fields.raw.pace?.fast ?? interval();
  return age > Math.max(3, 3 * pace) ? age : 0;
}

/** The GPUs that are not well, the worst first. */
export function unwell() {
  return gpus.value
    .map((gpu) => ({ gpu, health: healthOf(gpu) }))
    .filter(({ health }) => health.level !== 'ok')
    .sort((a, b) => WORST_FIRST[a.health.level] - WORST_FIRST[b.health.level]);
}

export function summary() {
  const result = { total: 0, busy: 0, free: 0, 'held idle': 0, unknown: 0, watts: 0, used: 0, memory: 0, freeGpus: [] };
  for (const gpu of wholeGpus.value) {
    const use = useOf(gpu);
    result.total += 1;
    result[use] = (result[use] ?? 0) + 1;
    if (use === 'free' && healthOf(gpu).level !== 'bad') result.freeGpus.push(gpu);
    result.watts += gpu.values.get('power_draw').value ?? 0;
    result.used += gpu.values.get('memory_used').value ?? 0;
    result.memory += gpu.values.get('memory_total').value ?? 0;
  }
  return result;
}
