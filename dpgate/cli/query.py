"""Trusted queries from the command line: try one on the twin, submit one to the platform."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli import choices
from dpgate.cli.catalogue import load_twin_declaration
from dpgate.cli.jobs import Anyway, ChosenId, Paying, Waits, send
from dpgate.cli.output import Json, Profile, number, print_json, print_table

if TYPE_CHECKING:
    from dpgate.query_file import TwinAnswer
    from privacy.mechanism import NoisedOutput

Query = Annotated[
    str,
    typer.Argument(help="A YAML file, or the trusted query itself: '{kind: mean, column: age}'."),
]
Epsilon = Annotated[str, typer.Option(help="Privacy loss to spend, for instance 0.5.")]
Twin = Annotated[Path, typer.Option(help="The twin's folder (see `dpgate twin`).")]


def query_try(query: Query, epsilon: Epsilon = "1", twin: Twin = Path("twin"), as_json: Json = False) -> None:
    """Answer a trusted query on the twin, with the noise that this epsilon would bring. Nothing is spent."""
    from domain.dataset import Declaration
    from domain.model import parse
    from domain.query import QueryRequest
    from dpgate.query_file import answer_on_twin, build_query_request

    declaration = parse(Declaration, load_twin_declaration(twin), within="declaration")
    body = build_query_request(query, dataset=declaration.name, epsilon=epsilon)
    answer = answer_on_twin(parse(QueryRequest, body), declaration, twin)
    if as_json:
        told = {} if answer.limit is None else {"limit": answer.limit}
        print_json({"dataset": declaration.name, "release": False, "values": _values(answer), **told})
    else:
        _print_answer(answer, epsilon=epsilon)


def query_submit(
    query: Query,
    epsilon: Epsilon,
    dataset: Annotated[str | None, typer.Option(help="Default: the twin's data set.")] = None,
    twin: Twin = Path("twin"),
    project: Paying = None,
    job_id: ChosenId = None,
    anyway: Anyway = False,
    wait: Waits = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Submit a trusted query, to be answered on the original data."""
    from dpgate.query_file import build_query_request

    name = dataset or str(load_twin_declaration(twin)["name"])
    request = build_query_request(query, dataset=name, epsilon=epsilon, project=project)
    choices.warn_if_weak(epsilon)
    request |= {"anyway": True} if anyway else {}
    send(request, job_id=job_id, wait=wait, as_json=as_json, profile=profile)


def _values(answer: TwinAnswer) -> list[dict[str, str | float | None]]:
    return [
        {
            "name": name,
            "value": float(output.value),
            "half_width_95": None if output.half_width_95 is None else float(output.half_width_95),
        }
        for name, output in zip(answer.names, answer.outputs, strict=True)
    ]


def _print_answer(answer: TwinAnswer, *, epsilon: str) -> None:
    rows = [
        (name, number(float(output.value), _shown(output)), _noise(output))
        for name, output in zip(answer.names, answer.outputs, strict=True)
    ]
    print_table(
        "On the twin (nobody's data): not a release",
        ("output", "on the twin", "noise, 95 %"),
        rows,
        note=f"With noise as for epsilon {epsilon}. Guarantee class on the original: pure_dp."
        + (f" {answer.limit}" if answer.limit else ""),
    )


def _noise(output: NoisedOutput) -> str:
    half: Fraction | None = output.half_width_95
    return "-" if half is None else f"± {float(half):.3g}"


def _shown(output: NoisedOutput) -> float | None:
    return None if output.noise_scale is None else float(output.noise_scale)
