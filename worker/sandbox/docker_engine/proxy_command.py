"""The proxy's command line."""

import argparse
import os
from pathlib import Path

from worker.sandbox.core.slot_user import FIRST_SLOT_UID
from worker.sandbox.protocol import MIB

from .proxy import Proxy
from .proxy_rules import Ceilings, Rules
from .settings import DockerSettings


def main(arguments: list[str] | None = None) -> None:
    given = _parser().parse_args(arguments)
    settings = DockerSettings(
        socket=given.daemon.absolute(),
        keeper_image=given.keeper_image,
        keeper_python=given.keeper_python,
        runtime=given.runtime,
        first_uid=given.first_uid,
        batch=given.batch,
        block_bytes=given.block_mib * MIB,
        view_bytes=given.view_mib * MIB,
        cores=tuple(int(core) for core in given.cores.split(",") if core),
    )
    ceilings = Ceilings(memory_bytes=given.memory_mib * MIB, containers=given.containers)
    given.images.read_text(encoding="utf-8")  # a missing file is the operator's mistake, and better told now
    given.listen.unlink(missing_ok=True)
    previous = os.umask(0o117)  # the worker's group may connect, nobody else
    try:
        proxy = Proxy(given.listen, given.daemon, Rules(settings, given.images, ceilings))
    finally:
        os.umask(previous)
    with proxy:
        proxy.serve_forever()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m worker.sandbox.docker_engine.proxy_command",
        description="Let workers run their containers on a Docker daemon, and do nothing else with it.",
    )
    add = parser.add_argument
    add("--listen", type=Path, required=True, help="socket for the workers; mode 0660")
    add("--daemon", type=Path, default=Path("/var/run/docker.sock"), help="the Docker daemon's socket")
    add(
        "--keeper-image",
        required=True,
        metavar="sha256:...",
        help="digest of the operator's image with Python",
    )
    add("--images", type=Path, required=True, help="file with the digests of approved images, one per line")
    add("--keeper-python", default="python3", help="Python's name or path in the keeper's image")
    add("--runtime", default="runc", help="as the worker has it")
    add("--first-uid", type=int, default=FIRST_SLOT_UID, help="as the worker has it")
    add("--batch", type=int, default=25, help="as the worker has it")
    add("--block-mib", type=int, default=256, help="as the worker has it")
    add("--view-mib", type=int, default=2048, help="as the worker has it")
    add("--cores", default="", metavar="0,1,...", help="as the worker has it")
    add("--memory-mib", type=int, default=64 * 1024, help="the most that one container may have")
    add("--containers", type=int, default=64, help="how many may exist at the same time")
    return parser


if __name__ == "__main__":
    main()
