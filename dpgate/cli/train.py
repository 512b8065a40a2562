"""Trainings from the command line: try a model on the twin, have it trained on the platform."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli import choices
from dpgate.cli.catalogue import load_twin_declaration
from dpgate.cli.jobs import Anyway, ChosenId, Paying, Waits, send
from dpgate.cli.output import Json, Profile, err, plain, print_json, print_table

if TYPE_CHECKING:
    from dpgate.training_trial import Trial, Tried

Model = Annotated[
    str,
    typer.Argument(help="A YAML file with kind, target, features, batch and more; or the same written out."),
]
Epsilon = Annotated[str, typer.Option(help="Privacy loss to spend, for instance 1.")]
Delta = Annotated[str, typer.Option(help="For instance 0.00001; at most a tenth of one in the nominal size.")]
Twin = Annotated[Path, typer.Option(help="The twin's folder (see `dpgate twin`).")]


commands = typer.Typer(help="Models trained on declared columns, without a pipeline.", no_args_is_help=True)


@commands.command("try", epilog="Example: dpgate train try model.yaml --epsilon 1")
def train_try(
    model: Model,
    epsilon: Epsilon = "1",
    delta: Annotated[
        str | None, typer.Option(help="Left out, a power of ten that the data set's size admits.")
    ] = None,
    twin: Twin = Path("twin"),
    as_json: Json = False,
) -> None:
    """Train a model on the twin, with the noise that this epsilon would bring. Nothing is spent.

    Where fields of the model name several values, such as `steps: [200, 500]`, each combination is tried.
    What a twin's columns have to do with each other is what its level keeps: at level 0, nothing.
    """
    from domain.dataset import Declaration
    from domain.model import parse
    from domain.training.proposed import usual_delta
    from dpgate.training_file import read_choices
    from dpgate.training_trial import try_on_twin

    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    delta = delta or usual_delta(declaration.nominal_size)
    asked = read_choices(model, dataset=declaration.name, epsilon=epsilon, delta=delta)
    trial = try_on_twin(asked, declaration, twin)
    if as_json:
        print_json({"dataset": declaration.name, "release": False, **asdict(trial)})
    else:
        _print_trial(trial)


@commands.command(
    "submit", epilog="Example: dpgate train submit model.yaml --epsilon 1 --delta 0.00001 --wait"
)
def train_submit(
    model: Model,
    epsilon: Epsilon,
    delta: Delta,
    dataset: Annotated[str | None, typer.Option(help="Default: the twin's data set.")] = None,
    twin: Twin = Path("twin"),
    project: Paying = None,
    job_id: ChosenId = None,
    anyway: Anyway = False,
    wait: Waits = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Have a model trained on the original data. The release holds it as model.json."""
    from dpgate.training_file import build_training_request

    name = dataset or str(load_twin_declaration(twin)["name"])
    request = build_training_request(model, dataset=name, epsilon=epsilon, delta=delta, project=project)
    choices.warn_if_weak(epsilon)
    request |= {"anyway": True} if anyway else {}
    send(request, job_id=job_id, wait=wait, as_json=as_json, profile=profile)


def _print_trial(trial: Trial) -> None:
    rows = [
        ("the same for all", "-", "-", f"{trial.constant:.3f}"),
        ("least squares", "-", "-", f"{trial.least_squares:.3f}"),
    ]
    rows += [
        (_said(tried), _noise(tried), tried.epsilon_by_moments or "-", f"{tried.score:.3f}")
        for tried in trial.tried
    ]
    print_table(
        "On the twin (nobody's data): not a release",
        ("model", "noise over clip", "epsilon by moments", trial.measure),
        rows,
        note=f"Of the {trial.rows} rows trained on, which flatters what has no noise. Each training on the "
        "original costs its whole epsilon and delta. Guarantee class there: approx_dp."
        + (f" {trial.limit}" if trial.limit else ""),
    )
    for warning in trial.warnings:
        err.print(f"[yellow]{plain(warning)}[/]")


def _said(tried: Tried) -> str:
    price = f"epsilon {tried.epsilon}" if tried.epsilon else "without noise"
    return f"{tried.choice}, {price}" if tried.choice else price


def _noise(tried: Tried) -> str:
    return "-" if tried.noise_over_clip is None else f"{tried.noise_over_clip:.2f}"
