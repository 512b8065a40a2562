"""Run a pipeline on the twin, without a platform. Nothing is spent here."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli import choices
from dpgate.cli.catalogue import load_twin_declaration, load_twin_version
from dpgate.cli.output import Json, err, out, plain, print_json, print_line, print_table, progress
from dpgate.errors import DpgateError
from privacy.plan import Blocks, RunPlan

if TYPE_CHECKING:
    from domain.pipeline import OutputValue, Pipeline
    from domain.twin_record import BlocksSeen
    from dpgate.local import TwinRun
    from dpgate.pipeline_folder import Lock, PlanName

TRIED_BLOCKS = 50
"""Of the twin's blocks, unless all are asked for: enough to tell 20 % that fail from 5 %."""

_SHOWN_FAILURES = 5
Folder = Annotated[Path, typer.Argument(help="The pipeline's folder, with dpgate.yaml.")]
BlockSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="People per block (default: as locked by `run`, else 10, or what the policy asks for; 1 if "
        "people count alone).",
    ),
]

PythonEnv = Annotated[Path | None, typer.Option(help="A Python environment beside the host's.")]


def run(
    folder: Folder,
    twin: Annotated[Path, typer.Option(help="The twin's folder (see `dpgate twin`).")] = Path("twin"),
    block_size: BlockSize = None,
    python_env: PythonEnv = None,
    propose: Annotated[
        bool,
        typer.Option("--propose", help="Print `outputs` for dpgate.yaml from what it writes; lock nothing."),
    ] = False,
    every_block: Annotated[
        bool, typer.Option("--all", help=f"Run on every block of the twin, not on {TRIED_BLOCKS} of them.")
    ] = False,
    warm: Annotated[
        bool,
        typer.Option("--warm", help="Its operator approved the stored image so: load its libraries once."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Run a pipeline on the twin, here, in the same sandbox, and lock the shape of its output."""
    from domain.model import parse
    from domain.pipeline import Pipeline
    from dpgate.pipeline_folder import load_pipeline

    if propose:
        print_proposal(folder, twin=twin, python_env=python_env, as_json=as_json)
        return
    pipeline = parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    found, lock = run_and_lock(
        folder,
        pipeline,
        twin=twin,
        block_size=block_size,
        python_env=python_env,
        shown=not as_json,
        warm=warm,
        most_blocks=None if every_block else TRIED_BLOCKS,
    )
    if as_json:
        print_json(lock.model_dump(mode="json") | {"numbers": found.numbers, "longest_s": found.longest_s})
    else:
        print_twin_run(pipeline, found, lock)


def print_proposal(folder: Path, *, twin: Path, python_env: Path | None, as_json: bool) -> None:
    """A run on the whole twin and on each half, and the `outputs` that fit what they wrote."""
    from domain.dataset import Declaration
    from domain.model import parse
    from dpgate import local, proposal
    from dpgate.embedded.home import image_store
    from dpgate.pipeline_folder import read_pipeline
    from dpgate.preview_two_means import number_columns

    pipeline = proposal.provisional(read_pipeline(folder))
    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    written, halves = local.tried_on_twin(
        pipeline, declaration=declaration, twin=twin, python_env=python_env, images=image_store()
    )
    text = proposal.propose(pipeline, written, halves, number_columns(declaration, twin))
    if as_json:
        print_json({"outputs": text})
        return
    out.print(text, markup=False, highlight=False, soft_wrap=True)
    err.print("Put this into dpgate.yaml and type the bounds: from what you know, never from the data.")


def run_and_lock(
    folder: Path,
    pipeline: Pipeline,
    *,
    twin: Path,
    block_size: int | None,
    python_env: Path | None,
    shown: bool,
    warm: bool = False,
    most_blocks: int | None = None,
) -> tuple[TwinRun, Lock]:
    """Run on the twin and its blocks, and write the lock that preview and submit need. The first
    `most_blocks` are a fair choice: blocks are dealt by lot."""
    from domain.dataset import Declaration
    from domain.model import parse
    from dpgate import local
    from dpgate.embedded.home import image_store
    from dpgate.pipeline_folder import Lock, LockedRuns, save_lock

    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    block_size = choices.block_size_of(pipeline.manifest, block_size, declaration)
    with progress("running on the twin and its blocks", shown=shown) as step:
        found = local.run_on_twin(
            pipeline,
            declaration=declaration,
            twin=twin,
            block_size=block_size,
            python_env=python_env,
            images=image_store(),
            progress=step,
            warm=warm,
            most_blocks=most_blocks,
        )
    lock = Lock(
        dataset=declaration.name,
        dataset_version=load_twin_version(twin),
        pipeline=found.pipeline_digest,
        block_size=block_size,
        nominal_size=declaration.nominal_size,
        max_micro_epsilon=declaration.policy.max_micro_epsilon_per_job,
        accounting=declaration.accounting,
        padded=declaration.policy.timing.mode == "padded",
        longest_s=round(found.longest_s, 3),
        shape=found.shape,
        twin_numbers=found.numbers,
        twin_runs=(
            LockedRuns(
                plan="blocks",
                block_size=block_size,
                outputs=found.block_outputs,
                outside=found.seen.outside,
                missing=found.seen.missing,
                means=found.seen.means,
                seconds=round(found.block_s, 3),
            ),
        ),
    )
    save_lock(folder, lock)
    return found, lock


def is_enough(known: Sequence[object] | None, plan: RunPlan, *, is_in_haste: bool) -> bool:
    """Whether the runs of a plan that are there need no further ones. In haste some are enough, but not where
    several partitions are asked for: their luck shows in all of them."""
    if known is None:
        return False
    is_repeated = isinstance(plan, Blocks) and plan.repeats > 1
    return len(known) >= plan.runs or (is_in_haste and not is_repeated)


def run_more(
    folder: Path,
    pipeline: Pipeline,
    lock: Lock,
    plan: RunPlan,
    *,
    name: PlanName,
    block_size: int | None = None,
    twin: Path,
    python_env: Path | None,
    shown: bool,
    longest_s: float | None = None,
) -> Lock:
    """The lock with what this plan's runs give on the twin; they are made if they have not been yet, or not
    all of them. With `longest_s` only as many as start in that time, and some that are there are enough, but
    where several partitions are asked for."""
    from domain.dataset import Declaration
    from domain.model import parse
    from dpgate import local
    from dpgate.embedded.home import image_store
    from dpgate.pipeline_folder import LockedRuns, save_lock

    known = lock.outputs_of(name, block_size)
    if is_enough(known, plan, is_in_haste=longest_s is not None):
        return lock
    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    is_of = (declaration.name, load_twin_version(twin))
    if is_of != (lock.dataset, lock.dataset_version):
        raise DpgateError(
            f"{twin} is a twin of {_named(*is_of)}; the pipeline ran on one of "
            f"{_named(lock.dataset, lock.dataset_version)}. Run it on this one first: "
            f"dpgate run {folder} --twin {twin}"
        )
    with progress(f"{plan.runs} more runs on the twin", shown=shown) as step:
        found = local.run_plan_on_twin(
            pipeline,
            declaration=declaration,
            twin=twin,
            shape=lock.shape,
            plan=plan,
            python_env=python_env,
            images=image_store(),
            progress=step,
            longest_s=longest_s,
        )
    runs = LockedRuns(
        plan=name,
        block_size=block_size,
        outputs=found.outputs,
        outside=found.seen.outside,
        missing=found.seen.missing,
        means=found.seen.means,
        seconds=round(found.seconds, 3),
    )
    more = lock.with_runs(runs)
    save_lock(folder, more)
    return more


def warn_of_many(values: int) -> None:
    """As long as the policy admits a mechanism that releases so many."""
    from privacy.mechanism import MAX_OUTPUTS

    if values > MAX_OUTPUTS:
        err.print(
            f"[yellow]More than {MAX_OUTPUTS} values are released with joint or Gaussian noise alone: as "
            "means, not as medians.[/]"
        )


def _named(dataset: str, version: int | None) -> str:
    return dataset if version is None else f"{dataset}, version {version}"


def print_twin_run(pipeline: Pipeline, found: TwinRun, lock: Lock) -> None:
    from domain.outputs import values_of
    from dpgate.wall import wall_words, when_words

    values = values_of(pipeline.manifest, found.shape)
    rows = [(value.name, f"{number:g}") for value, number in zip(values, found.numbers, strict=True)]
    print_table("On the twin (nobody's data)", ("output", "value"), rows)
    warn_of_many(len(values))
    manifest = pipeline.manifest
    wall = manifest.resources.wall_seconds
    out.print(f"Longest run {found.longest_s:.2f} s of {wall:g} s allowed. The output's shape is locked.")
    for words in (wall_words(manifest, lock), when_words(manifest, lock, lock.block_size)):
        if words:
            print_line(words)
    if found.dropped:
        shown = ", ".join(plain(path) for path in found.dropped[:3])
        more = f" and {len(found.dropped) - 3} more" if len(found.dropped) > 3 else ""
        err.print(
            "[yellow]No group run gets these files of the participant level, for they are no person's own: "
            f"{shown}{more}. Write below sub-XX/, or into files that begin with sub-XX_.[/]"
        )
    print_cautions(values, whole=found.numbers, seen=found.seen)
    print_failures(found)


def print_failures(found: TwinRun) -> None:
    """How blocks failed, the most frequent way first; and inputs that the twin does not happen to hold."""
    for failure in found.failures[:_SHOWN_FAILURES]:
        err.print(f"[yellow]  {plain(failure)}[/]", soft_wrap=True)
    if found.provoked:
        err.print("[yellow]The twin does not show it, blocks of the data may:[/]")
    for failure in found.provoked[:_SHOWN_FAILURES]:
        err.print(f"[yellow]  {plain(f'{failure.reason} {failure.fix}'.strip())}[/]", soft_wrap=True)


def print_cautions(values: Sequence[OutputValue], *, whole: Sequence[float], seen: BlocksSeen) -> None:
    """What would keep a job from being submitted; and a few blocks that failed, which would not."""
    from domain.cautions import about_runs

    cautions = about_runs(values, whole=whole, seen=seen)
    for caution in cautions:
        err.print(f"[yellow]{plain(caution)}[/]")
    if seen.failed and not cautions:
        err.print(f"[yellow]{seen.failed} of {seen.blocks} blocks failed; try larger blocks.[/]")
