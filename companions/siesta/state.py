"""What a run of the workflow has done so far, in OUT/secret: enough to go on, and never to draw noise twice.

secret/state.jsonl      what runs (its first line), then one line for every run that is done
secret/participants/    what the participant level wrote, a folder for each person
secret/group/NAME/      the whitelisted files of each group run
secret/release.json     the release, from the moment when its noise was drawn
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpgate.errors import DpgateError
from worker.plain_outputs import PlainOutputs

SENTENCE = (
    "Everything in this folder is as secret as the data: from the leave-one-out results every person's value "
    "can be computed. Only the folder `released` beside it may leave. Delete this folder when you are done.\n"
)
_STATE, _RELEASE = "state.jsonl", "release.json"


class State:
    """Opened by one process at a time; every step is there whole or not at all, whenever the run ends."""

    def __init__(self, secret: Path) -> None:
        self.secret = secret
        self.participants = PlainOutputs(secret / "participants")
        self._done: dict[str, bool] = {}
        self.header: Mapping[str, Any] = {}
        self._read()

    def begin(self, header: Mapping[str, Any]) -> None:
        """State what runs. Raises DpgateError where this folder was begun with something else, and a group
        run is done. Before that nothing in it decides a draw: outcomes of people know what made them."""
        if not self.header:
            self.header = dict(header)
            self._append(self.header)
            return
        if not self._done and self.release is None and self.header != header:
            (self.secret / _STATE).unlink()
            self.header = dict(header)
            self._append(self.header)
            return
        for name, value in header.items():
            if self.header.get(name) != value:
                raise DpgateError(
                    f"{self.secret.parent} was begun with another {name}; what it holds and draws is of that "
                    f"one. Name a new OUT, or bring the {name} back to what it was"
                )

    def has(self, run: str) -> bool:
        """Whether this group run is done."""
        return run in self._done

    def failed(self, run: str) -> bool:
        return not self._done[run]

    def read(self, run: str) -> dict[str, bytes]:
        """The whitelisted files of a group run that is done and did not fail."""
        folder = self._folder(run)
        found = (path for path in sorted(folder.rglob("*")) if path.is_file())
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    def keep(self, run: str, files: Mapping[str, bytes] | None, *, seconds: float) -> None:
        """What a group run wrote, or that it failed for good."""
        if files is not None:
            self._write(self._folder(run), files)
        self._done[run] = files is not None
        self._append({"group": run, "done": files is not None, "seconds": round(seconds, 3)})

    def note(self, event: Mapping[str, Any]) -> None:
        """A line for whoever reads the state; nothing depends on it."""
        self._append(event)

    @property
    def release(self) -> dict[str, Any] | None:
        """What was drawn, once it was."""
        path = self.secret / _RELEASE
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def keep_release(self, content: Mapping[str, Any]) -> None:
        """Raises FileExistsError where there is one: noise is never drawn twice for one state."""
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        with tempfile.NamedTemporaryFile("w", dir=self.secret, encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
            os.link(file.name, self.secret / _RELEASE)

    def _folder(self, run: str) -> Path:
        return self.secret / "group" / run

    def _write(self, folder: Path, files: Mapping[str, bytes]) -> None:
        shutil.rmtree(folder, ignore_errors=True)  # written, and not yet stated as done
        folder.parent.mkdir(exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
        for path, content in files.items():
            (unfinished / path).parent.mkdir(parents=True, exist_ok=True)
            (unfinished / path).write_bytes(content)
        unfinished.rename(folder)

    def _append(self, line: Mapping[str, Any]) -> None:
        # one write, not forced to disk: what a power cut takes is run again
        with (self.secret / _STATE).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def _read(self) -> None:
        path = self.secret / _STATE
        content = path.read_bytes() if path.exists() else b""
        whole, _, torn = content.rpartition(b"\n")
        if torn:  # the line that was being written when the machine stopped
            os.truncate(path, len(content) - len(torn))
        try:
            lines = [json.loads(line) for line in whole.splitlines()]
            self.header = lines[0] if lines else {}
            self._done = {line["group"]: line["done"] for line in lines[1:] if "group" in line}
        except (ValueError, KeyError, TypeError):
            raise DpgateError(f"{path} is not what this command wrote; name a new OUT") from None


@contextmanager
def open_state(out: Path) -> Iterator[State]:
    """OUT/secret, closed to others and held by this process alone.

    Raises DpgateError where OUT holds something else, or another run is at work in it.
    """
    secret = out / "secret"
    if out.exists() and not out.is_dir():
        raise DpgateError(f"{out} is there already and is no folder")
    if out.is_dir() and any(out.iterdir()) and not secret.is_dir():
        raise DpgateError(
            f"{out} holds something else; name a folder that is absent, empty or of this command"
        )
    secret.mkdir(parents=True, exist_ok=True)
    secret.chmod(0o700)
    (secret / "README").write_text(SENTENCE, encoding="utf-8")
    with (secret / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DpgateError(f"another run is at work in {out}; wait for it") from None
        yield State(secret)
