"""A command for a rights holder's own machine: propose what the twin of a BIDS tree holds for each person."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli.output import Json, out, plain, print_json, print_table
from dpgate.errors import DpgateError


def twin_spec(
    tree: Annotated[Path, typer.Argument(metavar="FOLDER", help="A BIDS tree.")],
    to: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")] = Path("person-files.yaml"),
    declaration: Annotated[
        Path | None, typer.Option("--declaration", "-d", help="Append to this draft instead.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Read the headers in a BIDS tree here; propose its person files, with what may become public alone."""
    from dpgate.pipeline_folder import parse_yaml, read_text
    from dpgate.tree_spec.build import make_spec

    target = declaration or to
    before = ""
    if declaration is not None:
        before = read_text(declaration)
        known = set(parse_yaml(before, place=str(declaration)))
        if both := sorted(known & {"person_files", "public_files", "excluded"}):
            raise DpgateError(f"{declaration} has {', '.join(both)} already; write to a file with --out")
        before = before.rstrip("\n") + "\n\n"
    elif to.exists():
        raise DpgateError(f"{to} is there already, with answers perhaps; name another with --out")
    spec = make_spec(tree)
    target.write_text(before + spec.text, encoding="utf-8")
    files = spec.content["person_files"]
    notes = [{"place": place, "sentence": sentence} for place, sentence in spec.notes]
    if as_json:
        print_json({"written": str(target), "person_files": len(files), "notes": notes})
        return
    print_table(
        "Left out, or to be stated. For you alone: names in the tree may speak of people",
        ("file", "what"),
        [(note["place"], note["sentence"]) for note in notes],
        empty="nothing",
    )
    out.print(f"[bold]{len(files)} person files[/] in {plain(target)}; read it, answer every ASK, then: "
              "dpgate dataset check", soft_wrap=True)  # fmt: skip
