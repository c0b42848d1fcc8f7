// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The line to the server: a WebSocket for as long as the page lives, with back-off and without an
// end; plain polling where WebSockets do not get through.
import { signal } from '@preact/signals';
import { hello, takeFull, takeDelta } from './store.js';
import { timeline } from './timeline.js';
import { later, requestFrame } from './frame.js';

const WAIT_FIRST_MS = 500;
const WAIT_MOST_MS = 10000;
const SILENCE_LEAST_S = 8; // so long without a word, and the line is taken for dead
const POLL_AFTER_FAILURES = 3;
const POLL_MS = 2000;

/** state: connecting, live, polling, lost, signin. retryAt: performance.now() of the next try. */
export const connection = signal({ state: 'connecting', retryAt: 0 });
/** Grows when numbers come again after a silence, so that words about it go at once. */
export const woken = signal(0);
export const freshness = { receivedAt: -Infinity, time: NaN }; // of the newest numbers

let socket = null;
let failures = 0;
let retryTimer = 0;
let pollTimer = 0;

function address(path) {
  return new URL(path, location.href.split(/[?#]/)[0]);
}

/** The wall time of the server now, as far as the page knows. */
export function serverNow() {
  if (!Number.isFinite(freshness.time)) return Date.now() / 1000;
  return freshness.time + (performance.now() - freshness.receivedAt) / 1000;
}

export function secondsSilent() {
  return (performance.now() - freshness.receivedAt) / 1000;
}

export function interval() {
  return hello.value?.interval ?? 0.5;
}

export function start() {
  connect();
  for (const event of ['online', 'focus', 'pageshow']) addEventListener(event, retryNow);
  document.addEventListener('visibilitychange', () => document.hidden || retryNow());
  setInterval(dropSilentLine, 1000);
}

export function retryNow() {
  if (socket) return;
  clearTimeout(retryTimer);
  connect();
}

function connect() {
  const url = address('ws');
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  let line;
  try {
    line = new WebSocket(url);
  } catch {
    return retryLater();
  }
  socket = line;
  line.onmessage = (event) => { if (line === socket) receive(event.data); };
  line.onclose = () => { if (line === socket) { socket = null; retryLater(); } };
}

function receive(text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return socket.close();
  }
  failures = 0;
  clearInterval(pollTimer);
  pollTimer = 0;
  take(message);
  if (connection.value.state !== 'live') connection.value = { state: 'live', retryAt: 0 };
}

function take(message) {
  if (message.type === 'hello') return void (hello.value = message);
  if (message.type === 'full') takeFull(message);
  else if (message.type === 'delta') takeDelta(message);
  else return; // of a newer server
  const limit = Math.max(3, 4 * interval());
  if (message.type === 'full') timeline.resize(message.gpus?.length ?? 0);
  if (message.time - timeline.lastTime > limit) timeline.gap(timeline.lastTime + limit / 2);
  if (secondsSilent() > 2) later(woken, woken.peek() + 1);
  freshness.receivedAt = performance.now();
  freshness.time = message.time;
  timeline.append(message.time, interval());
  requestFrame();
}

function retryLater() {
  failures += 1;
  const wait = Math.min(WAIT_MOST_MS, WAIT_FIRST_MS * 2 ** Math.min(failures - 1, 8)) * (0.75 + Math.random() / 2);
  if (!['polling', 'signin'].includes(connection.value.state)) {
    connection.value = { state: 'lost', retryAt: performance.now() + wait };
  }
  clearTimeout(retryTimer);
  retryTimer = setTimeout(connect, wait);
  if (failures >= POLL_AFTER_FAILURES && !pollTimer) {
    pollTimer = setInterval(poll, POLL_MS);
    poll();
  }
}

async function poll() {
  if (document.hidden) return;
  try {
    const answer = await fetch(address('api/v1/snapshot'), { cache: 'no-store', signal: AbortSignal.timeout(POLL_MS * 2) });
    if (answer.status === 401) return void (connection.value = { state: 'signin', retryAt: 0 });
    if (!answer.ok) throw new Error(answer.statusText);
    const snapshot = await answer.json();
    if (!hello.value) take({ type: 'hello', ...(await (await fetch(address('api/v1/metrics'))).json()) });
    if (!pollTimer) return;
    take({ ...snapshot, type: 'full' });
    if (connection.value.state !== 'polling') connection.value = { state: 'polling', retryAt: 0 };
  } catch {
    if (pollTimer) connection.value = { state: 'lost', retryAt: performance.now() + POLL_MS };
  }
}

function dropSilentLine() {
  if (!socket || connection.value.state !== 'live') return;
  if (secondsSilent() < Math.max(SILENCE_LEAST_S, 6 * interval())) return;
  const line = socket;
  socket = null;
  line.close();
  retryLater();
}
