"""A platform charges a job when no other has the host: alone is alone, and who waits is next."""

from __future__ import annotations

import os
import time

import pytest

from domain.surroundings import Isolation
from worker.host_leases import FRESH_S, HostLeases

ALONE, BESIDE = Isolation.EXCLUSIVE, Isolation.SHARED
ASKS_S = 5


@pytest.fixture
def platforms(tmp_path):
    return [HostLeases(tmp_path, name, ASKS_S) for name in ("one", "other", "third")]


def age(leases, what, seconds):
    path = leases.root / f"lease-{what}-{leases.platform}"
    then = time.time() - seconds
    os.utime(path, (then, then))


def test_work_that_need_not_be_alone_has_the_host_together(platforms):
    assert all(leases.take(BESIDE) for leases in platforms)
    assert not any(leases.take(ALONE) for leases in platforms)


@pytest.mark.parametrize(("first", "second"), [(ALONE, ALONE), (ALONE, BESIDE), (BESIDE, ALONE)])
def test_who_must_be_alone_waits_and_is_waited_for(platforms, first, second):
    one, other, _ = platforms
    assert one.take(first)
    assert one.take(first), "a second job of its own"
    assert not other.take(second)
    assert other.is_lent_alone() is (first is ALONE)
    one.renew({first})
    assert not other.take(second)
    age(one, first.value, FRESH_S / 2)
    one.renew(())
    assert other.take(second)


def test_who_asked_first_is_next(platforms):
    one, other, third = platforms
    assert one.take(ALONE)
    assert not other.take(ALONE)
    assert not third.take(ALONE)
    assert not one.take(ALONE), "it has had its job, and others wait"
    age(one, "exclusive", FRESH_S / 2)
    one.renew(())
    assert not one.take(ALONE)
    assert not third.take(ALONE)
    assert other.take(ALONE)
    age(other, "exclusive", FRESH_S / 2)
    other.renew(())
    assert not one.take(ALONE)
    assert third.take(ALONE)


def test_what_a_dead_platform_left_is_over_by_itself(platforms):
    one, other, third = platforms
    assert one.take(ALONE)
    assert not other.take(ALONE)
    for seconds in (FRESH_S + 1, -FRESH_S - 1):  # of a clock that was set back, too
        age(one, "exclusive", seconds)
        assert not other.is_lent_alone()
    assert not third.take(ALONE), "somebody waits"
    age(other, "waits", 3 * ASKS_S + 1)
    assert third.take(ALONE)


def test_a_lease_of_a_job_that_is_being_charged_stays(platforms):
    one, other, _ = platforms
    assert one.take(ALONE)
    one.renew(())  # the charge is not on record yet
    assert not other.take(ALONE)
