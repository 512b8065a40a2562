"""`dpgate siesta`: the tools of the SIESTA workflow, one step at a time, on folders of your own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli import siesta_noise, siesta_run
from dpgate.cli.output import Json, out, plain, print_json, print_line
from dpgate.cli.siesta_noise import New, whitelist_in

WHAT_THEY_ARE = (
    "The steps of the SIESTA workflow, by their names: for scripts on the rights holder's machine.\n\n"
    "EMPIRICAL: the noise is matched to leave-one-out stability. It is not differential privacy, which "
    "`dpgate submit` offers. What all tools but addnoise write is original data or as good as that."
)

tools = typer.Typer(help=WHAT_THEY_ARE, no_args_is_help=True)
tools.command(epilog="Example: dpgate siesta run data my-pipeline results --slots 2")(siesta_run.run)

Source = Annotated[Path, typer.Argument(metavar="IN", help="A BIDS data set.")]
Participant = Annotated[
    str,
    typer.Argument(
        metavar="PARTICIPANT", help="sub-XX, or the number of a line of participants.tsv, from 1."
    ),
]
Public = Annotated[
    list[str] | None,
    typer.Option(metavar="PATH", help="Nobody is in this file or folder: it stays, unread. Repeat it."),
]
Exclude = Annotated[
    list[str] | None, typer.Option(metavar="PATH", help="Leave this file or folder out. Repeat it.")
]
Copy = Annotated[
    bool, typer.Option("--copy", help="Copy files. Else they are hard links: never change them in place.")
]


@tools.command(epilog="Example: dpgate siesta leaveoneout data loo/sub-01 sub-01")
def leaveoneout(
    source: Source,
    target: New,
    participant: Participant,
    public: Public = None,
    exclude: Exclude = None,
    copy: Copy = False,
    as_json: Json = False,
) -> None:
    """Write a data set without one person: no path, row or text speaks of them any more."""
    _select(
        source, target, participant, alone=False, public=public, exclude=exclude, copy=copy, as_json=as_json
    )


@tools.command(epilog="Example: dpgate siesta singlesubject data single/sub-01 sub-01")
def singlesubject(
    source: Source,
    target: New,
    participant: Participant,
    public: Public = None,
    exclude: Exclude = None,
    copy: Copy = False,
    as_json: Json = False,
) -> None:
    """Write a data set with one person alone, and what is for all."""
    _select(
        source, target, participant, alone=True, public=public, exclude=exclude, copy=copy, as_json=as_json
    )


@tools.command(epilog="Example: dpgate siesta mergesubjects single/sub-01 single/sub-02 all")
def mergesubjects(
    sources: Annotated[list[Path], typer.Argument(metavar="IN", help="Folders that hold different people.")],
    target: New,
    public: Public = None,
    copy: Copy = False,
    as_json: Json = False,
) -> None:
    """Put together what was written for each person by themselves."""
    from companions.siesta.merging import merge_subjects

    merged = merge_subjects(sources, target, public=public or (), copy=copy)
    if as_json:
        print_json({"out": str(target), "files": merged.files, "tables": list(merged.tables)})
    else:
        tables = f"{len(merged.tables)} tables merged"
        print_line(f"{plain(target)}: {merged.files} files of {len(sources)} folders, {tables}")


tools.command(epilog="Example: dpgate siesta mergegroup group/sub-* merged whitelist.txt")(
    siesta_noise.mergegroup
)
tools.command(
    epilog="Example: dpgate siesta calibratenoise loo.tsv noise.tsv --whole all.tsv --bounds bounds.tsv"
)(siesta_noise.calibratenoise)
tools.command(epilog="Example: dpgate siesta addnoise group/all released whitelist.txt noise.tsv")(
    siesta_noise.addnoise
)


@tools.command(epilog="Example: dpgate siesta cleanup output whitelist.txt --dry-run")
def cleanup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An output folder.")],
    whitelist: Annotated[Path | None, typer.Argument(metavar="WHITELIST", help="What stays.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Name what would be deleted.")] = False,
    made_from: Annotated[
        Path | None,
        typer.Option(metavar="IN", help="The data set of which DIR may be a sample: then it goes too."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Delete everything of an output folder but the files that the whitelist names."""
    from companions.siesta.cleaning import clean_up

    kept = () if whitelist is None else whitelist_in(whitelist)
    deleted = clean_up(folder, kept, dry_run=dry_run, made_from=made_from)
    if as_json:
        print_json({"dir": str(folder), "deleted": deleted, "dry_run": dry_run})
        return
    for path in deleted if dry_run else []:
        print_line(plain(path))
    out.print(f"{len(deleted)} files and folders {'would be' if dry_run else 'were'} deleted")


def _select(
    source: Path,
    target: Path,
    participant: str,
    *,
    alone: bool,
    public: list[str] | None,
    exclude: list[str] | None,
    copy: bool,
    as_json: bool,
) -> None:
    from companions.siesta.selection import select

    done = select(
        source, target, participant, alone=alone, public=public or (), exclude=exclude or (), copy=copy
    )
    if as_json:
        print_json(
            {
                "out": str(target),
                "participant": done.participant,
                "files": done.files,
                "rewritten": list(done.rewritten),
            }
        )
        return
    what = f"{done.participant} alone" if alone else f"without {done.participant}"
    print_line(f"{plain(target)}: {what}, {done.files} files, {len(done.rewritten)} tables rewritten")
