"""Whether somebody has read a file of the image is one bit for all later runs, alone on the host as they may
be: a run counts what had to be fetched for it. In a copy in memory nothing ever has to be.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from python_image import python_image
from sandbox_harness import SLOT, open_folder
from shm import folder_in_memory

from worker.images import in_memory
from worker.images.in_memory import ImagesInMemory
from worker.sandbox.core.images import StoredImage
from worker.sandbox.gate.bench import GateBench
from worker.sandbox.gate.search import Search
from worker.sandbox.gate.senders import of_channel
from worker.sandbox.supervised import SupervisedSandbox

CHANNEL = "page_faults"
FETCHED = 1_000_000  # as the look has it: so much for each page that was not there
FEW_PATHS = 100


@pytest.fixture(scope="module")
def stored() -> Iterator[StoredImage]:
    with open_folder() as root:
        yield python_image(root)


@pytest.fixture
def copied(stored: StoredImage, monkeypatch: pytest.MonkeyPatch) -> Iterator[StoredImage]:
    # a host of a developer may swap: not while these runs are made
    monkeypatch.setattr(in_memory, "why_not_kept", lambda _: None)
    with folder_in_memory() as scratch:
        copies = ImagesInMemory(scratch, most_bytes=1 << 30)
        copy = copies.copy_of(stored)
        assert copy is not None
        yield copy
        copies.close()


@pytest.fixture
def bench_on(supervised: SupervisedSandbox, mode: str) -> Iterator[Callable[[StoredImage], GateBench]]:
    with ExitStack() as undo:
        yield lambda image: undo.enter_context(
            GateBench(supervised, image, warm=mode == "warm", most=FEW_PATHS, first_slot=SLOT + 60)
        )


def fetched_after(bench: GateBench, *, somebody_read: bool) -> bool:
    """Whether a run has to wait for pages of a file that the page cache was told to forget."""
    bench.forget_image_files()
    bench.start(of_channel(CHANNEL) if somebody_read else None, 0).result()
    return bench.look(residuals=(CHANNEL,))[f"residual {CHANNEL}"] >= FETCHED


def test_a_run_is_told_whether_somebody_has_read_a_file_of_an_image_on_disk(stored, bench_on):
    bench = bench_on(stored)
    assert [fetched_after(bench, somebody_read=read) for read in (False, True) * 2] == [True, False] * 2


def test_no_run_is_told_of_an_image_in_memory(copied, bench_on):
    bench = bench_on(copied)
    assert not any(fetched_after(bench, somebody_read=read) for read in (False, True) * 4)


@pytest.mark.deep("how much an image carries on disk and in memory, in bits")
@pytest.mark.parametrize("where", ["disk", "memory"])
def test_the_search_reads_the_bit_on_disk_and_not_in_memory(where, stored, copied, bench_on, mode):
    search = Search(bench_on(stored if where == "disk" else copied), mode=mode, say=lambda _: None)
    found = search.measure(CHANNEL)
    assert found.bits is not None
    assert found.bits > 0.8 if where == "disk" else found.bits < 0.35, found
