"""The keeper's container: trusted code in the operator's image, and all volumes of a batch."""

from collections.abc import Mapping
from functools import cache
from importlib import resources

from worker.sandbox.protocol import MIB, Syscalls

from .create_body import Amounts, Part
from .settings import DockerSettings
from .volumes import Room, keeper_volumes

_GIVEN_INODES = 1 << 20
_OWN_MEMORY = 128 * MIB  # Python and one piece; what the volumes hold comes on top
# sandbox_images, each after those that it imports
_MODULES = (
    "output_tree",
    *(f"keeper.{name}" for name in ("pipes", "trees", "emptying", "parts", "collecting", "main")),
)
_LOADER = """import sys, types
for name, text in {sources}:
    module = sys.modules[name] = types.ModuleType(name)
    module.__package__ = name.rpartition(".")[0]
    exec(compile(text, name, "exec"), module.__dict__)
module.start(sys.argv[1:])
"""


def keeper_part(
    settings: DockerSettings,
    *,
    batch: str,
    parts: str,
    runs: int,
    out: Room,
    environment: Mapping[str, str],
    core: str,
    labels: Mapping[str, str],
) -> Part:
    """The volumes of `batch` are made with the container; that of `parts` may be there already."""
    volumes = keeper_volumes(batch, parts, runs, given=given_room(settings, out.user), out=out)
    return Part(
        image=settings.keeper_image,
        command=keeper_command(settings.keeper_python, runs=runs),
        environment=environment,
        user=out.user,
        volumes=volumes,
        temporary=None,
        amounts=_amounts(settings, out),
        syscalls=Syscalls.STRICT,
        runtime=settings.runtime,
        core=core,
        labels=labels,
        output=True,
        input=True,
    )


def given_room(settings: DockerSettings, user: int) -> Room:
    """For the input of one run, for the code, and for the parts that inputs share."""
    return Room(settings.block_bytes + settings.view_bytes, _GIVEN_INODES, user)


def _amounts(settings: DockerSettings, out: Room) -> Amounts:
    block, view = settings.block_bytes, settings.view_bytes
    return Amounts(
        # a block, the pipeline's code; a view and the parts that are kept; what a run finds in its output
        # folder, and twice what is read from there
        memory_bytes=_OWN_MEMORY + 2 * block + 2 * view + 3 * out.size,
        processes=8,
        cpu_s=0,
        open_files=1024,
        file_bytes=block + view + out.size,
    )


def keeper_command(python: str, *, runs: int) -> tuple[str, ...]:
    return (python, "-I", "-S", "-B", "-E", "-c", _program(), str(runs))


@cache
def _program() -> str:
    """Our modules as one, since no folder is shared with the container."""
    folder = resources.files("sandbox_images")
    sources = [
        (f"sandbox_images.{name}", (folder / f"{name.replace('.', '/')}.py").read_text()) for name in _MODULES
    ]
    return _LOADER.format(sources=sources)
