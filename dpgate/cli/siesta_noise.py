"""`dpgate siesta mergegroup`, `calibratenoise` and `addnoise`: from the results of the samples to noise."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.output import Json, err, number, plain, print_json, print_line, print_table
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from companions.siesta.noise_table import NoiseTable


class Layout(StrEnum):
    """Of the tables between the tools."""

    DPGATE = "dpgate"
    WP15 = "wp15"


New = Annotated[Path, typer.Argument(metavar="OUT", help="A folder that is absent or empty.")]
Results = Annotated[list[Path], typer.Argument(metavar="IN", help="Output folders of the group level.")]
Whitelist = Annotated[Path, typer.Argument(metavar="WHITELIST", help="Relative paths, one a line.")]
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
Format = Annotated[
    Layout,
    typer.Option(
        "--format",
        help="wp15: rows of numbers without names, and folders for files, as work package 15 has them. The "
        "row of noise holds scales all the same: addnoise draws.",
    ),
]


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
    from companions.siesta.samples import KEEP_IT, MERGED, merge_group
    from companions.siesta.shaped_files import Volumes

    samples = merge_group(
        sources,
        target,
        whitelist_in(whitelist),
        header_lines=header_lines,
        volumes=Volumes(mask, average),
    )
    if as_json:
        print_json({"table": str(target / MERGED), "values": list(samples.names), "warning": KEEP_IT})
    else:
        print_line(f"{plain(target / MERGED)}: {len(samples.names)} numbers of {len(samples.rows)} results")
        err.print(f"[yellow]It {KEEP_IT}[/]")


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
    layout: Format = Layout.DPGATE,
    as_json: Json = False,
) -> None:
    """Decide how wide the noise of each number must be. EMPIRICAL: no differential privacy."""
    from companions.siesta.calibration import bounds_from_options, calibrate, read_bounds
    from companions.siesta.noise_table import write_noise_table
    from companions.siesta.samples import read_samples
    from companions.siesta.wp15 import named_alike, read_merged, row_of, write_row
    from privacy.stability import LABEL

    if bounds is not None and (lower or upper):
        raise DpgateError("--bounds and --lower, --upper say the same thing; keep one of them")
    is_row = layout is Layout.WP15
    read = read_merged if is_row else read_samples
    samples, everybody = read(merged), read(whole)
    samples, everybody = named_alike(samples, everybody), named_alike(everybody, samples)
    target = row_of(target) if is_row else target
    declared = (
        bounds_from_options(lower or (), upper or (), samples.names)
        if bounds is None
        else read_bounds(bounds, samples.names)
    )
    table = calibrate(
        samples,
        everybody,
        target,
        bounds=declared,
        noise_multiplier=noise_multiplier,
        write=write_row if is_row else write_noise_table,
    )
    scales = {name: str(scale) for name, scale in zip(table.names, table.scales, strict=True)}
    if as_json:
        print_json({"guarantee": "empirical", "label": LABEL, "table": str(target), "scales": scales})
    else:
        print_table("Noise", ("number", "scale"), list(scales.items()), note=plain(LABEL))


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
    layout: Format = Layout.DPGATE,
    as_json: Json = False,
) -> None:
    """Write the whitelisted files with fresh noise on every number. Repeats average it out. EMPIRICAL."""
    from companions.siesta.noising import add_noise
    from companions.siesta.shaped_files import Volumes
    from privacy.stability import LABEL

    if layout is Layout.WP15 and whitelist.is_dir():
        whitelist, noise = noise, whitelist  # the order of the workflow's page, where the noise is a folder
    noised = add_noise(
        source,
        target,
        whitelist_in(whitelist),
        _noise_in(noise, layout),
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


def whitelist_in(path: Path) -> tuple[str, ...]:
    from companions.siesta.whitelist import read_whitelist

    try:
        # not read_text, which would take a lone carriage return for a line end
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DpgateError(f"{path} is not UTF-8") from None
    return read_whitelist(text, name=path.name)


def _noise_in(path: Path, layout: Layout) -> NoiseTable:
    from companions.siesta.noise_table import read_noise_table
    from companions.siesta.wp15 import read_row, row_of

    return read_row(row_of(path)) if layout is Layout.WP15 else read_noise_table(path)
