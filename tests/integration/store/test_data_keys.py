"""A key for each data set: what is sealed under it opens while the key is there, and never without it."""

from __future__ import annotations

import io
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from heights import heights_fields

from domain.dataset import Dataset, DatasetState, Declaration
from domain.errors import PlatformError
from domain.model import parse
from store.data_keys import DataKeys
from store.keys import KEY_BYTES, Keys, create_keys, load_keys
from store.sealed_areas import SealedArea, SealedAreas

KEYS, OTHER = Keys(b"k" * KEY_BYTES), Keys(b"o" * KEY_BYTES)
SECRET = b"participant_id\tage\nsub-01\t41\n"
OUTCOME = b"n" * 32


def areas(zone: Path, keys: Keys = KEYS) -> SealedAreas:
    return SealedAreas(
        snapshots=zone / "snapshots",
        participants=zone / "participants",
        keys=keys,
        data_keys=DataKeys(zone / "data-keys", lambda: keys),
    )


def write(area: SealedArea) -> str:
    return area.snapshots.write(tables={"participants.tsv": lambda: io.BytesIO(SECRET)}, people={})


def read(area: SealedArea, snapshot: str) -> bytes:
    return area.snapshots.open(snapshot).table("participants.tsv")


def version(area: SealedArea, name: str, snapshot: str) -> Dataset:
    declaration = parse(Declaration, heights_fields(name=name))
    return Dataset(
        id="v",
        version=1,
        owner="holder",
        cohort=name,
        declaration=declaration,
        state=DatasetState.READY,
        snapshot=snapshot,
        data_key=area.key_id,
    )


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")


def test_equal_data_are_named_alike_and_shared_within_a_data_set_alone(tmp_path: Path) -> None:
    zone = areas(tmp_path)
    first, again, other = (zone.to_write(name) for name in ("heights", "heights", "weights"))
    name = write(first)
    held = len(files(tmp_path / "snapshots"))
    assert write(again) == name
    assert len(files(tmp_path / "snapshots")) == held
    assert write(other) == name
    assert len(files(tmp_path / "snapshots")) == 2 * held
    mine, theirs = zone.of(version(first, "heights", name)), zone.of(version(other, "weights", name))
    assert read(mine, name) == read(theirs, name) == SECRET
    assert (mine.keys, mine.snapshots) == (first.keys, first.snapshots)
    assert len({mine.keys.snapshots, mine.keys.outputs, mine.keys.participants, theirs.keys.outputs}) == 4


def test_what_was_sealed_before_data_sets_had_keys_is_read_as_ever(tmp_path: Path) -> None:
    zone = areas(tmp_path)
    name, newer = write(zone.shared), zone.to_write("heights")
    assert write(newer) == name  # the same data again
    old = zone.of(version(zone.shared, "heights", name))
    assert read(old, name) == SECRET
    assert old.key_id is None
    assert zone.of(version(newer, "heights", name)).key_id == newer.key_id is not None


def test_of_many_at_once_the_first_key_stays(tmp_path: Path) -> None:
    table = DataKeys(tmp_path / "data-keys", lambda: KEYS)
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: table.make("heights"), range(16)))
    assert made == {table.find("heights")}
    assert [path.name for path in files(tmp_path)] == table.names() == ["heights"]
    (path,) = files(tmp_path)
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
    assert made.pop().root not in path.read_bytes()


def test_without_its_key_nothing_of_a_data_set_opens(tmp_path: Path) -> None:
    """Whatever was copied before, with every key that is left."""
    zone = areas(tmp_path)
    area, kept = zone.to_write("heights"), zone.to_write("weights")
    name = write(area)
    write(kept)
    area.participants.of_job("job-1", cohort="heights").keep(OUTCOME, {"sub-01/a": SECRET})
    key_id = str(area.key_id)
    copy = shutil.copytree(tmp_path / "snapshots", tmp_path / "copy")
    zone.keys.destroy("heights", key_id)
    assert zone.keys.names() == ["weights"]
    for left in (zone.shared.keys, kept.keys):
        found = type(area.snapshots)(copy / "own" / key_id, left)
        assert found.has(name)
        with pytest.raises(PlatformError, match="wrong key"):
            found.open(name)
    assert [zone.remove_some(key_id, most=2) for _ in range(3)] == [2, 1, 0]
    assert not [path for path in files(tmp_path) if key_id in str(path) and copy not in path.parents]
    assert not zone.of(version(area, "heights", name)).snapshots.has(name)
    later = zone.to_write("heights")
    zone.keys.destroy("heights", key_id)  # of the one before: it stays
    assert zone.to_write("heights").keys == later.keys != area.keys


