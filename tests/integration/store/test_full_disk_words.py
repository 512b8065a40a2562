"""What finds no room names the disk and the remedy, and leaves nothing in the way of the next try."""

from __future__ import annotations

import io
import json
import shutil
import sqlite3
import zipfile
from collections.abc import Callable
from contextlib import closing, redirect_stderr
from pathlib import Path

from small_disk import fill, on_small_disk

from domain.errors import NotReady
from dpgate.cli import app
from dpgate.delivery.copying import copy
from dpgate.delivery.opening import FolderSource
from dpgate.delivery.source import rooted
from dpgate.mandates import Custody
from dpgate.unpacking import unpack
from gateway.problems import fault, fault_page
from store.database_copy import copy_sqlite_file
from store.full_disk import names_full_disk
from store.zone_ledger import ZoneLedger
from worker.failure import without_its_text

SENTENCE = "there is no room left on the disk of {}: make room there, and run the same command again"
KEY = b"k" * 32


def refusal(act: Callable[[], object]) -> str:
    try:
        act()
    except NotReady as error:
        return str(error)
    return "done"


def asked_on(place: str, elsewhere: str) -> None:
    """Each with a full disk: what is said, by the name of who says it."""
    folder, data = Path(place), Path(elsewhere)
    ledger = ZoneLedger(folder / "ledger.sqlite", key=KEY, sealing=KEY)
    ledger.create(lambda page: None)
    with closing(sqlite3.connect(folder / "platform.db")) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
    custody = Custody(folder / "custody")
    custody.folder.mkdir()
    (folder / "delivery").mkdir()
    fill(folder, left_mib=0)

    def deliver() -> None:
        there = rooted(FolderSource(data, lambda path: False), "participants.tsv", lambda path: False)
        copy(there, folder / "delivery", dataset="heights", progress=lambda done, total: None)

    def write() -> None:
        with ledger.writing() as page:
            page._connection.execute("CREATE TABLE more (x)")

    said = {
        "key": refusal(custody.check_opens),
        "delivery": refusal(deliver),
        "ledger": refusal(write),
        "copy": refusal(lambda: copy_sqlite_file(data / "some.sqlite", folder / "copy.sqlite")),
    }

    def restore() -> None:
        with names_full_disk(folder, then="begin anew"):
            shutil.copytree(data, folder / "tree")

    said["tree"] = refusal(restore)
    try:
        with closing(sqlite3.connect(folder / "platform.db")) as connection:
            connection.execute("CREATE TABLE more (x)")
    except sqlite3.OperationalError as error:
        said["worker"] = without_its_text(error)
        said["gateway"] = json.loads(bytes(fault(error).body))["detail"]
        said["page"] = bytes(fault_page(error).body).decode()
    print(json.dumps(said))


def test_each_names_the_disk_and_the_remedy(tmp_path: Path) -> None:
    place, data = tmp_path / "small", tmp_path / "data"
    for folder in (place, data):
        folder.mkdir()
    (data / "participants.tsv").write_text("participant_id\nsub-1\n")
    with closing(sqlite3.connect(data / "some.sqlite")) as connection:
        connection.execute("CREATE TABLE some (x)")
    said = json.loads(on_small_disk(asked_on, data, place=place, mib=4))
    gateway = (
        "has no room left for the platform's database: nothing was changed, and nothing charged. "
        "Tell the operator, who makes room there; then send it again."
    )
    assert f"<p>The disk {gateway}</p>" in said.pop("page")
    assert said == {
        "key": SENTENCE.format(place / "custody"),
        "delivery": SENTENCE.format(place),
        "ledger": SENTENCE.format(place / "ledger.sqlite").partition(",")[0],
        "copy": SENTENCE.format(place),
        "tree": SENTENCE.format(place).replace("run the same command again", "begin anew"),
        "worker": "there is no room left on the disk of the database: make room there",
        "gateway": f"disk: {gateway}",
    }


def unpacked_on(place: str) -> None:
    """A twin for which there is no room, to a folder that is left as it was; then what a command says."""
    folder = Path(place)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name in ("sub-1/a.tsv", "sub-2/b.tsv"):
            archive.writestr(name, bytes(2 * 2**20))
    fill(folder, left_mib=3)
    said: list[object] = []
    try:
        unpack(packed.getvalue(), folder / "twin")
    except OSError as error:
        said += [error.filename, (folder / "twin").exists()]
    fill_up = folder / "rest"
    with fill_up.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError as error:
            full = error
    command, app._command = app._command, lambda first: _Raising(full)  # type: ignore[assignment]
    words = io.StringIO()
    with redirect_stderr(words):
        said.append(app.run(["datasets"]))
    app._command = command
    print(json.dumps(said))


class _Raising:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def main(self, *_arguments: object, **_options: object) -> None:
        raise self._error


def test_a_twin_without_room_leaves_its_folder_as_it_was(tmp_path: Path) -> None:
    place = tmp_path / "small"
    place.mkdir()
    said = json.loads(on_small_disk(unpacked_on, place=place, mib=8))
    assert said == [str(place / "twin" / "sub-2" / "b.tsv"), False, 7]
