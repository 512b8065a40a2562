"""What a worker may ask the daemon for, through the proxy: this table, and nothing that is not in it.

A path and its query are matched whole and written anew, so there is nothing to be clever with: no other
spelling, no second parameter of a name, no body where none belongs.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode

from worker.sandbox.protocol import MIB

from .create_body import Part
from .identity import LABELS, PLACE
from .image_check import may_be_set
from .keeper import keeper_part
from .read_body import NotOurs
from .settings import DockerSettings, check_digest
from .volumes import Room, batch_of, parts_of, payload_volumes, runs_of

_SLOT_USERS = 10_000
_HEX = re.compile(r"[0-9a-f]{32}")
_VERSION = r"(?P<version>/v1\.\d{1,2})?"
_CONTAINER = r"/containers/(?P<container>[0-9a-f]{64})"


class Refused(Exception):
    """With the sentence that the worker gets to read."""

    def __init__(self, sentence: str, status: HTTPStatus = HTTPStatus.FORBIDDEN) -> None:
        super().__init__(sentence)
        self.status = status


@dataclass(frozen=True)
class Ceilings:
    """The most that one container may ask for, and how many there may be."""

    memory_bytes: int = 64 * 1024 * MIB
    processes: int = 4096
    tmp_bytes: int = 16 * 1024 * MIB
    containers: int = 64


@dataclass(frozen=True)
class Rules:
    """`images`: a file with the digest of an approved image on each line; read anew at each use."""

    settings: DockerSettings
    images: Path
    ceilings: Ceilings = Ceilings()

    def check_image(self, digest: str) -> None:
        lines = self.images.read_text(encoding="utf-8").split("\n")
        approved = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
        for line in approved:
            check_digest(line, f"an image in {self.images.name}")
        if digest not in approved | {self.settings.keeper_image}:
            raise Refused(f"the image {digest} is not among those that this proxy lets run")

    def check_part(self, part: Part) -> None:
        """Raises Refused for a container that no honest worker makes."""
        settings, ceilings = self.settings, self.ceilings
        self.check_image(part.image)
        slot = part.user - settings.first_uid
        if not 0 <= slot < _SLOT_USERS:
            raise Refused(f"user {part.user} is not a slot's")
        if set(part.labels) != set(LABELS) or not all(_HEX.fullmatch(text) for text in part.labels.values()):
            raise Refused("labels must be those of a slot")
        if not all(may_be_set(name) for name in part.environment):
            raise Refused("an environment variable changes what programs do")
        if part.runtime != settings.runtime or part.core != settings.core(slot):
            raise Refused("runtime and core are the proxy's to choose")
        within = (
            0 < part.amounts.memory_bytes <= ceilings.memory_bytes,
            0 < part.amounts.processes <= ceilings.processes,
            all(0 < room.size <= ceilings.tmp_bytes for room in _rooms(part)),
            all(room.user == part.user for room in _rooms(part)),
        )
        if not all(within):
            raise Refused("more memory (see --memory-mib), processes or room than this proxy allows")
        (self._check_keeper if part.input else self._check_payload)(part)

    def _check_keeper(self, part: Part) -> None:
        """The keeper alone may make volumes: exactly those of its batch."""
        names = [volume.name for volume in part.volumes[:2]]
        batch, parts = (batch_of(names[0]), parts_of(names[1])) if len(names) == 2 else (None, None)
        out = part.volumes[-1].room if part.volumes else None
        if batch is None or parts is None or out is None:
            raise Refused("a keeper's volumes must be those of a new batch")
        runs = runs_of(part.volumes)
        expected = keeper_part(
            self.settings,
            batch=batch,
            parts=parts,
            runs=runs,
            out=out,
            environment=part.environment,
            core=part.core,
            labels=part.labels,
        )
        if part != expected or runs > self.settings.batch:
            raise Refused(
                "this is not our keeper: worker and proxy need the same version, and the same settings "
                "keeper-image, keeper-python, batch, block-mib and view-mib"
            )

    def _check_payload(self, part: Part) -> None:
        batch = batch_of(part.volumes[0].name) if part.volumes else None
        run = part.volumes[-1].name.rpartition("-")[2] if part.volumes else ""
        if batch is None or not run.isdigit() or part.volumes != payload_volumes(batch, int(run)):
            raise Refused("a payload's volumes must be the code, input and output of one run")
        if part.temporary is None:
            raise Refused("a payload has /tmp and /dev/shm of its own")


def _rooms(part: Part) -> list[Room]:
    """Those that a run can fill. What a keeper alone can write has the size that the settings say."""
    out = part.volumes[-1].room if part.volumes else None
    return [room for room in (part.temporary, out) if room is not None]


@dataclass(frozen=True)
class Call:
    """One row of the table. `query`: which parameters may be, with which values; those `needed` must be."""

    name: str
    method: str
    path: re.Pattern[str]
    query: Mapping[str, Callable[[str], bool]]
    needed: frozenset[str] = frozenset()


def _one_of(*values: str) -> Callable[[str], bool]:
    return lambda given: given in values


def _place_filter(given: str) -> bool:
    """Exactly one label: everything of one place. Otherwise a list would show what others run."""
    try:
        wanted = json.loads(given)
    except ValueError:
        return False
    labels = wanted.get("label") if isinstance(wanted, dict) and set(wanted) == {"label"} else None
    if not isinstance(labels, list) or len(labels) != 1 or not isinstance(labels[0], str):
        return False
    name, _, value = labels[0].partition("=")
    return name == PLACE and bool(_HEX.fullmatch(value))


_YES_OR_NO = _one_of("0", "1")
_NO = _one_of("0", "False", "false")
_LISTED = {"filters": _place_filter}


def _call(
    name: str,
    method: str,
    path: str,
    query: Mapping[str, Callable[[str], bool]] | None = None,
    *needed: str,
) -> Call:
    return Call(name, method, re.compile(_VERSION + path), query or {}, frozenset(needed))


CALLS = (
    _call("ping", "GET", "/_ping"),
    _call("version", "GET", "/version"),
    _call("info", "GET", "/info"),
    _call("image", "GET", r"/images/(?P<image>sha256:[0-9a-f]{64})/json"),
    _call("create", "POST", "/containers/create"),
    _call("start", "POST", _CONTAINER + "/start"),
    _call("wait", "POST", _CONTAINER + "/wait"),
    _call("kill", "POST", _CONTAINER + "/kill", {"signal": _one_of("SIGKILL")}),
    _call("inspect", "GET", _CONTAINER + "/json"),
    _call("remove", "DELETE", _CONTAINER, {"v": _NO, "link": _NO, "force": _one_of("1", "True", "true")}),
    _call(
        "attach",
        "POST",
        _CONTAINER + "/attach",
        {
            "stdin": _YES_OR_NO,
            "stdout": _YES_OR_NO,
            "stderr": _YES_OR_NO,
            "stream": _one_of("1"),
            "logs": _NO,
        },
    ),
    _call("remove volume", "DELETE", r"/volumes/(?P<volume>dpgate-[0-9a-f]{32}-[a-z0-9-]{1,8})"),
    _call(
        "containers",
        "GET",
        "/containers/json",
        {**_LISTED, "all": _one_of("1"), "limit": _one_of("-1"), "size": _NO, "trunc_cmd": _NO},
        "filters",
    ),
    _call("volumes", "GET", "/volumes", _LISTED, "filters"),
)


def find_call(method: str, target: str) -> tuple[Call, dict[str, str | None], str]:
    """The row, what its pattern found, and the target as the proxy writes it. Raises Refused for all else."""
    path, mark, query = target.partition("?")
    for call in CALLS:
        found = call.path.fullmatch(path)
        if found is None or call.method != method:
            continue
        given = parse_qsl(query, keep_blank_values=True, strict_parsing=True) if mark and query else []
        names = [name for name, _ in given]
        if len(set(names)) != len(names):
            raise Refused("a parameter is given twice")
        for name, value in given:
            if name not in call.query or not call.query[name](value):
                raise Refused(f"{call.name}: not with {name}={value[:80]}")
        if not call.needed <= set(names):
            raise Refused(f"{call.name}: not without {', '.join(sorted(call.needed))}")
        return call, found.groupdict(), f"{path}?{urlencode(given)}" if given else path
    raise Refused(f"{method} {path[:200]!r} is not a call that a worker makes")


def trimmed_info(info: Mapping[str, Any]) -> dict[str, Any]:
    """What the probe reads; the rest would tell of the host and its other containers."""
    kept = (
        *("Architecture", "SecurityOptions", "Driver", "CgroupVersion", "CgroupDriver"),
        *("MemoryLimit", "SwapLimit", "PidsLimit", "CpuCfsQuota"),
    )
    runtimes: dict[str, Any] = {name: {} for name in info.get("Runtimes") or {}}
    return {name: info[name] for name in kept if name in info} | {"Runtimes": runtimes}


__all__ = ["CALLS", "Call", "Ceilings", "NotOurs", "Refused", "Rules", "find_call", "trimmed_info"]
