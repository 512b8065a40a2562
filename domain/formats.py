"""The kinds of output files, told by the end of a file's name, and the most that is read of each."""

from __future__ import annotations

from typing import Literal

FormatName = Literal["text", "json", "npy", "mat", "nifti", "table", "curve"]
"""`table`: a text file with a row for each person, of which columns are summarised.
`curve`: a text file with a column for an axis, of whose values splines are fitted."""

KIB, MIB = 1024, 1024 * 1024
FORMATS: dict[str, FormatName] = {
    ".tsv": "text",
    ".csv": "text",
    ".txt": "text",
    ".json": "json",
    ".npy": "npy",
    ".mat": "mat",
    ".nii": "nifti",
    ".nii.gz": "nifti",
}
MAX_BYTES: dict[FormatName, int] = {
    "text": 64 * KIB,
    "json": 64 * KIB,
    "npy": 4 * MIB,
    "mat": 4 * MIB,
    "nifti": 32 * MIB,
    "table": MIB,
    "curve": 64 * KIB,
}
ANY_SUFFIX = r"\.(tsv|csv|txt|json|npy|mat|nii|nii\.gz)$"
TEXTS: frozenset[FormatName] = frozenset({"text", "json", "table", "curve"})
"""Those that a release holds as text; all others are bytes."""


def format_of(file: str) -> FormatName:
    """The format of a file by its name. Raises ValueError for a name that ends otherwise."""
    for suffix, name in FORMATS.items():
        if file.endswith(suffix):
            return name
    raise ValueError(f"ends in none of {', '.join(FORMATS)}")
