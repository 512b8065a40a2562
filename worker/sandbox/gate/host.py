"""The whole search of a host, as an operator asks for it: runs in Python, and in R where an image has it."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

from sandbox_images.supervisor.warm_r import PROGRAM
from worker.sandbox.battery.targets import Targets
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.protocol import Image, Sandbox, SandboxUnavailable

from .bench import GateBench
from .languages import PYTHON, R
from .report import Report, failed
from .search import Search, in_r
from .senders import of_battery

_MODES = ("warm", "cold")
_PLACES = ("usr/bin", "usr/local/bin", "bin", "opt/conda/bin")


def search_host(
    opened: Callable[[], AbstractContextManager[Sandbox]],
    host: HostImage,
    imported: Iterable[StoredImage],
    *,
    most: int,
    say: Callable[[str], None],
) -> Iterator[Report]:
    """A report of each way of running. `most`: of the paths that a look looks at."""
    for mode in _MODES:
        yield _searched(opened, host, mode, most=most, say=say)
    images: tuple[HostImage | StoredImage, ...] = (host, *imported)
    for image in images:
        if starts_r(image):
            for mode in _MODES:
                yield _searched(opened, image, mode, most=most, say=say, is_r=True)


def starts_r(image: HostImage | StoredImage) -> bool:
    """Whether runs in R can be looked at from inside: it has an R, and a Python beside it."""
    if isinstance(image, HostImage):
        return shutil.which(PROGRAM, path=image.search_path) is not None
    return image.interpreter is not None and any(
        Path(image.rootfs, place, PROGRAM).is_file() for place in _PLACES
    )


def _searched(
    opened: Callable[[], AbstractContextManager[Sandbox]],
    image: Image,
    mode: str,
    *,
    most: int,
    say: Callable[[str], None],
    is_r: bool = False,
) -> Report:
    name = f"{mode} R in {image.name}" if is_r else mode
    try:
        with (
            opened() as sandbox,
            Targets() as targets,
            GateBench(
                sandbox, image, warm=mode == "warm", most=most, language=R if is_r else PYTHON
            ) as bench,
        ):
            search = Search(bench, mode=name, say=say)
            return search.asked(in_r()) if is_r else search.deep(of_battery(targets))
    except SandboxUnavailable as error:  # nothing can be said, so nothing is closed
        return failed(name, str(error).strip()[-300:])
