"""`dpgate rehearse`: the counterpart of `dpgate run` where the platform's workers run the twin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from domain.loss import micro
from domain.mechanisms import own_runs
from dpgate.cli import choices
from dpgate.cli.develop import BlockSize, print_cautions, warn_of_many
from dpgate.cli.output import Json, Profile, err, out, plain, print_json, print_table, progress
from dpgate.client import connect
from dpgate.errors import DpgateError, PipelineFailed
from dpgate.models import Dataset
from dpgate.rehearsals import Rehearsal

if TYPE_CHECKING:
    from domain.pipeline import OutputValue, Pipeline
    from domain.rehearsal import Numbers, TwinRuns
    from dpgate.pipeline_folder import Lock, LockedRuns, PlanName


def rehearse(
    folder: Annotated[
        Path | None, typer.Argument(help="The pipeline's folder, with dpgate.yaml; none: list yours.")
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="The data set on whose twin it runs.")] = None,
    block_size: BlockSize = None,
    mechanism: Annotated[
        str | None,
        typer.Option(help="pac or stability_calibrated: make the runs that its preview needs, too."),
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Have the platform run a pipeline on the twin, and lock the shape of its output. Costs nothing."""
    from domain.dataset import Declaration
    from domain.model import parse
    from domain.pipeline import Pipeline
    from dpgate.pipeline_folder import load_pipeline, save_lock

    if folder is None:
        print_rehearsals(profile=profile, as_json=as_json)
        return
    if dataset is None:
        raise DpgateError("say on whose twin: --dataset NAME, as `dpgate datasets` lists them")
    if mechanism not in (None, *own_runs()):
        raise DpgateError(f"--mechanism is {' or '.join(own_runs())}; leave it out for blocks alone")
    pipeline = parse(Pipeline, load_pipeline(folder).body, within="pipeline")
    with connect(profile=profile) as client, progress("rehearsing on the twin", shown=not as_json) as step:
        # before the runs: if another version comes meanwhile, the lock does not pass for one of that
        described = client.dataset(dataset)
        declaration = parse(Declaration, described.declaration, within="declaration")
        asked = client.rehearsals.request(
            dataset,
            pipeline.model_dump(mode="json"),
            block_size=choices.block_size_of(pipeline.manifest, block_size, declaration),
            mechanism=mechanism,
        )
        found = client.rehearsals.wait(asked, progress=step)
    if found.state == "FAILED":
        raise PipelineFailed(str(found.problem))
    lock = lock_of(found, pipeline, described)
    save_lock(folder, lock)
    if as_json:
        print_json(found.raw)
    else:
        print_rehearsal(pipeline, found)


def lock_of(found: Rehearsal, pipeline: Pipeline, dataset: Dataset) -> Lock:
    """What `dpgate run` would have written, from the platform's runs."""
    from domain.budget import Accounting
    from domain.model import parse
    from domain.outputs import values_of
    from domain.rehearsal import TwinRuns
    from dpgate.pipeline_folder import Lock

    runs = parse(TwinRuns, found.runs, within="rehearsal")
    declared = dataset.declaration
    values = values_of(pipeline.manifest, runs.shape)
    return Lock(
        dataset=dataset.name,
        dataset_version=dataset.version,
        pipeline=pipeline.digest,
        block_size=found.block_size,
        nominal_size=int(declared["nominal_size"]),
        max_micro_epsilon=micro(declared["policy"]["max_epsilon_per_job"]),
        accounting=Accounting(declared.get("accounting", Accounting.PURE_SUM)),
        padded=declared["policy"].get("timing", {}).get("mode", "padded") == "padded",
        longest_s=runs.seconds,
        shape=runs.shape,
        twin_numbers=runs.numbers,
        twin_runs=_locked_runs(found, runs, values),
    )


def _locked_runs(found: Rehearsal, runs: TwinRuns, values: Sequence[OutputValue]) -> tuple[LockedRuns, ...]:
    from domain.forecast import in_units
    from domain.output_value import grids_of
    from domain.twin_record import BlocksSeen
    from dpgate.pipeline_folder import LockedRuns

    grids, seen = grids_of(values), BlocksSeen.of(values, runs.blocks)
    blocks = LockedRuns(
        plan="blocks",
        block_size=found.block_size,
        outputs=in_units(runs.blocks, grids),
        outside=seen.outside,
        missing=seen.missing,
        means=seen.means,
    )
    others: dict[PlanName, tuple[Numbers, ...]] = {
        "half_samples": runs.half_samples,
        "leave_one_out": runs.leave_one_out,
    }
    return (
        blocks,
        *(LockedRuns(plan=name, outputs=in_units(each, grids)) for name, each in others.items() if each),
    )


def print_rehearsal(pipeline: Pipeline, found: Rehearsal) -> None:
    from domain.model import parse
    from domain.outputs import values_of
    from domain.rehearsal import TwinRuns
    from domain.twin_record import BlocksSeen

    runs = parse(TwinRuns, found.runs, within="rehearsal")
    values = values_of(pipeline.manifest, runs.shape)
    rows = [(value.name, f"{number:g}") for value, number in zip(values, runs.numbers, strict=True)]
    print_table("On the twin (nobody's data)", ("output", "value"), rows)
    warn_of_many(len(values))
    out.print(f"Longest run {runs.seconds:.2f} s. The output's shape is locked; go on with dpgate preview.")
    if unable := (found.raw.get("preview") or {}).get("unable_sampled"):
        err.print(f"[yellow]{plain(unable)}[/]")
    print_cautions(values, whole=runs.numbers, seen=BlocksSeen.of(values, runs.blocks))
    if runs.said.strip():
        out.print(plain(runs.said.strip()))


def print_rehearsals(*, profile: str, as_json: bool) -> None:
    with connect(profile=profile) as client:
        found = client.rehearsals.all()
    if as_json:
        print_json([rehearsal.raw for rehearsal in found])
        return
    rows = [(each.id, plain(each.state), plain(each.dataset), plain(each.title)) for each in found]
    print_table("Rehearsals, newest first", ("id", "state", "data set", "pipeline"), rows, empty="none yet")
