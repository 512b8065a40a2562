"""Local perturbation of a whole ECG archive against diffprivlib value by value: seconds, ratio, memory.

    DPGATE_DATA=FOLDER python benchmarks/signals.py [--rounds 3]

FOLDER/mitbih_arrhythmia/segments holds the MIT-BIH arrhythmia records as beat segments (30,614,640 values);
without it, as many normal numbers stand in. All methods take turns in one process: the ratio is what travels.
diffprivlib is timed on a part of the values and its time multiplied up; everything else does all of them.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from companions.perturb.method import Request
from companions.perturb.threads import perturb_array
from privacy.reference import randomised_unsafe

VALUES = 30_614_640
PART = 40_000
LOWER, UPPER = "-13.1", "13.4"
LAWS = ("laplace", "bounded", "gaussian")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = parser.parse_args().rounds
    values, name = signals()
    print(f"{values.size} values: {name}\n")
    out = np.empty_like(values)
    cases = {**reference_cases(values), **own_cases(values, out)}
    seconds = measure(cases, rounds)
    show(seconds)
    print()
    memory(values, out)


def signals() -> tuple[np.ndarray, str]:
    folder = Path(os.environ.get("DPGATE_DATA", "")) / "mitbih_arrhythmia" / "segments"
    records = sorted(folder.glob("*.npz")) if "DPGATE_DATA" in os.environ else []
    if not records:
        return np.random.default_rng(0).normal(size=VALUES), "normal numbers (DPGATE_DATA is not set)"
    parts = []
    for record in records:
        with np.load(record) as archive:
            # fixed point: first differences of hundredths along each segment
            parts.append((archive["dq"].cumsum(axis=1, dtype=np.int32) / 100).ravel())
    return np.concatenate(parts), f"{len(records)} MIT-BIH records"


Case = tuple[int, Callable[[], object]]


def reference_cases(values: np.ndarray) -> dict[str, Case]:
    span = float(UPPER) - float(LOWER)
    part = values[:: values.size // PART][:PART].tolist()

    def randomise(law: str, some: list[float]) -> Case:
        delta = 0.0 if law == "laplace" else 1e-9
        return len(some), lambda: randomised_unsafe(some, law=law, epsilon=1.0, delta=delta, sensitivity=span)

    return {f"diffprivlib {law}": randomise(law, part if law == "laplace" else part[::4]) for law in LAWS}


def own_cases(values: np.ndarray, out: np.ndarray) -> dict[str, Case]:
    found: dict[str, Case] = {}
    for threads in (1, 2):
        for law in LAWS:
            found[f"{law}, exact, {threads} thread(s)"] = run(values, out, threads, law=law)
        found[f"laplace, fast, {threads} thread(s)"] = run(values, out, threads, law="laplace", fast=True)
    return found


def run(values: np.ndarray, out: np.ndarray, threads: int, *, law: str, fast: bool = False) -> Case:
    method = request(law, fast=fast).method
    return values.size, lambda: perturb_array(method, values, out=out, threads=threads)


def request(law: str, *, fast: bool = False) -> Request:
    return Request(LOWER, UPPER, "1", None if law == "laplace" else "1e-9", law, fast)


def measure(cases: dict[str, Case], rounds: int) -> dict[str, list[float]]:
    """Seconds for all values, of each case in turn, so that a slow moment of the machine hits all."""
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, (count, do) in cases.items():
            started = time.perf_counter()
            do()
            seconds[name].append((time.perf_counter() - started) * VALUES / count)
    return seconds


def show(seconds: dict[str, list[float]]) -> None:
    """Ratios are taken round by round, against diffprivlib's loop with the same law."""
    print(f"{'method':<30}{'s, median':>11}{'s, best':>9}{'million/s':>11}{'times as fast as the loop':>27}")
    for name, each in seconds.items():
        law = next(law for law in LAWS if law in name)
        loop = seconds[f"diffprivlib {law}"]
        ratio = statistics.median(theirs / ours for theirs, ours in zip(loop, each, strict=True))
        median = statistics.median(each)
        print(f"{name:<30}{median:>11.2f}{min(each):>9.2f}{VALUES / 1e6 / median:>11.2f}{ratio:>27.0f}")


def memory(values: np.ndarray, out: np.ndarray) -> None:
    """Peak of what is allocated beside the array, as a share of it."""
    print(f"{'memory beside the array':<34}{'share of it':>11}")
    for name, target in (("into another array", None), ("in place", out)):
        tracemalloc.start()
        if target is None:
            target = np.empty_like(values)
        perturb_array(request("laplace").method, values, out=target, threads=2)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        print(f"{name:<34}{peak / values.nbytes:>11.3f}")


if __name__ == "__main__":
    main()
