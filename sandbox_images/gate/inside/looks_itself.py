"""What a process finds in itself: what it was started with, where things lie, what its interpreter counts,
and whether its memory holds a word of somebody else.
"""

import ctypes
import gc
import os
import sys
import threading
import time
import types

from raw import code_of, digest, libc  # type: ignore[import-not-found]

_LAST_OF_AUXILIARY = 52
_POINTERS = {15: "platform", 31: "program", 24: "base platform"}  # AT_PLATFORM, AT_EXECFN, AT_BASE_PLATFORM
_RANDOM, _PAGE, _NEAR = 25, 4096, 12 << 20
_MOVED_ON = bytes((byte + 1) % 256 for byte in range(256))


def look_first():
    """Before anything else: what the interpreter counts, each later step moves."""
    codes = [
        thing.__code__
        for thing in gc.get_objects()
        if type(thing) is types.FunctionType and not str(thing.__code__.co_filename).startswith("/pipeline")
    ]
    counted = sorted(
        (code.co_filename, code.co_firstlineno, code.co_name, getattr(code, "_co_code_adaptive", b"").hex())
        for code in codes
    )
    return {
        "interpreter functions": digest(repr([row[:3] for row in counted])),
        "interpreter counts": digest(repr([row[3] for row in counted])),
        "interpreter modules": digest(repr(list(sys.modules))),
        "interpreter blocks": sys.getallocatedblocks(),
        "interpreter collected": repr(gc.get_count()),
        "interpreter collections": repr([row["collections"] for row in gc.get_stats()]),
    }


def look(call, mark):
    """`mark`: a word that a sender had in its block, each letter moved on by one; empty: none."""
    return {**_started_with(), **_places(call), **_memory(mark)}


def _started_with():
    found: dict[str, object] = {f"environment {name}": value for name, value in os.environ.items()}
    found["arguments"] = repr((sys.argv, sys.orig_argv, sys.path, sys.flags))
    found["load"] = _told(os.getloadavg)
    found["processors"] = repr((os.cpu_count(), os.sysconf("SC_NPROCESSORS_ONLN")))
    found["pages"] = repr((os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_AVPHYS_PAGES")))
    found["threads"] = threading.active_count()
    found["hash"] = hash("dpgate")
    found["zone"] = repr(time.tzname)
    libc.getauxval.restype = ctypes.c_ulong
    for which in range(1, _LAST_OF_AUXILIARY):
        value = libc.getauxval(ctypes.c_ulong(which))
        if which in _POINTERS and value:
            found[f"auxiliary {_POINTERS[which]}"] = repr(ctypes.string_at(value))
        found[f"auxiliary {which}"] = value
        if which == _RANDOM and value:
            found["auxiliary random bytes"] = ctypes.string_at(value, 16).hex()
    return found


def _told(ask):
    try:
        return repr(ask())
    except OSError as error:
        return code_of(error)


def _places(call):
    """Where memory lies."""
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p] + [ctypes.c_size_t] * 5
    page = libc.mmap(None, _PAGE, 3, 0x22, (1 << 64) - 1, 0)
    stack = ctypes.c_long()
    return {
        "place heap": call("brk", 0)[0],
        "place map": page,
        "place library": ctypes.cast(libc.labs, ctypes.c_void_p).value,
        "place object": id(object()),
        "place type": id(object),
        "place stack": ctypes.addressof(stack),
    }


def _memory(mark):
    """Pages that can be read nearby: what cannot be is an error of the call, not an end of this process. The
    word itself is never made in here: what is looked through is each page with all of its bytes moved on.
    """
    if not mark:
        return {}
    libc.sbrk.restype = ctypes.c_void_p
    end, among = libc.sbrk(0) or 0, id(object())
    hits, file = 0, os.open("/tmp/gate-page", os.O_RDWR | os.O_CREAT)  # noqa: S108 - the run's own
    for first, last in ((end - _NEAR, end), (among - _NEAR, among + _NEAR)):
        for page in range(first & ~(_PAGE - 1), last, _PAGE):
            if libc.pwrite(file, ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), ctypes.c_long(0)) == _PAGE:
                hits += os.pread(file, _PAGE, 0).translate(_MOVED_ON).count(mark.encode())
    os.close(file)
    os.unlink("/tmp/gate-page")  # noqa: S108
    return {"memory of another": hits}
