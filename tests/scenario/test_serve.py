# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""`gpumanager serve` as a whole, over the fake driver: gpu-hot's routes and messages, our own, who may
ask, where it listens, and what goes on while a driver hangs, crashes or freezes."""
import ctypes
import json
import os
import re
import signal
import socket
import ssl
import stat
import subprocess
import time

from harness import BIN, FAKE_DIR, check, main, require, skip
from httpclient import Connection, UPGRADE, WebSocket, frame

MIB = 1 << 20
A = "GPU-11111111-2222-4333-8444-00000000000a"
B = "GPU-11111111-2222-4333-8444-00000000000b"
# An idle H100 whose figures are mostly 0, and a 4090 at work.
RICH = """gpu
 index 0
 uuid %s
 name NVIDIA H100 80GB HBM3
 serial 1320000000001
 utilization.gpu 0
 utilization.memory 0
 memory.total 81559
 memory.used 0
 temperature.gpu 31
 power.draw 71.25
 power.limit 700
 fan.speed 0
 clocks.gr 345
 clocks.sm 345
 clocks.mem 2619
 clocks.video 765
 pstate P0
 pcie.link.gen.current 5
 pcie.link.width.current 16
 mig.mode.current Disabled
end
gpu
 index 1
 uuid %s
 name NVIDIA GeForce RTX 4090
 utilization.gpu 97
 utilization.memory 41
 memory.total 24564
 memory.used 20000
 temperature.gpu 66
 power.draw 402
 power.limit 450
 fan.speed 55
 pstate P2
end
app
 gpu_uuid %s
 pid 4000001
 process_name /opt/train
 used_gpu_memory 300
