"""The memory of a warm supervisor, arranged so that its forks have little to copy.

A child shares its supervisor's pages until it writes to one and gets a copy: some two microseconds each, and
most of what a short run takes. What a run computes does not depend on any of this.
"""

import ctypes
import os
import re

_PRIVATE = re.compile(rb"^([0-9a-f]+)-([0-9a-f]+) rw-p [0-9a-f]+ 00:00 0 *(?:\[heap\])?$", re.MULTILINE)
_MOST_MAPS = 1 << 20  # bytes; what is beyond keeps its small pages
_HUGE, _MADV_COLLAPSE = 2 << 20, 25
_PAGE = 4096
_MOST = 2048  # blocks of one size: where the search ends if they never come in a row
_GRAIN, _LARGEST_SMALL, _LARGEST_CHUNK = 16, 512, 1024  # sizes of Python's blocks, and the C library's chunks
_HEADER = 8  # of a chunk

# without giving up the interpreter's lock
_process = ctypes.PyDLL(None)
advise, _malloc, _python_malloc = _process.madvise, _process.malloc, _process.PyObject_Malloc
_free, _python_free = _process.free, _process.PyObject_Free
advise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
_malloc.argtypes = _python_malloc.argtypes = (ctypes.c_size_t,)
_malloc.restype = _python_malloc.restype = ctypes.c_void_p
_free.argtypes = _python_free.argtypes = (ctypes.c_void_p,)
_free.restype = _python_free.restype = None


def fill_gaps():
    """Take what is free between the objects of the warm-up, for good: less than a MiB.

    A child's own objects then lie side by side on few pages. In the gaps, each would cost it the copy of one
    of the supervisor's pages.
    """
    for size in range(_LARGEST_CHUNK, _GRAIN, -_GRAIN):
        _take_gaps(_malloc, _free, size - _HEADER, size)
    for size in range(_LARGEST_SMALL, 0, -_GRAIN):
        _take_gaps(_python_malloc, _python_free, size, size)


def _take_gaps(take, give_back, asked, distance):
    """Until blocks come one after the other for a whole page: those come from no gap, and go back.

    A row is kept as its two ends: a list of it would itself be taken from the gaps.
    """
    first = last = 0
    for _ in range(_MOST):
        block = take(asked) or 0
        if abs(block - last) != distance:
            first = block
        last = block
        if abs(last - first) + 2 * distance > _PAGE:
            break
    else:
        return
    for block in range(min(first, last), max(first, last) + 1, distance):
        give_back(block)


def collapse():
    """Huge pages under private memory that can be written: a fork then copies fewer entries.

    Best effort (MADV_COLLAPSE, Linux 6.1, where transparent huge pages are not switched off): it only saves
    time, so a refusal is none of our business.
    """
    for first, last in private_maps():
        for start in range(-(-first // _HUGE) * _HUGE, last - _HUGE + 1, _HUGE):
            advise(start, _HUGE, _MADV_COLLAPSE)


def private_maps():
    text = own_maps()
    found = [tuple(int(bound, 16) for bound in each) for each in _PRIVATE.findall(text)]
    text[:] = bytes(len(text))
    return found


def own_maps():
    """To be wiped: some of its lines have numbers that the whole host shares, and every run gets a copy."""
    text, end = bytearray(_MOST_MAPS), 0
    descriptor = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
    try:
        while count := os.readv(descriptor, [memoryview(text)[end:]]):
            end += count
    finally:
        os.close(descriptor)
    return text
