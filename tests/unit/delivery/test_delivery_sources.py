"""Archives and object stores as sources: the same files as a folder's, and nothing hostile gets out."""

from __future__ import annotations

import importlib
import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpgate.delivery.copying import copy
from dpgate.delivery.opening import ArchiveSource, open_source
from dpgate.delivery.source import Source, SourceFile, rooted
from dpgate.errors import DpgateError

FILES = {"participants.tsv": b"participant_id\nsub-1\n", "sub-1/a.json": b"{}", "sub-1/b.bin": bytes(30_000)}


def nothing(path: str) -> bool:
    return False


def member(name: str, content: bytes = b"x", **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def archived(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], *, mode: Any = "w") -> Path:
    with tarfile.open(path, mode) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


def delivered(source: Source, folder: Path) -> dict[str, bytes]:
    folder.mkdir(exist_ok=True)
    copy(rooted(source, "participants.tsv", nothing), folder, dataset="heights", progress=lambda *step: None)
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if not name.startswith("dpgate-")}


def test_an_archive_is_taken_as_its_folder_would_be(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for prefix in ("", "./", "ds004148/"):
        for suffix, mode in (("tar", "w"), ("tar.gz", "w:gz"), ("tar.xz", "w:xz")):
            with subtests.test(prefix=prefix, suffix=suffix):
                (place := tmp_path / suffix / prefix.strip("./") / str(len(prefix))).mkdir(parents=True)
                members = [member(prefix + path, content) for path, content in FILES.items()]
                folder = (tarfile.TarInfo(f"{prefix}empty"), b"")
                folder[0].type = tarfile.DIRTYPE
                path = archived(place / f"data.{suffix}", [folder, *members], mode=mode)
                assert delivered(open_source(str(path), excludes=nothing), place / "out") == FILES


LINK = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd", "size": 0}
HOSTILE: dict[str, tuple[list[tuple[tarfile.TarInfo, bytes]], str]] = {
    "parent": ([member("../../out")], "leads elsewhere"),
    "parent inside": ([member("a/../../out")], "leads elsewhere"),
    "absolute": ([member("/etc/cron.d/x")], "leads elsewhere"),
    "empty part": ([member("a//b")], "leads elsewhere"),
    "control character": ([member("a\nb")], "leads elsewhere"),
    "not UTF-8": ([member("a\udcff")], "leads elsewhere"),
    "too deep": ([member("d/" * 40 + "x")], "leads elsewhere"),
    "twice": ([member("a"), member("a", b"y")], "is there twice"),
    "twice by a dot": ([member("a"), member("./a", b"y")], "is there twice"),
    "inside a file": ([member("a"), member("a/b")], "inside the path of another"),
    "link": ([member("a", b"", **LINK)], "is a link"),
    "hard link": ([member("a"), member("b", b"", type=tarfile.LNKTYPE, linkname="a")], "is a link"),
    "device": ([member("a", b"", type=tarfile.CHRTYPE)], "is a link"),
    "pipe": ([member("a", b"", type=tarfile.FIFOTYPE)], "is a link"),
    "hole": ([member("a", b"", type=tarfile.GNUTYPE_SPARSE)], "is a link|cannot be read"),
}


def test_nothing_of_a_hostile_archive_is_written(subtests: pytest.Subtests, tmp_path: Path) -> None:
    for number, (name, (members, reason)) in enumerate(HOSTILE.items()):
        with subtests.test(name):
            (folder := tmp_path / str(number)).mkdir()
            path = archived(folder / "data.tar", [member("participants.tsv"), *members])
            with pytest.raises(DpgateError, match=reason):
                ArchiveSource(path)


def test_sizes_beyond_caps_are_refused_before_they_are_read(tmp_path: Path) -> None:
    large = tarfile.TarInfo("large")
    large.size = 5 * 1024**3
    extended = tarfile.TarInfo("header")
    extended.type, extended.size = tarfile.XHDTYPE, 5 * 1024**3
    for header, reason in ((large, "larger than|cannot be read"), (extended, "cannot be read")):
        path = tmp_path / "data.tar"
        path.write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
        with pytest.raises(DpgateError, match=reason):
            ArchiveSource(path)


@pytest.mark.parametrize("content", [b"", b"no archive", b"\x1f\x8b" + bytes(40)])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "data.tar.gz").write_bytes(content)
    with pytest.raises(DpgateError, match="cannot be read"):
        open_source(str(tmp_path / "data.tar.gz"), excludes=nothing)


