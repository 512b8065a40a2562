"""Every system call that answers with something: its answer."""

import fcntl
import mmap
import os
import select
import signal
import struct
import threading

from call_table import DESCRIPTORS, PAIRS, READS, Out  # type: ignore[import-not-found]
from raw import code_of, facts  # type: ignore[import-not-found]


def look(call):
    found: dict[str, object] = {}
    for name in sorted(READS):
        if name in call:
            for arguments in READS[name]:
                found.update(call.said(name, arguments))
    found.update(_opened(call))
    found.update(_inherited())
    found.update(_of_own_objects(call))
    found.update(_children(call))
    return found


def _opened(call):
    """Of each kind of descriptor one, and one more: numbers of a sequence show by their distance."""
    found: dict[str, object] = {}
    for name in sorted(DESCRIPTORS):
        for index, arguments in enumerate(DESCRIPTORS[name] if name in call else ()):
            number, _ = call(name, *arguments)
            key = f"opened {name} {index}"
            found[key] = number
            if number >= 0:
                found.update(_told(key, number))
                os.close(number)
    for name in sorted(PAIRS):
        for arguments in PAIRS[name] if name in call else ():
            value, rooms = call(name, *arguments)
            found[f"opened {name}"] = value
            if value < 0:
                continue
            ends = struct.unpack("=2i", rooms[0][1])
            for index, end in enumerate(ends):
                found[f"opened {name} {index}"] = end
                found.update(_told(f"opened {name} {index}", end))
            for end in ends:
                os.close(end)
    return found


def _told(key, descriptor):
    return {f"{key} {name}": value for name, value in facts(descriptor).items()}


def _inherited():
    """Whatever is open from the start."""
    found: dict[str, object] = {}
    for descriptor in range(256):
        try:
            told = _told(f"descriptor {descriptor}", descriptor)
        except OSError:
            continue
        found[f"descriptor {descriptor}"] = "open"
        found.update(told)
        ready = select.poll()
        ready.register(descriptor)
        found[f"descriptor {descriptor} poll"] = str(ready.poll(0))
        try:
            found[f"descriptor {descriptor} offset"] = os.lseek(descriptor, 0, os.SEEK_CUR)
        except OSError as error:
            found[f"descriptor {descriptor} offset"] = code_of(error)
    return found


def _of_own_objects(call):
    found: dict[str, object] = {}
    value, rooms = call("timer_create", 1, 0, Out(4, width=4))
    found["made timer"] = value
    if value == 0:
        number = struct.unpack("=i", rooms[0][1])[0]
        found["made timer number"] = number
        found["made timer left"] = str(call("timer_gettime", number, Out(32))[1][0][1].hex())
        found["made timer overrun"] = call("timer_getoverrun", number)[0]
        call("timer_delete", number)
    if "pkey_alloc" in call:
        key, _ = call("pkey_alloc", 0, 0)
        found["made protection key"] = key
        if key >= 0:
            call("pkey_free", key)
    alarm, _ = call("timerfd_create", 1, 0)
    if alarm >= 0:
        found["made timerfd left"] = call("timerfd_gettime", alarm, Out(32))[1][0][1].hex()
        os.close(alarm)
    with mmap.mmap(-1, mmap.PAGESIZE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as page:
        found["made page"] = page[:64].hex()
    handle = os.open("/dev/null", os.O_RDONLY)
    for whence in (3, 4):  # data, hole
        try:
            found[f"made seek {whence}"] = os.lseek(handle, 0, whence)
        except OSError as error:
            found[f"made seek {whence}"] = code_of(error)
    try:
        found["made lock"] = fcntl.fcntl(handle, fcntl.F_GETLK, bytes(32)).hex()
    except OSError as error:
        found["made lock"] = code_of(error)
    os.close(handle)
    return found


def _children(call):
    """Numbers of processes and threads, and what is told of one that has ended."""
    found: dict[str, object] = {}
    for index in range(2):
        child = os.fork()
        if child == 0:
            os._exit(3)
        _, status, usage = os.wait4(child, 0)
        found[f"child {index}"] = child
        found[f"child {index} status"] = status
        for name in (
            "ru_maxrss",
            "ru_minflt",
            "ru_majflt",
            "ru_nvcsw",
            "ru_nivcsw",
            "ru_inblock",
            "ru_oublock",
        ):
            found[f"child {index} {name}"] = getattr(usage, name)
    child = os.fork()
    if child == 0:
        os._exit(3)
    told = os.waitid(os.P_PID, child, os.WEXITED)
    found["child waited for"] = repr(told)
    numbers = []
    thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
    thread.start()
    thread.join()
    found["thread"] = numbers[0]
    # CLONE_PIDFD | SIGCHLD: the descriptor of a child has a number, too
    value, rooms = call("clone", 0x1000 | signal.SIGCHLD, 0, Out(4, width=4), 0, 0)
    if value == 0:
        os._exit(0)
    found["child by descriptor"] = value
    if value > 0:
        handle = struct.unpack("=i", rooms[0][1])[0]
        found.update(_told("child by descriptor", handle))
        os.close(handle)
        os.waitpid(value, 0)
    return found
