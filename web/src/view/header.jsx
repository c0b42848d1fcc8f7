// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// The line at the top: which machine, is it live, what is going on in one sentence.
import { useComputed } from '@preact/signals';
import { clock } from './parts.jsx';
import { connection, interval, secondsSilent, serverNow, freshness, retryNow, woken } from '../data/connection.js';
import { hello, hasData, wholeGpus } from '../data/store.js';
import { summary, unwell } from '../data/judge.js';
import { isDark, themeVersion, toggleTheme } from '../state/theme.js';
import { isHelpOpen, typedNumber } from '../state/keyboard.js';
import { linkTo, route } from '../state/route.js';
import { clip, duration, power, show, showOf } from '../words/format.js';

const SILENCE_WORTH_SAYING_S = 3;

/** { level, text, detail } of the connection. */
function connectionWords() {
  clock.value;
  woken.value;
  const { state, retryAt } = connection.value;
  const silent = secondsSilent();
  const age = Number.isFinite(silent) ? `numbers are ${duration(silent)} old` : 'no numbers yet';
  if (state === 'connecting' || (state === 'live' && !hasData.value)) return { level: 'wait', text: 'connecting…' };
  if (state === 'signin') return { level: 'bad', text: 'sign-in needed' };
  if (state === 'polling') return { level: 'warn', text: 'live, every 2 s', detail: 'The WebSocket does not get through; the page asks every two seconds instead.' };
  if (state === 'lost') {
    const wait = Math.max(0, Math.ceil((retryAt - performance.now()) / 1000));
    return { level: 'bad', text: `connection lost · ${age}`, detail: wait ? `Trying again in ${wait} s; it never gives up.` : 'Trying again now.', canRetry: true };
  }
  if (silent > Math.max(SILENCE_WORTH_SAYING_S, 3 * interval())) return { level: 'warn', text: `no news for ${duration(silent)}` };
  return { level: 'ok', text: `live ${show('seconds', interval())}` };
}

function Connection() {
  const words = useComputed(connectionWords).value;
  return (
    <span class={`connection ${words.level}`} role="status">
      <i class="dot" aria-hidden="true" /><span class="num" title={words.detail}>{words.text}</span>
    </span>
  );
}

function Sentence() {
  clock.value;
  if (!hasData.value || !wholeGpus.value.length) return null;
  const s = summary();
  const parts = [`${s.total} GPU${s.total === 1 ? '' : 's'}`, `${s.busy} busy`, `${s.free} free`];
  if (s['held idle']) parts.push(`${s['held idle']} held idle`);
  if (s.unknown) parts.push(`${s.unknown} unknown`);
  parts.push(power(s.watts), showOf('bytes', s.used, s.memory));
  const wrong = unwell().length;
  return <p class="sentence num">{wrong > 0 && <b class="warn">{wrong} not well · </b>}{parts.join(' · ')}</p>;
}

/** A newer version, where the server looks for one. */
function Update() {
  const update = hello.value?.update;
  if (!update?.version || !/^https?:\/\//.test(update.url ?? '')) return null;
  return <a class="chip update" href={update.url} rel="noreferrer">version {clip(update.version, 20)} is out</a>;
}

export function Header() {
  const title = hello.value?.server_name || 'gpumanager';
  const view = route.value.view;
  const dark = useComputed(() => { themeVersion.value; return isDark(); }).value;
  return (
    <header class="top">
      <h1><a href={linkTo('overview')} title={hello.value?.version ? `gpumanager ${hello.value.version}` : 'gpumanager'}><span class="clip">{title}</span></a></h1>
      <Connection />
      <Sentence />
      <Update />
      <nav class="views" aria-label="Views">
        {[['overview', 'Overview'], ['charts', 'Charts'], ['host', 'Host']].map(([id, name]) => <a key={id} href={linkTo(id)} aria-current={view === id ? 'page' : undefined}>{name}</a>)}
      </nav>
      <span class="buttons">
        <button type="button" class="icon" aria-label={dark ? 'Light theme' : 'Dark theme'} title="Light or dark (t)" onClick={toggleTheme}>{dark ? '☀' : '☾'}</button>
        <button type="button" class="icon" aria-label="Keyboard help" title="Keyboard (?)" onClick={() => { isHelpOpen.value = true; }}>?</button>
      </span>
    </header>
  );
}

/** What cannot be missed: simulated numbers, a lost connection, an open `g`. */
export function Banners() {
  const words = useComputed(connectionWords).value;
  return (
    <>
      {hello.value?.simulated && <p class="banner simulated" role="status"><b>SIMULATED GPUS</b> – nothing on this page is real. This machine shows no GPU.</p>}
      {words.level === 'bad' && (
        <p class="banner lost" role="alert">
          {connection.value.state === 'signin' ? <><b>Sign-in needed.</b> <a href="login">Sign in</a></> : (
            <><b>Connection lost.</b> {Number.isFinite(freshness.time) ? `What you see is from ${new Date(freshness.time * 1000).toLocaleTimeString([], { hour12: false })}, ${duration(Math.max(0, serverNow() - freshness.time))} old.` : 'Nothing was received yet.'} <span class="num">{words.detail}</span> <button type="button" onClick={retryNow}>now</button></>
          )}
        </p>
      )}
      {typedNumber.value != null && <p class="typed" role="status">go to GPU <b>{typedNumber.value || '…'}</b></p>}
    </>
  );
}
