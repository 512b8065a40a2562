"""Lives of neighbouring data sets, each in a process of its own, and their transcripts."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from forks import GATEWAY, WORKER, forked
from hostile_messages import MESSAGE_KEY
from recording import Transcript
from services import redis_server

from dpgate.cli.commands import modules

LIFE = Path(__file__).parent / "life.py"
IMPORTED = (*GATEWAY, *WORKER, "pytest", "aiosmtpd.controller", "dpgate.cli.app", *sorted(modules()))


def life_of(change: str | None, *, template: Path, which: str = "whole") -> Transcript:
    """From the registration on, in a worker zone, a database and a Redis that nobody has used."""
    folder = Path(tempfile.mkdtemp(prefix="dpgate-life-"))
    scratch = Path(tempfile.mkdtemp(prefix="dpgate-test-", dir="/dev/shm"))
    scratch.chmod(0o711)
    try:
        with redis_server() as broker:
            return _lived(folder, scratch, broker, template, {"change": change, "which": which})
    finally:
        shutil.rmtree(folder)
        shutil.rmtree(scratch, ignore_errors=True)


def _lived(folder: Path, scratch: Path, broker: str, template: Path, what: dict[str, object]) -> Transcript:
    database, out, order = folder / "dpgate.db", folder / "transcript.json", folder / "order.json"
    shutil.copy(template, database)
    url = f"sqlite:///{database}"
    order.write_text(
        json.dumps(what | {"folder": str(folder), "database": url, "redis": broker, "out": str(out)}), "utf-8"
    )
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "COLUMNS": "200",
        "DPGATE_DATABASE_URL": url,
        "DPGATE_BROKER_URL": broker,
        "DPGATE_MESSAGE_KEY": MESSAGE_KEY,
        "DPGATE_ZONE_FOLDER": str(folder / "zone"),
        "DPGATE_SCRATCH_FOLDER": str(scratch),
        "DPGATE_SLOTS": "1",
        "DPGATE_MAX_ATTEMPTS": "1",
        "DPGATE_WORKER_NAME": "worker-one",
    }
    with (folder / "said").open("wb") as said:
        process = forked(
            [LIFE, order], after=IMPORTED, environment=environment, folder=folder, output=said.fileno()
        )
        ended = process.wait()
    text = (folder / "said").read_text()
    assert ended == 0, text[-4000:]
    transcript = Transcript.read(out)
    transcript.note("log", "standard output", text.replace(str(folder), "FOLDER"))
    return transcript
