"""Every file that a search found worth keeping, again: read or refused, soon and in little memory."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from readers import CORPUS, READERS, kept_files
from search import KEPT_BYTES

MOST_MEMORY = 48 * 1024 * 1024
MOST_SECONDS = 3.0
LARGEST_CORPUS = 1536 * 1024


@pytest.mark.parametrize("name", READERS)
def test_kept_files_are_read_or_refused(name: str) -> None:
    reader, outcomes = READERS[name], set()
    tracemalloc.start()
    try:
        for file, content in kept_files(name).items():
            tracemalloc.reset_peak()
            started = time.thread_time()
            outcomes.add(reader.read(content) is None)
            assert time.thread_time() - started < MOST_SECONDS, file
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, file
    finally:
        tracemalloc.stop()
    assert outcomes == {True, False}, "files of both kinds, or nothing is shown"


def test_the_corpus_is_small_and_of_readers_that_there_are() -> None:
    sizes = {path: path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()}
    assert {path.parent.name for path in sizes} == set(READERS)
    assert max(sizes.values()) <= KEPT_BYTES
    assert sum(sizes.values()) <= LARGEST_CORPUS
