"""Cores of their own for slots: threads of a core stay together, and none has one where they are too few."""

from __future__ import annotations

import os
import threading

import pytest

from worker.sandbox.slot_cores import core_of, cores, kept_to


def given_host(folder, *siblings):
    """A host whose processors are listed as the kernel lists them."""
    for number, text in enumerate(siblings):
        topology = folder / f"cpu{number}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{text}\n")
    return folder


@pytest.mark.parametrize(
    ("siblings", "wanted"),
    [
        (["0", "1"], [{0}, {1}]),
        (["0,2", "1,3", "0,2", "1,3"], [{0, 2}, {1, 3}]),
        (["0-1", "0-1", "2-3", "2-3"], [{0, 1}, {2, 3}]),
    ],
)
def test_threads_of_a_core_are_kept_together(tmp_path, siblings, wanted):
    found = cores(given_host(tmp_path, *siblings), allowed=range(len(siblings)))
    assert [set(core) for core in found] == wanted


def test_what_this_process_may_not_use_is_nobodys(tmp_path):
    host = given_host(tmp_path, "0,2", "1,3", "0,2", "1,3")
    assert cores(host, allowed={0, 1, 3}) == (frozenset({0}), frozenset({1, 3}))


def test_a_host_that_does_not_show_them(tmp_path):
    assert cores(tmp_path, allowed={4, 7}) == (frozenset({4}), frozenset({7}))


def test_each_slot_has_one_of_its_own_or_none_has():
    two = (frozenset({0, 2}), frozenset({1, 3}))
    assert [core_of(slot, slots=2, all_cores=two) for slot in range(2)] == list(two)
    assert [core_of(slot, slots=3, all_cores=two) for slot in range(3)] == [None] * 3


def test_what_is_started_stays_there_and_the_thread_is_free_again():
    before = os.sched_getaffinity(0)
    core = frozenset({min(before)})
    inside = []
    with kept_to(core):
        thread = threading.Thread(target=lambda: inside.append(os.sched_getaffinity(0)))
        thread.start()
        thread.join()
    assert inside == [core]
    assert os.sched_getaffinity(0) == before
    with kept_to(None):
        assert os.sched_getaffinity(0) == before
