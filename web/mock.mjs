// SPDX-FileCopyrightText: 2026 gpumanager contributors
// SPDX-License-Identifier: MIT
// A server that plays a machine, for development and the browser tests. Loopback only.
// node mock.mjs --gpus 8 --port 8123 --scenario lost,throttled [--interval 0.5] [--simulated] [--base /sub/]
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { WebSocketServer } from 'ws';
import { Machine } from './mock/machine.mjs';
import { delta } from './mock/delta.mjs';
import { metrics, texts, linkMetrics } from './mock/registry.mjs';

const DIST = join(dirname(fileURLToPath(import.meta.url)), 'dist');
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };
const CSP = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** { url, port, machine, stop(), start(), tick(now), refuseSockets } */
export async function startMock({ gpus = 8, scenarios = [], interval = 0.5, simulated = false, serverName = 'gpu-box-3', base = '/', port = 0, isManual = false, seed = 7 } = {}) {
  const mock = { machine: new Machine({ gpus, scenarios, seed }), refuseSockets: false, port };
  const hello = () => ({ type: 'hello', protocol: 1, version: '0.4.0-mock', server_name: serverName, interval, simulated, metrics, texts, link_metrics: linkMetrics });
  let server = null;
  let sockets = null;
  let last = null;
  let timer = 0;

  async function answer(request, response) {
    const headers = { 'content-security-policy': CSP, 'x-content-type-options': 'nosniff', 'cache-control': 'no-cache' };
    const path = request.url.split('?')[0];
    if (!path.startsWith(base)) return response.writeHead(404).end();
    const name = path.slice(base.length) || 'index.html';
    const json = { 'api/v1/snapshot': () => mock.machine.full(), 'api/v1/metrics': hello }[name];
    if (json) return response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(JSON.stringify(json()));
    try {
      if (name.includes('/') || name.includes('..')) throw new Error('none');
      const body = await readFile(join(DIST, name));
      return response.writeHead(200, { ...headers, 'content-type': TYPES[extname(name)] ?? 'application/octet-stream' }).end(body);
    } catch {
      return response.writeHead(404, headers).end();
    }
  }

  function copy() { return JSON.parse(JSON.stringify(mock.machine.full())); }

  mock.tick = (now = Date.now() / 1000) => {
    mock.machine.step(now);
    const full = copy();
    const message = (last && delta(last, full)) ?? { type: 'full', ...full };
    last = full;
    const text = JSON.stringify(message);
    mock.bytes = text.length;
    for (const client of sockets.clients) client.send(text);
  };

  mock.start = () => new Promise((done, fail) => {
    server = createServer(answer);
    sockets = new WebSocketServer({ noServer: true });
    last = null;
    server.on('upgrade', (request, socket, head) => {
      if (mock.refuseSockets || request.url !== `${base}ws`) return socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n');
      return sockets.handleUpgrade(request, socket, head, (client) => {
        client.send(JSON.stringify(hello()));
        last ??= copy();
        client.send(JSON.stringify({ type: 'full', ...last }));
      });
    });
    server.on('error', fail);
    server.listen(mock.port, '127.0.0.1', () => {
      mock.port = server.address().port;
      mock.url = `http://127.0.0.1:${mock.port}${base}`;
      if (!isManual) timer = setInterval(() => mock.tick(), interval * 1000);
      done(mock);
    });
  });

  mock.stop = () => new Promise((done) => {
    clearInterval(timer);
    for (const client of sockets.clients) client.terminate();
    server.closeAllConnections();
    server.close(done);
  });

  return mock.start();
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { gpus: { type: 'string', default: '8' }, port: { type: 'string', default: '8123' }, scenario: { type: 'string', default: '' }, interval: { type: 'string', default: '0.5' }, simulated: { type: 'boolean', default: false }, base: { type: 'string', default: '/' } } });
  const mock = await startMock({ gpus: Number(values.gpus), scenarios: values.scenario.split(',').filter(Boolean), interval: Number(values.interval), simulated: values.simulated, base: values.base, port: Number(values.port) });
  console.log(mock.url);
}