end
0 nvmlDeviceGetArchitecture -> 0 9
1 nvmlDeviceGetArchitecture -> 0 8
0 nvmlDeviceGetBrand -> 0 14
1 nvmlDeviceGetBrand -> 0 15
* nvmlDeviceGetComputeMode -> 0 0
* nvmlDeviceGetPersistenceMode -> 0 0
* nvmlDeviceGetPcieThroughput -> 0 0
* nvmlDeviceGetCurrentClocksThrottleReasons -> 0 0
* nvmlDeviceGetCurrentClocksEventReasons -> 0 0
* nvmlDeviceGetCudaComputeCapability -> 0 major=9 minor=0
0 nvmlDeviceGetPowerManagementLimitConstraints -> 0 min=200000 max=700000
0 nvmlDeviceGetFieldValues:82 -> 0 v=44
0 nvmlDeviceGetEccMode -> 0 current=1 pending=1
0 nvmlDeviceGetTotalEccErrors -> 0 n=0
0 nvmlDeviceGetNumFans -> 0 n=2
0 nvmlDeviceGetFanSpeed_v2 -> 0 speed=0
0 nvmlDeviceGetTotalEnergyConsumption -> 0 mJ=3600000
* nvmlDeviceGetEncoderUtilization -> 0 util=0
* nvmlDeviceGetDecoderUtilization -> 0 util=0
""" % (A, B, B)
PROCESSES = "0 nvmlDeviceGetComputeRunningProcesses_v3 -> 0 pid=%d,used=1073741824;pid=4000002,used=18446744073709551615\n" \
            "1 nvmlDeviceGetGraphicsRunningProcesses_v3 -> 0 pid=4000003,used=2097152\n"
SIMPLE = ("gpu\n index 0\n uuid " + A + "\n name NVIDIA T4\n utilization.gpu 12\n utilization.memory 1\n memory.total 15360\n"
          " memory.used 100\n temperature.gpu 40\n power.draw 30\n power.limit 70\nend\n")


def until(seen, seconds, pause=0.05):
    """What `seen` gives once it is true; None when that does not happen in time."""
    end = time.monotonic() + seconds
    while True:
        value = seen()
        if value or time.monotonic() > end:
            return value or None
        time.sleep(pause)


def is_alive(pid):
    try:
        with open("/proc/%d/stat" % pid, encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Serve:
    """`gpumanager serve` on loopback, ended by its pid; `port` is the one it says."""
    count = 0

    def __init__(self, box, *args, listen="127.0.0.1:0", env=None):
        Serve.count += 1
        self.may_crash = False  # a driver's process, which says so
        self.path = box.path("serve%d.log" % Serve.count)
        words = ["serve"] + (["--listen", listen] if listen else []) + list(args)
        with open(self.path, "wb") as log:
            self.process = box.start(*words, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until(lambda: "listening on" in self.log() or self.process.poll() is not None, 20)
        found = re.search(r"listening on https?://\S*:(\d+)\n", self.log())
        self.port = int(found.group(1)) if found else 0

    def __enter__(self):
        require(self.process.poll() is None and "listening on" in self.log(), self.log())
        return self

    def __exit__(self, kind, value, trace):
        took, pids = self.stop()
        if kind is None:
            check(self.process.returncode == 0, self.log()[-3000:])
            check(took < 2, "stopping took %.1f s" % took)
            check(self.may_crash or "Sanitizer" not in self.log() and "runtime error" not in self.log(), self.log()[-5000:])
            check(until(lambda: not any(is_alive(p) for p in pids), 2), "a child is left")

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def stop(self):
        """Seconds that it took, and the children it had."""
        pids, start = list(self.children()), time.monotonic()
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        return time.monotonic() - start, pids

    def children(self):
        """pid: command line of each child."""
        found = {}
        for task in os.listdir("/proc/%d/task" % self.process.pid) if self.process.poll() is None else []:
            with open("/proc/%d/task/%s/children" % (self.process.pid, task), encoding="ascii") as file:
                for pid in file.read().split():
                    try:
                        with open("/proc/%s/cmdline" % pid, "rb") as words:
                            found[int(pid)] = words.read().decode().replace("\0", " ")
                    except OSError:
                        pass
        return found

    def driver(self, name="NVML"):
        """The pid of the process that reads this driver; 0 when there is none."""
        return next((pid for pid, words in self.children().items() if " driver %s " % name in words), 0)

    def get(self, path, *lines):
        with Connection(self) as client:
            return client.get(path, *lines)

    def json(self, path):
        reply = self.get(path)
        require(reply.status == 200 and reply.headers["content-type"] == "application/json", (path, reply))
        return json.loads(reply.body)

    def snapshot(self):
        """None while nothing was read."""
        reply = self.get("/api/v1/snapshot")
        return json.loads(reply.body) if reply.status == 200 else None

    def gpus(self, count=1, within=20):
        """The snapshot, once it has so many GPUs."""
        def look():
            now = self.snapshot()
            return now if now and len(now["gpus"]) >= count else None
        found = until(look, within)
        require(found, "no %d GPUs\n%s" % (count, self.log()))
        return found


def messages(viewer, count):
    return [json.loads(viewer.text()) for _ in range(count)]


def next_message(viewer, wanted, most=40):
    """The first message that `wanted` likes."""
    for _ in range(most):
        message = json.loads(viewer.text())
        if wanted(message):
            return message
    return None


def apply_delta(state, delta):
    """docs/page-protocol.md, `delta`."""
    state["time"] = delta["time"]
    for gpu in state["gpus"]:
        for key, value in delta.get("gpus", {}).get(gpu["uuid"], {}).items():
            if key in ("values", "texts"):
                gpu.setdefault(key, {}).update(value)
            else:
                gpu[key] = value
    for key in ("processes", "trouble"):
        state[key] = delta.get(key, state[key])
    for at, change in delta.get("process_values", []):
        state["processes"][at].update(change)
    state["system"].update(delta.get("system", {}))


def known(value):
    """Without what is null: unknown."""
    if isinstance(value, dict):
        return {k: known(v) for k, v in value.items() if v is not None}
    return [known(v) for v in value] if isinstance(value, list) else value


# --- gpu-hot's routes ---

def test_gpu_data_has_gpu_hots_shape_with_zeros_and_right_names_GH003_GH100_to_GH146(box):
    box.fake(RICH + PROCESSES % os.getpid())
    with Serve(box) as server:
        server.gpus(2)
        data = server.json("/api/gpu-data")
        check(sorted(data) == ["gpus", "timestamp"] and data["timestamp"] == "async", data)
        check(sorted(data["gpus"]) == ["0", "1"], data)
        idle, busy = data["gpus"]["0"], data["gpus"]["1"]
        wanted = {"index": "0", "name": "NVIDIA H100 80GB HBM3", "uuid": A, "driver_version": "550.54.15", "brand": "NVIDIA",
                  "architecture": "Hopper", "cuda_compute_capability": "9.0", "utilization": 0.0, "memory_utilization": 0.0,
                  "performance_state": "P0", "compute_mode": "Default", "memory_used": 0.0, "memory_total": 81559.0,
                  "memory_change_rate": 0.0, "temperature": 31.0, "temperature_memory": 44.0, "power_draw": 71.25,
                  "power_limit": 700.0, "power_limit_min": 200.0, "power_limit_max": 700.0, "energy_consumption": 3600.0,
                  "energy_consumption_wh": 1.0, "fan_speed": 0.0, "fan_speeds": [0.0, 0.0], "throttle_reasons": "None",
                  "clock_sm": 345.0, "pcie_gen": "5", "pcie_width": "16", "pcie_tx_throughput": 0.0, "pcie_rx_throughput": 0.0,
                  "encoder_utilization": 0.0, "decoder_utilization": 0.0, "ecc_enabled": True, "ecc_errors_corrected": 0,
                  "persistence_mode": "Disabled", "mig_mode_current": "Disabled", "mig_mode_pending": "Disabled",
                  "compute_processes_count": 2, "graphics_processes_count": 0}
        for key, value in wanted.items():
            check(key in idle and idle[key] == value and isinstance(idle.get(key), type(value)),
                  "Part C 1, 3: %s is %r, wanted %r" % (key, idle.get(key), value))
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?", idle["timestamp"]), idle["timestamp"])
        check(busy["architecture"] == "Ada Lovelace" and busy["brand"] == "GeForce RTX", "Part C 2: %s" % busy)
        check(busy["utilization"] == 97.0 and busy["performance_state"] == "P2" and busy["fan_speed"] == 55.0, busy)
        check(busy.get("graphics_processes_count") == 1, "Part C 17: %s" % busy)
        check("ecc_enabled" not in busy and "_fallback_mode" not in busy, busy)


def test_the_version_is_told_and_nobody_is_asked_GH005(box):
    box.fake(SIMPLE)
    with Serve(box) as server:
        version = server.json("/api/version")
        check(sorted(version) == ["current", "latest", "release_url", "update_available"], version)
        check(version["latest"] is None and version["release_url"] is None and version["update_available"] is False)
        check(version["current"] in box.run("--version").out)


def test_a_gpu_hot_client_is_pushed_everything_and_not_listened_to_GH006_GH040_GH041(box):
    box.fake(RICH + PROCESSES % os.getpid())
    with Serve(box, env={"NODE_NAME": "rack <b>7</b>.example"}) as server:
        server.gpus(2)
        for path in ("/socket.io/", "/socket.io", "/socket.io/?EIO=4&transport=websocket", "/socket.io?x"):
            with WebSocket(server, path) as viewer:
                require(viewer.upgrade.status == 101, (path, viewer.upgrade))
                viewer.send(frame(1, "40") + frame(1, '{"a":1}') + frame(1, "42[\"x\"]"))
                message = messages(viewer, 2)[1]
                check(sorted(message) == ["gpus", "mode", "node_name", "processes", "system"], message)
                check(message["mode"] == "default" and message["node_name"] == "rack <b>7</b>.example", "GH-024")
        check(message["gpus"]["1"]["utilization"] == 97.0)
        processes = {p["pid"]: p for p in message["processes"]}
        require(sorted(processes) == sorted([str(os.getpid()), "4000002", "4000003"]), processes)
        mine = processes[str(os.getpid())]
        check(mine == {"pid": str(os.getpid()), "name": "test_serve.py", "gpu_uuid": A, "gpu_id": "0", "memory": 1024.0}, mine)
        check(processes["4000002"]["memory"] == 0 and processes["4000002"]["gpu_id"] == "0", "Part C 5: %s" % processes)
        check(processes["4000003"]["gpu_uuid"] == B and processes["4000003"]["memory"] == 2.0, processes)
        system = message["system"]
        for key in ("cpu_percent", "memory_percent", "memory_total_gb", "memory_used_gb", "memory_available_gb", "swap_percent",
                    "load_avg_1", "load_avg_5", "load_avg_15"):
            check(isinstance(system.get(key), float), (key, system))
        for key in ("cpu_count", "net_bytes_sent", "net_bytes_recv"):
            check(isinstance(system.get(key), int), (key, system))
        check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?", system["timestamp"]), system)
        check(system["cpu_count"] == os.cpu_count() and system["memory_total_gb"] > 0)


def test_the_environment_of_gpu_hot_is_honoured_GH020_GH021_GH022(box):
    box.fake(RICH)
    with Serve(box, env={"UPDATE_INTERVAL": "0.2"}) as server, WebSocket(server, "/socket.io/") as viewer:
        messages(viewer, 2)
        start = time.monotonic()
        messages(viewer, 10)
        took = time.monotonic() - start
        check(1 < took < 4, "ten messages at 0.2 s took %.2f s" % took)
        check(server.json("/api/v1/metrics")["interval"] == 0.2)
        check(server.json("/api/v1/status")["drivers"][0]["interval"] == 0.2)
        box.config()
        os.kill(server.process.pid, signal.SIGHUP)
        require(until(lambda: "read again" in server.log(), 5), server.log())
        check(server.json("/api/v1/metrics")["interval"] == 0.2, "the environment wins after SIGHUP too")
    with Serve(box, env={"NVIDIA_VISIBLE_DEVICES": "1"}) as server:
        check([g["uuid"] for g in server.gpus()["gpus"]] == [B], "GH-026")
    os.unlink(box.path("nvml.log"))
    with Serve(box, env={"NVIDIA_SMI": "true", "UPDATE_INTERVAL": "nonsense", "NVIDIA_SMI_INTERVAL": "0.7"}) as server:
        server.gpus(2)
        with WebSocket(server, "/socket.io/") as viewer:
            gpus = messages(viewer, 2)[1]["gpus"]
        check(all(g["_fallback_mode"] is True for g in gpus.values()), "GH-149: %s" % gpus)
        check(gpus["0"]["utilization"] == 0.0 and gpus["1"]["power_draw"] == 402.0, gpus)
        drivers = server.json("/api/v1/status")["drivers"]
        check([d["name"] for d in drivers] == ["nvidia-smi"] and drivers[0]["interval"] == 0.7, drivers)
        check(not os.path.exists(box.path("nvml.log")), "NVML is not touched")
        check("UPDATE_INTERVAL=nonsense is not a time" in server.log(), server.log())


# --- our own ---

def test_deltas_lead_to_what_the_snapshot_says_and_are_small(box):
    with Serve(box, "--simulate", "8xH100", env={"UPDATE_INTERVAL": "0.3"}) as server:
        server.gpus(8)
        with WebSocket(server) as viewer, WebSocket(server) as second:
            hello, state = messages(viewer, 2)
            check(hello["type"] == "hello" and hello["protocol"] == 1 and hello["simulated"] is True, hello)
            check(hello["interval"] == 0.3 and hello["metrics"][0]["key"] == "utilization", hello)
            check(state["type"] == "full" and len(state["gpus"]) == 8)
            compared, sizes, others = 0, [], {}
            while len(sizes) < 40 and (compared < 3 or len(sizes) < 8):
                text = viewer.text()
                message = json.loads(text)
                require(message["type"] == "delta", message)
                sizes.append(len(text))
                others[message["time"]] = text
                apply_delta(state, message)
                now = server.snapshot()
                if now["time"] == state["time"]:
                    compared += 1
                    for key in ("gpus", "processes", "system", "trouble"):
                        check(known(now[key]) == known(state[key]), "%s\n%s\n%s" % (key, known(now[key]), known(state[key])))
            check(compared >= 3, compared)
            full = len(server.get("/api/v1/snapshot").body)
            check(sum(sizes) / len(sizes) < full / 3, "full %d, deltas %s" % (full, sizes))
            check(second.text().startswith('{"type":"hello"') and second.text().startswith('{"type":"full"'))
            same = [t for t in (second.text() for _ in range(len(sizes) - 1)) if others.get(json.loads(t)["time"]) == t]
            check(len(same) >= 3, "a second viewer gets the same deltas")
            with WebSocket(server, deflate=True) as packed:
                require(json.loads(packed.text())["type"] == "hello" and packed.deflated == 1)
        check(known(server.json("/api/v1/metrics")) == known(hello))


HOSTILE = "<img src=x onerror=alert(1)>\"'&{{7*7}}\\"


def test_hostile_names_arrive_as_data_Part_C_11_12(box):
    victim = subprocess.Popen([HOSTILE, "60"], executable="/bin/sleep")
    try:
        scenario = SIMPLE.replace("NVIDIA T4", HOSTILE).replace(A, 'GPU-"},"<script>')
        box.fake(scenario + "0 nvmlDeviceGetComputeRunningProcesses_v3 -> 0 pid=%d,used=1048576\n" % victim.pid)
        with Serve(box, env={"NODE_NAME": HOSTILE}) as server:
            now = server.gpus()
            check(now["gpus"][0]["name"] == HOSTILE and now["gpus"][0]["uuid"] == 'GPU-"},"<script>', now["gpus"])
            check(now["processes"][0]["name"] == HOSTILE and HOSTILE in now["processes"][0]["command"], now["processes"])
            with WebSocket(server) as viewer:
                hello, *rest = messages(viewer, 4)
                check(hello["server_name"] == HOSTILE and all(m["type"] == "full" for m in rest), rest)
            with WebSocket(server, "/socket.io/") as viewer:
                message = json.loads(viewer.text())
                check(message["node_name"] == HOSTILE and message["gpus"]["0"]["name"] == HOSTILE, message)
                check(message["processes"][0]["name"] == HOSTILE, message)
            reply = server.get("/api/v1/snapshot")
            check(reply.headers["x-content-type-options"] == "nosniff" and reply.headers["content-type"] == "application/json")
    finally:
        victim.kill()
        victim.wait()


def test_every_described_address_answers_and_others_are_refused_in_json(box):
    box.fake(SIMPLE)
    with Serve(box) as server:
        server.gpus()
        described = server.json("/api/v1/openapi.json")
        check(described["openapi"].startswith("3.") and described["info"]["title"] == "gpumanager", described)
        for path, entry in described["paths"].items():
            statuses = list(entry["get"]["responses"])
            reply = server.get(path)
            if statuses == ["101"]:
                check(reply.status == 426 and reply.headers["sec-websocket-version"] == "13", (path, reply))
                with WebSocket(server, path) as viewer:
                    check(viewer.upgrade.status == 101, (path, viewer.upgrade))
            else:
                check(statuses == ["200"] and reply.status == 200, (path, reply))
                check(isinstance(json.loads(reply.body), dict), path)
                with Connection(server) as client:
                    head = client.ask("HEAD %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path, is_head=True)
                    check(head.status == 200 and int(head.headers["content-length"]) > 1, (path, head))
                    check(client.get("/healthz").body == b'{"status":"ok"}', "nothing of a body came")
            with Connection(server) as client:
                for method in ("POST", "PUT", "DELETE"):
                    reply = client.ask("%s %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}" % (method, path))
                    check(reply.status == 405 and reply.headers["allow"] == "GET, HEAD", (method, path, reply))
        for path in ("/none", "/api/v1/", "/api/v1/snapshot/", "/ws/x", "/..%2f..%2fetc%2fpasswd", "/api"):
            reply = server.get(path)
            check(reply.status == 404 and "error" in json.loads(reply.body), (path, reply))
        reply = server.get("/")
        check(reply.status == 200 and b"gpumanager" in reply.body, reply)
        with WebSocket(server) as viewer:
            viewer.text()
            status = server.json("/api/v1/status")
            check(status["viewers"] == 1 and status["connections"] == 2 and status["drivers"][0]["state"] == "running", status)
            check([d["name"] for d in status["drivers"]] == ["NVML", "nvidia-smi"], status)
        check(until(lambda: server.json("/api/v1/status")["viewers"] == 0, 5), "it is seen that a viewer left")


# --- who may ask ---

def test_requests_of_other_pages_are_refused(box):
    box.fake(SIMPLE)
    box.config(extra='\n[server]\nhosts = ["gpu.example.org"]\n')
    with Serve(box) as server:
        def ask(host, *lines, path="/api/v1/status"):
            with Connection(server) as client:
                return client.ask("GET %s HTTP/1.1\r\nHost: %s\r\n%s\r\n" % (path, host, "".join(l + "\r\n" for l in lines)))
        for host in ("localhost", "LOCALHOST:1312", "127.0.0.1:%d" % server.port, "[::1]:1312", "192.168.0.7", "gpu.example.org",
                     "GPU.example.org:80"):
            check(ask(host).status == 200, host)
        for host in ("evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "gpu.example.org.evil.example", "gpu"):
            for path in ("/api/v1/status", "/", "/healthz", "/none", "/ws"):
                reply = ask(host, path=path)
                check(reply.status == 421 and "hosts" in json.loads(reply.body)["error"], (host, reply))
        for origin in ("http://evil.example", "null", "http://localhost:1", "http://localhost.evil.example", "x"):
            reply = ask("localhost", "Origin: " + origin)
            check(reply.status == 403 and "error" in json.loads(reply.body), (origin, reply))
            for path in ("/ws", "/socket.io/"):
                with Connection(server) as client:
                    check(client.ask(UPGRADE % (path, "Origin: %s\r\n" % origin)).status == 403, (origin, path))
        for origin in ("http://localhost", "https://localhost", "https://gpu.example.org"):
            reply = ask("localhost", "Origin: " + origin)
            check(reply.status == 200, (origin, reply))
            check(not [h for h in reply.headers if h.startswith("access-control")], reply)
            with Connection(server) as client:
                check(client.ask(UPGRADE % ("/ws", "Origin: %s\r\n" % origin)).status == 101, origin)
        with Connection(server) as client:
            reply = client.ask("OPTIONS /api/gpu-data HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
                               "Access-Control-Request-Method: GET\r\n\r\n")
            check(reply.status in (403, 405) and not [h for h in reply.headers if h.startswith("access-control")], reply)


def test_the_page_has_a_strict_policy_GH001_GH195(box):
    box.fake(SIMPLE)
    with Serve(box) as server:
        reply = server.get("/")
        if b"without its page" in reply.body:
            skip("this build has no page")
        policy = reply.headers["content-security-policy"]
        check("default-src 'none'" in policy and "unsafe" not in policy and "*" not in policy and "http" not in policy, policy)
        check(reply.headers["content-type"].startswith("text/html") and "etag" in reply.headers, reply)
        for name in re.findall(rb'(?:src|href)="([^"]+)"', reply.body):
            check(b"://" not in name and server.get("/" + name.decode().removeprefix("./")).status == 200, name)


# --- where it listens ---

def test_only_this_machine_is_listened_to_unless_it_is_said(box):
    box.fake(SIMPLE)
    for address in ("[::]:0", "127.0.0.1:0,0.0.0.0:0"):
        ran = box.run("serve", "--listen", address, config=False, timeout=20)
        check(ran.code == 2 and "--insecure" in ran.err and "can be reached from other machines" in ran.err, (address, ran))
    with Serve(box, "--insecure", listen="0.0.0.0:0") as server:
        check("IS OPEN TO EVERYBODY" in server.log() and "--insecure" in server.log(), server.log())
        check(server.get("/healthz").status == 200)
        ran = box.run("serve", "--listen", "127.0.0.1:%d" % server.port, timeout=20)
        check(ran.code == 1 and str(server.port) in ran.err and "already in use" in ran.err, ran)
    for words in (("--listen", "127.0.0.1:99999"), ("--simulate", "8xNothing", "--listen", "127.0.0.1:0"), ("--listen", "")):
        ran = box.run("serve", *words, timeout=20)
        check(ran.code in (1, 2) and re.search("^(Error: |usage:)", ran.err, re.M), (words, ran))


def test_a_unix_socket_and_a_sub_path(box):
    box.fake(SIMPLE)
    box.config(extra='\n[server]\nbase_path = "/gpu"\n')
    path = box.path("page.sock")
    with Serve(box, "--listen", "unix:" + path) as server:
        server.gpus()
        check(server.json("/gpu/healthz")["status"] == "ok" and server.json("/healthz")["status"] == "ok")
        with WebSocket(server, "/gpu/ws") as viewer:
            check(viewer.upgrade.status == 101)
        check(server.get("/gpux/healthz").status == 404)
        require(stat.S_ISSOCK(os.stat(path).st_mode) and os.stat(path).st_mode & 0o007 == 0, oct(os.stat(path).st_mode))
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(path)
            client = Connection(sock=sock)
            reply = client.ask("GET /gpu/api/gpu-data HTTP/1.1\r\nHost: whatever\r\n\r\n")
            check(reply.status == 200 and json.loads(reply.body)["gpus"]["0"]["utilization"] == 12.0, reply)


def test_tls_with_a_certificate_of_ones_own(box):
    key, cert = box.path("key.pem"), box.path("cert.pem")
    done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                           key, "-out", cert, "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"],
                          capture_output=True, timeout=60, check=False)
    require(done.returncode == 0, done.stderr)
    box.fake(SIMPLE)
    box.config(extra='\n[server]\ntls_certificate = "%s"\ntls_key = "%s"\n' % (cert, key))
    with Serve(box) as server:
        check("https://127.0.0.1:%d" % server.port in server.log(), server.log())
        context = ssl.create_default_context(cafile=cert)

        def connect():
            return context.wrap_socket(socket.create_connection(("127.0.0.1", server.port), timeout=10), server_hostname="localhost")
        with connect() as sock:
            check(sock.version() in ("TLSv1.2", "TLSv1.3") and Connection(sock=sock).get("/healthz").status == 200)
        with connect() as sock:
            viewer = WebSocket(sock=sock, lines=["Origin: https://localhost"])
            check(viewer.upgrade.status == 101 and messages(viewer, 1)[0]["type"] == "hello")
    box.config(extra='\n[server]\ntls_certificate = "%s"\ntls_key = "/nonexistent.pem"\n' % cert)
    ran = box.run("serve", "--listen", "127.0.0.1:0", timeout=20)
    check(ran.code in (1, 2) and "/nonexistent.pem" in ran.err, ran)
    box.config(extra='\n[server]\ntls_certificate = "%s"\n' % cert)
    ran = box.run("serve", "--listen", "127.0.0.1:0", timeout=20)
    check(ran.code == 2 and "key" in ran.err, ran)


# --- drivers ---

def test_without_a_driver_it_says_what_was_tried_and_sees_one_that_appears_later(box):
    os.mkdir(box.path("lib"))
    os.mkdir(box.path("bin"))
    box.fake(SIMPLE)
    box.env.update(LD_LIBRARY_PATH=box.path("lib"), PATH=box.path("bin"))
    with Serve(box) as server:
        check(server.json("/healthz")["status"] == "ok")
        now = until(lambda: (server.snapshot() or {}).get("trouble") and server.snapshot(), 10)
        require(now, server.log())
        if now["gpus"]:
            skip("this machine has a GPU")
        found = until(lambda: len(server.snapshot()["trouble"]) == 2 and server.snapshot(), 5)
        require(found, server.snapshot())
        sentences = {t["source"]: t["sentence"] for t in found["trouble"]}
        check(sorted(sentences) == ["NVML", "nvidia-smi"], sentences)
        check("libnvidia-ml.so.1" in sentences["NVML"] and "nvidia-smi" in sentences["nvidia-smi"], sentences)
        check(all(t["since"] > 1e9 for t in found["trouble"]))
        check(server.json("/api/gpu-data")["gpus"] == {})
        with WebSocket(server) as viewer:
            check([m["type"] for m in messages(viewer, 2)] == ["hello", "full"])
            os.symlink(os.path.join(FAKE_DIR, "libnvidia-ml.so.1"), box.path("lib", "libnvidia-ml.so.1"))
            full = next_message(viewer, lambda m: m["type"] == "full" and m["gpus"])
            check(full and full["gpus"][0]["name"] == "NVIDIA T4", server.log())
        check(until(lambda: not server.snapshot()["trouble"], 5), server.snapshot())


def test_nvidia_smi_stands_in_where_NVML_says_nothing_GH030_GH149(box):
    box.fake(RICH + "* nvmlInit_v2 -> 9\n")
    with Serve(box, env={"NVIDIA_SMI_INTERVAL": "0.5"}) as server:
        now = server.gpus(2)
        check([g["source"] for g in now["gpus"]] == ["nvidia-smi"] * 2 and now["gpus"][1]["values"]["utilization"] == 0.97, now["gpus"])
        check([p["pid"] for p in now["processes"]] == [4000001], now["processes"])
        check(all(g["_fallback_mode"] is True for g in server.json("/api/gpu-data")["gpus"].values()))
        check(all(g["health"]["word"] == "ok" for g in now["gpus"]), now["gpus"])
    box.fake(RICH.replace("0 nvmlDeviceGetArch", "0 nvmlDeviceGetUtilizationRates -> 3\n0 nvmlDeviceGetArch", 1).replace(
        "utilization.gpu 0", "utilization.gpu 23"))
    with Serve(box, env={"NVIDIA_SMI_INTERVAL": "0.5"}) as server:
        server.gpus(2)
        check(until(lambda: server.snapshot()["gpus"][0]["values"].get("utilization") == 0.23, 8), server.snapshot()["gpus"][0])
        drivers = server.json("/api/v1/status")["drivers"]
        check([d["state"] for d in drivers] == ["running", "running"] and not drivers[0]["trouble"], drivers)


def test_a_GPU_that_is_lost_stays_in_view_and_the_others_go_on(box):
    box.fake(RICH)
    with Serve(box, env={"UPDATE_INTERVAL": "0.2", "PATH": "/nonexistent"}) as server, WebSocket(server) as viewer:
        server.gpus(2)
        box.fake(RICH + "0 * -> 15\n")  # the next process finds it so
        server.may_crash = True
        os.kill(server.driver(), signal.SIGKILL)
        require(until(lambda: "answers again" in server.log(), 10), server.log())
        now = server.snapshot()
        check([g["values"].get("utilization") for g in now["gpus"] if g["uuid"] == B] == [0.97], now["gpus"])
        lost = [g for g in now["gpus"] if g["uuid"] != B]
        check(len(lost) == 1 and lost[0]["state"] == "lost" and lost[0]["health"]["level"] == "bad", lost)
        check(sorted(server.json("/api/gpu-data")["gpus"]) == ["1"])
        check(next_message(viewer, lambda m: "lost" in json.dumps(m)), "the page is told")


HANG = SIMPLE + "0 nvmlDeviceGetUtilizationRates@4 -> hang\n"


def words_of(server):
    now = server.snapshot()
    return [g["health"]["word"] for g in now["gpus"]] if now else []


def test_a_hanging_a_frozen_and_a_crashing_driver_cost_only_what_they_read(box):
    """Three servers side by side, because a read is given up after 10 s."""
    box.fake(SIMPLE)
    slow = box.write("hang.scenario", HANG)
    fast = {"UPDATE_INTERVAL": "0.3"}
    with Serve(box, env=dict(fast, FAKE_GPU_SCENARIO=slow, PATH="/nonexistent")) as hanging, \
            Serve(box, env=dict(fast, PATH="/nonexistent")) as frozen, Serve(box, env=fast) as replaced:
        for server in (hanging, frozen, replaced):
            server.gpus()
        viewers = [WebSocket(s) for s in (hanging, frozen, replaced)]
        pids = [s.driver() for s in (hanging, frozen, replaced)]
        require(all(pids), pids)
        os.kill(pids[1], signal.SIGSTOP)
        os.kill(pids[2], signal.SIGSTOP)
        start = time.monotonic()
        for server, viewer in ((hanging, viewers[0]), (frozen, viewers[1])):
            check(until(lambda: words_of(server) in (["stale"], ["not answering"]), 8), (words_of(server), server.log()))
            check(until(lambda: words_of(server) == ["not answering"], 8), (words_of(server), server.log()))
            asked = time.monotonic()
            check(server.get("/healthz").status == 200 and time.monotonic() - asked < 0.5)
            seen = next_message(viewer, lambda m: m.get("gpus", {}).get(A, {}).get("health", {}).get("word") == "not answering"
                                if m["type"] == "delta" else False)
            check(seen, "the page is told")
        os.kill(pids[1], signal.SIGCONT)
        check(until(lambda: words_of(frozen) == ["ok"], 5), (words_of(frozen), frozen.log()))
        check(frozen.driver() == pids[1], "a driver that goes on in time is kept")
        # A crash of the vendor's library.
        frozen.may_crash = True
        os.kill(pids[1], signal.SIGSEGV)
        trouble = next_message(viewers[1], lambda m: m.get("trouble"))
        check(trouble and "another is started" in trouble["trouble"][0]["sentence"], trouble)
        check(until(lambda: words_of(frozen) == ["ok"] and not frozen.snapshot()["trouble"], 6), frozen.log())
        check(frozen.driver() not in (0, pids[1]) and frozen.json("/api/v1/status")["drivers"][0]["restarts"] == 1)
        # The one that hangs for good is replaced; nvidia-smi stands in for the one that stays frozen.
        with open(slow, "w", encoding="utf-8") as file:
            file.write(SIMPLE)
        check(until(lambda: (replaced.snapshot()["gpus"] or [{}])[0].get("source") == "nvidia-smi"
                    or not is_alive(pids[2]), 14), replaced.log())
        for server in (hanging, replaced):
            check(until(lambda: words_of(server) == ["ok"] and not server.snapshot()["trouble"], 16),
                  (words_of(server), server.snapshot()["trouble"], server.log()))
            check("did not answer within" in server.log() and "NVML answers again" in server.log(), server.log())
        check(not is_alive(pids[0]) and not is_alive(pids[2]), "the old processes are gone")
        check(time.monotonic() - start < 40)
        for viewer in viewers:
            viewer.sock.close()


def test_it_stops_at_once_while_a_driver_hangs_and_its_port_is_free(box):
    box.fake(HANG)
    with Serve(box, env={"UPDATE_INTERVAL": "0.2"}) as server:
        server.gpus()
        port, pid = server.port, server.driver()
        with WebSocket(server) as viewer:
            require(until(lambda: "not answering" in words_of(server), 8), (words_of(server), server.log()))
            os.kill(pid, signal.SIGSTOP)
            start = time.monotonic()
            server.process.terminate()
            check(viewer.close_code() == 1001 and server.process.wait(5) == 0)
            check(time.monotonic() - start < 2, time.monotonic() - start)
        check(until(lambda: not is_alive(pid), 2), "no child is left")
        with Serve(box, listen="127.0.0.1:%d" % port) as again:
            check(again.port == port and again.get("/healthz").status == 200)


def test_killed_outright_it_leaves_neither_children_nor_a_port_behind(box):
    box.fake(HANG)
    server = Serve(box, env={"UPDATE_INTERVAL": "0.2"})
    try:
        require(until(server.driver, 10), server.log())
        pids = list(server.children())
        server.process.kill()
        server.process.wait(5)
        check(until(lambda: not any(is_alive(p) for p in pids), 3), "children outlive it")
        with Serve(box, listen="127.0.0.1:%d" % server.port) as again:
            check(again.get("/healthz").status == 200)
            again.process.send_signal(signal.SIGINT)
            check(again.process.wait(5) == 0, "SIGINT ends it, too")
    finally:
        server.stop()


def test_systemd_is_told_readiness_life_and_the_end(box):
    try:
        ctypes.CDLL("libsystemd.so.0")
    except OSError:
        skip("no libsystemd.so.0")
    box.fake(SIMPLE)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(box.path("notify"))
        told.settimeout(10)
        with Serve(box, env={"NOTIFY_SOCKET": box.path("notify")}) as server:
            check(told.recv(100) == b"READY=1", server.log())
            check([told.recv(100) for _ in range(2)] == [b"WATCHDOG=1"] * 2)
        told.settimeout(0.1)
        said = []
        try:
            while True:
                said.append(told.recv(100))
        except socket.timeout:
            check(said[-1] == b"STOPPING=1" or b"STOPPING=1" in said[-3:], said)


def calls(box):
    try:
        return os.path.getsize(box.path("nvml.log"))
    except OSError:
        return 0


def test_nothing_is_read_while_nobody_watches_GH034(box):
    box.fake(SIMPLE)
    box.config(extra='\n[live]\ninterval = "0.2s"\nidle_interval = "off"\n')
    with Serve(box) as server:
        require(until(lambda: calls(box) > 0, 20), server.log())
        time.sleep(0.6)
        before = calls(box)
        time.sleep(1)
        check(calls(box) == before, "nobody watches, and the driver is asked")
        with WebSocket(server) as viewer:
            messages(viewer, 6)
            check(calls(box) > before)
            for _ in range(15):
                with WebSocket(server, "/socket.io/") as other:
                    check(other.text())
            check(len(server.children()) <= 2, "Part C 10: %s" % server.children())
            start = calls(box)
            messages(viewer, 5)
            check(calls(box) - start < 4 * max(before, 1), "Part C 10: one loop")
        time.sleep(0.6)
        before = calls(box)
        time.sleep(1)
        check(calls(box) == before, "the last viewer left")


# --- configuration ---

def test_SIGHUP_reads_the_configuration_again_and_a_broken_one_changes_nothing(box):
    box.fake(SIMPLE + "0 nvmlDeviceGetComputeRunningProcesses_v3 -> 0 pid=%d,used=1048576\n" % os.getpid())
    box.config()
    with Serve(box) as server:
        check(server.gpus()["processes"][0]["name"] == "test_serve.py")
        with WebSocket(server) as viewer, WebSocket(server, "/socket.io/") as other:
            hello, full = messages(viewer, 2)
            check(hello["hides_commands"] is False and full["processes"][0]["command"])
            box.config(server="renamed", extra='\n[server]\nhide_processes = true\nhosts = ["gpu.example.org"]\n[live]\ninterval = "1s"\n')
            os.kill(server.process.pid, signal.SIGHUP)
            require(until(lambda: "read again" in server.log(), 5), server.log())
            hello = next_message(viewer, lambda m: m["type"] == "hello")
            check(hello and hello["hides_commands"] is True and hello["server_name"] == "renamed" and hello["interval"] == 1, hello)
            full = next_message(viewer, lambda m: m["type"] == "full")
            check(full and not {"name", "user", "command"} & set(full["processes"][0]), full and full["processes"])
            check(next_message(other, lambda m: m["processes"][0]["name"] == "PID:%d" % os.getpid()), "gpu-hot's message")
        for path in ("/api/v1/snapshot", "/api/gpu-data"):
            check(b"test_serve" not in server.get(path).body, path)
        box.write("config.toml", "[server\nhide_processes = false\n", 0o600)
        os.kill(server.process.pid, signal.SIGHUP)
        require(until(lambda: "the configuration in use stays" in server.log(), 5), server.log())
        check(b"test_serve" not in server.get("/api/v1/snapshot").body)
        with Connection(server) as client:
            check(client.ask("GET /healthz HTTP/1.1\r\nHost: gpu.example.org\r\n\r\n").status == 200, "hosts are live")
        for _ in range(20):
            os.kill(server.process.pid, signal.SIGHUP)
        check(server.get("/healthz").status == 200)


def test_only_serve_loads_what_serving_needs(box):
    box.fake(SIMPLE)
    box.config()
    ran = box.run("test-sample", env={"LD_DEBUG": "files", "LD_DEBUG_OUTPUT": box.path("loaded")})
    loaded = ""
    for name in os.listdir(box.dir):
        if name.startswith("loaded."):
            with open(box.path(name), encoding="utf-8", errors="replace") as file:
                loaded += file.read()
    require(ran.code == 0 and "libc.so" in loaded, ran)
    for name in ("libevent", "libssl", "libcrypto", "libcurl"):
        check(name not in loaded, name)
    with Serve(box) as server:
        with open("/proc/%d/maps" % server.process.pid, encoding="utf-8") as file:
            check("libevent_core" in file.read())
        server.gpus()
        with open("/proc/%d/maps" % server.driver(), encoding="utf-8") as file:
            check("libevent" not in file.read(), "a driver's process serves nobody")


# --- many viewers ---

def test_a_hundred_viewers_get_the_same_messages_beside_one_that_reads_nothing(box):
    with Serve(box, "--simulate", "16xH100", env={"UPDATE_INTERVAL": "0.5"}) as server:
        server.gpus(16)
        mute = [WebSocket(server, path, receive_bytes=4096) for path in ("/ws", "/socket.io/")]
        viewers = [WebSocket(server, "/ws" if i % 4 else "/socket.io/") for i in range(100)]
        check(all(v.upgrade.status == 101 for v in viewers))
        check(until(lambda: server.json("/api/v1/status")["viewers"] == 102, 5))
        at, apart = {}, {}
        for i, viewer in enumerate(viewers):
            gap = time.monotonic()
            for text in (viewer.text() for _ in range(5 if i % 4 else 3)):
                if text.startswith('{"type":"delta"'):
                    at.setdefault(json.loads(text)["time"], set()).add(text)
                elif text.startswith('{"mode"'):
                    message = json.loads(text)
                    apart.setdefault(message["gpus"]["0"]["timestamp"], set()).add(json.dumps(message["gpus"]))
            check(time.monotonic() - gap < 4, "viewer %d waited" % i)
        check(len(at) >= 2 and all(len(texts) == 1 for texts in at.values()), {t: len(x) for t, x in at.items()})
        check(apart and all(len(texts) <= 2 for texts in apart.values()), {t: len(x) for t, x in apart.items()})
        for _ in range(10):
            start = time.monotonic()
            check(server.get("/api/v1/status").status == 200 and time.monotonic() - start < 1)
        for viewer in viewers + mute:
            viewer.sock.close()
        check(until(lambda: server.json("/api/v1/status")["viewers"] == 0, 5))


if __name__ == "__main__":
    require(os.path.exists(BIN), BIN)
    main()
