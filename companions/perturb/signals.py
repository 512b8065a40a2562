"""Arrays of numbers from .npy, .npz and .csv files. An .npy file is mapped: it may exceed memory."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from dpgate.errors import DpgateError
from privacy.perturbation.record import check_array


def open_signal(path: Path, *, name: str | None = None) -> np.ndarray[Any, Any]:
    """The array in this file; `name` says which one of an .npz file with several.

    Raises DpgateError when the file holds no array of numbers. Nothing is ever unpickled.
    """
    if name is not None and path.suffix != ".npz":
        raise DpgateError("--array names an array of an .npz file; leave it out for other files")
    opened = _openers.get(path.suffix)
    if opened is None:
        raise DpgateError(f"{path}: an .npy, .npz or .csv file is needed")
    values = opened(path, name)
    try:
        check_array(values)
    except ValueError as error:
        raise DpgateError(f"{path}: {error}") from None
    return values


def _open_npy(path: Path, _name: str | None) -> np.ndarray[Any, Any]:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError):
        raise DpgateError(f"{path} is not an .npy file of numbers") from None


def _open_npz(path: Path, name: str | None) -> np.ndarray[Any, Any]:
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            names = list(archive)
            if name is None and len(names) == 1:
                name = names[0]
            if name not in names:
                raise DpgateError(f"{path} holds {', '.join(names) or 'nothing'}: choose one with --array")
            return archive[name]
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile):
        raise DpgateError(f"{path} is not an .npz file of numbers") from None


def _open_csv(path: Path, _name: str | None) -> np.ndarray[Any, Any]:
    """Rows and columns; a first row of names is passed over, an empty cell is NaN."""
    try:
        with path.open(encoding="utf-8") as file:
            header = any(_number(cell) is None for cell in file.readline().split(","))
        cells = np.loadtxt(
            path, delimiter=",", ndmin=2, skiprows=int(header), encoding="utf-8", converters=_cell
        )
    except ValueError:
        # numpy quotes the cell in its message, and a cell is data
        raise DpgateError(f"{path} holds cells that are no numbers") from None
    return cells[:, 0] if cells.shape[1] == 1 else cells


def _cell(text: str) -> float:
    return float(text) if text.strip() else float("nan")


def _number(text: str) -> float | None:
    try:
        return _cell(text)
    except ValueError:
        return None


_openers = {".npy": _open_npy, ".npz": _open_npz, ".csv": _open_csv}
