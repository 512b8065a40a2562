"""The control pipeline: proves that a pipeline can run at all, and reports what it finds of its surroundings.

Run by preflight in the real sandbox. It judges nothing; it writes facts to /out/facts.json for
worker/sandbox/preflight.
"""

import ctypes
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import threading

out = sys.argv[2]


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError as error:
        return f"refused: {error.strerror}"


def can_write(folder):
    try:
        with open(os.path.join(folder, "x"), "w", encoding="ascii"):
            return True
    except OSError:
        return False


def asked(option):
    """One of the values of prctl, as text; no /proc is needed for it."""
    return str(libc.prctl(option, 0, 0, 0, 0))


def capabilities():
    """Inheritable, permitted, effective and bounding, as /proc writes them."""
    header, sets = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(header, sets) != 0:
        return "unknown"
    kept = sum(1 << number for number in range(64) if libc.prctl(23, number, 0, 0, 0) == 1)
    return "".join(f"{word:08x}" for word in sets) + f"{kept:016x}"


def interfaces():
    """By name. A run that has no /proc to look at may make no socket either: then there is none to use."""
    lines = read("/proc/self/net/dev").splitlines()
    if not lines[0].startswith("refused"):
        return sorted(line.split(":")[0].strip() for line in lines if ":" in line)
    return [name for name in ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK") if can_make_socket(name)]


def can_make_socket(family):
    try:
        socket.socket(getattr(socket, family)).close()
    except OSError:
        return False
    return True


def is_open(name):
    """A host-wide entry of /proc that can be read. Covered folders are empty, covered files refuse."""
    path = os.path.join("/proc", name)
    if os.path.isdir(path):
        return bool(os.listdir(path))
    # a container engine covers files with /dev/null, which can be opened and is empty
    return not stat.S_ISCHR(os.stat(path).st_mode) and not read(path).startswith("refused")


def everyday_work():
    """What any pipeline does: threads, child processes, temporary files."""
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    with tempfile.TemporaryFile() as file:
        file.write(b"x")
    return subprocess.run(
        ["/bin/sh", "-c", "echo yes"], capture_output=True, text=True, check=True
    ).stdout.strip()


libc = ctypes.CDLL(None)
kept = {"self", "thread-self", "mounts", "net"}
facts = {
    "input": read(os.path.join(sys.argv[1], "block.txt")),
    "level": sys.argv[3],
    "work": everyday_work(),
    "pid": os.getpid(),
    "seccomp": asked(21),
    "no_new_privileges": asked(39),
    "capabilities": capabilities(),
    "interfaces": interfaces(),
    "routes": len(read("/proc/self/net/route").splitlines()[1:]),
    "writable": [
        folder for folder in ("/", "/usr", "/etc", "/dev", "/proc", "/in", "/pipeline") if can_write(folder)
    ],
    "environment": sorted(os.environ),
    # where the payload is PID 1 itself, there is nobody else to read
    "init_is_readable": os.getpid() != 1
    and (os.access("/proc/1/mem", os.R_OK) or not read("/proc/1/environ").startswith("refused")),
    "open_proc": [
        name for name in os.listdir("/proc") if not name.isdigit() and name not in kept and is_open(name)
    ],
}
with open(os.path.join(out, "facts.json"), "w", encoding="utf-8") as file:
    json.dump(facts, file)
