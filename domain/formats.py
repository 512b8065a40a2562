"""The kinds of output files, a row each: how a file's name ends, and the most that its reader takes.

Whoever asks about a kind of file reads this table: the manifest, the whitelist, the schedule, the
certificate, the advice on a failed run and the pages. The shape of each kind stands in `domain/shape/`.
"""

from __future__ import annotations

from dataclasses import dataclass

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True)
class Format:
    """One kind of file. `suffixes`: of the names by which it is told; a kind without one is told by what the
    manifest says of a text file. `reading_s`: seconds for one file, at the most that its reader takes,
    doubled. `is_text`: a release holds it as text, not as bytes. `note` stands behind the suffixes on
    pages."""

    suffixes: tuple[str, ...]
    most_bytes: int
    reading_s: float
    is_text: bool = False
    note: str = ""


FORMATS: dict[str, Format] = {
    "text": Format((".tsv", ".csv", ".txt"), 64 * KIB, 0.03, is_text=True, note="space separated"),
    "json": Format((".json",), 64 * KIB, 0.05, is_text=True),
    "npy": Format((".npy",), 4 * MIB, 0.05),
    "mat": Format((".mat",), 4 * MIB, 0.5),
    "nifti": Format((".nii", ".nii.gz"), 32 * MIB, 0.2),
    # a text file with a row for each person, of which columns are summarised
    "table": Format((), MIB, 0.4, is_text=True),
    # a text file with a column for an axis, of whose values splines are fitted
    "curve": Format((), 64 * KIB, 0.8, is_text=True),
}


def suffixes() -> tuple[str, ...]:
    """How names of output files end."""
    return tuple(suffix for each in FORMATS.values() for suffix in each.suffixes)


def format_of(file: str) -> str:
    """The format of a file by its name. Raises ValueError for a name that ends otherwise."""
    for name, each in FORMATS.items():
        if file.endswith(each.suffixes):
            return name
    raise ValueError(f"ends in none of {', '.join(suffixes())}")
