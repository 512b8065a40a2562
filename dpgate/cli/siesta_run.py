"""`dpgate siesta run`: the whole workflow in one command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain.image import SyscallTable
from domain.model import parse
from dpgate.cli.output import Json, err, number, plain, print_json, print_line, print_table, progress
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from companions.siesta.workflow import Ending
    from domain.mechanism import SampleAggregateRequest, StabilityRequest

MOST_SLOTS = 4  # without being told: each holds the memory of a run
APP, MECHANISM = "Without dpgate.yaml", "Mechanism"
ONCE = (
    "The noise of this folder was drawn before, and this is that release: the average of two draws for one "
    "result would have less noise than either. A new draw needs a new OUT."
)


class Mechanism(StrEnum):
    """Of `siesta run`."""

    STABILITY_CALIBRATED = "stability_calibrated"
    SAMPLE_AGGREGATE = "sample_aggregate"


Data = Annotated[Path, typer.Argument(metavar="DATA", help="A BIDS data set, read where it lies.")]
Folder = Annotated[Path, typer.Argument(metavar="PIPELINE", help="A pipeline's folder.")]
Out = Annotated[Path, typer.Argument(metavar="OUT", help="A new folder, or one to go on with.")]
SlotCount = Annotated[
    int | None, typer.Option(min=1, max=256, help="Runs at the same time (one for each core, up to 4).")
]
Syscalls = Annotated[
    SyscallTable,
    typer.Option(help="The table of system calls; standard is for SQLite, HDF5, asyncio, Java, Node."),
]

Warm = Annotated[
    bool,
    typer.Option("--warm", help="You made the stored image: load its libraries once for all runs."),
]


def _mechanism(help_text: str, metavar: str | None = None) -> Any:
    return typer.Option(help=help_text, metavar=metavar, rich_help_panel=MECHANISM)


def _app(help_text: str, metavar: str | None = None) -> Any:
    return typer.Option(help=help_text, metavar=metavar, rich_help_panel=APP)


def _paths(help_text: str) -> Any:
    return typer.Option(metavar="PATH", help=f"{help_text} Repeat it.")


def run(
    data: Data,
    folder: Folder,
    out: Out,
    mechanism: Annotated[
        Mechanism, _mechanism("stability_calibrated is EMPIRICAL.")
    ] = Mechanism.STABILITY_CALIBRATED,
    noise_multiplier: Annotated[
        float | None, _mechanism("Noise over the largest change (1), stability_calibrated.")
    ] = None,
    epsilon: Annotated[str | None, _mechanism("Of sample_aggregate, for this one run.")] = None,
    block_size: Annotated[int | None, _mechanism("People in a block (10), sample_aggregate.")] = None,
    nominal_size: Annotated[
        int | None, _mechanism("The published number of people, sample_aggregate.")
    ] = None,
    skeleton: Annotated[Path | None, _mechanism("A result on invented data, for labels.", "DIR")] = None,
    command: Annotated[str | None, _app("Command of the BIDS app (its image's entry point).")] = None,
    image: Annotated[str | None, _app("Its image (host-python).")] = None,
    whitelist: Annotated[Path | None, _app("What may leave (PIPELINE/whitelist.txt).")] = None,
    bounds: Annotated[Path | None, _app("File, lower and upper of each number.", "TSV")] = None,
    lower: Annotated[str | None, _app("Of all numbers.")] = None,
    upper: Annotated[str | None, _app("Of all numbers.")] = None,
    wall_seconds: Annotated[float | None, _app("Limit of one run (10).")] = None,
    memory_mib: Annotated[int | None, _app("Limit of one run (512).")] = None,
    public: Annotated[list[str] | None, _paths("Nobody is in this file or folder.")] = None,
    exclude: Annotated[list[str] | None, _paths("Leave this file or folder out.")] = None,
    slots: SlotCount = None,
    syscalls: Syscalls = SyscallTable.STRICT,
    warm: Warm = False,
    python_env: Annotated[Path | None, typer.Option(help="A Python environment beside the host's.")] = None,
    as_json: Json = False,
) -> None:
    """Both levels on a data set, leave one out, and noise: only OUT/released may leave. EMPIRICAL by default.

    A second call with the same arguments goes on where the first ended. No person costs a copy of the data.
    """
    from companions.siesta.bids_app import AppOptions, load_app
    from companions.siesta.workflow import Study, run_study
    from dpgate.embedded.home import image_store

    app = AppOptions(command, image, whitelist, bounds, lower, upper, wall_seconds, memory_mib)
    study = Study(
        data=data,
        pipeline=load_app(folder, app),
        folder=folder,
        out=out,
        choice=_choice(mechanism, noise_multiplier, epsilon, block_size),
        public=tuple(public or ()),
        exclude=tuple(exclude or ()),
        skeleton=skeleton,
        nominal_size=nominal_size,
        slots=slots or min(len(os.sched_getaffinity(0)), MOST_SLOTS),
        python_env=python_env,
        images=image_store(),
        syscalls=syscalls,
        warm=warm,
    )
    with progress("opening", shown=not as_json) as step:
        ending = run_study(study, lambda level, done, total: step(done, total, f"{level}, {done} of {total}"))
    print_json(_document(ending, out)) if as_json else _print(ending, out)


def _choice(
    mechanism: Mechanism, noise_multiplier: float | None, epsilon: str | None, block_size: int | None
) -> SampleAggregateRequest | StabilityRequest:
    from domain.mechanism import SampleAggregateRequest, StabilityRequest

    if mechanism is Mechanism.STABILITY_CALIBRATED:
        if epsilon is not None or block_size is not None:
            raise DpgateError("--epsilon and --block-size belong to --mechanism sample_aggregate")
        asked = {
            "name": mechanism.value,
            "noise_multiplier": 1 if noise_multiplier is None else noise_multiplier,
        }
        return parse(StabilityRequest, asked, within="mechanism")
    if noise_multiplier is not None:
        raise DpgateError("--noise-multiplier belongs to --mechanism stability_calibrated")
    if epsilon is None:
        raise DpgateError("sample_aggregate needs --epsilon; docs/how-to/choose-epsilon.md helps to choose")
    asked = {"name": mechanism.value, "epsilon": epsilon}
    size = {} if block_size is None else {"block_size": block_size}
    return parse(SampleAggregateRequest, asked | size, within="mechanism")


def _document(ending: Ending, out: Path) -> dict[str, Any]:
    return {
        **{name: part for name, part in ending.release.items() if name != "files"},
        "released": str(out / "released"),
        "files": list(ending.release["files"]),
        "participant_runs": ending.participants,
        "group_runs": ending.groups,
        "dropped_files": dict(ending.dropped),
        "failed_blocks": ending.failed,
        "is_earlier_release": ending.is_earlier,
        "labels_are_of_the_data": ending.is_shape_of_data,
    }


def _print(ending: Ending, out: Path) -> None:
    print_line(f"participant level: {ending.participants} runs; group level: {ending.groups} runs")
    rows = [
        (value["name"], f"{value['value']:.10g}", _width(value["half_width_95"]))
        for value in ending.release["values"]
    ]
    print_table("Noised numbers", ("number", "value", "95 %"), rows, note=plain(ending.release["label"]))
    print_line(f"{plain(out / 'released')} may leave; {plain(out / 'secret')} is as secret as the data")
    if ending.is_earlier:
        err.print(ONCE)
    if ending.dropped:
        err.print(
            f"[yellow]Dropped, since two people's would meet there:[/] {plain(_listed(ending.dropped))}. "
            "Kept is what has the person's own sub-XX in its path, as a folder or in front of a name."
        )
    if ending.failed:
        err.print(f"[yellow]{ending.failed} blocks failed; each counts as the middle of its bounds.[/]")
    if ending.is_shape_of_data:
        err.print("[yellow]The labels are those of the data: read them before you give `released` away.[/]")


def _listed(dropped: Mapping[str, int], *, most: int = 5) -> str:
    paths = sorted(dropped)
    shown = ", ".join(f"{path} ({dropped[path]} runs)" for path in paths[:most])
    return f"{shown} and {len(paths) - most} more" if len(paths) > most else shown


def _width(half_width: float | None) -> str:
    return "" if half_width is None else f"± {number(half_width)}"
