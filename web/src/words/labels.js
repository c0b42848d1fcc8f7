// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Keys of the registry as words and in groups; states as words.
import { show, DASH } from './format.js';

const ACRONYMS = { pcie: 'PCIe', nvlink: 'NVLink', ecc: 'ECC', sm: 'SM', bar1: 'BAR1', xid: 'XID', jpeg: 'JPEG', ofa: 'Optical flow', fps: 'frames/s', mig: 'MIG', mps: 'MPS', pci: 'PCI', id: 'ID', vbios: 'VBIOS', hw: 'hardware', sw: 'software', app: 'application', tx: 'sent', rx: 'received', gen: 'generation', crc: 'CRC', cuda: 'CUDA', p2p: 'peer-to-peer' };
const COMPUTE_MODES = ['default', 'exclusive thread', 'prohibited', 'exclusive process'];
const GROUPS = [
  ['Utilisation', /utilization$/],
  ['Memory', /^(memory_|bar1_)/],
  ['Temperature and fan', /^(temperature|fan)/],
  ['Power and energy', /^(power_|energy)/],
  ['Clocks', /^clock_(?!event)/],
  ['Why clocks are low', /^(clock_event|violation)/],
  ['Link', /^(pcie|nvlink)/],
  ['Video', /^(encoder|decoder)/],
  ['Memory errors', /^(ecc|remapped|retired|xid)/],
  ['State', /./],
];
export const GROUP_NAMES = ['Identity', ...GROUPS.map(([name]) => name)];

export function label(key) {
  const words = key.split('_').map((word) => ACRONYMS[word] ?? word).join(' ');
  return words[0].toUpperCase() + words.slice(1);
}

export function groupOf(key) {
  return GROUPS.find(([, pattern]) => pattern.test(key))[0];
}

export function valueText(metric, value) {
  if (value == null) return DASH;
  if (metric.kind !== 'state' && metric.unit !== 'state') return show(metric.unit, value);
  if (metric.key === 'performance_state') return `P${value}`;
  if (metric.key === 'compute_mode') return COMPUTE_MODES[value] ?? String(value);
  if (metric.key === 'xid_last') return String(value);
  return value ? 'yes' : 'no';
}
