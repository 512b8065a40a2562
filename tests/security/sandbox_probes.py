"""Hostile scripts, one table. Each is run twice: bare, where the attack must work, and in the sandbox,
where it must not. Without the first half a probe could rot, and pass because it no longer does anything.

A script defines attack(); true means that it worked. PRELUDE writes ALLOWED or BLOCKED to /out/verdict.
"""

from dataclasses import dataclass

PRELUDE = """
import ctypes, errno, json, mmap, os, resource, select, signal, socket, stat, struct, subprocess, sys, time
IN, OUT, LEVEL = sys.argv[1:4]
T = json.load(open(os.path.join(IN, "target.json")))
libc = ctypes.CDLL(None, use_errno=True)
def syscall(number, *arguments):
    result = libc.syscall(number, *(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if result < 0:
        raise OSError(ctypes.get_errno(), "system call")
    return result
X86 = os.uname().machine == "x86_64"
def judge(attack):
    try:
        worked = bool(attack())
    except OSError as error:
        print(error, file=sys.stderr)
        worked = False
    with open(os.path.join(OUT, "verdict"), "w") as file:
        file.write("ALLOWED" if worked else "BLOCKED")
"""


@dataclass(frozen=True)
class Probe:
    name: str
    category: str
    code: str  # the body of attack()

    @property
    def script(self) -> str:
        body = "\n".join(f"    {line}" for line in self.code.strip().splitlines())
        return f"def attack():\n{body}\njudge(attack)\n"


