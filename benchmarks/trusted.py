"""Trusted queries: seconds over ten million rows against the same query in plain duckdb, memory over a
hundred million.

    python benchmarks/trusted.py [--rows 10000000] [--large 100000000] [--folder FOLDER]

Ours reads every cell into whole grid steps and adds integers up; the plain query is a float aggregate with
two threads and as much memory. They take turns; the best of three of each counts. Our time has the release in
it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb

from domain.dataset import Declaration
from domain.query import QueryRequest
from worker.scan.scan import Limits, scan
from worker.scan.source import plain_file

ROUNDS = 3
THREADS = 2
MEMORY_MIB = 1024

COLUMNS = [
    {"name": "person", "kind": "person"},
    {"name": "age", "kind": "number", "lower": 18, "upper": 98},
    {"name": "weight", "kind": "number", "lower": 50, "upper": 150},
    {"name": "site", "kind": "categorical", "categories": ["a", "b", "c"]},
]
CASES: dict[str, tuple[dict[str, Any], str]] = {
    "mean": ({"kind": "mean", "column": "age"}, "SELECT avg(age), count(*) FROM {table}"),
    "histogram, 10 bins": (
        {"kind": "histogram", "column": "age", "bins": 10},
        "SELECT floor((age - 18) / 8) AS bin, count(*) FROM {table} GROUP BY bin",
    ),
    "median": ({"kind": "quantile", "column": "age"}, "SELECT quantile_cont(age, 0.5) FROM {table}"),
    "variance": ({"kind": "variance", "column": "age"}, "SELECT var_pop(age), avg(age) FROM {table}"),
    "mean by site": (
        {"kind": "mean", "column": "age", "by": ["site"]},
        "SELECT site, avg(age), count(*) FROM {table} GROUP BY site",
    ),
    "regression": (
        {"kind": "regression", "features": ["age"], "target": "weight"},
        "SELECT regr_slope(weight, age), regr_intercept(weight, age) FROM {table}",
    ),
}
PER_PERSON = {"kind": "mean", "column": "age", "contribution": {"reduce": "mean"}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--large", type=int, default=100_000_000)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        for form in ("parquet", "csv"):
            speed(write(folder / f"people.{form}", asked.rows), rows=asked.rows)
            print()
        memory(write(folder / "large.parquet", asked.large), rows=asked.large)


def write(path: Path, rows: int) -> Path:
    """A table with ten rows of each person, so that it also serves for a table with many."""
    columns = "range // 10 AS person, round(18 + 80 * random(), 2) AS age"
    columns += ", round(50 + 100 * random(), 2) AS weight, ['a', 'b', 'c'][1 + range % 3] AS site"
    form = "FORMAT parquet" if path.suffix == ".parquet" else "HEADER, DELIMITER ','"
    duckdb.execute("SET enable_progress_bar = false")
    duckdb.execute(f"COPY (SELECT {columns} FROM range({rows})) TO '{path}' ({form})")
    return path


def declare(rows: int, *, per_person: str = "one") -> Declaration:
    """The declaration is that of a CSV table, whatever is read: nothing here depends on the kind of file."""
    table = {"path": "people.csv", "columns": COLUMNS, "rows_per_person": per_person}
    return Declaration.model_validate(
        {
            "name": "people",
            "title": "People",
            "privacy_unit": {"table": "people.csv", "column": "person"},
            "nominal_size": rows // (10 if per_person == "many" else 1),
            "tables": [table],
            "budget_epsilon": "1",
            "policy": {},
        }
    )


def speed(path: Path, *, rows: int) -> None:
    table = f"read_csv('{path}')" if path.suffix == ".csv" else f"read_parquet('{path}')"
    print(f"{rows:,} rows of {path.suffix[1:]}, {path.stat().st_size / 1e6:.0f} MB, {THREADS} threads")
    print(f"{'query':<24}{'dpgate s':>10}{'duckdb s':>10}{'ratio':>8}")
    for name, (query, sql) in CASES.items():
        plain = sql.format(table=table)
        ours, theirs = _best(
            lambda query=query: answer(path, query, declare(rows)),
            lambda plain=plain: plainly(plain),
        )
        print(f"{name:<24}{ours:>10.2f}{theirs:>10.2f}{ours / theirs:>8.1f}")
    grouped = f"SELECT avg(m) FROM (SELECT avg(age) AS m FROM {table} GROUP BY person)"
    ours, theirs = _best(
        lambda: answer(path, PER_PERSON, declare(rows, per_person="many")),
        lambda: plainly(grouped),
    )
    print(f"{'mean, once per person':<24}{ours:>10.2f}{theirs:>10.2f}{ours / theirs:>8.1f}")


def memory(path: Path, *, rows: int) -> None:
    """The most that a process of its own held, with the engine limited to MEMORY_MIB."""
    print(f"{rows:,} rows of parquet, {path.stat().st_size / 1e6:.0f} MB, engine limited to {MEMORY_MIB} MiB")
    print(f"{'query':<24}{'s':>8}{'peak MiB':>10}")
    for name in ("mean", "histogram, 10 bins", "median", "regression"):
        _print_peak(name, path, CASES[name][0], declare(rows))
    _print_peak("mean, once per person", path, PER_PERSON, declare(rows, per_person="many"))


def plainly(sql: str) -> object:
    """In an engine of its own, as ours is."""
    connection = duckdb.connect(config={"threads": THREADS, "memory_limit": f"{MEMORY_MIB}MiB"})
    try:
        connection.execute("SET enable_progress_bar = false")
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def answer(path: Path, query: dict[str, Any], declaration: Declaration) -> object:
    """Scan and release."""
    request = QueryRequest.model_validate({"dataset": "people", "query": query, "epsilon": "1"})
    limits = Limits(memory_mib=MEMORY_MIB, threads=THREADS)
    return request.mechanism_for(declaration).release(
        scan(plain_file(path), request, declaration, key=bytes(32), limits=limits)
    )


def _print_peak(name: str, path: Path, query: dict[str, Any], declaration: Declaration) -> None:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        seconds, peak = pool.apply(_measure, (path, query, declaration))
    print(f"{name:<24}{seconds:>8.1f}{peak:>10.0f}")


def _measure(path: Path, query: dict[str, Any], declaration: Declaration) -> tuple[float, float]:
    started = time.perf_counter()
    answer(path, query, declaration)
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return time.perf_counter() - started, int(peak) / 1024


def _best(*each: Callable[[], object]) -> list[float]:
    """The least seconds of each, in turn, so that a slow moment of the machine hits all."""
    found = [float("inf")] * len(each)
    for _ in range(ROUNDS):
        for position, run in enumerate(each):
            started = time.perf_counter()
            run()
            found[position] = min(found[position], time.perf_counter() - started)
    return found


if __name__ == "__main__":
    main()
