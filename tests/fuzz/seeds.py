"""Small valid files of every kind, as the libraries that people use write them: where the search starts."""

from __future__ import annotations

import gzip
import io
import json
import random
import struct
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import duckdb
import h5py
import nibabel
import numpy as np
import scipy.io

from formats.parquet_file import ParquetColumn, write_parquet
from twins.drawn.files import make_volume

_CELL = np.array([[1.5, np.array([[True]])]], dtype=object)
_STRUCT = {"beta": np.array([1, -2], "int16"), "name": "abc"}


def seeds() -> dict[str, Sequence[bytes]]:
    """By the name of the reader."""
    tables = {"\t": "tsv", ",": "csv", " ": "txt"}
    outputs = {end: _table(joint) for joint, end in tables.items()}
    people = {end: _people(joint) for joint, end in tables.items() if end != "txt"}
    return {
        **outputs,
        "json": [
            json.dumps({"a": [1, 2.5], "b": {"c": 3, "é\n": None}, "d": "text", "e": []}).encode(),
            b'{"mean": -1.5e-3, "n": [true, null], "s": "\\u00e9\\ud83d\\ude00"}\n',
            b" [[1, 2], [3, 4]] ",
            b"7",
        ],
        "npy": _arrays(),
        "nii": _volumes(),
        "nii.gz": [gzip.compress(volume, mtime=0) for volume in _volumes()],
        "mat4": [_mat({"a": np.ones((2, 2)), "b": "abc", "c": np.arange(3, dtype="int16")}, format="4")],
        "mat5": [
            _mat({"mean": np.array([[1.0, 2.0], [3.0, np.nan]]), "stats": _STRUCT}),
            _mat({"rows": np.array([[(1.0, 2.0)]], [("a", object), ("b", object)]), "parts": _CELL}),
            _mat({"stats": _STRUCT, "parts": _CELL}, do_compression=True),
            _mat({"i": np.arange(6, dtype="uint8").reshape(1, 2, 3), "e": np.zeros((0, 2)), "s": "é"}),
        ],
        "mat73": _hdf5_files(),
        "whitelist": [
            b"# may leave\nderivatives/group/results.tsv\r\n\nderivatives/group/maps.nii.gz\n",
            b"a.csv\nb/c.json\n",
        ],
        **{f"rows.{end}": found for end, found in people.items()},
        **{f"table.{end}": found for end, found in people.items()},
        "table.dialect": [
            "person;age;sex;day;at\nJürgen;1.234,5;m;1.3.2024;01.03.2024 14:05\r\n".encode("cp1252"),
            b'person;age;sex;day;at\n"a;b";-,5;"d";;2024-03-01T09:05:00.5',
        ],
        "parquet": _parquets(),
    }


def _table(joint: str) -> list[bytes]:
    rows = [["name", "mean"], ["age", "1"], ["height", "2.5e1"]]
    return [
        "".join(joint.join(row) + "\n" for row in rows).encode(),
        "\r\n".join(joint.join(row) for row in rows).encode(),
        joint.join(["1", "-2.50", "n/a", "nan"]).encode() + b"\n",
        b'"a b"' + joint.encode() + b"1\n",
    ]


def _people(joint: str) -> list[bytes]:
    rows = [["person", "age", "sex"], ["sub-01", "25", "f"], ["sub-02", "n/a", "m"]]
    wide = [["note", *rows[0]], ["see sub-09", *rows[1]], ["", *rows[2]]]
    quoted = [[f'"{cell}"' for cell in row] for row in rows]
    quoted[1][2] = '"f, ""x""\r\nsub-03"'
    return [
        "".join(joint.join(row) + end for row in table).encode()
        for table, end in ((rows, "\n"), (wide, "\r\n"), (quoted, "\r\n"))
    ] + [b"\xef\xbb\xbf" + "\n".join(joint.join(row) for row in rows).encode()]