PROBES = (
    Probe("tcp", "network", "socket.create_connection(('127.0.0.1', T['tcp']), 2).close()\nreturn True"),
    Probe(
        "udp",
        "network",
        "s = socket.socket(type=socket.SOCK_DGRAM)\nreturn s.sendto(b'name lookup', ('127.0.0.1', T['udp']))",
    ),
    Probe("unix_path", "network", "socket.socket(socket.AF_UNIX).connect(T['unix_path'])\nreturn True"),
    Probe(
        "unix_abstract",
        "network",
        "socket.socket(socket.AF_UNIX).connect(chr(0) + T['unix_abstract'])\nreturn True",
    ),
    Probe(
        "route_lookup",
        "network",
        "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)\ns.bind((0, 0))\nreturn True",
    ),
    Probe("socketpair", "network", "socket.socketpair()\nreturn True"),
    Probe(
        "interfaces",
        "network",
        "return len(open('/proc/net/dev').readlines()) > 3 or socket.if_nameindex()",
    ),
    Probe(
        "environment_of_others",
        "files",
        """
for name in ['self', '1', str(T['init']), *filter(str.isdigit, os.listdir('/proc'))]:
    try:
        if T['secret'].encode() in open(f'/proc/{name}/environ', 'rb').read():
            return True
    except OSError:
        pass
""",
    ),
    Probe("host_canary", "files", "return open(T['canary']).read() == T['secret']"),
    Probe("other_block", "files", "return open(T['other_block']).read() == T['secret']"),
    Probe(
        "write_elsewhere",
        "files",
        """
for folder in T['folders']:
    try:
        open(os.path.join(folder, 'planted'), 'w').close()
        return True
    except OSError:
        pass
""",
    ),
    Probe("write_new_input", "files", "open(os.path.join(IN, 'planted'), 'w').close()\nreturn True"),
    Probe(
        "change_input",
        "files",
        """
path = os.path.join(IN, 'target.json')
os.chmod(path, 0o600)
open(path, 'r+').write(' ')
return True
""",
    ),
    Probe(
        "write_pipeline", "files", "open(os.path.join(T['pipeline'], 'planted.py'), 'w').close()\nreturn True"
    ),
    Probe(
        "inherited_descriptors",
        "files",
        """
listing = set(os.listdir('/proc/self/fd'))
return [n for n in listing if os.path.exists(f'/proc/self/fd/{n}') and int(n) > 2]
""",
    ),
    Probe("standard_input", "files", "return sys.stdin.read() == T['secret']"),
    Probe(
        "host_counters",
        "files",
        "return open('/proc/stat').read(10) and open('/proc/sys/kernel/pid_max').read()",
    ),
    Probe("free_space", "files", "return os.statvfs('/usr').f_blocks and os.statvfs(IN).f_files"),
    Probe(
        "setuid_bit",
        "files",
        """
path = os.path.join(OUT, 'tool')
open(path, 'w').close()
os.chmod(path, 0o4755)
mounts = [line.split() for line in open('/proc/self/mountinfo')]
best = max((m for m in mounts if path.startswith(m[4])), key=lambda m: len(m[4]))
gains = 'NoNewPrivs:\\t0' in open('/proc/self/status').read()
return gains and 'nosuid' not in best[5].split(',')
""",
    ),
    Probe("fifo", "files", "os.mkfifo(os.path.join(OUT, 'fifo'))\nreturn True"),
    Probe(
        "mknod_device",
        "files",
        """
os.mkfifo(os.path.join(OUT, 'pipe'))  # a device takes root, which a bare probe may lack; the call is the same
if os.getuid() == 0:
    os.mknod(os.path.join(OUT, 'null'), stat.S_IFCHR | 0o666, os.makedev(1, 3))
return True
""",
    ),
    Probe(
        "new_user_namespace",
        "kernel",
        "if libc.unshare(0x10000000):\n    raise OSError(ctypes.get_errno(), 'unshare')\nreturn True",
    ),
    Probe(
        "mount",
        "kernel",
        """
libc.unshare(0x10020000)  # a user and a mount namespace of its own, so that no root is needed
os.mkdir(os.path.join(OUT, 'm'))
if libc.mount(b'none', os.path.join(OUT, 'm').encode(), b'tmpfs', 0, None):
    raise OSError(ctypes.get_errno(), 'mount')
return True
""",
    ),
    Probe("chroot", "kernel", "libc.unshare(0x10000000)\nos.chroot('/')\nreturn True"),
    Probe(
        "namespace_by_clone",
        "kernel",
        """
pid = syscall(56 if X86 else 220, 0x10000000 | 17, 0, 0, 0, 0)
if pid == 0:
    os._exit(0)
os.waitpid(pid, 0)
return True
""",
    ),
    Probe(
        "ptrace_init",
        "kernel",
        """
if libc.ptrace(0x4206, T['init'], None, None) < 0:
    raise OSError(ctypes.get_errno(), 'seize')
return True
""",
    ),
    Probe(
        "memory_of_init", "kernel", "os.close(os.open(f\"/proc/{T['init']}/mem\", os.O_RDWR))\nreturn True"
    ),
    Probe("descriptors_of_init", "kernel", "return len(os.listdir(f\"/proc/{T['init']}/fd\")) > 0"),
    Probe("steer_init", "kernel", "resource.prlimit(T['init'], resource.RLIMIT_NOFILE, (9, 9))\nreturn True"),
    Probe(
        "signal_init",
        "kernel",
        """
def state():
    try:
        return open(f"/proc/{T['init']}/status").read().split('State:')[1].split()[0]
    except OSError:
        return 'Z'
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
    try:
        os.kill(T['init'], number)
    except ProcessLookupError:
        pass
    time.sleep(0.05)
    if state() in 'TZX':
        return True
""",
    ),
    Probe("keyring", "kernel", "return syscall(248 if X86 else 217, b'user', b'dpgate', b'x', 1, -2)"),
    Probe("io_uring", "kernel", "return syscall(425, 2, ctypes.create_string_buffer(120)) >= 0"),
    Probe(
        "flock",
        "kernel",
        "import fcntl\nfcntl.flock(open(T['loader_cache']), fcntl.LOCK_SH)\nreturn True",
    ),
    Probe(
        "record_lock",
        "kernel",
        "import fcntl\nfcntl.lockf(open(T['loader_cache']), fcntl.LOCK_SH)\nreturn True",
    ),
    Probe("inotify", "kernel", "return syscall(294 if X86 else 26, 0)"),
    Probe("no_randomisation", "kernel", "return syscall(135 if X86 else 92, 0x0040000) >= 0"),
    Probe("shared_anonymous_memory", "kernel", "return mmap.mmap(-1, 4096)"),
    Probe("memory_file", "kernel", "return os.memfd_create('x')"),
    Probe("system_v_memory", "kernel", "return syscall(29 if X86 else 194, 0, 4096, 0o1600) >= 0"),
    Probe("affinity", "kernel", "os.sched_setaffinity(0, os.sched_getaffinity(0))\nreturn True"),
    Probe(
        "page_cache_state",
        "kernel",
        """
m = mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
a = ctypes.addressof(ctypes.c_char.from_buffer(m))
return syscall(27 if X86 else 232, a, 4096, ctypes.create_string_buffer(1)) == 0
""",
    ),
    Probe(
        "core_dump",
        "kernel",
        """
pid = os.fork()
if pid == 0:
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
    finally:
        os.abort()
return os.WCOREDUMP(os.waitpid(pid, 0)[1])
""",
    ),
    Probe(
        "fork_bomb",
        "resources",
        """
children = []
try:
    for _ in range(120):
        pid = os.fork()
        if pid == 0:
            time.sleep(30)
            os._exit(0)
        children.append(pid)
except OSError:
    pass
for pid in children:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
return len(children) >= 100
""",
    ),
    Probe(
        "fill_disk",
        "resources",
        """
for f in T['room']:
    open(os.path.join(f, 'big'), 'wb').write(bytes(8 << 20))
    os.unlink(os.path.join(f, 'big'))
return True
""",
    ),
    Probe(
        "fill_tmp",
        "resources",
        "open(os.path.join(T['room'][0], 'big'), 'wb').write(bytes(8 << 20))\nreturn True",
    ),
    Probe(
        "fill_out",
        "resources",
        """
path = os.path.join(OUT, 'big')
try:
    open(path, 'wb').write(bytes(8 << 20))
finally:
    os.unlink(path)
return True
""",
    ),
    Probe(
        "fill_shm",
        "resources",
        "open(os.path.join(T['room'][-1], 'big'), 'wb').write(bytes(8 << 20))\nreturn True",
    ),
    Probe(
        "sparse_terabyte",
        "resources",
        "with open(os.path.join(OUT, 'sparse'), 'w') as f:\n    f.truncate(1 << 40)\nreturn True",
    ),
    Probe(
        "address_space",
        "resources",
        "return mmap.mmap(-1, 8 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)",
    ),
    Probe(
        "open_files",
        "resources",
        """
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
held = []
try:
    held += [os.open('/dev/null', 0) for _ in range(400)]
finally:
    os.closerange(3, 1024)
return held
""",
    ),
)