def test_one_that_died_while_it_overwrote_a_key_is_gone_on_with(tmp_path: Path) -> None:
    table = DataKeys(tmp_path, lambda: KEYS)
    made = table.make("heights")
    (tmp_path / "heights").write_bytes(os.urandom(90))
    with pytest.raises(PlatformError, match="not as it was written"):
        table.find("heights")
    table.destroy("heights", made.id)
    table.destroy("heights", made.id)
    assert table.find("heights") is None


def test_a_rotation_that_was_killed_leaves_no_key_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its unfinished copies open like the key itself."""
    key_file = tmp_path / "master.key"
    create_keys(key_file)
    table = DataKeys(tmp_path / "data-keys", lambda: load_keys(key_file))
    made = table.make("heights")
    before, really = key_file.read_bytes(), os.replace
    for place in (key_file, table.folder / "heights"):
        with monkeypatch.context() as killed:
            killed.setattr(
                "os.replace", lambda new, old, at=place: _interrupted() if old == at else really(new, old)
            )
            killed.setattr(Path, "unlink", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                table.rotate(key_file)
    assert sum(path.name.startswith(".") for path in files(tmp_path)) == 2
    table.rotate(key_file)
    table.destroy("heights", made.id)
    assert files(tmp_path) == [key_file]
    assert key_file.read_bytes() != before


def test_a_key_opens_for_its_zone_and_its_data_set(tmp_path: Path) -> None:
    DataKeys(tmp_path, lambda: KEYS).make("heights")
    with pytest.raises(PlatformError, match="wrong key"):
        DataKeys(tmp_path, lambda: OTHER).find("heights")
    shutil.copy(tmp_path / "heights", tmp_path / "weights")
    with pytest.raises(PlatformError, match="wrong place"):
        DataKeys(tmp_path, lambda: KEYS).find("weights")
    for name in ("", "..", "../heights", "heights\n", ".heights"):
        with pytest.raises(PlatformError, match="a name that none has"):
            DataKeys(tmp_path, lambda: KEYS).find(name)


def test_outcomes_of_all_data_sets_go_when_nobody_uses_them(tmp_path: Path) -> None:
    zone = areas(tmp_path)
    for area in (zone.shared, zone.to_write("heights"), zone.to_write("weights")):
        area.participants.of_job("job-1", cohort="heights").keep(OUTCOME, {})
    now = datetime.now(UTC)
    assert zone.remove_unused_outcomes(since=now - timedelta(days=1)) == 0
    assert zone.remove_unused_outcomes(since=now + timedelta(days=1)) == 3
    assert not files(tmp_path / "participants")


def test_an_old_key_of_the_zone_opens_nothing_that_is_wrapped_anew(tmp_path: Path) -> None:
    """Twice, once begun by one that died; workers go on with what they have loaded, and make more keys."""
    key_file = tmp_path / "master.key"
    create_keys(key_file)
    table = DataKeys(tmp_path / "data-keys", lambda: load_keys(key_file))
    made = [table.make(name) for name in ("heights", "weights")]
    old_keys, old_files = [key_file.read_bytes()], shutil.copytree(table.folder, tmp_path / "old")
    assert table.rotate(key_file) == ["heights", "weights"]
    old_keys.append(key_file.read_bytes())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("store.data_keys.end_rotation", _interrupted)
        with pytest.raises(KeyboardInterrupt):
            table.rotate(key_file)
    assert [table.find(own) for own in table.names()] == made
    table.rotate(key_file)
    made.append(table.make("zebras"))
    assert [table.find(own) for own in table.names()] == made
    assert len({content[:KEY_BYTES] for content in (*old_keys, key_file.read_bytes())}) == 1
    for content in old_keys:
        for name in table.names():
            with pytest.raises(PlatformError, match="wrong key"):
                DataKeys(table.folder, lambda content=content: Keys(content)).find(name)
    assert DataKeys(old_files, lambda: Keys(old_keys[0])).find("heights") == made[0], "as long as it is kept"
    assert key_file.stat().st_mode & 0o077 == 0


def _interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt
