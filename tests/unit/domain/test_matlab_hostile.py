"""MATLAB files of whoever means harm: numbers or a refusal, soon, and in little memory."""

import random
import struct
import tracemalloc
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from made_bombs import MIB, zlib_bomb
from matlab_samples import Structs, locked, scipy_file, v73_file
from pydantic import ValidationError

from domain.errors import PipelineError
from domain.formats import FORMATS
from domain.shape import MatlabShape
from domain.shape.matlab5_write import HEADER

ARRAYS = {
    "mean": np.array([[1.0, 2.0], [3.0, np.nan]]),
    "stats": {"beta": np.array([1, -2], "int16"), "name": "abc"},
    "rows": Structs(({"a": 1.0}, {"a": np.ones((2, 2))})),
    "parts": [1.5, np.array([[True]])],
}
SEEDS = (
    scipy_file({"a": np.ones((2, 2)), "b": "abc"}, format="4"),
    scipy_file(ARRAYS),
    scipy_file(ARRAYS, do_compression=True),
    v73_file(ARRAYS),
    v73_file(ARRAYS, libver="v108", chunks=True, compression="gzip", shuffle=True),
    locked(v73_file(ARRAYS)).write(["1"] * 12),
)
HEAD5 = HEADER + struct.pack("<H", 0x100) + b"IM"
PIECES = (
    b"\xff" * 8,
    b"\0" * 8,
    b"\xff" * 7 + b"\x7f",
    struct.pack("<II", 2**31, 2**31),
    b"TREE",
    b"\x0e\0\0\0",
)


def read(content: bytes) -> None:
    """Numbers or a refusal; anything else fails the test."""
    try:
        shape = locked(content)
    except PipelineError:
        return
    assert len(shape.read(content)) == shape.numbers == len(shape.addresses)


def mutated(seed: bytes, random_of: random.Random) -> bytes:
    content = bytearray(seed)
    for _ in range(random_of.choice((1, 1, 2, 4))):
        at = random_of.randrange(len(content))
        how = random_of.randrange(5)
        if how == 0:
            content[at] ^= 1 << random_of.randrange(8)
        elif how == 1:
            content[at] = random_of.choice((0, 1, 127, 128, 255))
        elif how == 2:
            piece = random_of.choice((*PIECES, random_of.randrange(len(content)).to_bytes(8, "little")))
            content[at & ~7 : (at & ~7) + len(piece)] = piece
        elif how == 3:
            del content[at : at + random_of.randrange(1, 17)]
        else:
            start = random_of.randrange(len(content))
            content[at:at] = content[start : start + random_of.randrange(64)]
    return bytes(content)


@pytest.mark.parametrize("seed", range(len(SEEDS)))
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_of=st.randoms(use_true_random=False))
def test_damaged_files(seed, random_of):
    read(mutated(SEEDS[seed], random_of))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from((b"", HEAD5, SEEDS[3][:512], SEEDS[3][:520], SEEDS[0][:20])), st.binary(max_size=400))
@example(b"", b"")
def test_any_bytes(start, content):
    read(start + content)


