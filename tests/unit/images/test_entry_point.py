"""What an image starts for a pipeline that names no command."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from factories import make_manifest, make_pipeline

from sandbox_images.unpack.plan import entry_point_of
from sandbox_images.unpack.refusal import Refused
from worker.images import description
from worker.images.commands import resolve_command
from worker.images.description import Described
from worker.images.entry_point import command_of
from worker.images.refusal import CommandRefused
from worker.order import order_for
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.protocol import Audience

REFUSED = {"neither an entry point nor": None, "neither a script": b"\x00\x01binary", "neither": b""}
CONFIGURED = (
    ({"Entrypoint": ["python3", "/app/run.py"], "Cmd": ["--help"]}, ("python3", "/app/run.py")),
    ({"Entrypoint": ["./run.sh", "-v"], "WorkingDir": "/opt/app"}, ("/opt/app/run.sh", "-v")),
    ({"Entrypoint": ["bin/run"]}, ("/bin/run",)),
    ({"Entrypoint": None, "Cmd": ["python3", "/app/run.py"]}, ()),  # arguments would take its place
    ({}, ()),
)


def image(rootfs: Path) -> StoredImage:
    return StoredImage("app", "sha256:" + "0" * 64, rootfs, "sha256:" + "1" * 64, None)


def test_an_entry_point_is_read_as_docker_calls_it(subtests: pytest.Subtests) -> None:
    for config, expected in CONFIGURED:
        with subtests.test(config=config):
            assert entry_point_of({"config": config}) == expected
    for wrong in ("python3 /app/run.py", [1], {"a": "b"}):
        with pytest.raises(Refused, match="Entrypoint"):
            entry_point_of({"config": {"Entrypoint": wrong}})
    assert entry_point_of({}) == ()


def test_what_was_declared_comes_first_then_the_entry_point_then_the_runscript(tmp_path: Path) -> None:
    for number, (words, content) in enumerate(REFUSED.items()):
        place = tmp_path / str(number) / ".singularity.d"
        place.mkdir(parents=True)
        if content is not None:
            (place / "runscript").write_bytes(content)
        with pytest.raises(CommandRefused, match=words):
            command_of(image(place.parent), ())
    (place / "runscript").write_text("#!/bin/sh\npython3 /app/app.py $*\n")
    found = image(place.parent)
    assert command_of(found, ())[:2] == ("/bin/sh", "-c")
    with_entry = replace(found, entry_point=("/app/run", "--bids"))
    assert command_of(with_entry, ()) == ("/app/run", "--bids")
    assert command_of(with_entry, ["python3", "x.py"]) == ("python3", "x.py")
    pipeline = make_pipeline(manifest=make_manifest(image="app", command=[]))
    assert order_for(pipeline, image=with_entry, audience=Audience.TWIN).command == ("/app/run", "--bids")
    with pytest.raises(CommandRefused, match="/app/run is not in the image app"):
        resolve_command(with_entry, (), {})
    (place.parent / "app").mkdir()
    (place.parent / "app" / "run").write_text("x")
    (place.parent / "app" / "run").chmod(0o755)
    resolve_command(with_entry, (), {})
    outside = tmp_path / "outside"
    outside.write_text("#!/bin/sh\n")
    (place / "runscript").unlink()
    os.symlink(outside, place / "runscript")
    with pytest.raises(CommandRefused, match="nor a runscript"):  # the link leads out of the image
        command_of(found, ())
    host = HostImage("host-python", "sha256:0", Path("/usr/bin/python3"), (), (), "/usr/bin")
    with pytest.raises(CommandRefused, match="host-python no entry point"):
        command_of(host, ())


def test_what_was_written_down_of_it_is_read_back_also_from_before(tmp_path: Path) -> None:
    digest = "0" * 64
    (folder := tmp_path / digest).mkdir()
    whole = replace(image(folder / "rootfs"), entry_point=("/run", "--all"))
    description.write(folder, Described(whole, "sha256:2", 1))
    assert description.read(folder).image == whole
    path = folder / description.DESCRIPTION
    path.chmod(0o600)
    path.write_text(path.read_text().replace('"entry_point"', '"other"'))
    assert description.read(folder).image.entry_point == ()


def test_a_runscript_that_cannot_be_started_is_refused_before_anything_runs(tmp_path: Path) -> None:
    (place := tmp_path / ".singularity.d").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").write_bytes(b"\x7fELF")
    (tmp_path / "bin" / "sh").chmod(0o755)
    (script := place / "runscript").touch()
    for content, mode, words in (
        (b"#!/bin/sh\r\nexit 0\r\n", 0o755, "the lines of /.singularity.d/runscript end as Windows has it"),
        (b"#!/usr/bin/python3.9\n", 0o755, "/usr/bin/python3.9 is not in the image app"),
        (b"#!/bin/sh\n", 0o644, "runscript of the image app may not be executed"),
        (b"#!/bin/sh\nexit 0\r\n", 0o755, ""),
    ):
        script.write_bytes(content)
        script.chmod(mode)
        if not words:
            resolve_command(image(tmp_path), (), {})
            continue
        with pytest.raises(CommandRefused, match=words):
            resolve_command(image(tmp_path), (), {})


def test_a_runscript_that_is_a_program_needs_no_shell(tmp_path: Path) -> None:
    (place := tmp_path / ".singularity.d").mkdir()
    (place / "runscript").write_bytes(b"\x7fELF and so on")
    (place / "runscript").chmod(0o755)
    assert command_of(image(tmp_path), ()) == ("/.singularity.d/runscript",)
    resolve_command(image(tmp_path), (), {})
