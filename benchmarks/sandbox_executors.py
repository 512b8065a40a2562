"""The ways to run a block that `sandbox.py` compares. Each slot is used by the thread that opened it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import docker
from sandbox_cases import LEVEL, OUTPUT, Case

from worker.sandbox.core.bwrap_binary import find_bwrap
from worker.sandbox.core.images import StoredImage
from worker.sandbox.core.slot_user import slot_user
from worker.sandbox.core.surroundings import environment_for
from worker.sandbox.docker_engine.create_body import create_body
from worker.sandbox.docker_engine.payload import payload_part
from worker.sandbox.docker_engine.settings import DockerSettings
from worker.sandbox.protocol import Sandbox

ROOT = Path(__file__).parent.parent
# seconds of each run on the blocks of these numbers
Runs = Callable[[list[int]], list[float]]


@dataclass(frozen=True)
class Executor:
    """`open` opens a slot by number; `share` is how many of a round's runs it makes, where 1 is all."""

    title: str
    open: Callable[[int], AbstractContextManager[Runs]]
    share: float = 1.0


def sandboxed(
    title: str,
    sandbox: Sandbox,
    case: Case,
    image: StoredImage,
    data: list[tuple[bytes, bytes]],
    *,
    warm: tuple[str, ...] | None,
    share: float,
) -> Executor:
    """Any of the product's own backends."""

    @contextmanager
    def open_slot(number: int) -> Iterator[Runs]:
        with sandbox.open_slot(case.order(image, warm=warm), slot=number) as slot:

            def run(index: int) -> bytes | None:
                outputs = slot.run({"block.csv": data[index][0]}).outputs
                return outputs[OUTPUT] if outputs else None

            yield _timed(run, data)

    return Executor(title, open_slot, share)


def plain_docker(
    title: str,
    settings: DockerSettings,
    case: Case,
    image: StoredImage,
    data: list[tuple[bytes, bytes]],
    *,
    share: float,
) -> Executor:
    """Create, start, wait and remove by the SDK: hardened as the product's, but on folders of the host."""

    @contextmanager
    def open_slot(number: int) -> Iterator[Runs]:
        client = docker.APIClient(base_url=f"unix://{settings.socket}", timeout=120)
        with _folder() as work:
            (work / "code").mkdir()
            (work / "code" / case.script).write_text(case.source)

            def run(index: int) -> bytes:
                given, out = work / "in", work / "out"
                given.mkdir()
                out.mkdir()
                (given / "block.csv").write_bytes(data[index][0])
                os.chown(out, slot_user(number), slot_user(number))
                body = _body(settings, case, image, number)
                body["HostConfig"]["Binds"] = [
                    f"{work}/code:/pipeline:ro",
                    f"{given}:/in:ro",
                    f"{out}:/out:rw",
                ]
                container = client.create_container_from_config(body)["Id"]
                client.start(container)
                client.wait(container)
                client.remove_container(container)
                content = (out / OUTPUT).read_bytes()
                shutil.rmtree(given)
                shutil.rmtree(out)
                return content

            yield _timed(run, data)
        client.close()

    return Executor(title, open_slot, share)


def _body(settings: DockerSettings, case: Case, image: StoredImage, number: int) -> dict:
    order = case.order(image)
    part = payload_part(
        settings,
        order,
        LEVEL,
        user=slot_user(number),
        volumes=(),
        of_image=environment_for(image, order),
        core="",
        labels={},
    )
    return create_body(part)


def plain_fork(title: str, case: Case, tree: Path, data: list[tuple[bytes, bytes]]) -> Executor:
    """The yardstick of warm: a process per slot that has the same libraries loaded forks for each block."""
    return _plain(title, case, tree, data, FORKING, case.warm or (), share=1)


def plain_process(
    title: str, case: Case, tree: Path, data: list[tuple[bytes, bytes]], *, share: float
) -> Executor:
    """The yardstick of all others: a new process for each block. No isolation can be faster than none."""
    return _plain(title, case, tree, data, STARTING, (case.interpreter, case.script), share=share)


def _plain(
    title: str,
    case: Case,
    tree: Path,
    data: list[tuple[bytes, bytes]],
    program: str,
    arguments: tuple[str, ...],
    *,
    share: float,
) -> Executor:
    """No isolation, blocks that lie ready as files, nothing collected. A server per slot inside bwrap, which
    does nothing here but make the image its root directory.
    """

    @contextmanager
    def open_slot(_: int) -> Iterator[Runs]:
        with _folder() as work:
            for index, (block, _) in enumerate(data):
                (work / str(index)).mkdir()
                (work / str(index) / "block.csv").write_bytes(block)
            (work / case.script).write_text(case.source)
            server = _start_server(tree, work, program, arguments)

            def run_all(indices: list[int]) -> list[float]:
                server.stdin.write(" ".join(map(str, indices)) + "\n")
                server.stdin.flush()
                return [float(word) for word in server.stdout.readline().split()]

            yield run_all
            server.stdin.close()
            server.wait()

    return Executor(title, open_slot, share)


def _start_server(tree: Path, work: Path, program: str, arguments: tuple[str, ...]) -> subprocess.Popen[str]:
    bwrap = str(find_bwrap().path)
    flags = ["--ro-bind", str(tree), "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]
    flags += ["--bind", str(work), "/out", "--ro-bind", str(ROOT), "/pipeline", "--die-with-parent"]
    start = "import sys; sys.path.insert(0, '/pipeline'); exec(sys.argv.pop(1))"
    return subprocess.Popen(
        [bwrap, *flags, "--", "/usr/bin/python3", "-I", "-B", "-c", start, program, *arguments],
        env={
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


FORKING = """
import os, time
from sandbox_images.supervisor.warmup import freeze, warm_up
warm_up(sys.argv[1:])
with open("/out/main.py") as file:
    program = compile(file.read(), "main.py", "exec")
freeze()
for line in sys.stdin:
    taken = []
    for index in line.split():
        started = time.perf_counter()
        child = os.fork()
        if child == 0:
            sys.argv = ["main.py", f"/out/{index}", "/tmp", "group"]
            try:
                exec(program, {"__name__": "__main__"})
                os._exit(0)
            finally:
                os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError("a plain run failed")
        taken.append(time.perf_counter() - started)
    print(*taken, flush=True)
"""


STARTING = """
import os, time
program, script = sys.argv[1:]
for line in sys.stdin:
    taken = []
    for index in line.split():
        started = time.perf_counter()
        words = [program, f"/out/{script}", f"/out/{index}", "/tmp", "group"]
        child = os.posix_spawnp(program, words, os.environ)
        if os.waitpid(child, 0)[1] != 0:
            raise RuntimeError("a plain process failed")
        taken.append(time.perf_counter() - started)
    print(*taken, flush=True)
"""


def _timed(run: Callable[[int], bytes | None], data: list[tuple[bytes, bytes]]) -> Runs:
    """`data` are blocks with what they must give: a broken executor would be fast."""

    def run_all(indices: list[int]) -> list[float]:
        taken = []
        for index in indices:
            started = time.perf_counter()
            content = run(index)
            taken.append(time.perf_counter() - started)
            if content != data[index][1]:
                raise RuntimeError(f"block {index} gave {content!r}, not {data[index][1]!r}")
        return taken

    return run_all


@contextmanager
def _folder() -> Iterator[Path]:
    """In memory, and open to the slots' users."""
    path = Path(tempfile.mkdtemp(prefix="dpgate-bench-", dir="/dev/shm"))
    path.chmod(0o711)
    try:
        yield path
    finally:
        shutil.rmtree(path)