def test_files_that_end_too_early(subtests):
    for seed in SEEDS:
        with subtests.test(seed=seed):
            for end in range(0, len(seed), max(1, len(seed) // 60)):
                read(seed[:end])


def element(kind: int, content: bytes) -> bytes:
    return struct.pack("<II", kind, len(content)) + content + b"\0" * (-len(content) % 8)


def matrix(kind: int, dims: tuple[int, ...], body: bytes, name: bytes = b"a") -> bytes:
    head = element(6, struct.pack("<II", kind, 0)) + element(5, struct.pack(f"<{len(dims)}i", *dims))
    return element(14, head + element(1, name) + body)


def nested(depth: int) -> bytes:
    content = matrix(6, (1, 1), element(9, struct.pack("<d", 1)))
    for _ in range(depth):
        content = matrix(1, (1, 1), content)
    return content


ONE = matrix(6, (1, 1), element(9, struct.pack("<d", 1)))
INNER = struct.pack("<II", 15, len(zlib.compress(ONE))) + zlib.compress(ONE)


VERSION_5_THAT_LIES = (
    (nested(16), "16 levels"),
    (nested(3000), "16 levels"),
    (matrix(6, (2**31 - 1, 2**31 - 1), element(9, b"\0" * 8)), "more than 65536 elements"),
    (matrix(6, (2**31 - 1,) * 32, element(9, b"\0" * 8)), "more than 65536 elements"),
    (matrix(6, (-1, -1), element(9, b"\0" * 8)), "impossible dimensions"),
    (matrix(6, (1,), element(9, b"\0" * 8)), "impossible dimensions"),
    (matrix(6, (1,) * 33, element(9, b"\0" * 8)), "impossible dimensions"),
    (matrix(6, (1, 2), element(9, b"\0" * 8)), "more or fewer elements"),
    (matrix(6, (1, 1), element(9, b"\0" * 8) + ONE), "belong to nothing"),
    (matrix(6, (0, 65_537), b""), "ends too early"),
    (matrix(1, (1, 60_000), ONE), "ends too early"),
    (matrix(2, (60_000, 1), element(5, struct.pack("<i", 8)) + element(1, b"")), None),
    (
        matrix(2, (1, 1), element(5, struct.pack("<i", 4)) + element(1, b"a\0\0\0" * 2) + ONE * 2),
        "not as MATLAB",
    ),
    (matrix(2, (1, 1), element(5, struct.pack("<i", 0)) + element(1, b"a")), "fields are damaged"),
    (matrix(4, (1, 1), element(4, b"\0\0")), "not as MATLAB|characters that are none"),
    (matrix(4, (1, 1), element(4, b"\x00\xd8")), "characters that are none"),
    (matrix(4, (1, 1), element(16, b"\xff")), "characters that are none"),
    (matrix(4, (1, 2), element(16, b"a")), "more or fewer elements"),
    (matrix(1, (1, 1), element(14, b"")), None),  # how an element that was never set is written
    (ONE + ONE, "two variables have one name"),
    (matrix(6, (1, 1), element(9, b"\0" * 8), b""), "not as MATLAB"),
    (matrix(6, (1, 1), element(9, b"\0" * 8), b"a" * 64), "not as MATLAB"),
    (matrix(6, (1, 1), element(9, b"\0" * 8), b"../a"), "not as MATLAB"),
    (matrix(1, (1, 4097), matrix(1, (0, 0), b"", b"") * 4097), "4096 arrays"),
    (matrix(1, (1, 2), matrix(6, (1, 4096), element(9, b"\0" * 32_768), b"") * 2), "4096 numbers"),
    (element(9, b"\0" * 8), "of another type"),
    (element(15, b"\0" * 8), "damaged"),
    (element(15, zlib.compress(ONE)[:-1]), "damaged"),
    (element(15, zlib.compress(ONE) + b"\0"), "damaged"),
    (element(15, zlib.compress(ONE + ONE)), "belong to nothing"),
    (element(15, zlib.compress(INNER)), "of another type"),
)


def test_version_5_that_lies(subtests):
    for parts, words in VERSION_5_THAT_LIES:
        with subtests.test(parts=parts, words=words):
            if words is None:
                assert locked(HEAD5 + parts).numbers == 0
                continue
            with pytest.raises(PipelineError, match=words):
                locked(HEAD5 + parts)


VERSION_4_THAT_LIES = (
    ((0, -1, -1, 0, 2), "impossible dimensions"),
    ((0, 2**31 - 1, 2**31 - 1, 0, 2), "more than 65536"),
    ((0, 60_000, 1, 0, 2), "more than 4096 numbers"),
    ((0, 1, 1, 1, 2), "complex"),
    ((2, 1, 1, 0, 2), "sparse"),
    ((60, 1, 1, 0, 2), "no MAT-file"),
    ((2000, 1, 1, 0, 2), "no MAT-file"),
    ((0, 1, 1, 0, 0), "no MAT-file"),
    ((0, 1, 1, 0, 2**31 - 1), "no MAT-file"),
    ((0, 1, 2, 0, 2), "ends too early"),
)


def test_version_4_that_lies(subtests):
    for numbers, words in VERSION_4_THAT_LIES:
        with subtests.test(numbers=numbers, words=words), pytest.raises(PipelineError, match=words):
            locked(struct.pack("<5i", *numbers) + b"a\0" + b"\0" * 8)


MANY = 2**25
BOMBS = {
    "no element": lambda: element(15, zlib_bomb(b"", bytes(MIB), 128)),
    "numbers": lambda: (
        element(15, zlib_bomb(matrix(1, (1, 1), element(9, bytes(MANY)))[:-MANY], bytes(MIB), 32)) * 9
    ),
    "a name": lambda: element(
        15, zlib_bomb(matrix(6, (1, 1), b"", b"a" * 6 * 10**7)[: -6 * 10**7], b"a" * 10**6, 60)
    ),
}


def test_bombs_take_little_memory(subtests):
    for name, make in BOMBS.items():
        content = HEAD5 + make()
        with subtests.test(name):
            tracemalloc.start()
            try:
                with pytest.raises(PipelineError):
                    locked(content)
                most = tracemalloc.get_traced_memory()[1]
            finally:
                tracemalloc.stop()
            assert most < 2**25


def test_a_file_above_the_limit_is_not_read():
    with pytest.raises(PipelineError, match="larger than"):
        locked(SEEDS[1] + b"\0" * FORMATS["mat"].most_bytes)


NUMBER = {"kind": "numbers", "dims": [1, 1]}


def in_cells(depth: int) -> dict:
    node: dict = NUMBER
    for _ in range(depth):
        node = {"kind": "cell", "dims": [1, 1], "elements": [node]}
    return node


SHAPES_THAT_NO_RUN_CAN_HAVE_GIVEN_ARE_REFUSED = (
    (in_cells(16), "5"),
    (in_cells(2000), "5"),
    ({**NUMBER, "dims": [65, 64]}, "5"),
    ({**NUMBER, "dims": [2**31 - 1] * 32}, "5"),
    ({**NUMBER, "dims": [-1, 1]}, "5"),
    ({**NUMBER, "dims": [1, 1, 1]}, "4"),
    (in_cells(1), "4"),
    ({"kind": "text", "dims": [1, 3], "text": "ab"}, "5"),
    ({"kind": "text", "dims": [1, 1], "text": "\0"}, "5"),
    ({"kind": "flags", "dims": [1, 1], "flags": "2"}, "5"),
    ({"kind": "flags", "dims": [1, 2], "flags": "1"}, "5"),
    ({"kind": "cell", "dims": [1, 2], "elements": [NUMBER]}, "5"),
    ({"kind": "struct", "dims": [1, 2], "fields": ["a"], "elements": [NUMBER]}, "5"),
    ({"kind": "struct", "dims": [1, 1], "fields": ["a", "a"], "elements": [NUMBER, NUMBER]}, "5"),
    ({"kind": "struct", "dims": [1, 1], "fields": ["../a"], "elements": [NUMBER]}, "5"),
)


def test_shapes_that_no_run_can_have_given_are_refused(subtests):
    for value, version in SHAPES_THAT_NO_RUN_CAN_HAVE_GIVEN_ARE_REFUSED:
        with subtests.test(value=value, version=version):
            variables = [{"name": "a", "value": value}]
            with pytest.raises(ValidationError):
                MatlabShape.model_validate({"file": "a.mat", "version": version, "variables": variables})
