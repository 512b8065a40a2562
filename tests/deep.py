"""The deep ring, part by part: `python tests/deep.py [PART ...]`, `--changed`, `--within SECONDS`.

Each part guards files of ours: it asks of them what is not asked of every change. A part that passes is put
on record with the digest of its files, so that everybody can see for which state of them it was asked.
`--changed` runs the parts whose files are no longer those of the record: what `.ci/run` does. It begins none
for which its time may not be enough, and says which it has not asked: those are for `make deep` and whoever
changed the files. Of a part that is not on record nobody knows how long it takes, so it wants 13 minutes.

Parts are cut so that each should take ten minutes or less, alone on two cores, by what its cases take in the
ring `test`; relays take a quarter of an hour. Of what lies in a folder that a part asks, it leaves to another
part what that one asks by itself.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).parent / "recorded" / "deep.json"
NO_CASES = 5  # pytest's exit code
UNKNOWN_S = 600
"""How long a part may take that is not on record."""
ROOM = 1.3
"""Times as long as on record: what a busier machine may take."""


@dataclass(frozen=True)
class Part:
    """Files by pattern, relative to the project, and the folders or files of tests that ask about them."""

    guards: tuple[str, ...]
    asks: tuple[str, ...]

    def files(self) -> list[Path]:
        found = {path for pattern in self.guards for path in ROOT.glob(pattern)}
        return sorted(path for path in found if path.is_file() and "__pycache__" not in path.parts)

    def digest(self) -> str:
        total = hashlib.sha256()
        for path in self.files():
            total.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
        return total.hexdigest()[:16]


ISOLATION = (
    "sandbox_images/*.py",
    "sandbox_images/supervisor/**/*.py",
    "sandbox_images/seccomp/**/*.py",
    "sandbox_images/probe/**/*.py",
    "sandbox_images/gate/**/*.py",
    "worker/sandbox/**/*.py",
)
DOCKER = ("worker/sandbox/docker_engine/**/*.py", "sandbox_images/keeper/**/*.py")
WORKER = ("worker/*.py", "worker/scan/**/*.py", "worker/profile/**/*.py", "worker/twin/**/*.py")
GATEWAY = ("gateway/**/*", "desk/*.py")
GATE = "tests/security/supervised/gate"
PARTS = {
    "noise": Part(("privacy/**/*.py",), ("tests/statistical", "tests/unit/privacy")),
    "sandboxes": Part(ISOLATION, ("tests/security", "tests/unit/sandbox")),
    "battery": Part(ISOLATION, ("tests/security/battery",)),
    "gate": Part(ISOLATION, (GATE,)),
    "senders": Part(ISOLATION, (f"{GATE}/test_each_sender.py",)),
    "novel": Part(ISOLATION, (f"{GATE}/test_novel_senders.py",)),
    "beside": Part(ISOLATION, (f"{GATE}/test_beside.py",)),
    "r": Part(ISOLATION, ("tests/integration/images/test_gate_in_r.py",)),
    "walls": Part(ISOLATION, (f"{GATE}/test_gate_controls.py",)),
    "relays": Part(ISOLATION, (f"{GATE}/test_relays.py",)),
    "docker": Part(DOCKER, ("tests/integration/docker",)),
    "containers": Part(
        (*DOCKER, "sandbox_images/probe/**/*.py"), ("tests/integration/docker/test_battery_on_docker.py",)
    ),
    "store": Part(("store/**/*.py",), ("tests/integration/store",)),
    "worker": Part(WORKER, ("tests/integration/worker", "tests/unit/worker")),
    "faults": Part(WORKER, ("tests/functional/faults",)),
    "gateway": Part(
        GATEWAY, ("tests/integration/gateway", "tests/integration/notices", "tests/unit/gateway")
    ),
    "pages": Part(GATEWAY, ("tests/pages", "tests/journeys")),
    "images": Part(
        ("sandbox_images/bases/**/*", "sandbox_images/unpack/**/*.py", "worker/images/**/*.py"),
        ("tests/integration/images", "tests/unit/images"),
    ),
    "neighbours": Part(
        (
            "gateway/**/*.py",
            "desk/*.py",
            "worker/*.py",
            "worker/intake/**/*.py",
            "worker/profile/**/*.py",
            "store/*.py",
        ),
        ("tests/noninterference",),
    ),
    "twins": Part(
        ("domain/twin/**/*.py", "twins/**/*.py", "companions/twin_report/**/*.py"),
        ("tests/unit/twin_report", "tests/unit/twins"),
    ),
    "readers": Part(
        ("domain/**/*.py", "formats/**/*.py"), ("tests/fuzz", "tests/unit/domain", "tests/unit/formats")
    ),
    "commands": Part(
        ("dpgate/**/*.py", "companions/**/*.py"),
        ("tests/functional", "tests/docs", "tests/unit/develop", "tests/unit/lab", "tests/unit/siesta"),
    ),
}


def left_to_others(name: str) -> list[str]:
    """What lies below a folder that this part asks, and another part asks by itself."""
    others = [place for other, part in PARTS.items() if other != name for place in part.asks]
    return [place for place in others if any(place.startswith(f"{own}/") for own in PARTS[name].asks)]


def main(words: list[str]) -> int:
    asked = _parser().parse_args(words)
    ends_at = time.monotonic() + asked.within
    wanted = asked.parts or [name for name in PARTS if not asked.changed or _has_changed(name)]
    failed = []
    for name in wanted:
        left_s = ends_at - time.monotonic()
        needs_s = ROOM * _recorded(name).get("seconds", UNKNOWN_S)
        if left_s < needs_s:
            print(
                f"deep, {name}: NOT ASKED; {max(left_s, 0):.0f} s are left, it may take {needs_s:.0f}",
                flush=True,
            )
        elif not _passes(name):
            failed.append(name)
    return len(failed)


def _passes(name: str) -> bool:
    digest, started = PARTS[name].digest(), time.monotonic()
    print(f"deep, {name}:", flush=True)
    command = [sys.executable, "-m", "pytest", "--ring", "deep", "-n", "auto", "-q", "--timeout", "7200"]
    left = [f"--ignore={place}" for place in left_to_others(name)]
    code = subprocess.run([*command, *left, *PARTS[name].asks], cwd=ROOT, check=False).returncode
    if code in (0, NO_CASES):
        _put_on_record(name, files=digest, seconds=round(time.monotonic() - started))
    return code in (0, NO_CASES)


def _has_changed(name: str) -> bool:
    return _recorded(name).get("files") != PARTS[name].digest()


def _recorded(name: str) -> dict:
    return json.loads(RECORD.read_text("utf-8")).get(name, {})


def _put_on_record(name: str, **facts: object) -> None:
    known = json.loads(RECORD.read_text("utf-8")) | {
        name: {**facts, "day": datetime.now(UTC).date().isoformat()}
    }
    RECORD.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n", "utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", choices=[*PARTS, []], help=", ".join(PARTS))
    parser.add_argument(
        "--changed", action="store_true", help="parts whose files are not those of the record"
    )
    parser.add_argument("--within", type=float, default=float("inf"), metavar="SECONDS")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
