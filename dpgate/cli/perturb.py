"""Commands of a rights holder who perturbs an array before giving it away. They need no platform."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from typer.core import TyperGroup

from dpgate.cli.output import Json, err, number, out, plain, print_json, print_line, print_table, progress
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from companions.perturb.method import Request
    from companions.perturb.one_file import Perturbed

WHAT_IT_PROTECTS = (
    "Perturb an array of your own before you give it away: local differential privacy.\n\n"
    "Every value is clipped to the bounds you declare and noised by itself, here, on your machine. "
    "The promise (epsilon) is for ONE value; a person with many values is protected by that much less, "
    "and the command says by how much. "
    "The bounds must come from the instrument or the literature, never from the array.\n\n"
    "`dpgate perturb FILE` is short for `dpgate perturb file FILE`."
)


class FileFirst(TyperGroup):
    """Takes `perturb FILE ...` for `perturb file FILE ...`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["file", *args]
        return super().parse_args(ctx, args)


perturbing = typer.Typer(cls=FileFirst, help=WHAT_IT_PROTECTS, no_args_is_help=True)
Threads = Annotated[
    int | None, typer.Option(min=1, max=64, help="Threads (default: 2 where there are two processors).")
]
Mechanism = Literal[
    "laplace", "bounded", "gaussian", "reference-laplace", "reference-bounded", "reference-gaussian"
]


