"""The memory of a supervisor before its forks: new objects lie on few pages, and looking for gaps ends."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox_images.supervisor.heap import _MOST, _PAGE, _take_gaps

PROJECT = Path(__file__).parents[3]
# A few of many objects go, as in any program that has run for a while. What is taken from the gaps is
# never given back, so it happens in a process of its own.
PAGES = """
import ctypes, sys
from sandbox_images.supervisor.heap import fill_gaps
libc = ctypes.PyDLL(None)
libc.malloc.argtypes, libc.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
libc.free.argtypes = (ctypes.c_void_p,)
kept = [bytes(100) for _ in range(100_000)]
del kept[::100]
chunks = [libc.malloc(600) for _ in range(20_000)]
for chunk in chunks[::50]:
    libc.free(chunk)
if sys.argv[1] == "filled":
    fill_gaps()
new = [bytes(100) for _ in range(1000)]
print(len({id(each) >> 12 for each in new}), len({libc.malloc(600) >> 12 for _ in range(300)}))
"""
# Of large blocks every second is given back: how many of them are given again. And how many pages it takes to
# write to what comes from the end of the heap.
LARGE = """
import ctypes, resource, sys
from sandbox_images.supervisor import heap_of_r
libc = ctypes.PyDLL(None)
libc.malloc.argtypes, libc.malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
libc.free.argtypes = (ctypes.c_void_p,)
if sys.argv[1] == "filled":
    heap_of_r.grow()
chunks = [libc.malloc(100_000) for _ in range(20)]
for chunk in chunks[::2]:
    libc.free(chunk)
if sys.argv[1] == "filled":
    heap_of_r.fill_large_gaps()
    heap_of_r.grow()
new = [libc.malloc(100_000) for _ in range(10)]
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
[ctypes.memset(libc.malloc(100_000), 1, 100_000) for _ in range(80)]
print(sum(each in chunks for each in new), resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
HUGE = Path("/sys/kernel/mm/transparent_hugepage/enabled")


def pages(state: str, code: str = PAGES) -> tuple[int, int]:
    """Two numbers that `code` tells, with gaps `filled` before or `left`. PAGES: on how many pages a thousand
    small objects lie, and three hundred chunks.
    """
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n{code}",
        state,
    ]
    answer = subprocess.run(command, capture_output=True, text=True, check=True)
    small, chunks = answer.stdout.split()
    return int(small), int(chunks)


@pytest.mark.needs(process=True)
def test_what_comes_after_lies_side_by_side():
    small, chunks = pages("filled")
    assert small < 60  # 1000 objects of 144 bytes need 36 pages
    assert chunks < 70  # 300 chunks of 608 bytes need 45


@pytest.mark.needs(process=True)
def test_it_would_lie_in_the_gaps():
    small, chunks = pages("left")
    assert small > 300
    assert chunks > 200


@pytest.mark.needs(process=True)
def test_large_blocks_come_from_the_end_of_the_heap_in_huge_pages():
    assert pages("left", LARGE)[0] == 10
    from_gaps, faults = pages("filled", LARGE)
    assert from_gaps == 0
    if HUGE.exists() and "[never]" not in HUGE.read_text():
        assert faults < 700  # 8 MB are 1954 small pages


@pytest.mark.parametrize("step", [64, -64])
def test_blocks_that_fill_a_page_in_a_row_end_the_search_and_go_back(step):
    gaps = [1 << 20, (1 << 20) + 64, 5 << 20]
    row = [(9 << 20) + step * number for number in range(_PAGE // 64)]
    left, asked_for, back = iter(gaps + row), [], []

    def take(asked: int) -> int:
        asked_for.append(asked)
        return next(left)

    _take_gaps(take, back.append, 60, 64)
    assert set(asked_for) == {60}
    assert (list(left), sorted(back)) == ([], sorted(row))


@pytest.mark.parametrize("addresses", [itertools.repeat(None), itertools.count(1 << 20, 1 << 20)])
def test_an_allocator_without_memory_or_without_neighbours_ends_it_too(addresses):
    taken, back = [], []

    def take(asked: int) -> int | None:
        taken.append(asked)
        return next(addresses)

    _take_gaps(take, back.append, 60, 64)
    assert (len(taken), back) == (_MOST, [])
