// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// A believable machine that moves: GPUs with jobs, a host, and troubles on demand.
// scenarios: lost, throttled, hostile, longnames, mig, idle, ecc, stale, none, trouble
const GIB = 2 ** 30;
const USERS = ['anna', 'lee', 'marta', 'joon', 'wei'];
const JOBS = [['train.py', 'python train.py --config base.yaml --lr ****'], ['vllm', 'vllm serve meta/llama --tensor-parallel-size 2'], ['finetune.py', 'python finetune.py --epochs 3'], ['jupyter', 'python -m ipykernel_launcher'], ['ffmpeg', 'ffmpeg -hwaccel cuda -i in.mkv out.mp4']];
export const HOSTILE = ['<img src=x onerror=alert(1)>', '"><script>window.pwned=1</script>', "';window.pwned=1;//", '{{constructor.constructor("window.pwned=1")()}}', 'javascript:window.pwned=1', '\u202Egnp.exe', '<svg/onload=window.pwned=1>', '__proto__'];

/** Numbers that repeat from run to run. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function uuidOf(i) {
  const hex = (0x27b9a1c4 + i * 0x01010101).toString(16).padStart(8, '0');
  return `GPU-${hex}-6f1e-4c0b-9d3a-${String(i).padStart(12, '0')}`;
}

export class Machine {
  constructor({ gpus = 8, scenarios = [], seed = 7, now = Date.now() / 1000 } = {}) {
    this.scenarios = new Set(scenarios);
    this.random = random(seed);
    this.time = now;
    this.counters = { net_rx: 5e9, net_tx: 2e9, disk_read: 8e9, disk_write: 3e9 };
    this.gpus = this.has('none') ? [] : Array.from({ length: gpus }, (_, i) => this.#gpu(i, now));
    this.processes = [];
    this.#start(now);
    if (this.has('mig')) this.#cut(this.gpus[0], now);
    this.step(now);
  }

  has(scenario) { return this.scenarios.has(scenario); }

  /** One reading later. */
  step(now) {
    const passed = Math.max(0, now - this.time);
    this.time = now;
    for (const gpu of this.gpus) this.#move(gpu, passed);
    for (const p of this.processes) this.#moveProcess(p);
    this.system = this.#host(passed);
    if (this.has('stale') && this.gpus[2]) this.gpus[2].age = { fast: 42, slow: 50 };
  }

  full() {
    return { time: this.time, gpus: this.gpus.map(({ job, phase, ...gpu }) => gpu), processes: this.processes, system: this.system, trouble: this.#trouble() };
  }

  lose(i) { this.#setHealth(this.gpus[i], 'lost', 'The GPU does not answer: fallen off the bus (XID 79)', 'bad'); this.gpus[i].state = 'lost'; }

  find(i) { this.#setHealth(this.gpus[i], 'ok', '', 'ok'); this.gpus[i].state = 'ok'; }

  #gpu(i, now) {
    const jobKind = i % 8 === 1 || i % 8 === 6 ? 'free' : i % 8 === 4 ? 'idle' : 'busy';
    const name = this.has('hostile') ? HOSTILE[i % HOSTILE.length] : this.has('longnames') ? 'NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition 96 GB' : 'NVIDIA H100 80GB HBM3';
    return {
      uuid: uuidOf(i), index: i, name, parent: null, state: 'ok', health: { word: 'ok', detail: '', since: now, level: 'ok' },
      use: { word: jobKind === 'idle' ? 'held idle' : jobKind, since: now - 4000 * (i + 1) }, source: 'nvml', pace: { fast: 0.5, slow: 5 }, age: { fast: 0, slow: 0 },
      job: jobKind, phase: this.random() * 20,
      texts: { vbios_version: '96.00.74.00.01', brand: 'NVIDIA', architecture: 'Hopper', compute_capability: '9.0', serial: '165112304' + i, pci_bus_id: `00000000:${(0x18 + i).toString(16).toUpperCase()}:00.0`, driver_version: '580.159', cuda_version: '13.0' },
      values: {
        memory_total: 79.65 * GIB, memory_reserved: 0.6 * GIB, bar1_memory_total: 128 * GIB, bar1_memory_used: 0.02 * GIB,
        temperature_slowdown: 87, temperature_shutdown: 92, temperature_max: 85, temperature_memory_max: 95,
        power_limit: 700, power_limit_enforced: 700, power_limit_default: 700, power_limit_min: 200, power_limit_max: 700, energy: 4e8 + i * 1e7,
        clock_graphics_max: 1.98e9, clock_sm_max: 1.98e9, clock_memory_max: 2.619e9, clock_video_max: 1.545e9, clock_graphics_app: 1.98e9, clock_memory_app: 2.619e9, clock_sm_app: 1.98e9, clock_memory: 2.619e9,
        compute_mode: 0, persistence_mode: 1, display_active: 0, pcie_gen: 5, pcie_gen_max: 5, pcie_width: 16, pcie_width_max: 16, pcie_replay: 0,
        encoder_sessions: 0, encoder_utilization: 0, decoder_utilization: 0, ecc_enabled: 1, ecc_corrected_volatile: 0, ecc_uncorrected_volatile: 0, ecc_corrected_aggregate: 3, ecc_uncorrected_aggregate: 0,
        nvlink_count: 18, nvlink_active_count: 18, nvlink_tx: 1e12, nvlink_rx: 1e12, mig_mode: 0, compute_processes: jobKind === 'free' ? 0 : 1, graphics_processes: 0,
        violation_power: 120.5, violation_thermal: 0, clock_event_sw_power_cap: 0, clock_event_hw_thermal: 0, clock_event_sw_thermal: 0, clock_event_idle: jobKind === 'busy' ? 0 : 1,
      },
      fans: [], links: Array.from({ length: 18 }, (_, l) => ({ active: 1, version: 4, p2p_supported: 1, tx: 5e10 + l, rx: 5e10, crc_flit_errors: 0, replay_errors: 0 })),
    };
  }

  #start(now) {
    this.gpus.forEach((gpu, i) => {
      if (gpu.job === 'free') return;
      for (let n = 0; n < (i % 8 === 3 ? 4 : i % 8 === 5 ? 2 : 1); n += 1) this.processes.push(this.#process(gpu, i, n, now));
    });
  }

  #process(gpu, i, n, now) {
    const [name, command] = JOBS[(i + n) % JOBS.length];
    const hostile = this.has('hostile');
    return {
      gpu: gpu.uuid, pid: 41231 + i * 97 + n, user: hostile ? HOSTILE[(i + n) % HOSTILE.length] : USERS[(i + n) % USERS.length],
      name: hostile ? HOSTILE[(i + n + 1) % HOSTILE.length] : this.has('longnames') ? 'a-process-with-a-name-of-exactly-sixty-characters-for-tests!' : name,
      command: hostile ? HOSTILE.join(' ') : command, started: Math.floor(now - 3600 * (i * 5 + n + 1) - 720),
      memory: (gpu.job === 'idle' ? 12 : 68 / (n + 1)) * GIB, sm: 0, encoder: 0, decoder: 0, kinds: ['compute'], cpu: 1, host_memory: (4 + n) * GIB,
    };
  }

  /** GPU 0 as MIG instances. */
  #cut(parent, now) {
    parent.values.mig_mode = 1;
    parent.values.utilization = null;
    parent.job = 'mig';
    parent.use = { word: 'busy', since: now };
    this.processes = this.processes.filter((p) => p.gpu !== parent.uuid);
    const parts = ['3g.40gb', '2g.20gb', '1g.10gb', '1g.10gb'].map((profile, n) => ({
      uuid: `MIG-${n}${parent.uuid.slice(5)}`, index: parent.index, name: `${parent.name} MIG ${profile}`, parent: parent.uuid, instance: [n + 1, 0], state: 'ok', health: { word: 'ok', detail: '', since: now, level: 'ok' },
      use: { word: n < 2 ? 'busy' : 'free', since: now }, source: 'nvml', pace: { fast: 0.5, slow: 5 }, age: { fast: 0, slow: 0 }, job: 'part', phase: n, texts: {}, fans: [], links: [],
      values: { memory_total: Number(profile.slice(3, 5)) * GIB * 0.98, memory_used: (n < 2 ? 8 : 0.1) * GIB },
    }));
    this.gpus.splice(1, 0, ...parts);
    parts.slice(0, 2).forEach((part, n) => this.processes.push({ ...this.#process(part, 20 + n, 0, now), memory: 7.9 * GIB }));
  }

  #move(gpu, passed) {
    const v = gpu.values;
    const troubled = this.has('throttled') && gpu.index === 2;
    if (this.has('lost') && gpu.index === 5 && gpu.state !== 'lost') this.lose(this.gpus.indexOf(gpu));
    if (gpu.job === 'part' || gpu.state === 'lost') return;
    const noise = () => this.random() - 0.5;
    const wave = Math.sin((this.time + gpu.phase * 7) / (9 + gpu.phase));
    const load = gpu.job === 'busy' || gpu.job === 'mig' ? Math.min(1, Math.max(0.02, 0.88 + 0.1 * wave + 0.08 * noise() - (Math.sin(this.time / 31 + gpu.phase) > 0.93 ? 0.7 : 0))) : 0;
    if (gpu.job !== 'mig') v.utilization = Math.round(load * 100) / 100;
    v.memory_utilization = Math.round(load * 62) / 100;
    v.memory_used = Math.round((gpu.job === 'free' ? 0.4 : gpu.job === 'idle' ? 12.6 : 71.2 + 0.5 * wave) * 1024) * GIB / 1024;
    v.memory_free = v.memory_total - v.memory_used - v.memory_reserved;
    v.power_draw = Math.round((68 + load * 590 + 12 * noise()) * 10) / 10;
    v.power_instant = v.power_draw;
    v.temperature = Math.round(31 + load * 42 + 2 * wave) + (troubled ? 12 : 0);
    v.temperature_memory = v.temperature + 9;
    v.energy = Math.round(v.energy + v.power_draw * passed);
    v.clock_graphics = (load ? 1.98e9 - (troubled ? 5.4e8 : 0) - (load > 0.95 ? 4.5e7 : 0) : 3.45e8);
    v.clock_sm = v.clock_graphics;
    v.clock_video = load ? 1.545e9 : 7.65e8;
    v.performance_state = 0;
    v.pcie_rx = Math.round(load * 6e9 * (1 + 0.4 * noise()));
    v.pcie_tx = Math.round(load * 2e9 * (1 + 0.4 * noise()));
    v.nvlink_tx += Math.round(load * 4e10 * passed);
    v.nvlink_rx += Math.round(load * 3.8e10 * passed);
    v.clock_event_hw_thermal = troubled ? 1 : 0;
    if (troubled && gpu.health.word === 'ok') this.#setHealth(gpu, 'throttled', 'thermal slowdown', 'warn', 190);
    if (this.has('ecc') && gpu.index === 3 && gpu.health.word === 'ok') {
      v.ecc_uncorrected_volatile = 2;
      this.#setHealth(gpu, 'ECC trouble', '2 uncorrected memory errors since driver load', 'bad', 5000);
    }
  }

  #moveProcess(p) {
    const gpu = this.gpus.find(({ uuid }) => uuid === p.gpu);
    const load = gpu.values.utilization ?? 0.6;
    p.sm = gpu.job === 'part' ? 0.6 : Math.round(load * 95) / 100;
    p.cpu = Math.round((load * 1.4 + this.random() * 0.1) * 100) / 100;
  }

  #host(passed) {
    const wave = Math.sin(this.time / 20);
    const c = this.counters;
    c.net_rx += Math.round(passed * 3e7 * (1.2 + wave + this.random()));
    c.net_tx += Math.round(passed * 8e6 * (1.2 + wave));
    c.disk_read += Math.round(passed * 2.2e8 * (1.1 + wave));
    c.disk_write += Math.round(passed * 4e7 * this.random());
    return { cpu: Math.round((0.21 + 0.08 * wave + 0.02 * this.random()) * 1000) / 1000, cores: 96, memory_used: Math.round((212 + 3 * wave) * 1024) * GIB / 1024, memory_total: 1007 * GIB, swap_used: 0.2 * GIB, swap_total: 8 * GIB, load1: Math.round((22 + 3 * wave) * 100) / 100, load5: 21.7, load15: 19.4, ...c };
  }

  #setHealth(gpu, word, detail, level, ago = 12) {
    gpu.health = { word, detail, since: this.time - ago, level };
  }

  #trouble() {
    if (this.has('none')) return [{ source: 'nvml', sentence: 'libnvidia-ml.so.1 could not be loaded: no such file. Is the NVIDIA driver installed?', since: this.time }, { source: 'nvidia-smi', sentence: 'nvidia-smi was not found in PATH.', since: this.time }, { source: 'amdgpu', sentence: 'No card in /sys/class/drm uses the amdgpu driver.', since: this.time }];
    if (this.has('trouble')) return [{ source: 'nvidia-smi', sentence: 'did not answer within 10 s; going on without it', since: this.time - 75 }];
    return [];
  }
}
