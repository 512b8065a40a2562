"""The shape lock: the run on the twin fixes every byte of an output file except its numbers.

A run on original data can only fill the numeric cells; labels, headers, order and count come from the twin's
run. A file of another shape is a failed run. Reads hostile bytes: nothing here trusts its input.
"""

from domain.shape.curve import CurveShape
from domain.shape.files import LOCKS, FileShape, Shape, check_run, lock
from domain.shape.json_file import JsonShape
from domain.shape.matlab import MatlabShape
from domain.shape.nifti import NiftiShape
from domain.shape.npy import NpyShape
from domain.shape.table import TableShape
from domain.shape.text import MAX_CELLS, MAX_FILE_BYTES, MAX_LABEL, NUMBER, TextShape

__all__ = [
    "LOCKS",
    "MAX_CELLS",
    "MAX_FILE_BYTES",
    "MAX_LABEL",
    "NUMBER",
    "CurveShape",
    "FileShape",
    "JsonShape",
    "MatlabShape",
    "NiftiShape",
    "NpyShape",
    "Shape",
    "TableShape",
    "TextShape",
    "check_run",
    "lock",
]
