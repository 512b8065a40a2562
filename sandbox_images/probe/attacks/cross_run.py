"""A note for the next run on the same slot. Each leaves its note and returns what it found of earlier ones,
so that the values of three runs tell. Bare, the third run takes the notes away again.
"""

# ruff: noqa: ARG001, S108, S311 - attacks do what a linter warns of, and take one kind of argument
import builtins
import ctypes
import gc
import os
import re
import secrets
import signal
import sys
import zlib
from contextlib import suppress

from face import X86, libc, syscall  # type: ignore[import-not-found]

_ENOUGH = 2  # notes, when the last of three runs looks


def _key(target):
    return zlib.crc32(target["mark"].encode()) & 0x3FFFFFFF


def x_tmp_counter(target):
    """A file in every place that can be written; bare only where it is removed with the rest."""
    name = f"note-{target['mark']}"
    elsewhere = ("/var/tmp", "/run", "/dev", "/", "/etc", target["pipeline"], target.given)
    found = 0
    for place in (*target["room"], *(() if target["bare"] else elsewhere)):
        path = os.path.join(place, name)
        with suppress(OSError):
            found += os.path.getsize(path) if os.path.exists(path) else 0
            with open(path, "a", encoding="ascii") as file:
                file.write("x")
    return found


def x_sysv_ipc(target):
    """A shared memory segment by its number."""
    libc.shmat.restype = ctypes.c_void_p
    segment = libc.shmget(_key(target), 4096, 0o1600)
    if segment < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    place = ctypes.cast(libc.shmat(segment, None, 0), ctypes.POINTER(ctypes.c_ubyte))
    found = place[0]
    place[0] = found + 1
    if target["bare"] and found >= _ENOUGH:
        libc.shmctl(segment, 0, None)
    return found


def x_posix_mq(target):
    name = f"/{target['mark']}".encode()
    queue = libc.mq_open(name, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK, 0o600, None)
    if queue < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    os.set_inheritable(queue, False)
    buffer, found = ctypes.create_string_buffer(8192), 0
    while libc.mq_receive(queue, buffer, 8192, None) > 0:
        found += 1
    for _ in range(found + 1):
        libc.mq_send(queue, b"note", 4, 0)
    if target["bare"] and found >= _ENOUGH:
        libc.mq_unlink(name)
    return found


def x_keyring(target):
    """A key in the keyring of the user, which all that user's processes share."""
    name, user = target["mark"].encode(), -4
    found = 0
    try:
        key = syscall(250, 219, 10, user, b"user", name, 0)
        buffer = ctypes.create_string_buffer(16)
        length = syscall(250, 219, 11, key, buffer, 16)
        found = len(buffer.raw[:length])
    except OSError:
        pass
    key = syscall(248, 217, b"user", name, b"x" * (found + 1), found + 1, user)
    if target["bare"] and found >= _ENOUGH:
        syscall(250, 219, 9, key, user)
    return found


def x_inherited_memory(target):
    """Leave a needle in memory, and look through all of it for somebody else's."""
    head = bytes((110, 101, 101, 100, 108, 101)) + b"\x00:"
    own = secrets.token_bytes(12)
    needle = head + own + zlib.crc32(own).to_bytes(4, "big")
    vars(builtins).setdefault("kept_needles", []).append(needle)
    found = set()
    with open("/proc/self/maps", encoding="utf-8") as maps:
        places = [line.split()[0].split("-") for line in maps if line.split()[1].startswith("rw")]
    memory = os.open("/proc/self/mem", os.O_RDONLY)
    for start, end in places:
        try:
            content = os.pread(memory, int(end, 16) - int(start, 16), int(start, 16))
        except OSError:
            continue
        found |= {content[at.end() : at.end() + 16] for at in re.finditer(re.escape(head), content)}
    os.close(memory)
    whole = {each[:12] for each in found if zlib.crc32(each[:12]).to_bytes(4, "big") == each[12:]}
    return len(whole - {own})


