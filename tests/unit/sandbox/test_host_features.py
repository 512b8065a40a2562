"""What the doctor reads of this host's kernel, held against the kernel itself."""

import json
import os
from pathlib import Path

import pytest

from worker.sandbox.core.slot_user import FIRST_SLOT_UID
from worker.sandbox.host_features import check_bubblewrap, check_machine, check_worker_process
from worker.sandbox.needs import NEEDS
from worker.sandbox.profiles import Feature, Profile

ORDINARY = 1500


def found(name: str, *, slots: int = 1, scratch: Path | None = None) -> Feature:
    features = (*check_machine(slots=slots), *check_worker_process(scratch, slots=slots))
    return next(feature for feature in features if feature.name == name)


def as_ordinary_user(name: str, *, slots: int) -> list[object]:
    """What a worker of an ordinary user would find: a child of ours, which becomes one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setuid(ORDINARY)
        feature = found(name, slots=slots)
        os.write(writing, json.dumps([feature.present, feature.detail]).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with open(reading, "rb") as answer:
        return list(json.loads(answer.read()))


@pytest.mark.needs(process=True)
def test_every_feature_has_its_reason_and_words() -> None:
    features = (*check_bubblewrap(), *check_machine(slots=2), *check_worker_process(None, slots=2))
    assert len({feature.name for feature in features}) == len(features)
    for feature in features:
        assert feature.needed_from is NEEDS[feature.name].needed_from
        assert feature.detail
        assert not set("[]{}'") & set(feature.detail)
        assert feature.present or feature.fix


def test_each_profile_needs_what_the_milder_one_needs() -> None:
    lacking = [Feature(name, need.needed_from, False, "", "") for name, need in NEEDS.items()]
    stopped = [{f.name for f in lacking if f.stops(profile)} for profile in Profile]
    assert stopped[0] < stopped[1] < stopped[2] < set(NEEDS)


@pytest.mark.needs(process=True)
def test_one_slot_needs_no_users_and_shares_no_core() -> None:
    for name in ("each slot has a user of its own", "cores are not shared by threads"):
        assert found(name, slots=1).present
    assert as_ordinary_user("each slot has a user of its own", slots=1)[0] is True


@pytest.mark.needs(process=True)
def test_an_ordinary_user_has_no_users_to_give() -> None:
    present, detail = as_ordinary_user("each slot has a user of its own", slots=2)
    assert present is False
    assert str(detail).endswith("; 2 slots")


@pytest.mark.parametrize(
    ("name", "path", "wanted"),
    [
        ("addresses are random", "/proc/sys/kernel/randomize_va_space", lambda text: text == "2"),
        ("BPF is for root only", "/proc/sys/kernel/unprivileged_bpf_disabled", lambda text: text != "0"),
        ("swap is off", "/proc/swaps", lambda text: len(text.splitlines()) == 1),
    ],
)
def test_switches_are_read_as_they_are(name: str, path: str, wanted) -> None:
    assert found(name).present is wanted(Path(path).read_text().strip())


def test_a_scratch_folder_on_a_disk_or_nowhere(tmp_path: Path) -> None:
    assert found("scratch lies in memory").present
    proc = found("scratch lies in memory", scratch=Path("/proc/self"))
    assert (proc.present, proc.detail) == (False, "/proc/self is on proc")
    nowhere = found("scratch lies in memory", scratch=tmp_path / "a" / "b" / "c")
    assert (nowhere.present, "No such file or directory" in nowhere.detail) == (False, True)


def test_users_of_slots_are_known_here_if_the_map_says_so() -> None:
    rows = [line.split() for line in Path("/proc/self/uid_map").read_text().splitlines()]
    known = any(int(a) <= FIRST_SLOT_UID < int(a) + int(n) for a, _, n in rows)
    expected = known and os.getuid() == 0
    assert found("each slot has a user of its own", slots=2).present is expected
