// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Everything a GPU tells, in groups, with unit and meaning; what it does not tell is listed too.
import { useComputed, useSignal } from '@preact/signals';
import { hello, registry } from '../data/store.js';
import { GROUP_NAMES, groupOf, label, valueText } from '../words/labels.js';
import { whyUnknown } from './parts.jsx';
import { show, clip, DASH } from '../words/format.js';

function ValueCell({ gpu, metric }) {
  const cell = gpu.values.get(metric.key);
  const text = useComputed(() => valueText(metric, cell.value));
  const title = useComputed(() => (cell.value == null ? whyUnknown(metric.key) : `${metric.key} = ${cell.value} (${metric.unit})`));
  return <dd class="num" title={title}>{text}</dd>;
}

function rowsOf(gpu) {
  const rows = [];
  const add = (group, key, text, help) => rows.push({ group, key, label: label(key), text, help });
  add('Identity', 'uuid', gpu.uuid, 'The identity of the GPU; its number may change');
  add('Identity', 'name', gpu.name, 'Product name');
  for (const { key, help } of hello.value?.texts ?? []) {
    const text = gpu.texts.get(key).value;
    if (text) add('Identity', key, text, help);
  }
  const fans = gpu.fields.get('fans').value ?? [];
  if (fans.length > 1) fans.forEach((ratio, i) => add('Temperature and fan', `fan_${i + 1}`, show('ratio', ratio), 'Speed of this fan as a share of its maximum'));
  for (const metric of registry.value.values()) rows.push({ group: groupOf(metric.key), key: metric.key, label: label(metric.key), metric, help: metric.help });
  return rows;
}

function matches(row, text) {
  const hay = `${row.label} ${row.key} ${row.group} ${row.help ?? ''}`.toLowerCase();
  return text.toLowerCase().split(/\s+/).every((word) => hay.includes(word));
}

export function AllValues({ gpu }) {
  const search = useSignal('');
  const withUnknown = useSignal(false);
  const rows = rowsOf(gpu);
  const isKnown = (row) => row.text != null || gpu.values.get(row.key).value != null;
  const unknown = rows.filter((row) => !isKnown(row)).length;
  const shown = rows.filter((row) => (withUnknown.value || isKnown(row)) && matches(row, search.value));
  return (
    <section class="all-values" aria-label="All values">
      <header class="section-head">
        <h2>All values</h2>
        <input type="search" aria-label="Search the values" placeholder="search name or meaning" value={search.value} onInput={(event) => { search.value = event.currentTarget.value; }} />
        {unknown > 0 && <button type="button" class="quiet" aria-pressed={withUnknown.value} onClick={() => { withUnknown.value = !withUnknown.value; }}>{withUnknown.value ? 'hide' : 'show'} {unknown} not reported</button>}
      </header>
      {shown.length === 0 && <p class="dim">Nothing matches.</p>}
      <div class="groups">
        {GROUP_NAMES.map((group) => ({ group, list: shown.filter((row) => row.group === group) })).filter(({ list }) => list.length).map(({ group, list }) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>{list.map((row) => <div key={row.key}><dt title={row.help}>{row.label}</dt>{row.metric ? <ValueCell gpu={gpu} metric={row.metric} /> : <dd title={row.text}>{clip(row.text, 64)}</dd>}</div>)}</dl>
          </section>
        ))}
      </div>
      <Links gpu={gpu} />
    </section>
  );
}

/** One row for each NVLink. */
function Links({ gpu }) {
  const links = gpu.fields.get('links').value ?? [];
  const columns = (hello.value?.link_metrics ?? []).filter(({ key }) => links.some((link) => link[key] != null));
  if (!links.length) return null;
  return (
    <section class="links">
      <h3>NVLinks</h3>
      <div class="table-frame"><table>
        <thead><tr><th scope="col" class="right">Link</th>{columns.map((c) => <th key={c.key} scope="col" class="right" title={c.help}>{label(c.key)}</th>)}</tr></thead>
        <tbody>{links.map((link, i) => <tr key={i}><td class="num right">{i}</td>{columns.map((c) => <td key={c.key} class="num right">{link[c.key] == null ? DASH : valueText(c, link[c.key])}</td>)}</tr>)}</tbody>
      </table></div>
    </section>
  );
}
