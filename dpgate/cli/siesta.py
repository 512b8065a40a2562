"""`dpgate siesta`: the tools of the SIESTA workflow, one step at a time, on folders of your own machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpgate.cli import siesta_run
from dpgate.cli.output import Json, err, number, out, plain, print_json, print_line, print_table
from dpgate.errors import DpgateError

WHAT_THEY_ARE = (
    "The steps of the SIESTA workflow, by their names: for scripts on the rights holder's machine.\n\n"
    "EMPIRICAL: the noise is matched to leave-one-out stability. It is not differential privacy, which "
    "`dpgate submit` offers. What all tools but addnoise write is original data or as good as that."
)

tools = typer.Typer(no_args_is_help=True)
tools.command(epilog="Example: dpgate siesta run data my-pipeline results --slots 2")(siesta_run.run)

Source = Annotated[Path, typer.Argument(metavar="IN", help="A BIDS data set.")]
New = Annotated[Path, typer.Argument(metavar="OUT", help="A folder that is absent or empty.")]
Results = Annotated[list[Path], typer.Argument(metavar="IN", help="Output folders of the group level.")]
Participant = Annotated[
    str,
    typer.Argument(
        metavar="PARTICIPANT", help="sub-XX, or the number of a line of participants.tsv, from 1."
    ),
]
Whitelist = Annotated[Path, typer.Argument(metavar="WHITELIST", help="Relative paths, one a line.")]
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
HeaderLines = Annotated[
    int, typer.Option(min=0, help="First lines of each file that are labels even where they read as numbers.")
]

Mask = Annotated[
    Path | None,
    typer.Option(metavar="NII", help="Of NIfTI volumes: the mean of each label of this mask is one number."),
]
Average = Annotated[
    int, typer.Option(min=1, max=512, help="Of NIfTI volumes: the mean of cubes of so many voxels' width.")
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
    from dpgate.siesta.merging import merge_subjects

    merged = merge_subjects(sources, target, public=public or (), copy=copy)
    if as_json:
        print_json({"out": str(target), "files": merged.files, "tables": list(merged.tables)})
    else:
        tables = f"{len(merged.tables)} tables merged"
        print_line(f"{plain(target)}: {merged.files} files of {len(sources)} folders, {tables}")


@tools.command(epilog="Example: dpgate siesta mergegroup group/sub-* merged whitelist.txt")
def mergegroup(
    sources: Results,
    target: New,
    whitelist: Whitelist,
    header_lines: HeaderLines = 0,
    mask: Mask = None,
    average: Average = 1,
    as_json: Json = False,
) -> None:
    """Collect the results of all leave-one-out samples in OUT/group-merged.tsv, which is secret."""
    from dpgate.siesta.samples import KEEP_IT, MERGED, merge_group
    from dpgate.siesta.shaped_files import Volumes

    samples = merge_group(
        sources,
        target,
        _whitelist(whitelist),
        header_lines=header_lines,
        volumes=Volumes(mask, average),
    )
    if as_json:
        print_json({"table": str(target / MERGED), "values": list(samples.names), "warning": KEEP_IT})
    else:
        print_line(f"{plain(target / MERGED)}: {len(samples.names)} numbers of {len(samples.rows)} results")
        err.print(f"[yellow]It {KEEP_IT}[/]")


@tools.command(
    epilog="Example: dpgate siesta calibratenoise loo.tsv noise.tsv --whole all.tsv --bounds bounds.tsv"
)
def calibratenoise(
    merged: Annotated[Path, typer.Argument(metavar="IN.tsv", help="group-merged.tsv of the samples.")],
    target: Annotated[Path, typer.Argument(metavar="OUT.tsv", help="The noise table to write.")],
    whole: Annotated[
        Path, typer.Option(metavar="TSV", help="group-merged.tsv of the one result on everybody.")
    ],
    lower: Annotated[
        list[str] | None, typer.Option(help="Lower bound, for all numbers or, repeated, for each in order.")
    ] = None,
    upper: Annotated[list[str] | None, typer.Option(help="Upper bound, likewise.")] = None,
    bounds: Annotated[
        Path | None, typer.Option(metavar="TSV", help="Instead: a table of file, lower and upper.")
    ] = None,
    noise_multiplier: Annotated[str, typer.Option(help="Noise over the largest change, 0.1 to 1000.")] = "1",
    as_json: Json = False,
) -> None:
    """Decide how wide the noise of each number must be. EMPIRICAL: no differential privacy."""
    from dpgate.siesta.calibration import bounds_from_options, calibrate, read_bounds
    from dpgate.siesta.samples import read_samples
    from privacy.stability import LABEL

    samples = read_samples(merged)
    if bounds is not None and (lower or upper):
        raise DpgateError("--bounds and --lower, --upper say the same thing; keep one of them")
    declared = (
        bounds_from_options(lower or (), upper or (), samples.names)
        if bounds is None
        else read_bounds(bounds, samples.names)
    )
    table = calibrate(
        samples, read_samples(whole), target, bounds=declared, noise_multiplier=noise_multiplier
    )
    scales = {name: str(scale) for name, scale in zip(table.names, table.scales, strict=True)}
    if as_json:
        print_json({"guarantee": "empirical", "label": LABEL, "table": str(target), "scales": scales})
    else:
        print_table("Noise", ("number", "scale"), list(scales.items()), note=plain(LABEL))


@tools.command(epilog="Example: dpgate siesta addnoise group/all released whitelist.txt noise.tsv")
def addnoise(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The group level's output on everybody.")],
    target: New,
    whitelist: Whitelist,
    noise: Annotated[Path, typer.Argument(metavar="NOISE.tsv", help="What calibratenoise wrote.")],
    skeleton: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="A result on the twin: labels are taken from there, not from IN."),
    ] = None,
    header_lines: HeaderLines = 0,
    mask: Mask = None,
    average: Average = 1,
    as_json: Json = False,
) -> None:
    """Write the whitelisted files with fresh noise on every number. Repeats average it out. EMPIRICAL."""
    from dpgate.siesta.noise_table import read_noise_table
    from dpgate.siesta.noising import add_noise
    from dpgate.siesta.shaped_files import Volumes
    from privacy.stability import LABEL

    noised = add_noise(
        source,
        target,
        _whitelist(whitelist),
        read_noise_table(noise),
        skeleton=skeleton,
        header_lines=header_lines,
        volumes=Volumes(mask, average),
    )
    if as_json:
        values = [
            {
                "name": one.name,
                "value": one.value,
                "noise_scale": str(one.scale),
                "half_width_95": float(one.half_width_95),
            }
            for one in noised
        ]
        print_json({"guarantee": "empirical", "label": LABEL, "out": str(target), "values": values})
        return
    rows = [(one.name, one.value, f"± {number(float(one.half_width_95))}") for one in noised]
    print_table("Noised numbers", ("number", "value", "95 %"), rows, note=plain(LABEL))
    if skeleton is None:
        err.print("[yellow]The labels are those of IN: read them before you give OUT away.[/]")


@tools.command(epilog="Example: dpgate siesta cleanup output whitelist.txt --dry-run")
def cleanup(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An output folder.")],
    whitelist: Annotated[Path | None, typer.Argument(metavar="WHITELIST", help="What stays.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Name what would be deleted.")] = False,
    as_json: Json = False,
) -> None:
    """Delete everything of an output folder but the files that the whitelist names."""
    from dpgate.siesta.cleaning import clean_up

    deleted = clean_up(folder, () if whitelist is None else _whitelist(whitelist), dry_run=dry_run)
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
    from dpgate.siesta.selection import select

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


def _whitelist(path: Path) -> tuple[str, ...]:
    from dpgate.siesta.whitelist import read_whitelist

    try:
        # not read_text, which would take a lone carriage return for a line end
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8") from None
    return read_whitelist(text, name=path.name)