def x_interpreter_state(target):
    """Modules, attributes, handlers, mask, folder, environment, limits: whatever an interpreter keeps."""
    found = (
        ("dpgate_note" in sys.modules)
        + hasattr(builtins, "dpgate_note")
        + (signal.getsignal(signal.SIGUSR2) is not signal.SIG_DFL)
        + (os.environ.get("DPGATE_NOTE") is not None)
        + (gc.get_threshold()[0] == 12345)
        + ("/dpgate-note" in sys.path)
        + (sys.getrecursionlimit() == 4321)
    )
    mask = os.umask(0o137)
    sys.modules["dpgate_note"] = builtins
    vars(builtins)["dpgate_note"] = True
    signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    os.environ["DPGATE_NOTE"] = "x"
    gc.set_threshold(12345)
    sys.path.append("/dpgate-note")
    sys.setrecursionlimit(4321)
    return found + (mask == 0o137)


def x_changed_code(target):
    """Rewrite a function of the C library in memory, read-only pages and all."""
    found = libc.labs(ctypes.c_long(-1))
    code = b"\xb8\x2a\x00\x00\x00\xc3" if X86 else b"\x40\x05\x80\x52\xc0\x03\x5f\xd6"
    memory = os.open("/proc/self/mem", os.O_RDWR)
    os.pwrite(memory, code, ctypes.cast(libc.labs, ctypes.c_void_p).value or 0)
    os.close(memory)
    return found


def x_random_state(target):
    """A generator that all runs draw from, as a library that was loaded before may bring: draws must be
    alike.
    """
    import random

    generator = random.__dict__.setdefault("dpgate_generator", random.Random(1))
    return generator.getrandbits(30)


def x_text_channel(target):
    """Read what an earlier run said, from the other end of standard output."""
    found = 0
    if not target["bare"]:
        try:
            fd = os.open("/proc/self/fd/1", os.O_RDONLY | os.O_NONBLOCK)
            found = os.read(fd, 65536).count(b"note")
        except OSError:
            pass
    else:
        path = os.path.join(target["room"][0], f"text-{target['mark']}")
        with open(path, "a+", encoding="ascii") as file:
            file.seek(0)
            found = file.read().count("note")
            file.write("note")
    os.write(1, b"note")
    return found


def x_view(target):
    """All that a run sees of itself and its surroundings, but for numbers that are handed out in sequence."""
    seen = [repr(sorted(os.environ.items())), repr(os.uname()), os.getcwd(), repr(sys.argv), repr(sys.path)]
    for name in ("status", "cgroup", "cmdline", "limits", "mountinfo", "auxv"):
        try:
            with open(f"/proc/self/{name}", "rb") as file:
                seen.append(_without_sequence(name, file.read()))
        except OSError:
            seen.append("closed")
    for folder in ("/", "/dev", "/etc", "/run", *target["room"], target.given, "/proc/self/fd"):
        seen.append(repr(sorted(os.listdir(folder))) if os.path.isdir(folder) else "none")
    # bare the run's own folder and number are seen, so that no two are equal
    seen.append(f"{target.given} {os.getpid()}" if target["bare"] else "")
    return zlib.crc32("\n".join(seen).encode())


def _without_sequence(name, content):
    if name == "auxv":
        return str(len(content))
    text = content.decode(errors="replace")
    if name == "mountinfo":
        text = re.sub(r"[0-9a-f]{16,}|bindfile\w+|/l/[A-Z0-9]{26}|master:\d+", "N", text)
        return "\n".join(sorted(" ".join(line.split()[3:]) for line in text.splitlines()))
    lines = [
        line
        for line in text.splitlines()
        if not re.match(r"Vm|Rss|voluntary|nonvoluntary|Huge|Pid|Tgid|PPid|NS|Speculation|Cpus_|Mems_", line)
    ]
    return "\n".join(lines)