def perturb_file(
    file: Annotated[Path, typer.Argument(help="An .npy (of any size), .npz or .csv file of numbers.")],
    lower: Annotated[str, typer.Option(help="Lower bound of the clip range; public.")],
    upper: Annotated[str, typer.Option(help="Upper bound of the clip range; public.")],
    epsilon: Annotated[str, typer.Option(help="Loss of one value.")],
    to: Annotated[Path, typer.Option("--out", "-o", help="The .npy file to write; a .json goes beside it.")],
    delta: Annotated[str | None, typer.Option(help="For bounded and gaussian noise; at most 0.01.")] = None,
    mechanism: Annotated[
        Mechanism,
        typer.Option(
            metavar="NAME",
            help="laplace, bounded, gaussian; or reference-laplace, reference-bounded, reference-gaussian: "
            "diffprivlib's, UNSAFE floating point, for comparison only.",
        ),
    ] = "laplace",
    variant: Annotated[
        Literal["exact", "fast"],
        typer.Option(
            help="fast: Laplace noise through floats; costs 0.02 of epsilon and a small delta more."
        ),
    ] = "exact",
    missing: Annotated[
        Literal["refuse", "clip", "keep-mask"],
        typer.Option(help="NaN: refuse; clip puts the middle of the range; keep-mask publishes which."),
    ] = "refuse",
    values_per_person: Annotated[
        int | None, typer.Option(min=1, help="Most values of one person (default: all of the array).")
    ] = None,
    array: Annotated[str | None, typer.Option(help="Which array of an .npz file.")] = None,
    class_counts: Annotated[
        Path | None, typer.Option(help="CSV of label counts, a row per person: shows leave-one-out ratios.")
    ] = None,
    classes: Annotated[str, typer.Option(help="Columns of that CSV.")] = "F,N,S,V,Q",
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Perturb one array: local differential privacy for every value of it."""
    from companions.perturb.method import Request
    from companions.perturb.one_file import perturb_to_file
    from companions.perturb.signals import open_signal

    request = Request(lower, upper, epsilon, delta, mechanism, variant == "fast", missing)
    if to.resolve() == file.resolve():
        raise DpgateError(f"{to} is the array itself; write the result elsewhere, you will want to keep it")
    ratios = _ratios(class_counts, classes)
    values = open_signal(file, name=array)
    warnings = request.warnings(values.size)
    with progress("perturbing", shown=not as_json) as step:
        done = perturb_to_file(
            request,
            values,
            out=to,
            values_per_person=values_per_person or values.size,
            threads=threads,
            step=step,
        )
    if as_json:
        holder = {"for_the_holder_only": done.summary, "class_ratios": ratios}
        print_json({"certificate": done.certificate, "warnings": warnings, **holder})
        return
    _print_done(request, done, warnings, ratios, for_one_person=values_per_person is None)


def _print_done(
    request: Request,
    done: Perturbed,
    warnings: Sequence[str],
    ratios: dict[str, float],
    *,
    for_one_person: bool,
) -> None:
    _print_losses(request, done.certificate)
    for warning in warnings:
        err.print(f"[yellow]{plain(warning)}[/]")
    if request.exact is not None and for_one_person:
        out.print("All values were taken for one person's; say --values-per-person if it has more people.")
    _print_summary(done.summary)
    _print_ratios(ratios)
    print_line(
        f"{plain(done.path)}; its promise lies beside it as {plain(done.path.with_suffix('.json').name)}."
    )


def perturb_sweep(
    config: Annotated[
        Path, typer.Argument(help="A YAML file: file, lower, upper, lists of epsilon and delta.")
    ],
    to: Annotated[Path, typer.Option("--out", "-o", help="The folder to write, or to go on with.")],
    threads: Threads = None,
    as_json: Json = False,
) -> None:
    """Perturb one array with a grid of parameters; killed at any moment, it goes on where it was.

    All arrays together cost the sum of their losses: give away one of them, not the grid.
    """
    from companions.perturb.sweep import HOLDER, TABLE, run_sweep
    from companions.perturb.sweep_config import SweepConfig
    from domain.model import parse
    from dpgate.pipeline_folder import load_yaml

    wanted = parse(SweepConfig, load_yaml(config), within="sweep")
    with progress("sweeping", shown=not as_json) as step:
        results = run_sweep(
            wanted,
            config_path=config,
            folder=to,
            threads=threads,
            watch=lambda done, total, cell: step(done, total, cell.name),
        )
    rows = [
        {
            "mechanism": result.cell.mechanism,
            "epsilon": result.cell.epsilon,
            "delta": result.cell.delta,
            "guarantee": result.certificate.get("guarantee"),
            "per_person": result.certificate.get("per_person"),
            "for_the_holder_only": result.summary,
            "refused": result.refusal,
        }
        for result in results
    ]
    if as_json:
        print_json({"cells": rows, "table": str(to / HOLDER / TABLE)})
    else:
        _print_sweep(rows)
        print_line(
            f"{plain(to)}; the table is {plain(to / HOLDER / TABLE)}, for the holder of the data only."
        )


def _ratios(table: Path | None, classes: str) -> dict[str, float]:
    from companions.perturb.class_ratio import leave_one_out_ratios

    return {} if table is None else leave_one_out_ratios(table, [name.strip() for name in classes.split(",")])


def _print_losses(request: Request, certificate: dict[str, Any]) -> None:
    if certificate["guarantee"] is None:
        rows = [("class", "none"), ("claimed epsilon, value", request.epsilon)]
    else:
        value, person = certificate["per_value"], certificate["per_person"]
        rows = [
            ("class", certificate["guarantee"] + " per value"),
            ("epsilon, one value", value["epsilon"]),
            ("delta, one value", value["delta"]),
            (f"epsilon, one person of {person['values']} values", person["epsilon"]),
            ("delta, one person", person["delta"]),
        ]
    print_table("What is promised", ("promise", "amount"), rows, note=plain(certificate.get("promise", "")))
    if certificate["guarantee"] and not certificate["per_person"]["protects"]:
        err.print(
            "[yellow]A person as a whole is not protected: the losses of the values add up beyond 10.[/]"
        )


def _print_summary(summary: dict[str, float | None]) -> None:
    rows = [
        ("root mean square error", _digits(summary["rmse"])),
        ("share clipped", _digits(summary["clipped_share"])),
        ("correlation with the raw values", _digits(summary["correlation"])),
    ]
    print_table("For you only: these numbers have seen the data", ("measure", "value"), rows)


def _print_ratios(ratios: dict[str, float]) -> None:
    from companions.perturb.class_ratio import EXPLANATION

    if ratios:
        rows = [(name, repr(ratio)) for name, ratio in ratios.items()]
        print_table("Leave-one-out class ratios", ("class", "ratio"), rows, note=f"This is {EXPLANATION}.")


def _print_sweep(rows: list[dict[str, Any]]) -> None:
    print_table(
        "Cells, for you only",
        ("mechanism", "epsilon", "delta", "class", "person's epsilon", "rmse", "correlation"),
        [
            (
                row["mechanism"],
                row["epsilon"],
                _digits(float(row["delta"])) if row["delta"] else "-",
                "refused" if row["refused"] else row["guarantee"] or "none, UNSAFE",
                (row["per_person"] or {}).get("epsilon", "-"),
                _digits(row["for_the_holder_only"].get("rmse")),
                _digits(row["for_the_holder_only"].get("correlation")),
            )
            for row in rows
        ],
    )
    for sentence in dict.fromkeys(row["refused"] for row in rows if row["refused"]):
        err.print(f"[yellow]refused: {plain(sentence)}[/]")


def _digits(value: float | None) -> str:
    return "-" if value is None else number(value)