def _arrays() -> list[bytes]:
    arrays = (
        np.arange(6.0).reshape(2, 3),
        np.asfortranarray(np.arange(6, dtype=">i2").reshape(2, 3)),
        np.array(1.5),
        np.array([1, 2], "float16"),
    )
    found = []
    for array in arrays:
        file = io.BytesIO()
        np.save(file, array)
        found.append(file.getvalue())
    second = io.BytesIO()
    np.lib.format.write_array(second, np.arange(3, dtype="u1"), version=(2, 0))
    return [*found, second.getvalue()]


def _volumes() -> list[bytes]:
    second = nibabel.Nifti2Image(np.arange(8, dtype="int16").reshape(2, 2, 2), np.eye(4))
    scaled = nibabel.Nifti1Image(np.arange(4, dtype=">u2").reshape(2, 2, 1), np.eye(4))
    scaled.header.set_slope_inter(0.5, 10)
    ours = make_volume((3, 2, 2), kind="f4", lower=0, upper=1, draw=random.Random(1), compressed=False)
    return [ours, second.to_bytes(), scaled.to_bytes()]


def _mat(arrays: dict[str, object], **options: object) -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, arrays, **options)
    return file.getvalue()


def _hdf5_files() -> list[bytes]:
    chunked = {"chunks": (2, 2), "compression": "gzip", "shuffle": True}
    return [
        _hdf5(_numbers({}), "earliest"),
        _hdf5(_numbers({}), "v108"),
        _hdf5(_numbers(chunked), "v108"),
        _hdf5(_numbers(chunked | {"maxshape": (None, None)}), "v110"),
        _hdf5(_structs, "earliest"),
        _hdf5(_structs, "v108"),
    ]


def _hdf5(build: Callable[[h5py.File], None], libver: str) -> bytes:
    """Behind MATLAB's 512 bytes; without the empty end that h5py leaves for more."""
    file = io.BytesIO()
    with h5py.File(file, "w", userblock_size=512, libver=libver, track_order=False) as opened:
        build(opened)
    head = b"MATLAB 7.3 MAT-file, Platform: GLNXA64, HDF5 schema 1.00 .".ljust(124) + struct.pack("<H", 0x200)
    return head + b"IM" + file.getvalue()[128:]


def _numbers(storage: dict[str, object]) -> Callable[[h5py.File], None]:
    def build(file: h5py.File) -> None:
        made = file.create_dataset("a", data=np.arange(6.0).reshape(3, 2), **storage)
        made.attrs["MATLAB_class"] = np.bytes_("double")

    return build


def _structs(file: h5py.File) -> None:
    group = file.create_group("s")
    group.attrs["MATLAB_class"] = np.bytes_("struct")
    number = group.create_dataset("n", data=np.array([[1.5]]))
    number.attrs["MATLAB_class"] = np.bytes_("double")
    text = group.create_dataset("t", data=np.array([[97], [98]], "uint16"))
    text.attrs["MATLAB_class"] = np.bytes_("char")
    flag = group.create_dataset("f", data=np.array([[1]], "uint8"))
    flag.attrs["MATLAB_class"] = np.bytes_("logical")
    cell = file.create_dataset("c", (1, 1), h5py.ref_dtype)
    cell[0, 0] = flag.ref
    cell.attrs["MATLAB_class"] = np.bytes_("cell")


def _parquets() -> list[bytes]:
    own = write_parquet(
        [
            ParquetColumn("person", "text", ["sub-01", "sub-02", None]),
            ParquetColumn("age", "number", [25.0, None, 3.5]),
            ParquetColumn("sex", "text", ["f", "m", "d"]),
        ]
    )
    found = [own]
    people = "SELECT 'p' || i AS person, i % 121 AS age, ['f','m','d'][i % 3 + 1] AS sex FROM range(9) t(i)"
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(":memory:") as connection:
        for number, how in enumerate(("uncompressed", "zstd", "snappy")):
            path = Path(folder) / f"{number}.parquet"
            connection.execute(f"COPY ({people}) TO '{path}' (FORMAT parquet, COMPRESSION {how})")
            found.append(path.read_bytes())
    return found
