"""Version 7.3 of whoever means harm: circles, bombs and headers that never end."""

import functools
import struct
import time
import tracemalloc

import h5py
import numpy as np
import pytest
from made_bombs import zlib_bomb
from matlab_samples import locked, v73

from domain.errors import PipelineError
from domain.formats import FORMATS
from formats.hdf5 import Writer


def circle(file: h5py.File) -> None:
    cell = file.create_dataset("c", (1, 2), h5py.ref_dtype)
    cell[0, 0] = cell[0, 1] = cell.ref
    cell.attrs["MATLAB_class"] = np.bytes_("cell")


def struct_in_itself(file: h5py.File) -> None:
    group = file.create_group("s")
    group.attrs["MATLAB_class"] = np.bytes_("struct")
    for name in "abcd":
        group[name] = group


def bomb(file: h5py.File) -> None:
    data = file.create_dataset("a", (1000, 1000), "f8", chunks=(700, 700), compression="gzip")
    data[:] = 0
    data.attrs["MATLAB_class"] = np.bytes_("double")


def large_chunk(file: h5py.File) -> None:
    data = file.create_dataset(
        "a", (1, 2), "f8", chunks=(5000, 5000), maxshape=(None, None), compression="gzip"
    )
    data.id.write_direct_chunk((0, 0), zlib_bomb(b"", bytes(5000 * 5000), 8))
    data.attrs["MATLAB_class"] = np.bytes_("double")


def many_chunks(file: h5py.File) -> None:
    for position in range(60):
        data = file.create_dataset(f"a{position}", (64, 1), "f8", chunks=(1, 1), compression="gzip")
        data[:] = 0
        data.attrs["MATLAB_class"] = np.bytes_("double")


content_of = functools.cache(v73)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (circle, "4096 arrays|16 levels|too often"),
        (struct_in_itself, "4096 arrays|16 levels|too often"),
        (bomb, "more than 65536 elements"),
        (large_chunk, "too large"),
        (many_chunks, None),
    ],
)
def test_version_73_that_lies(build, words):
    content = content_of(build)
    assert len(content) < FORMATS["mat"].most_bytes
    started = time.thread_time()
    if words is None:
        assert locked(content).numbers == 60 * 64
    else:
        with pytest.raises(PipelineError, match=words):
            locked(content)
    assert time.thread_time() - started < 5


@pytest.mark.parametrize("build", [bomb, large_chunk])
def test_bombs_of_version_73_take_little_memory(build):
    content = content_of(build)
    tracemalloc.start()
    try:
        with pytest.raises(PipelineError):
            locked(content)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 2**27


def filled(hdf5: bytes) -> bytes:
    return b"\0" * 512 + bytes(hdf5)


def test_a_chunk_is_not_shuffled_again_and_again():
    def build(file: h5py.File) -> None:
        data = file.create_dataset("a", (8, 8), "f8", chunks=(8, 8), shuffle=True)
        data[:] = 1.5
        data.attrs["MATLAB_class"] = np.bytes_("double")

    content = v73(build)
    once = struct.pack("<BB6xHHHHII", 1, 1, 2, 8, 1, 1, 0, 0)[:14]  # one filter: shuffle, with its name
    place = content.index(once)
    assert locked(content).numbers == 64
    with pytest.raises(PipelineError, match="another way than gzip"):
        locked(content[: place + 1] + b"\xff" + content[place + 2 :])


def test_a_header_of_very_many_empty_messages_ends_soon():
    writer, parts = Writer(largest_group=1), []
    root = writer.group({}, {})
    content = bytearray(writer.finish(root, base=0))
    # the root's header is replaced by one of half a million messages that say nothing
    parts.append(struct.pack("<BxHII4x", 1, 1, 1, 8 * 520_000))
    parts.append(struct.pack("<HHB3x", 0, 0, 0) * 520_000)
    content[root:] = b"".join(parts)
    started = time.thread_time()
    with pytest.raises(PipelineError, match="too often"):
        locked(filled(bytes(content))[: FORMATS["mat"].most_bytes])
    assert time.thread_time() - started < 2


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (8, 9, "version of HDF5"),
        (13, 4, "another width"),
        (0, 0, "no MAT-file"),
        (64, 0xFF, "ends too early|no group|unknown kind"),
    ],
)
def test_superblocks_that_lie(place, value, words):
    writer = Writer(largest_group=1)
    number = writer.dataset((1, 1), "float64", bytes(8), {"MATLAB_class": b"double"})
    content = bytearray(writer.finish(writer.group({"a": number}, {}), base=0))
    assert locked(filled(content)).numbers == 1
    content[place] = value
    with pytest.raises(PipelineError, match=words):
        locked(filled(content))


def test_a_root_that_is_an_array_is_refused():
    writer = Writer(largest_group=1)
    number = writer.dataset((1, 1), "float64", bytes(8), {"MATLAB_class": b"double"})
    with pytest.raises(PipelineError, match="its root is no group"):
        locked(filled(writer.finish(number, base=0)))
