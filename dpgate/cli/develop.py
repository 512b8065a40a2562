"""Commands that need no platform: run a pipeline on the twin, preview the error. Nothing is spent here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain.dataset import Declaration
from domain.loss import format_epsilon
from domain.model import parse
from domain.pipeline import Manifest, Pipeline
from dpgate.cli.catalogue import load_twin_declaration
from dpgate.cli.output import Json, err, out, plain, print_json, print_table, progress
from dpgate.errors import DpgateError
from dpgate.pipeline_folder import Lock, load_lock, load_pipeline, save_lock
from privacy.sample_aggregate import SampleAggregate

if TYPE_CHECKING:
    from dpgate.local import TwinRun

DEFAULT_BLOCK_SIZE = 10
Folder = Annotated[Path, typer.Argument(help="The pipeline's folder, with dpgate.yaml.")]
BlockSize = Annotated[
    int | None, typer.Option(min=1, help="People per block (default: as locked by `run`, else 10).")
]


def run(
    folder: Folder,
    twin: Annotated[Path, typer.Option(help="The twin's folder (see `dpgate twin`).")] = Path("twin"),
    block_size: BlockSize = None,
    python_env: Annotated[Path | None, typer.Option(help="A Python environment beside the host's.")] = None,
    as_json: Json = False,
) -> None:
    """Run a pipeline on the twin, here, in the same sandbox, and lock the shape of its output."""
    pipeline = parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    found, lock = run_and_lock(
        folder,
        pipeline,
        twin=twin,
        block_size=block_size or DEFAULT_BLOCK_SIZE,
        python_env=python_env,
        shown=not as_json,
    )
    if as_json:
        print_json(lock.model_dump(mode="json") | {"numbers": found.numbers, "longest_s": found.longest_s})
    else:
        print_twin_run(pipeline, found)


def run_and_lock(
    folder: Path, pipeline: Pipeline, *, twin: Path, block_size: int, python_env: Path | None, shown: bool
) -> tuple[TwinRun, Lock]:
    """Run on the twin and its blocks, and write the lock that preview and submit need."""
    from dpgate import local
    from dpgate.embedded.home import default_home

    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    with progress("running on the twin and its blocks", shown=shown) as step:
        found = local.run_on_twin(
            pipeline,
            declaration=declaration,
            twin=twin,
            block_size=block_size,
            python_env=python_env,
            images=default_home().images,
            progress=step,
        )
    lock = Lock(
        dataset=declaration.name,
        pipeline=found.pipeline_digest,
        block_size=block_size,
        nominal_size=declaration.nominal_size,
        max_micro_epsilon=declaration.policy.max_micro_epsilon_per_job,
        shape=found.shape,
        twin_blocks=found.block_outputs,
    )
    save_lock(folder, lock)
    return found, lock


def print_twin_run(pipeline: Pipeline, found: TwinRun) -> None:
    names = [value.name for value in pipeline.manifest.values]
    rows = [(name, f"{value:g}") for name, value in zip(names, found.numbers, strict=True)]
    print_table("On the twin (nobody's data)", ("output", "value"), rows)
    wall = pipeline.manifest.resources.wall_seconds
    out.print(f"Longest run {found.longest_s:.2f} s of {wall:g} s allowed. The output's shape is locked.")
    failed = sum(block is None for block in found.block_outputs)
    if failed:
        err.print(f"[yellow]{failed} of {len(found.block_outputs)} blocks failed; try larger blocks.[/]")


def preview(
    folder: Folder,
    want: Annotated[
        str | None, typer.Option(help="OUTPUT=ERROR: which epsilon keeps the noise within ERROR?")
    ] = None,
    block_size: BlockSize = None,
    as_json: Json = False,
) -> None:
    """Show the error to expect for a ladder of epsilon, before anything is spent."""
    from dpgate import local

    pipeline = parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    lock = load_lock(folder, pipeline_digest=pipeline.digest)
    manifest = pipeline.manifest
    size = block_size or lock.block_size
    rows = local.preview(
        manifest,
        nominal_size=lock.nominal_size,
        block_size=size,
        max_micro_epsilon=lock.max_micro_epsilon,
        block_outputs=lock.twin_blocks if size == lock.block_size else None,
    )
    wanted = _wanted(manifest, want, lock=lock, block_size=size) if want else None
    names = [value.name for value in manifest.values]
    content = [
        {"output": names[row.output], "epsilon": format_epsilon(row.micro_epsilon), **_errors(row)}
        for row in rows
    ]
    if as_json:
        print_json({"guarantee": SampleAggregate.guarantee, "rows": content, "epsilon_needed": wanted})
        return
    _print_preview(content, block_size=size)
    if want and wanted:
        out.print(f"For {plain(want)} you need epsilon [bold]{wanted}[/] ({SampleAggregate.guarantee}).")
        limit = format_epsilon(lock.max_micro_epsilon)
        if float(wanted) > float(limit):
            out.print(f"[yellow]That is over the {limit} that the policy allows for one job.[/]")


def _print_preview(content: list[dict[str, Any]], *, block_size: int) -> None:
    print_table(
        f"Error to expect, with blocks of {block_size} people",
        ("epsilon", "output", "noise, typical", "noise, 95 %", "blocks differ", "together"),
        [
            (row["epsilon"], row["output"], *(_digits(value) for value in list(row.values())[2:]))
            for row in content
        ],
        note=f"Guarantee class {SampleAggregate.guarantee}. The noise is exact; 'blocks differ' comes from "
        "the twin and is a hint only.",
    )


def _wanted(manifest: Manifest, want: str, *, lock: Lock, block_size: int) -> str:
    from dpgate import local

    name, _, text = want.partition("=")
    try:
        width = float(text)
    except ValueError:
        raise DpgateError("--want takes OUTPUT=ERROR, for instance mean_height=2.5") from None
    if name not in [value.name for value in manifest.values] or not 0 < width < float("inf"):
        names = ", ".join(value.name for value in manifest.values)
        raise DpgateError(f"--want takes the name of an output ({names}) and a positive error")
    return local.epsilon_needed(
        manifest, name, half_width_95=width, nominal_size=lock.nominal_size, block_size=block_size
    )


def _errors(row: Any) -> dict[str, float | None]:
    return {
        "noise_mean_absolute": row.noise.mean_absolute,
        "noise_half_width_95": row.noise.half_width_95,
        "sampling_error": row.sampling_error,
        "total_error": row.total_error,
    }


def _digits(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"
