"""Twins of counts: how near they are to the data, and what they cost. What an attacker gets: twin_attacks.py.

    DPGATE_DATA=FOLDER python benchmarks/twin.py [--dpmm ENVIRONMENT] [--limit 1500]
    DPGATE_DATA=FOLDER python benchmarks/twin.py --adult [COLUMN ...] [--epsilon 1 10] [--dpmm ENVIRONMENT]
    python benchmarks/twin.py --planted 2000        # invented links alone

Adult, Synthea's patients and the participants of ds004148 on one public grid; every figure is a mean over
rounds, each with a release and a drawing of its own. With --dpmm the folder of an environment that has dpmm:
its mechanisms are fitted to the same cells at delta 1e-9, once each, on one thread as ours are, and ended
after the limit in seconds (`twin_peer.py`). With --adult only level 2 and they, side by side, on some columns
of Adult or on all. Class `pure_dp`; with a delta, and for dpmm, `approx_dp`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations, product
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from twin_attacks import ATTO_DELTA, mechanism
from twin_cases import Case, Codes, adult, ds004148, synthea, totals_of

from privacy.loss import MICRO
from privacy.twin import GaussianLoss, GaussianPatterns, Patterns, TwinMechanism, draw_rows, predicted_tv1
from privacy.twin.marginals import fit
from twins.evaluation.association import cramers_v
from twins.evaluation.marginals import total_variation

Figures = Mapping[str, float]
TRIPLES = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dpmm", type=Path)
    parser.add_argument(
        "--kinds", nargs="+", choices=("mst", "privbayes", "aim", "aim-2mb"), default=["mst", "privbayes"]
    )
    parser.add_argument("--limit", type=float, default=1500)
    parser.add_argument("--adult", nargs="*", metavar="COLUMN", help="side by side on these columns of Adult")
    parser.add_argument("--epsilon", nargs="+", type=int, default=[1, 10])
    parser.add_argument("--planted", type=int, metavar="ROUNDS", help="look for invented links alone")
    asked = parser.parse_args()
    if asked.planted is not None:
        for with_delta in (False, True):
            invented(rounds=asked.planted, with_delta=with_delta)
        return
    whole, test = adult()
    if asked.adult is not None:
        side_by_side(*(part(whole, test, asked.adult) if asked.adult else (whole, test)), asked)
        return
    cases = ((whole, test), (synthea(), None), (ds004148(), None))
    for case, held_out in cases:
        print(f"\n{case.name}: {case.size} rows, {len(case.cells)} columns, {sum(case.cells)} cells")
        rng = np.random.default_rng(0)
        resampled = case.codes[rng.integers(0, case.size, case.size)]
        show("resampled rows (not private)", nearness(case, resampled, held_out))
        permuted = np.stack([rng.permutation(column) for column in case.codes.T], axis=1)
        show("permuted columns (not private)", nearness(case, permuted, held_out))
        for epsilon in asked.epsilon:
            for level in (1, 2):
                show_level(case, level, epsilon, held_out, rounds=asked.rounds)
                show_level(case, level, epsilon, held_out, rounds=asked.rounds, with_delta=True)
    print()
    costs(whole)
    print()
    for with_delta in (False, True):
        invented(rounds=6 * asked.rounds, with_delta=with_delta)
    if asked.dpmm is not None:
        print()
        for epsilon, (case, held_out), kind in product(asked.epsilon, cases, asked.kinds):
            show_peer(case, kind, epsilon, held_out, environment=asked.dpmm, limit=asked.limit)
        costs(whole)


def part(case: Case, held_out: Codes, names: Sequence[str]) -> tuple[Case, Codes]:
    """Some columns of a table, the last of which is the one to be predicted."""
    places = [[column.name for column in case.columns].index(name) for name in names]
    columns, texts = ([each[place] for place in places] for each in (case.columns, case.texts))
    return Case(case.name, tuple(columns), tuple(texts), case.size), held_out[:, places]


def side_by_side(case: Case, held_out: Codes, asked: argparse.Namespace) -> None:
    """Level 2 and its peers; fewer columns where a peer takes too long for all."""
    print(f"{case.name}: {case.size} rows, {len(case.cells)} columns, {sum(case.cells)} cells")
    for epsilon, with_delta in product(asked.epsilon, (False, True)):
        show_level(case, 2, epsilon, held_out, rounds=asked.rounds, with_delta=with_delta)
    costs(case)
    for epsilon, kind in product(asked.epsilon, asked.kinds if asked.dpmm is not None else ()):
        show_peer(case, kind, epsilon, held_out, environment=asked.dpmm, limit=asked.limit)


def show_level(
    case: Case, level: int, epsilon: int, held_out: Codes | None, *, rounds: int, with_delta: bool = False
) -> None:
    described = mechanism(case, level, epsilon, with_delta=with_delta)
    totals = totals_of(case.codes, case.cells, described.pairs)
    found = []
    for seed in range(rounds):
        twin = draw_rows(described.release(totals), case.size, seed=seed).astype(np.int64)
        found.append(nearness(case, twin, held_out))
    mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    predicted = predicted_tv1(case.cells, nominal_size=case.size, micro_epsilon=epsilon * MICRO)
    more = f"  predicted tv1 {predicted:.4f}" if level == 1 and not with_delta else ""
    show(f"level {level}, epsilon {epsilon}{', delta 1e-9' if with_delta else ''}", mean, more=more)


def nearness(case: Case, twin: Codes, held_out: Codes | None) -> Figures:
    """Mean total variation of one, two and three columns, the largest of two, mean |difference of V|, and the
    area under the curve on rows that were not used."""
    columns = range(len(case.cells))
    pairs = list(combinations(columns, 2))
    triples = list(combinations(columns, 3))
    chosen = np.random.default_rng(0).permutation(len(triples))[:TRIPLES]
    of_pairs = [total_variation(case.codes, twin, case.cells, pair) for pair in pairs]
    apart = [abs(cramers_v(case.codes, case.cells, *p) - cramers_v(twin, case.cells, *p)) for p in pairs]
    found = {
        "tv1": np.mean([total_variation(case.codes, twin, case.cells, [column]) for column in columns]),
        "tv2": np.mean(of_pairs),
        "most": np.max(of_pairs),
        "tv3": np.mean([total_variation(case.codes, twin, case.cells, triples[t]) for t in chosen]),
        "V": np.mean(apart),
    }
    if held_out is not None:
        found["AUC"] = area(twin, held_out, case.cells)
    return {name: float(value) for name, value in found.items()}


def area(twin: Codes, held_out: Codes, cells: Sequence[int]) -> float:
    """Logistic regression of the last column on all others, one column per cell."""

    def wide(codes: Codes) -> np.ndarray:
        return np.concatenate([np.eye(c, dtype=np.float32)[codes[:, j]] for j, c in enumerate(cells[:-1])], 1)

    model = LogisticRegression(max_iter=300).fit(wide(twin), twin[:, -1])
    return float(roc_auc_score(held_out[:, -1], model.decision_function(wide(held_out))))


def show_peer(
    case: Case, kind: str, epsilon: int, held_out: Codes | None, *, environment: Path, limit: float
) -> None:
    name = f"{case.name.split()[0]}, dpmm {kind}, epsilon {epsilon}"
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder) / "given.npz", Path(folder) / "made.npz"
        np.savez(given, codes=case.codes, cells=np.array(case.cells))
        script = Path(__file__).with_name("twin_peer.py")
        command = [environment / "bin" / "python", script, kind, str(epsilon), given, made]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        before = cpu_of_children()
        try:
            ended = subprocess.run(
                list(map(str, command)),
                capture_output=True,
                text=True,
                env={**os.environ, **threads},
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            used = cpu_of_children() - before
            print(f"{name:<34}not done after {limit:.0f} s, {used:.0f} s of CPU", flush=True)
            return
        if ended.returncode:
            said = ended.stderr.strip().splitlines() or [f"status {ended.returncode}"]
            print(f"{name:<34}failed: {said[-1]}", flush=True)
            return
        with np.load(made) as result:
            twin, figures = (
                result["codes"],
                {key: float(result[key]) for key in ("wall_s", "cpu_s", "peak_mib")},
            )
    more = f"  {figures['wall_s']:.1f} s, {figures['cpu_s']:.1f} s of CPU, {figures['peak_mib']:.0f} MiB"
    show(name, nearness(case, twin, held_out), more=more)


def cpu_of_children() -> float:
    """Seconds of CPU of child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def show(name: str, figures: Figures, *, more: str = "") -> None:
    print(
        f"{name:<34}" + "  ".join(f"{key} {value:.4f}" for key, value in figures.items()) + more, flush=True
    )


