"""Hostile files in a request of the interface; the attacks work on a simpler writer."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path, PureWindowsPath

import pytest
import sqlalchemy as sa
from factories import job_request_fields
from serving import Console

from domain.pipeline import MAX_SOURCE_BYTES, MAX_SOURCES
from store import users
from store.tables import metadata

SMALL = b"print(1)\n"
SOURCE = {"path": "main.py", "content_base64": base64.b64encode(SMALL).decode()}
OTHER = {**SOURCE, "content_base64": base64.b64encode(b"print(2)\n").decode()}
SOURCES = {
    "out of the folder": [SOURCE, {**SOURCE, "path": "../out.py"}],
    # as long as nobody makes a folder of this name
    "absolute": [{**SOURCE, "path": f"/tmp/dpgate-{os.getpid()}-{time.time_ns()}.py"}],
    "a drive": [{**SOURCE, "path": "C:\\x.py"}],
    "nul": [{**SOURCE, "path": "a\x00b"}],
    "twice": [SOURCE, OTHER],
    "a file in a file": [SOURCE, {**SOURCE, "path": "main.py/x"}],
    "too many": [{**SOURCE, "path": f"f{number}.py"} for number in range(MAX_SOURCES + 1)],
    "too large": [{**SOURCE, "content_base64": base64.b64encode(bytes(MAX_SOURCE_BYTES + 1)).decode()}],
    "too large together": [
        {"path": f"f{number}", "content_base64": base64.b64encode(bytes(MAX_SOURCE_BYTES // 3)).decode()}
        for number in range(4)
    ],
    "no base64": [{**SOURCE, "content_base64": "<c2NyaXB0>"}],
}


def written_simply(sources: list[dict[str, str]], folder: Path) -> int:
    """As a simpler worker would: every content to where its path says, one after the other. The bytes."""
    written = 0
    for source in sources:
        place = Path(os.path.normpath(folder / source["path"]))
        place.parent.mkdir(parents=True, exist_ok=True)
        written += place.write_bytes(base64.b64decode(source["content_base64"]))
    return written


def test_control_a_simpler_writer_does_the_harm(tmp_path: Path):
    """Each of the requests below, where nobody checks them."""
    folders = {name: tmp_path / str(number) / "inside" for number, name in enumerate(SOURCES)}
    for folder in folders.values():
        folder.mkdir(parents=True)

    def write(name: str) -> int:
        return written_simply(SOURCES[name], folders[name])

    write("out of the folder")
    assert (folders["out of the folder"].parent / "out.py").exists()
    write("absolute")
    outside = Path(SOURCES["absolute"][0]["path"])
    assert outside.exists()
    outside.unlink()
    drive = PureWindowsPath("D:\\inside") / SOURCES["a drive"][0]["path"]
    assert not drive.is_relative_to("D:\\inside")
    with pytest.raises(ValueError, match="null byte"):
        write("nul")
    write("twice")
    assert (folders["twice"] / "main.py").read_bytes() != SMALL, "what was reviewed is not what runs"
    with pytest.raises(FileExistsError):
        write("a file in a file")
    write("too many")
    assert len(list(folders["too many"].iterdir())) > MAX_SOURCES
    for name in ("too large", "too large together"):
        assert write(name) > MAX_SOURCE_BYTES
    write("no base64")
    assert (folders["no base64"] / "main.py").read_bytes() == b"script", "letters that are none were dropped"


def test_hostile_sources_in_a_request_are_refused(refusing: Console):
    with refusing.database.transaction() as connection:
        headers = {"Authorization": f"Bearer {users.renew_token(connection, name='ada')}"}
    before = _rows(refusing)
    with refusing.visit() as visitor:
        for name, sources in SOURCES.items():
            asked = job_request_fields()
            asked["pipeline"] = {**asked["pipeline"], "sources": sources}
            answer = visitor.client.put("/api/v1/jobs/job-hostile-one", json=asked, headers=headers)
            assert answer.status_code in (413, 422), f"{name}: {answer.text[:300]}"
            assert answer.json()["problems"][0]["field"].startswith("pipeline"), name
            assert answer.headers["content-type"] == "application/problem+json"
    assert _rows(refusing) == before


def _rows(console: Console) -> dict[str, int]:
    with console.database.reading() as connection:
        return {
            table.name: connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in metadata.sorted_tables
        }