# Attacks on who waits for the run. Bare they go on and on, or end well; inside the run is stopped, and why.
STOPPED = {
    "sleep_forever": ("WALL", "time.sleep(60)\nreturn True"),
    "ignore_sigterm": ("WALL", "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True:\n    pass"),
    "stop_oneself": ("WALL", "os.kill(os.getpid(), signal.SIGSTOP)\ntime.sleep(60)"),
    "memory_bomb": ("MEMORY", "b = bytearray(b'x') * (400 << 20)\ntime.sleep(0.3)\nreturn len(b)"),
    "many_processes_memory": (
        "MEMORY",
        """
for _ in range(4):
    if os.fork() == 0:
        b = bytearray(b'x') * (60 << 20)
        time.sleep(0.5)
        os._exit(0)
return all(os.wait()[1] == 0 for _ in range(4))
""",
    ),
    "inode_flood": (
        "INODES",
        """
for i in range(20_000):
    open(os.path.join(OUT, str(i)), 'w').close()
time.sleep(0.2)
return True
""",
    ),
}

# What a pipeline may leave at a declared path. Bare, a collector that just opens the path is taken in.
OUTPUTS = {
    "symlink_to_host": "os.symlink(T['canary'], P)",
    "symlink_to_input": "os.symlink(os.path.join(IN, 'target.json'), P)",
    "symlink_to_proc": "os.symlink('/proc/self/environ', P)",
    "hard_link": "open(P + '2', 'w').write('x')\nos.link(P + '2', P)",
    "too_large": "open(P, 'w').write('x' * (65 << 10))",
    "sparse": "open(P, 'w').truncate(2 << 20)",
    "symlinked_parent": "D = os.path.dirname(P)\nos.rmdir(D)\nos.symlink(IN, D)",
}

# Left behind by a parent that ends at once, with a session of its own, changing the output while it is read.
STRAGGLER = """
P = os.path.join(OUT, 'verdict')
open(P, 'w').write('good')
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(0.02)
        while time.sleep(0.001) is None:
            open(P, 'w').write('evil')
    os._exit(0)
os._exit(0)
"""
