# SPDX-FileCopyrightText: 2026 gpumanager contributors
# SPDX-License-Identifier: MIT
"""A machine with a real systemd for tests: this machine's own root folder under a throw-away overlay,
booted by systemd-nspawn without a network. Nothing of it reaches the machine underneath: all mounts
live in a mount namespace of this process and go with it, the container dies with its parent, and
commands in it cannot set the clock, which is the one thing it shares.
"""
import ctypes
import glob
import os
import shutil
import subprocess
import tempfile
import time
import uuid

from harness import CLEAN_PATH, Ran

CLONE_NEWNS = 0x20000
BOOT_SECONDS = 60
# The users that services of tests run as.
USERS = (("worker", 2101), ("analyst", 2102))
# What `nsenter` from outside would bring in with it: the clock, the kernel's modules and the reset.
DROPPED = "-sys_time,-sys_module,-sys_rawio,-sys_boot"


class Cannot(Exception):
    """No container can start here, for the reason given."""


def _mount(*words):
    done = subprocess.run(["mount"] + list(words), capture_output=True, text=True, check=False)
    if done.returncode:
        raise Cannot("mount is refused here: " + done.stderr.strip())


def _enter_own_mounts():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) != 0:
        raise Cannot("no mount namespace is allowed here: " + os.strerror(ctypes.get_errno()))
    _mount("--make-rprivate", "/")


def _child_of(process):
    for path in glob.glob("/proc/%s/task/*/children" % process):
        try:
            with open(path, encoding="ascii") as file:
                children = file.read().split()
        except OSError:  # ended meanwhile
            continue
        if children:
            return children[0]
    return None


