"""Small BIDS data sets as dictionaries of paths and bytes, for the tools that work on folders."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

PEOPLE = ("1", "2", "10", "11")


def write(root: Path, files: Mapping[str, bytes | str]) -> Path:
    """A folder with these files."""
    root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def read(root: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def dataset() -> dict[str, bytes | str]:
    """Four people, two of whom have ids that begin like the first one's."""
    files: dict[str, bytes | str] = {
        "dataset_description.json": '{"Name": "invented", "BIDSVersion": "1.8.0"}',
        "README": "Invented.\n",
        "participants.json": '{"age": {"Units": "years"}}',
        "participants.tsv": "participant_id\tage\tnote\r\n"
        + "".join(f"sub-{label}\t2{number}\tn/a\r\n" for number, label in enumerate(PEOPLE)),
        "phenotype/iq.tsv": "age\tsubject\tiq\n" + "".join(f"25\t{label}\t1e2\n" for label in PEOPLE),
        "phenotype/iq.json": "{}",
        "sourcedata/list.csv": 'note,participant\n"a, ""b""\nc",sub-1\n' + "d,sub-10\n,sub-2\nd,sub-11",
        "code/run_01.py": "print(1)\n",
    }
    for label in PEOPLE:
        files[f"sub-{label}/anat/sub-{label}_T1w.json"] = f'{{"IntendedFor": "sub-{label}/x"}}'
        files[f"sub-{label}/ses-1/sub-{label}_ses-1_scans.tsv"] = f"filename\nanat/sub-{label}_T1w.nii\n"
        files[f"derivatives/prep/sub-{label}/sub-{label}_mask.nii"] = bytes([0, 255, len(label)])
        files[f"derivatives/prep/sub-{label}.html"] = f"<p>sub-{label}</p>"
    return files