def test_a_cut_archive_delivers_nothing(tmp_path: Path) -> None:
    members = [member(path, content) for path, content in FILES.items()]
    path = archived(tmp_path / "data.tar.gz", members, mode="w:gz")
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(DpgateError, match="cannot be read"):
        delivered(ArchiveSource(path), tmp_path / "out")


@pytest.mark.parametrize(("name", "reason"), [("none", "no folder or archive"), ("a.zip", "is no archive")])
def test_what_is_no_source(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "a.zip").touch()
    with pytest.raises(DpgateError, match=reason):
        open_source(str(tmp_path / name), excludes=nothing)


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    """An S3 service of this process alone, on a port that is free."""
    import boto3  # takes half a second to load, as does the service
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        yield boto3.client("s3")
    server.stop()


def given_bucket(s3: Any, name: str, objects: dict[str, bytes]) -> str:
    s3.create_bucket(Bucket=name)
    for key, content in objects.items():
        s3.put_object(Bucket=name, Key=key, Body=content)
    return f"s3://{name}"


@pytest.mark.needs(process=True)
def test_an_object_store_is_taken_as_its_folder_would_be(s3: Any, tmp_path: Path) -> None:
    objects = {f"studies/heights/{path}": content for path, content in FILES.items()}
    address = given_bucket(s3, "open", {**objects, "studies/heights/sub-1/": b"", "studies/other": b"no"})
    assert delivered(open_source(f"{address}/studies/heights/", excludes=nothing), tmp_path / "out") == FILES


@pytest.mark.needs(process=True)
def test_an_object_store_that_fails_half_way_is_gone_on_with(
    s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = given_bucket(s3, "half", FILES)
    source = open_source(address, excludes=nothing)
    read: list[str] = []

    def fails(file: SourceFile) -> Any:
        read.append(file.path)
        if len(read) == 3:
            raise OSError("connection lost")
        return whole(file)

    whole = source._opened  # type: ignore[attr-defined]
    monkeypatch.setattr(source, "_opened", fails)
    with pytest.raises(OSError, match="connection lost"):
        delivered(source, tmp_path / "out")
    assert delivered(source, tmp_path / "out") == FILES
    assert read == [*FILES, list(FILES)[2]]


@pytest.mark.needs(process=True)
@pytest.mark.parametrize("key", ["a/../../b", "a//b", "d/" * 40 + "x"])
def test_keys_that_lead_elsewhere(s3: Any, key: str) -> None:
    address = given_bucket(s3, f"hostile-{abs(hash(key))}", {"participants.tsv": b"", key: b"x"})
    with pytest.raises(DpgateError, match=r"leads elsewhere|cannot be read"):
        open_source(address, excludes=nothing)


@pytest.mark.needs(process=True)
@pytest.mark.parametrize("address", ["s3://empty/none", "s3://no-such-bucket/x", "nowhere://x"])
def test_nothing_there(s3: Any, address: str) -> None:
    given_bucket(s3, "empty", {})
    with pytest.raises(DpgateError, match=r"there is nothing below|cannot be read"):
        open_source(address, excludes=nothing)


def test_without_the_extra_a_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    # the package has something else of this name
    registry = importlib.import_module("fsspec.registry")
    monkeypatch.delitem(registry._registry, "s3", raising=False)
    with pytest.raises(DpgateError, match=r"pip install 'dpgate\[s3\]'"):
        open_source("s3://open/x", excludes=nothing)