def costs(case: Case) -> None:
    """Of a release and a twin, each in a new process that loads nothing else; the best of three.

    The yardstick is how long numpy takes to sort eight million random numbers in the same process.
    """
    heads = ("wall s", "release, CPU s", "rows, CPU s", "peak MiB", "sort, wall s", "ratio")
    print(f"{'one twin of ' + case.name:<34}" + "".join(f"{head:>16}" for head in heads))
    script = Path(__file__).with_name("twin_cost.py")
    for level in (1, 2):
        described = mechanism(case, level, 1)
        asked = {
            "cells": case.cells,
            "size": case.size if level == 2 else None,
            "rows": case.size,
            "totals": totals_of(case.codes, case.cells, described.pairs),
        }
        runs = [
            json.loads(
                subprocess.run(
                    [sys.executable, str(script)],
                    input=json.dumps(asked),
                    env={**os.environ, "PYTHONPATH": str(script.parents[1])},
                    capture_output=True,
                    text=True,
                    check=True,
                ).stdout
            )
            for _ in range(3)
        ]
        best = {key: min(run[key] for run in runs) for key in runs[0]}
        best["ratio"] = best["wall_s"] / best["sort_wall_s"]
        print(f"{f'level {level}, epsilon 1':<34}" + "".join(f"{figure:>16.3f}" for figure in best.values()))


