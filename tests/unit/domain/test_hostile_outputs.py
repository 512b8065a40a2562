"""Every reader against files made to break it: numbers or PipelineError, in little memory and little time."""

from __future__ import annotations

import io
import json
import math
import random
import struct
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest
from made_bombs import MIB, gzip_bomb
from scipy import io as matlab

from domain.errors import PipelineError
from domain.model import parse
from domain.pipeline import OutputFile
from domain.shape import FileShape, lock
from formats import nifti
from twins.drawn.files import make_volume

MOST_MEMORY = 160 * MIB
MOST_SECONDS = 3.0


def _npy() -> bytes:
    file = io.BytesIO()
    np.save(file, np.arange(6.0).reshape(2, 3))
    return file.getvalue()


def _mat(*, compressed: bool) -> bytes:
    file = io.BytesIO()
    matlab.savemat(file, {"a": np.arange(4.0), "b": {"c": 1.5, "d": "text"}}, do_compression=compressed)
    return file.getvalue()


def _volume(*, compressed: bool) -> bytes:
    return make_volume((3, 2, 2), kind="f4", lower=0, upper=1, draw=random.Random(1), compressed=compressed)


VALID: dict[str, bytes] = {
    "r.tsv": b"name\tmean\nage\t1\nheight\t2\n",
    "r.csv": b"name,mean\nage,1\nheight,2\n",
    "r.txt": b"name mean\nage 1\nheight 2\n",
    "r.json": json.dumps({"a": [1, 2.5], "b": {"c": 3}, "d": "text"}).encode(),
    "r.npy": _npy(),
    "r.mat": _mat(compressed=False),
    "z.mat": _mat(compressed=True),
    "r.nii": _volume(compressed=False),
    "r.nii.gz": _volume(compressed=True),
}


def _bombs() -> dict[str, bytes]:
    """Small files that ask for much, by what they ask for."""
    head = nifti.read("r.nii", VALID["r.nii"])[0]
    assert head.dims == (3, 2, 2)
    huge = bytearray(VALID["r.nii"])
    struct.pack_into("<8h", huge, 40, 7, *[32767] * 7)
    return {
        "lists": b"[" * 60_000,
        "objects": b'{"a":' * 12_000,
        "string": b'["' + b"a" * 65_000,
        "escapes": b'["' + b"\\u00e9" * 10_000,
        "backslashes": b'["' + b"\\" * 65_000,
        "digits": b"1" * 65_000,
        "fraction": b"[0." + b"1" * 65_000 + b"]",
        "exponent": b"[1e" + b"9" * 65_000 + b"]",
        "spaces": b"{" + b" " * 65_000,
        "empty cells": b"\t" * 65_000,
        "empty lines": b"\n" * 65_000,
        "long keys": json.dumps({"k" * 60_000: [1] * 500}).encode(),
        "npy header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b"{" * 60_000,
        "npy spaces": b"\x93NUMPY\x01\x00\x00\x0f{" + b" " * 3_900,
        "npy dims": VALID["r.npy"].replace(b"(2, 3)", b"(9999999999, 9999999999)"),
        "npy commas": b"\x93NUMPY\x01\x00\x00\x0f{'shape': (" + b"1," * 1_900,
        "dims": bytes(huge),
        "gzip": gzip_bomb(b"", bytes(MIB), 100),
        "gzip of a volume": gzip_bomb(VALID["r.nii"], bytes(MIB), 100),
        "zeros": b"\0" * 33 * MIB,
        "ones": b"\xff" * MIB,
        "nothing": b"",
    }


BOMBS = _bombs()


def locked(file: str) -> FileShape:
    bounds = [{"select": "*", "name": "number", "lower": 0, "upper": 1}]
    return lock(parse(OutputFile, {"file": file, "bounds": bounds}), VALID[file], {})


def check(shape: FileShape, content: bytes) -> bool:
    """Whether it was read; anything but numbers or PipelineError fails the test."""
    try:
        numbers = shape.read(content)
    except PipelineError:
        return False
    assert len(numbers) == shape.numbers
    assert all(number is None or math.isfinite(number) for number in numbers)
    return True


@pytest.mark.parametrize("file", VALID)
def test_what_asks_for_much_gets_nothing(file: str) -> None:
    shape = locked(file)
    tracemalloc.start()
    try:
        for name, content in BOMBS.items():
            tracemalloc.reset_peak()
            started = time.thread_time()
            assert not check(shape, content), name
            assert time.thread_time() - started < MOST_SECONDS, name
            assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY, name
    finally:
        tracemalloc.stop()


def test_every_piece_of_a_valid_file_and_every_file_of_another_kind(subtests: pytest.Subtests) -> None:
    for file in VALID:
        with subtests.test(file=file):
            shape = locked(file)
            assert check(shape, VALID[file])
            step = max(1, len(VALID[file]) // 150)
            for end in range(0, len(VALID[file]), step):
                check(shape, VALID[file][:end])
                check(shape, VALID[file][end:])
                check(shape, VALID[file] + VALID[file][:end])
            for other in VALID.values():
                check(shape, other)


@pytest.mark.parametrize("file", VALID)
def test_every_byte_changed(file: str) -> None:
    shape: Any = locked(file)
    content = bytearray(VALID[file])
    step = max(1, len(content) // 250)
    for place in range(0, len(content), step):
        before = content[place]
        for byte in (0, 1, 0x7F, 0xFF, before ^ 0x80):
            content[place] = byte
            check(shape, bytes(content))
        content[place] = before