class Machine:
    """`root` is its root folder as seen from here; use it for /etc, /opt, /var and /home, not for
    /run and /tmp, which it mounts anew at each boot."""

    def __init__(self):
        if os.geteuid() != 0:
            raise Cannot("only root can start a container")
        for tool in ("systemd-nspawn", "nsenter", "setpriv", "unshare", "mount"):
            if not shutil.which(tool):
                raise Cannot(tool + " is not installed")
        self.nspawn = self.leader = self.log = None
        self.dir = tempfile.mkdtemp(prefix="gpumanager-machine-")
        self.root = os.path.join(self.dir, "root")
        try:
            _enter_own_mounts()
            _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", self.dir)
            for name in ("upper", "work", "root"):
                os.mkdir(os.path.join(self.dir, name))
            _mount("-t", "overlay", "overlay", "-o", "lowerdir=/,upperdir=%s/upper,workdir=%s/work" % (self.dir, self.dir), self.root)
            self._make_bare()
        except BaseException:
            self.close()
            raise

    def path(self, path):
        return os.path.join(self.root, path.lstrip("/"))

    def _make_bare(self):
        """No service of the machine underneath starts, nothing of an installed gpumanager shows."""
        unit_dir = self.path("/etc/systemd/system")
        os.makedirs(unit_dir, exist_ok=True)
        for name in os.listdir(unit_dir):
            path = os.path.join(unit_dir, name)
            if name.endswith((".wants", ".requires")):
                shutil.rmtree(path)
            elif name.startswith("gpumanager") or name == "default.target":
                os.remove(path)
        # Nothing here depends on a generator, and each reload would run them all.
        os.makedirs(self.path("/etc/systemd/system-generators"), exist_ok=True)
        for path in glob.glob(self.path("/*/systemd/system-generators/*")) + glob.glob(self.path("/usr/*/systemd/system-generators/*")):
            link = self.path("/etc/systemd/system-generators/" + os.path.basename(path))
            if os.path.lexists(link):
                os.remove(link)
            os.symlink("/dev/null", link)
        for path in glob.glob(self.path("/var/lib/systemd/timers/*")) + [self.path("/etc/default/gpumanager")]:
            if os.path.exists(path):
                os.remove(path)
        for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin", "usr/local/sbin"):
            if os.path.lexists(self.path(folder + "/sudo")):
                os.remove(self.path(folder + "/sudo"))
        shutil.rmtree(self.path("/etc/gpumanager"), ignore_errors=True)
        self.write("/etc/machine-id", uuid.uuid4().hex + "\n")
        for name, number in USERS:
            for file, line in (("passwd", "%s:x:%d:%d::/home/%s:/bin/sh"), ("group", "%s:x:%d:"), ("shadow", "%s:*:19000::::::")):
                values = (name, number, number, name)[:line.count("%")]
                with open(self.path("/etc/" + file), "a", encoding="utf-8") as out:
                    out.write(line % values + "\n")
            os.makedirs(self.path("/home/" + name))
            os.chown(self.path("/home/" + name), number, number)

    def write(self, path, text, mode=0o644, owner=0):
        """A folder that is missing is made, for the same owner."""
        folder, made = os.path.dirname(self.path(path)), []
        while not os.path.isdir(folder):
            made.append(folder)
            folder = os.path.dirname(folder)
        for folder in reversed(made):
            os.mkdir(folder)
            os.chown(folder, owner, owner)
        with open(self.path(path), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(self.path(path), mode)
        os.chown(self.path(path), owner, owner)

    def read(self, path):
        with open(self.path(path), encoding="utf-8") as file:
            return file.read()

    def copy(self, source, path):
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        shutil.copy(source, self.path(path))

    def _find_leader(self):
        """The machine's first process: unshare's child's child."""
        nspawn = _child_of(self.nspawn.pid)
        return _child_of(nspawn) if nspawn else None

    def _log_text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as file:
            return file.read()[-2000:]

    def boot(self):
        self.log = open(os.path.join(self.dir, "console"), "wb")  # pylint: disable=consider-using-with
        # In a process namespace of its own everything ends with nspawn, and nspawn with this process.
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--mount-proc", "--fork", "--kill-child", "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--private-network",
                   "--hostname=sandbox", "--directory=" + self.root, "--console=pipe", "--boot"]
        self.nspawn = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT)  # pylint: disable=consider-using-with
        end = time.monotonic() + BOOT_SECONDS
        self.leader = None
        while time.monotonic() < end:
            if self.nspawn.poll() is not None:
                raise Cannot("systemd-nspawn does not start here: " + self._log_text().strip().replace("\n", "; "))
            self.leader = self._find_leader()  # the first one only sets up the second
            if self.leader and self.run("systemctl", "is-system-running").out.strip() in ("running", "degraded"):
                return
            time.sleep(0.1)
        raise RuntimeError("the machine did not start in %d s: %s" % (BOOT_SECONDS, self._log_text()))

    def run(self, *argv, user="root", env=None, stdin="", timeout=60):
        """One command in the machine, with a clean environment."""
        home = "/root" if user == "root" else "/home/" + user
        variables = {"PATH": CLEAN_PATH, "HOME": home, "USER": user, "LANG": "C.UTF-8", "no_proxy": "*"}
        variables.update(env or {})
        become = [] if user == "root" else ["--reuid", user, "--regid", user, "--init-groups", "--inh-caps=-all"]
        command = ["nsenter", "-t", self.leader, "-a", "setpriv", "--bounding-set", DROPPED] + become
        command += ["env", "-i"] + ["%s=%s" % pair for pair in variables.items()] + list(argv)
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, errors="replace", timeout=timeout, check=False)
        return Ran(done.returncode, done.stdout, done.stderr)

    def power_off(self):
        if self.nspawn is None:
            return
        if self.nspawn.poll() is None and self.leader:
            subprocess.run(["kill", "-s", "RTMIN+4", self.leader], check=False)
        try:
            self.nspawn.wait(20 if self.leader else 0)
        except subprocess.TimeoutExpired:
            self.nspawn.kill()
            self.nspawn.wait()
        self.log.close()
        self.nspawn = self.leader = None

    def close(self):
        self.power_off()
        for path in (self.root, self.dir):
            if os.path.ismount(path):
                subprocess.run(["umount", path], check=False)
        if not os.path.ismount(self.dir):
            shutil.rmtree(self.dir, ignore_errors=True)
