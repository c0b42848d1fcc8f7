// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// Everything that has a course: what is recorded, and which of it shares a chart.

const gpuSeries = [];
const hostSeries = [];

function metric(id, label, unit, more = {}) {
  gpuSeries.push({ id, label, unit, isHost: false, isRate: false, of: (raw) => raw[id], ...more });
}

function host(id, label, unit, more = {}) {
  hostSeries.push({ id, label, unit, isHost: true, isRate: false, of: (raw) => raw[id], ...more });
}

function share(part, whole) {
  return whole > 0 && part != null ? part / whole : null;
}

metric('utilization', 'GPU', 'ratio');
metric('memory_utilization', 'bus', 'ratio');
metric('memory_used', 'used', 'bytes');
metric('bar1_memory_used', 'BAR1', 'bytes');
metric('temperature', 'core', 'celsius');
metric('temperature_memory', 'memory', 'celsius');
metric('power_draw', 'board', 'watts');
metric('fan_speed', 'fan', 'ratio');
metric('clock_graphics', 'graphics', 'hertz');
metric('clock_sm', 'SM', 'hertz');
metric('clock_memory', 'memory', 'hertz');
metric('clock_video', 'video', 'hertz');
metric('clock_graphics_app', 'graphics', 'hertz');
metric('clock_sm_app', 'SM', 'hertz');
metric('clock_memory_app', 'memory', 'hertz');
metric('clock_video_app', 'video', 'hertz');
metric('pcie_rx', 'received', 'bytes_per_s');
metric('pcie_tx', 'sent', 'bytes_per_s');
metric('nvlink_rx', 'received', 'bytes_per_s', { isRate: true, isSlow: true });
metric('nvlink_tx', 'sent', 'bytes_per_s', { isRate: true, isSlow: true });
metric('efficiency', 'per watt', 'ratio_per_watt', { of: (raw) => share(raw.utilization, raw.power_draw) });
metric('encoder_utilization', 'encoder', 'ratio');
metric('decoder_utilization', 'decoder', 'ratio');
metric('jpeg_utilization', 'JPEG', 'ratio');
metric('ofa_utilization', 'optical flow', 'ratio');
metric('ecc_corrected_volatile', 'ECC corr.', 'per_s', { isRate: true, isSlow: true });
metric('ecc_uncorrected_volatile', 'ECC uncorr.', 'per_s', { isRate: true, isSlow: true });
metric('pcie_replay', 'replays', 'per_s', { isRate: true, isSlow: true });

host('cpu', 'CPU', 'ratio');
host('memory_used', 'used', 'bytes');
host('swap_used', 'used', 'bytes');
host('net_rx', 'received', 'bytes_per_s', { isRate: true });
host('net_tx', 'sent', 'bytes_per_s', { isRate: true });
host('disk_read', 'read', 'bytes_per_s', { isRate: true });
host('disk_write', 'written', 'bytes_per_s', { isRate: true });
host('load1', '1 min', 'number');
host('load5', '5 min', 'number');
host('load15', '15 min', 'number');

export const SERIES = [...gpuSeries, ...hostSeries];
const byOwner = { gpu: new Map(gpuSeries.map((s) => [s.id, s])), host: new Map(hostSeries.map((s) => [s.id, s])) };

export function seriesOf(isHost, id) {
  return byOwner[isHost ? 'host' : 'gpu'].get(id);
}

// limit: the value that a dashed line marks. companions: charts whose first series is offered first
// as an overlay.
export const GPU_CHARTS = [
  { id: 'utilization', title: 'Utilisation', series: ['utilization', 'memory_utilization'], companions: ['temperature', 'power', 'memory', 'clocks'] },
  { id: 'memory', title: 'Memory', series: ['memory_used', 'bar1_memory_used'], limit: 'memory_total', companions: ['utilization', 'power'] },
  { id: 'temperature', title: 'Temperature', series: ['temperature', 'temperature_memory'], limit: 'temperature_slowdown', companions: ['utilization', 'fan', 'power'] },
  { id: 'power', title: 'Power', series: ['power_draw'], limit: 'power_limit', companions: ['utilization', 'temperature', 'clocks'] },
  { id: 'clocks', title: 'Clocks', series: ['clock_graphics', 'clock_sm', 'clock_memory', 'clock_video'], companions: ['utilization', 'power', 'temperature'] },
  { id: 'appclocks', title: 'Clocks asked for', series: ['clock_graphics_app', 'clock_sm_app', 'clock_memory_app', 'clock_video_app'], companions: ['utilization', 'power'] },
  { id: 'fan', title: 'Fan', series: ['fan_speed'], companions: ['temperature', 'utilization'] },
  { id: 'pcie', title: 'PCIe', series: ['pcie_rx', 'pcie_tx'], companions: ['utilization', 'memory'] },
  { id: 'nvlink', title: 'NVLink', series: ['nvlink_rx', 'nvlink_tx'], companions: ['utilization', 'pcie'] },
  { id: 'efficiency', title: 'Efficiency', series: ['efficiency'], companions: ['utilization', 'power'] },
  { id: 'media', title: 'Video engines', series: ['encoder_utilization', 'decoder_utilization', 'jpeg_utilization', 'ofa_utilization'], companions: ['utilization', 'power', 'memory'] },
  { id: 'errors', title: 'Errors', series: ['ecc_corrected_volatile', 'ecc_uncorrected_volatile', 'pcie_replay'], companions: ['temperature', 'utilization'] },
];

export const HOST_CHARTS = [
  { id: 'cpu', title: 'CPU', series: ['cpu'], companions: ['ram', 'swap', 'load'] },
  { id: 'ram', title: 'Memory', series: ['memory_used'], limit: 'memory_total', companions: ['cpu', 'swap'] },
  { id: 'swap', title: 'Swap', series: ['swap_used'], limit: 'swap_total', companions: ['ram', 'cpu'] },
  { id: 'net', title: 'Network', series: ['net_rx', 'net_tx'], companions: ['cpu', 'disk'] },
  { id: 'disk', title: 'Disk', series: ['disk_read', 'disk_write'], companions: ['cpu', 'net'] },
  { id: 'load', title: 'Load', series: ['load1', 'load5', 'load15'], companions: ['cpu', 'ram'] },
];
