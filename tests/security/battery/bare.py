"""The control of the experiment: no sandbox at all. A run is a plain process of whoever runs the tests,
with the faults that a sandbox exists to mend: it inherits environment, descriptors and standard input,
writes where it likes, is not ended, and its output is collected naively.

It offers what a real backend offers, so the same judge looks at it, and must find that the attack worked.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

from sandbox_images.probe.catalogue import Control
from worker.sandbox.battery import Bench, Conditions, Targets
from worker.sandbox.battery.bench import survivors
from worker.sandbox.profiles import Feature
from worker.sandbox.protocol import Cause, Image, RunDetail, RunResult, SlotOrder

_HERE = Path(__file__).parent
_LATE_S = 0.8  # that a run may take beyond its limit, before the tests go on without it
_COLLECTS_AFTER_S = 0.7  # where somebody is left who could change the output
_COLLECTOR_WAITS_S = 1.5


class BareSandbox:
    """Use as a context: it removes what attacks leave behind on the host."""

    def __init__(self, targets: Targets) -> None:
        self._targets = targets
        self.control = Control.PROCESS
        self.folder = Path(tempfile.mkdtemp(prefix="dpgate-bare-", dir="/var/tmp"))
        self.folder.chmod(0o777)
        for name in ("room", "code"):
            (self.folder / name).mkdir(mode=0o777)
            (self.folder / name).chmod(0o777)
        (self.folder / "large").write_bytes(bytes(2 << 20))
        os.sync()  # what is not yet on the disk cannot be thrown out of memory
        self._init = _stand_in_for_init(targets.secret)

    def facts(self) -> dict[str, Any]:
        """Where things are without a sandbox, and where to stop."""
        return {
            "bare": True,
            "pipeline": str(self.folder / "code"),
            "room": [str(self.folder / "room")],
            "system": [],
            "large_file": str(self.folder / "large"),
            "most": 400,
        }

    def probe(self) -> tuple[Feature, ...]:
        return ()

    def open_slot(self, order: SlotOrder, *, slot: int) -> "BareSlot":
        for name, content in order.code.items():
            (self.folder / "code" / name).write_bytes(content)
        return BareSlot(self, order, self._targets)

    def reap(self) -> int:
        return 0

    def living_init(self) -> int:
        """An attack may have ended it."""
        if self._init.poll() is not None or _is_stopped(self._init.pid):
            self._end_init()
            self._init = _stand_in_for_init(self._targets.secret)
        return self._init.pid

    def _end_init(self) -> None:
        self._init.kill()
        self._init.wait()
        self._init.stdout.close()

    def end_survivors(self, mark: str) -> None:
        for pid in survivors(mark):
            os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):  # some make themselves ours
                os.waitpid(pid, 0)

    def close(self) -> None:
        self._end_init()
        subprocess.run(["rm", "-rf", self.folder], check=True)  # deeper than a recursive walker gets

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.close()


class BareSlot:
    def __init__(self, sandbox: BareSandbox, order: SlotOrder, targets: Targets) -> None:
        self._sandbox, self._order, self._targets = sandbox, order, targets
        self._server: subprocess.Popen[bytes] | None = None

    def run(self, block) -> RunResult:
        folder = Path(tempfile.mkdtemp(dir=self._sandbox.folder))
        folder.chmod(0o777)
        for name in ("in", "out"):
            (folder / name).mkdir()
            (folder / name).chmod(0o777)
        target = {**json.loads(block["target.json"]), "init": self._sandbox.living_init()}
        (folder / "in" / "data.csv").write_bytes(block["data.csv"])
        (folder / "in" / "target.json").write_text(json.dumps(target))
        started = time.monotonic()
        code, text = self._serve(folder) if self._sandbox.control is Control.SERVER else self._start(folder)
        outputs = self._collect(folder / "out", target["mark"])
        duration_s = time.monotonic() - started
        self._tidy(folder)
        return RunResult(outputs, RunDetail(Cause.COMPLETED, code, "group", duration_s, text))

    def _start(self, folder: Path) -> tuple[int | None, str]:
        """A process that inherits what ours has."""
        reading, writing = os.pipe()
        os.write(writing, self._targets.secret.encode())
        said = folder / "said"
        with said.open("wb") as text:
            process = subprocess.Popen(
                [sys.executable, "-S", self._sandbox.folder / "code" / "attack.py", *_arguments(folder)],
                cwd=folder,
                stdin=reading,
                stdout=text,
                stderr=text,
                pass_fds=(writing,),
                start_new_session=True,
            )
        os.close(reading)
        os.close(writing)
        if not _ends_within(process, self._order.limits.wall_s + _LATE_S):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        return process.wait(), said.read_text(errors="replace")

    def _serve(self, folder: Path) -> tuple[int | None, str]:
        """One process for all blocks, which runs each in itself."""
        if self._server is None:
            self._server = subprocess.Popen(
                [sys.executable, "-S", _HERE / "bare_server.py", self._sandbox.folder / "code"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        self._server.stdin.write(json.dumps([str(each) for each in _arguments(folder)]).encode() + b"\n")
        self._server.stdin.flush()
        self._server.stdout.readline()
        return 0, ""

    def _collect(self, out: Path, mark: str) -> dict[str, bytes] | None:
        declared = self._order.outputs[0]
        if self._sandbox.control is not Control.COLLECTOR:
            return {declared: (out / declared).read_bytes()} if (out / declared).is_file() else None
        if survivors(mark):
            time.sleep(_COLLECTS_AFTER_S)
        collector = [sys.executable, "-S", _HERE / "naive_collector.py", out, declared]
        try:
            said = subprocess.run(
                collector, capture_output=True, text=True, check=False, timeout=_COLLECTOR_WAITS_S
            )
        except subprocess.TimeoutExpired:  # it hangs
            return {declared: b"value\t1\n"}
        fooled = said.returncode != 0 or not said.stdout.startswith("nothing")
        others = {path.name: b"" for path in out.glob("*") if path.is_file()} if fooled else {}
        return {**others, declared: b"value\t1\n"} if fooled else None

    def _tidy(self, folder: Path) -> None:
        subprocess.run(["chmod", "-R", "u+rwX", folder], check=False, capture_output=True)
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        if self._server is not None:
            with self._server:
                self._server.kill()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_) -> None:
        self.close()


def _arguments(folder: Path) -> tuple[Path | str, ...]:
    return folder / "in", folder / "out", "group"


def _ends_within(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Known when it happens: `wait` with a limit looks only now and then."""
    descriptor = os.pidfd_open(process.pid)
    try:
        return bool(select.select([descriptor], [], [], seconds)[0])
    finally:
        os.close(descriptor)


def _stand_in_for_init(secret: str) -> "subprocess.Popen[bytes]":
    """What PID 1 is in a sandbox: a process of the same user, with a secret in its environment."""
    anyone_may_trace = (
        "import ctypes, time; ctypes.CDLL(None).prctl(0x59616D61, -1); print(flush=True); time.sleep(999)"
    )
    process = subprocess.Popen(
        [sys.executable, "-S", "-c", anyone_may_trace],
        env={"SECRET": secret},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    process.stdout.readline()
    return process


def _is_stopped(pid: int) -> bool:
    return "\nState:\tT" in Path(f"/proc/{pid}/status").read_text()


def bare_bench(sandbox: BareSandbox, image: Image, targets: Targets) -> Bench:
    """Impatient, since whatever is late here is late for ever."""
    return Bench(
        sandbox,
        image,
        targets,
        Conditions("bare"),
        bare=sandbox.facts(),
        little_s=0.4,
        patience_s=0.4,
        death_s=0.3,
    )
