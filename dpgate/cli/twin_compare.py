"""`dpgate twin compare`: whether a pipeline that runs on the original finds the same shape in the twin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli.declaration import load_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, err, out, print_json, print_table
from dpgate.errors import DpgateError


def twin_compare(
    original: Annotated[
        Path, typer.Option(help="The folder of the original, as the declaration names files.")
    ],
    twin: Annotated[Path, typer.Option(help="The folder of the twin.")],
    declaration: Annotated[Path, typer.Option("--declaration", "-d", help="The data set's dataset.yaml.")],
    as_json: Json = False,
) -> None:
    """Compare names, types, shapes and domains of a twin with its original. Nothing is sent anywhere."""
    from companions.twin_report.same_shape import compare_folders

    for place in (original, twin):
        if not place.is_dir():
            raise DpgateError(f"there is no folder {place}")
    found = compare_folders(load_declaration(declaration, twin), original, twin)
    to_mend = [one for one in found if not one.on_purpose]
    if as_json:
        rows = [{"place": one.place, "sentence": one.sentence, "on_purpose": one.on_purpose} for one in found]
        print_json({"same_shape": not to_mend, "differences": rows})
    else:
        print_table(
            "For you alone: this was read in the original",
            ("where", "what differs", "on purpose"),
            [(one.place, one.sentence, "yes" if one.on_purpose else "no") for one in found],
            empty="nothing differs",
        )
        if to_mend:
            err.print(
                f"[yellow]{len(to_mend)} to mend: declare what the sentences say, and make it again.[/]"
            )
        else:
            out.print("The twin has the shape of the original.")
    if to_mend:
        raise typer.Exit(ExitCode.CONFLICT)
