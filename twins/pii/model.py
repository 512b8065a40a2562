"""The character model: what kind of text a value looks like, where no rule and no header knows.

Multinomial logistic regression over hashed character n-grams (n = 1..4) of the value and of its outline
(letters and digits by class). The hash is our own and never changes: coefficients belong to it. The file is
made by `benchmarks/pii_model.py`, which also says what it was trained on, and holds a list of names
(`twins/pii/names.py`) beside them. Weinberger and others 2009 on
feature hashing; Cavnar and Trenkle 1994 on n-grams of text.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from twins.pii.names import Names

LONGEST_VALUE = 64
"""Characters of a value that are looked at."""

LONGEST_GRAM = 4
FORMAT = 2

_ARRAYS = ("format", "labels", "weights", "scale", "intercept", "known")
_PRIME = np.uint32(16777619)
_START = 2166136261
_OUTLINE_OFFSET = 7919
_BATCH = 2048
_TRAILING_NUMBER = re.compile(r"(?<=[^\W\d_]{2})\d{1,3}(?=\s|$)")
_DIGITS = str.maketrans("123456789", "000000000")


def features(values: Sequence[str], buckets: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Hashed n-grams of all values one after another, and where each value's begin (ascending, one for each).

    `buckets` is a power of two. Every value has at least one n-gram.
    """
    texts = [_prepared(value) for value in values]
    plain = _code_points([text.casefold() for text in texts])
    outline = _code_points([_outline(text) for text in texts])
    hashes, owners = [], []
    for (points, owned_by), offset in ((plain, 0), (outline, _OUTLINE_OFFSET)):
        for length in range(1, LONGEST_GRAM + 1):
            gram, of = _grams(points, owned_by, length, offset)
            hashes.append(gram & np.uint32(buckets - 1))
            owners.append(of)
    every, of_all = np.concatenate(hashes), np.concatenate(owners)
    order = np.argsort(of_all, kind="stable")
    starts = np.searchsorted(of_all[order], np.arange(len(values)))
    return every[order].astype(np.int64), starts.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Model:
    """`weights` has one row for each bucket and one column for each label."""

    labels: tuple[str, ...]
    weights: npt.NDArray[np.float32]
    intercept: npt.NDArray[np.float32]
    names: Names

    @classmethod
    def parse(cls, content: bytes) -> Model:
        """Raises ValueError for bytes that are no model of this format. Nothing in them is executed."""
        try:
            with np.load(io.BytesIO(content), allow_pickle=False) as file:
                held = {name: file[name] for name in _ARRAYS}
        except (KeyError, ValueError, OSError, EOFError, zipfile.BadZipFile):
            raise ValueError("the file holds no character model; install the package anew") from None
        labels, weights = tuple(str(label) for label in held["labels"]), held["weights"]
        buckets = weights.shape[0] if weights.ndim == 2 else 0
        shapes = {each.shape for each in (weights[0], held["scale"], held["intercept"])} if buckets else set()
        if int(held["format"]) != FORMAT or weights.dtype != np.int8 or shapes != {(len(labels),)}:
            raise ValueError("the file holds a character model of another format; install the package anew")
        if not buckets or buckets & (buckets - 1):
            raise ValueError("the character model must have a power of two of rows")
        names = Names(held["known"].astype(np.uint8).tobytes())
        return cls(labels, expanded(weights, held["scale"]), held["intercept"].astype(np.float32), names)

    def likely(self, values: Sequence[str]) -> npt.NDArray[np.float32]:
        """The probability of each label for each value: an array of values x labels, rows sum to 1."""
        batches = [self._batch(values[at : at + _BATCH]) for at in range(0, len(values), _BATCH)]
        return np.concatenate(batches) if batches else np.zeros((0, len(self.labels)), dtype=np.float32)

    def _batch(self, values: Sequence[str]) -> npt.NDArray[np.float32]:
        grams, starts = features(values, len(self.weights))
        counts = np.diff(np.append(starts, len(grams))).astype(np.float32)[:, None]
        score = np.add.reduceat(self.weights[grams], starts, axis=0) / np.sqrt(counts) + self.intercept
        power = np.exp(score - score.max(axis=1, keepdims=True))
        return np.asarray(power / power.sum(axis=1, keepdims=True), dtype=np.float32)


def compressed(
    weights: npt.NDArray[np.floating],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """One byte for each weight, finer near zero where most of them lie; and the largest of each label."""
    scale = np.abs(weights).max(axis=0).astype(np.float32)
    return np.rint(127 * np.sign(weights) * np.sqrt(np.abs(weights) / scale)).astype(np.int8), scale


def expanded(weights: npt.NDArray[np.int8], scale: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """What `compressed` took, but for rounding."""
    part = weights.astype(np.float32) / 127
    return np.asarray(part * np.abs(part) * scale, dtype=np.float32)


def _prepared(value: str) -> str:
    """The value between spaces, without a number behind a word (as test patients have); digits say little."""
    text = " ".join(value[: 4 * LONGEST_VALUE].split())[:LONGEST_VALUE]
    return f" {_TRAILING_NUMBER.sub('', text).translate(_DIGITS)} "


def _outline(text: str) -> str:
    return "".join(map(_OUTLINE.__getitem__, text))


class _Outline(dict[str, str]):
    """The class of a character, remembered: A, a, x for letters without case, 0, or the sign itself."""

    def __missing__(self, sign: str) -> str:
        if len(self) > 4096:
            self.clear()
        if sign.isalpha():
            shown = "A" if sign.isupper() else "a" if sign.islower() else "x"
        else:
            shown = "0" if sign.isdigit() else sign if sign.isascii() else "~"
        self[sign] = shown
        return shown


_OUTLINE = _Outline()


def _code_points(texts: Sequence[str]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """All characters in a row as numbers, and whose they are."""
    joined = "".join(texts)
    points = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    owner = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return points, owner


def _grams(
    points: npt.NDArray[np.uint32], owner: npt.NDArray[np.int64], length: int, offset: int
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
    """The hash (FNV-1a over code points) of every n-gram that lies within one value, and whose it is."""
    count = len(points) - length + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint32), np.zeros(0, dtype=np.int64)
    within = owner[:count] == owner[length - 1 :]
    hashed = np.full(count, (_START + offset + length) % 2**32, dtype=np.uint32)
    for step in range(length):
        hashed = (hashed ^ points[step : step + count]) * _PRIME
    hashed ^= hashed >> np.uint32(15)
    return hashed[within], owner[:count][within]
