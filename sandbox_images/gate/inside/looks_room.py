"""How much of everything there is until the kernel refuses: what others have taken shows there."""

import ctypes
import mmap
import os
import threading
from contextlib import suppress

from call_table import Out  # type: ignore[import-not-found]

_CHUNK = 64 << 20
_MOST = {"memory": 400, "processes": 80, "timers": 400, "descriptors": 2000, "files": 4000, "bytes": 64}
_FOLDER = "/tmp/gate-room"  # noqa: S108 - the run's own


def look(call):
    return {
        "room memory": _mapped(),
        "room processes": _processes(),
        "room timers": _timers(call),
        "room descriptors": _descriptors(),
        **_files(),
    }


def _mapped():
    """Chunks that may be mapped; none is touched."""
    kept: list[mmap.mmap] = []
    with suppress(OSError):
        while len(kept) < _MOST["memory"]:
            kept.append(mmap.mmap(-1, _CHUNK, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS))
    for each in kept:
        each.close()
    return len(kept)


def _processes():
    """Threads, which count as such and share their memory."""
    threads: list[threading.Thread] = []
    over = threading.Event()
    before = threading.stack_size(1 << 16)
    with suppress(RuntimeError):
        while len(threads) < _MOST["processes"]:
            thread = threading.Thread(target=over.wait)
            thread.start()
            threads.append(thread)
    over.set()
    for thread in threads:
        thread.join()
    threading.stack_size(before)
    return len(threads)


def _timers(call):
    made: list[int] = []
    while len(made) < _MOST["timers"]:
        value, rooms = call("timer_create", 1, 0, Out(4, width=4))
        if value < 0:
            break
        made.append(ctypes.c_int.from_buffer_copy(rooms[0][1]).value)
    for each in made:
        call("timer_delete", each)
    return len(made)


def _descriptors():
    made: list[int] = []
    with suppress(OSError):
        while len(made) < _MOST["descriptors"]:
            made.append(os.open("/dev/null", os.O_RDONLY))
    for each in made:
        os.close(each)
    return len(made)


def _files():
    """Files that may be made, and MiB that may be written."""
    count = size = 0
    os.mkdir(_FOLDER)
    with suppress(OSError):
        while count < _MOST["files"]:
            os.close(os.open(f"{_FOLDER}/{count}", os.O_CREAT | os.O_WRONLY, 0o600))
            count += 1
    for number in range(count):
        os.unlink(f"{_FOLDER}/{number}")
    with suppress(OSError), open(f"{_FOLDER}/large", "wb", buffering=0) as file:
        while size < _MOST["bytes"] << 20:
            size += file.write(bytes(1 << 16))
    with suppress(OSError):
        os.unlink(f"{_FOLDER}/large")
    os.rmdir(_FOLDER)
    return {"room files": count, "room bytes": size}