def invented(*, rounds: int, with_delta: bool) -> None:
    """The largest V of columns that are independent in the source, at epsilon 1 and 30,000 rows: in twins of
    the first thirty rounds, and in all in which a pair counts as dependent."""
    rng, cells = np.random.default_rng(5), (20, 20, 9, 7, 2, 5, 20, 12, 20, 20)
    found, pairs, kept = [], 0, 0
    for seed in range(rounds):
        codes = np.stack([rng.choice(c, 30_000, p=rng.dirichlet(np.full(c, 2.0))) for c in cells], axis=1)
        described: TwinMechanism = Patterns(cells, MICRO, nominal_size=30_000)
        if with_delta:
            described = GaussianPatterns(cells, GaussianLoss(MICRO, ATTO_DELTA), nominal_size=30_000)
        counts = described.release(totals_of(codes, cells, described.pairs))
        dependent = len(fit(counts).pairs)
        pairs, kept = pairs + len(counts.pairs), kept + dependent
        if dependent or seed < 30:
            twin = draw_rows(counts, 30_000, seed=seed).astype(np.int64)
            found.append(max(cramers_v(twin, cells, a, b) for a, b in combinations(range(len(cells)), 2)))
    above = sum(largest > 0.05 for largest in found)
    print(
        f"{f'planted, {described.guarantee}':<34}largest V of a twin {np.median(found):.3f} in the median, "
        f"{max(found):.3f} at most, above .05 in {above} of {rounds} rounds; {kept} of {pairs} pairs kept",
        flush=True,
    )


if __name__ == "__main__":
    main()
