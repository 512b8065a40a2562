"""The memory of a warm R, arranged so that its forks have little to copy, as heap.py does it for all.

R lays its cells into pages of its own, which it has from the C library. What it has freed in its warm-up lies
between what it keeps: a run's cells would lie there too, and each cost the copy of a page. So all of that is
taken for good. What comes next lies side by side, and in huge pages: a child gets a new one in less time than
the small ones that it holds. What a run computes does not depend on any of this.
"""

import ctypes

from . import heap

_REAL, _LIST = 14, 19
_AT_ONCE, _LEAST_BYTES, _MOST_TIMES = 2000, 100_000, 500  # of cells, which take 56 bytes each
_LARGEST = (32 << 20) - 8192  # of what the C library ever gives from its heap (mallopt(3), M_MMAP_THRESHOLD)
_GAPS, _MOST_OF_A_GAP = (1 << 20, 1 << 16, 1 << 13, 1 << 11), 1 << 15
_HUGE_PAGES = 14  # MADV_HUGEPAGE

_process = ctypes.PyDLL(None)
_IS_GNU = hasattr(_process, "mallinfo2")  # else its heap need not be as all of this takes it to be
_malloc, _free = _process.malloc, _process.free
_malloc.argtypes, _malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
_free.argtypes, _free.restype = (ctypes.c_void_p,), None


class _Information(ctypes.Structure):
    """mallinfo2(3)."""

    _fields_ = (("before", ctypes.c_size_t * 7), ("used", ctypes.c_size_t), ("after", ctypes.c_size_t * 2))


def grow():
    """The end of the C library's heap: 32 MiB that nobody has written to, in huge pages if there are any."""
    if not _IS_GNU:
        return
    _process.malloc_trim(0)
    for _ in range(2):  # the first may lie elsewhere: what comes after it does not
        _free(_malloc(_LARGEST))
    for first, last in heap.private_maps():
        heap.advise(first, last - first, _HUGE_PAGES)


def fill_gaps(library):
    """`library`: R, after its warm-up."""
    if not _IS_GNU:
        return
    _fill_pages_of_cells(library)
    for _ in range(2):  # they count as old, and R makes room for as many more
        library.R_gc()
    fill_large_gaps()
    grow()


def _fill_pages_of_cells(library):
    """Until R takes new pages for all that it is asked for."""
    named = ("Rf_allocList", "Rf_allocVector", "Rf_coerceVector", "R_PreserveObject")
    pairs, vector, coerced, keep = (library[name] for name in named)
    pairs.restype = vector.restype = coerced.restype = ctypes.c_void_p
    vector.argtypes, coerced.argtypes = (ctypes.c_uint, ctypes.c_ssize_t), (ctypes.c_void_p, ctypes.c_uint)
    keep.argtypes = (ctypes.c_void_p,)
    keep(numbers := vector(_REAL, _AT_ONCE))
    for make in (lambda: coerced(numbers, _LIST), lambda: pairs(_AT_ONCE)):
        for _ in range(_MOST_TIMES):
            before = _taken()
            keep(make())
            if _taken() - before > _LEAST_BYTES:
                break


def fill_large_gaps():
    """Below the end of the C library's heap."""
    end = _malloc(_LARGEST) or 0
    for size in _GAPS:
        for _ in range(_MOST_OF_A_GAP):
            if not 0 < (block := _malloc(size) or 0) < end:
                break
        _free(block)
    _free(end)


def _taken():
    """Bytes that the C library has given from its heap."""
    information = _process.mallinfo2
    information.restype = _Information
    return information().used
