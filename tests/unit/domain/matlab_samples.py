"""MATLAB files as others write them: versions 4 and 5 by scipy, and 7.3 by h5py in MATLAB's own layout."""

import io
import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import h5py
import numpy as np
import scipy.io

from domain.pipeline import OutputFile
from domain.shape import MatlabShape
from domain.shape.matlab import lock

_NUMBERS = itertools.count()
OUTPUT = OutputFile(file="stats.mat", bounds=[{"select": "*", "name": "x", "lower": 0, "upper": 1}])


@dataclass(frozen=True)
class Structs:
    """A row of structs of the same fields."""

    elements: tuple[dict, ...]


def locked(content: bytes) -> MatlabShape:
    return lock(OUTPUT, content, {})


def scipy_file(arrays: Mapping[str, object], **options: object) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, {name: _for_scipy(value) for name, value in arrays.items()}, **options)
    return file.getvalue()


def _for_scipy(value: object) -> object:
    if isinstance(value, Structs):
        fields = [(name, object) for name in value.elements[0]]
        row = np.empty((1, len(value.elements)), dtype=fields)
        for position, element in enumerate(value.elements):
            row[0, position] = tuple(_for_scipy(inner) for inner in element.values())
        return row
    if isinstance(value, list):
        row = np.empty((1, len(value)), dtype=object)
        for position, inner in enumerate(value):
            row[0, position] = _for_scipy(inner)
        return row
    if isinstance(value, dict):
        return {name: _for_scipy(inner) for name, inner in value.items()}
    return value


def scipy_read(content: bytes) -> dict:
    return scipy.io.loadmat(io.BytesIO(content))


def v73_file(arrays: Mapping[str, object], *, libver: str = "earliest", **storage: object) -> bytes:
    """`storage`: how h5py stores the arrays of numbers: chunks, compression, ..."""
    return v73(
        lambda file: [_put(file, file, name, value, storage) for name, value in arrays.items()], libver
    )


def v73(build, libver: str = "earliest") -> bytes:
    """What `build` puts into an h5py file, behind MATLAB's 512 bytes."""
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512, libver=libver) as opened:
        build(opened)
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + struct.pack("<H", 0x200)
    return head + b"IM" + file.getvalue()[128:]


def _put(file: h5py.File, group: h5py.Group, name: str, value: object, storage: Mapping) -> None:
    if isinstance(value, dict):
        made = group.create_group(name)
        for field, inner in value.items():
            _put(file, made, field, inner, storage)
        made.attrs["MATLAB_class"] = np.bytes_("struct")
    elif isinstance(value, Structs):
        made = group.create_group(name)
        for field in value.elements[0]:
            made[field] = _references(file, [element[field] for element in value.elements], storage)
        made.attrs["MATLAB_class"] = np.bytes_("struct")
    elif isinstance(value, list):
        group[name] = _references(file, value, storage)
        group[name].attrs["MATLAB_class"] = np.bytes_("cell")
    else:
        _put_array(group, name, value, storage)


def _references(file: h5py.File, values: list, storage: Mapping) -> np.ndarray:
    refs = file.require_group("#refs#")
    row = np.empty((len(values), 1), dtype=h5py.ref_dtype)
    for position, value in enumerate(values):
        name = f"n{next(_NUMBERS)}"
        _put(file, refs, name, value, storage)
        row[position, 0] = refs[name].ref
    return row


def _put_array(group: h5py.Group, name: str, value: object, storage: Mapping) -> None:
    decode = None
    if isinstance(value, str):
        units, kind, decode = np.array([[ord(letter) for letter in value]], "uint16"), "char", 2
    else:
        units = np.atleast_2d(np.asarray(value))
        kind = {"float64": "double", "float32": "single", "bool": "logical"}.get(
            str(units.dtype), str(units.dtype)
        )
        if kind == "logical":
            units, decode = units.astype("uint8"), 1
    if units.size == 0:
        made = group.create_dataset(name, data=np.array(units.shape, "uint64"))
        made.attrs["MATLAB_empty"] = np.uint8(1)
    else:
        options = storage if kind not in ("char", "logical") and units.size > 1 else {}
        made = group.create_dataset(name, data=units.T, **options)
    made.attrs["MATLAB_class"] = np.bytes_(kind)
    if decode is not None:
        made.attrs["MATLAB_int_decode"] = np.int32(decode)
