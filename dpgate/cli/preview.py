"""What error a job will have, before anything is spent: no platform and no original data, a twin alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domain.mechanisms import cards, own_runs
from dpgate.cli import choices
from dpgate.cli.develop import Folder, PythonEnv, run_more
from dpgate.cli.output import Json, begin, err, plain, print_line
from dpgate.cli.preview_twin import check_sizes, sizes_worth_trying, twin_columns
from dpgate.errors import DpgateError
from privacy.partition import block_count
from privacy.plan import Blocks

if TYPE_CHECKING:
    from domain.mechanism import SampleAggregateRequest
    from domain.pipeline import Manifest
    from dpgate.pipeline_folder import Lock

TRY_S = 20.0
"""For the runs of one block size that nobody asked for: as many as start in this time."""

BlockSizes = Annotated[
    str | None,
    typer.Option(
        "--block-sizes",
        "--block-size",
        help="People per block, such as 5,10,20 (default: 1, 2, 3, 5, 10, 20, 50 and so on).",
    ),
]
Twin = Annotated[Path, typer.Option(help="The twin's folder: sizes that are not locked run there first.")]
Want = Annotated[
    list[str] | None, typer.Option(help="OUTPUT=ERROR: which epsilon keeps the error within it? Repeat it.")
]


def preview(
    folder: Folder,
    want: Want = None,
    block_sizes: BlockSizes = None,
    mechanism: choices.Mechanism = "sample_aggregate",
    aggregator: choices.Aggregator = None,
    repeats: choices.Repeats = None,
    noise: choices.Noise = None,
    delta: choices.Delta = None,
    clip_norm: choices.ClipNorm = None,
    weights: choices.Weights = None,
    count_failures: choices.CountFailures = False,
    twin: Twin = Path("twin"),
    python_env: PythonEnv = None,
    as_json: Json = False,
) -> None:
    """Show the error to expect and what to choose, before anything is spent."""
    from domain.model import parse
    from domain.pipeline import Pipeline
    from dpgate.pipeline_folder import load_lock, load_pipeline, save_lock

    pipeline = parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    lock = load_lock(folder, pipeline_digest=pipeline.digest)
    begin("Replaying releases on the twin.", shown=not as_json)
    from dpgate.cli import preview_shown
    from dpgate.wall import as_submitted, wall_words

    more = partial(run_more, folder, pipeline, twin=twin, python_env=python_env, shown=not as_json)
    if own := own_runs().get(mechanism):
        lock = more(lock, own.plan(lock.nominal_size), name=own.kept)
        preview_shown.show_own_runs(mechanism, pipeline.manifest, lock, as_json=as_json)
    elif mechanism == "sample_aggregate":
        typed = {
            "repeats": repeats,
            "delta": delta,
            "noise": noise,
            "clip_norm": clip_norm,
            "weights": choices.read_weights(weights),
            "count_failures": count_failures or None,
        }
        typed = {name: value for name, value in typed.items() if value is not None}
        request = _request({"block_size": lock.block_size, **typed})
        manifest = as_submitted(pipeline.manifest, lock)
        sizes = _asked_sizes(block_sizes, manifest, lock, twin) or _sizes_to_try(manifest, lock, twin)
        lock = _with_sizes(
            more, lock, sizes, twin=twin, longest_s=None if block_sizes else TRY_S, repeats=request.repeats
        )
        columns = twin_columns(lock, twin)
        best = preview_shown.show_blocks(
            request, typed, manifest, lock, sizes, aggregator, want, columns=columns, as_json=as_json
        )
        save_lock(folder, lock.model_copy(update={"chosen": best}))
        if not as_json and (words := wall_words(pipeline.manifest, lock)):
            print_line(words)
    else:
        *others, last = cards()
        raise DpgateError(f"--mechanism is {', '.join(others)} or {last}")


def _request(chosen: dict[str, object]) -> SampleAggregateRequest:
    """The job's mechanism; its epsilon and block size are what the preview varies."""
    from domain.mechanism import SampleAggregateRequest
    from domain.model import parse

    return parse(
        SampleAggregateRequest,
        {"name": "sample_aggregate", "epsilon": "1", **chosen},
        within="mechanism",
    )


def _with_sizes(
    more: Callable[..., Lock],
    lock: Lock,
    sizes: Sequence[int],
    *,
    twin: Path,
    longest_s: float | None,
    repeats: int,
) -> Lock:
    """Runs on the twin what is not locked; without the twin's folder such sizes are guessed. With repeats
    that many partitions of the twin are looked at: their luck is what hides which size is best. In blocks of
    one all partitions say the same."""
    for size in sizes:
        try:
            partitions = 1 if size == 1 else repeats
            plan = Blocks(block_count(lock.nominal_size, size), lock.nominal_size, partitions)
        except ValueError as error:
            raise DpgateError(f"block size: {error}") from None
        if not twin.exists():
            if size in lock.block_sizes:
                continue
            err.print(
                f"[yellow]There is no {plain(twin)}: blocks of {size} are guessed from those that ran.[/]"
            )
            continue
        lock = more(lock, plan, name="blocks", block_size=size, longest_s=longest_s)
    return lock


def _asked_sizes(text: str | None, manifest: Manifest, lock: Lock, twin: Path) -> list[int]:
    sizes = _sizes(text) if text else []
    check_sizes(sizes, manifest, lock, twin)
    return sizes


def _sizes_to_try(manifest: Manifest, lock: Lock, twin: Path) -> list[int]:
    return [1] if manifest.needs_blocks_of_one else sizes_worth_trying(lock, twin)


def _sizes(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in parts):
        raise DpgateError("--block-sizes takes whole numbers, for instance 5,10,20")
    return list(dict.fromkeys(int(part) for part in parts))
