"""What looks and senders are written in: how a run is told what to do, and how what it found is read."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sandbox_images.gate import COMMAND, SEEN, gate_sources, in_r
from sandbox_images.probe import attack_sources
from sandbox_images.supervisor.warm_r import PACKAGES

Value = int | float | str
Look = Mapping[str, Value]
_SHORT = 60  # letters; what is longer is compared by its digest


@dataclass(frozen=True)
class Language:
    """`modules`: what a warm slot loads before its runs. `told`: more files of a block, of what is asked.
    `wall_s`: that a run may take.
    """

    command: tuple[str, ...]
    sources: Callable[[], Mapping[str, bytes]]
    outputs: tuple[str, ...]
    modules: tuple[str, ...]
    memory_bytes: int
    wall_s: int
    told: Callable[[Mapping[str, Any]], Mapping[str, bytes]]
    read: Callable[[Mapping[str, bytes]], Look]


def _in_python() -> Mapping[str, bytes]:
    return {**attack_sources(), **gate_sources()}


def _in_r() -> Mapping[str, bytes]:
    return {**gate_sources(), in_r.SCRIPT: in_r.SOURCE}


def _json_of(outputs: Mapping[str, bytes]) -> Look:
    found: Look = json.loads(outputs[SEEN])
    return found


def _both_of(outputs: Mapping[str, bytes]) -> Look:
    lines = outputs[in_r.SEEN].decode("utf-8", "replace").splitlines()
    own = {key: value for key, _, value in (line.partition("\t") for line in lines)}
    return {**_json_of(outputs), **{key: _short(value) for key, value in own.items()}}


def _short(value: str) -> str:
    return value if len(value) <= _SHORT else hashlib.sha256(value.encode()).hexdigest()[:16]


def _words_of(asked: Mapping[str, Any]) -> Mapping[str, bytes]:
    words = (asked["role"], asked.get("hold_s", 0), *asked.get("senders", ()))
    return {in_r.ASKED: "".join(f"{word}\n" for word in words).encode()}


PYTHON = Language(COMMAND, _in_python, (SEEN,), (), 256 << 20, 5, lambda _: {}, _json_of)
R = Language(in_r.COMMAND, _in_r, (SEEN, in_r.SEEN), PACKAGES, 1 << 30, 20, _words_of, _both_of)
