"""Twins of counts: how near they are to the data, what they cost, and what an attacker gets out of them.

    DPGATE_DATA=FOLDER python benchmarks/twin.py [--rounds 5] [--dpmm ENVIRONMENT]

Adult, Synthea's patients and the participants of ds004148 on one public grid; every figure is a mean over
rounds, each with a release and a drawing of its own. With --dpmm the folder of an environment that has dpmm:
its MST and PrivBayes are fitted to the same cells at delta 1e-9, once each (`twin_peer.py`). Class `pure_dp`;
dpmm's is `approx_dp`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from twin_cases import Case, Codes, adult, ds004148, synthea, totals_of

from domain.evaluation.association import cramers_v
from domain.evaluation.marginals import total_variation
from domain.evaluation.sheet import Sheet, Values
from domain.evaluation.singling_out import about_one_column, singled_out
from privacy.loss import MICRO
from privacy.twin import ColumnCounts, Patterns, TwinMechanism, draw_rows, predicted_tv1

Figures = Mapping[str, float]
TRIPLES = 60


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dpmm", type=Path)
    asked = parser.parse_args()
    whole, test = adult()
    for case, held_out in ((whole, test), (synthea(), None), (ds004148(), None)):
        print(f"\n{case.name}: {case.size} rows, {len(case.cells)} columns, {sum(case.cells)} cells")
        rng = np.random.default_rng(0)
        resampled = case.codes[rng.integers(0, case.size, case.size)]
        show("resampled rows (not private)", nearness(case, resampled, held_out))
        permuted = np.stack([rng.permutation(column) for column in case.codes.T], axis=1)
        show("permuted columns (not private)", nearness(case, permuted, held_out))
        for epsilon in (1, 10):
            for level in (1, 2):
                show_level(case, level, epsilon, held_out, rounds=asked.rounds)
        if asked.dpmm is not None:
            for kind in ("mst", "privbayes"):
                for epsilon in (1, 10):
                    show_peer(case, kind, epsilon, held_out, environment=asked.dpmm)
    print()
    costs(whole)
    print()
    attacks(whole, rounds=asked.rounds)


def mechanism(case: Case, level: int, epsilon: int) -> TwinMechanism:
    if level == 1:
        return ColumnCounts(case.cells, epsilon * MICRO)
    return Patterns(case.cells, epsilon * MICRO, nominal_size=case.size)


def show_level(case: Case, level: int, epsilon: int, held_out: Codes | None, *, rounds: int) -> None:
    described = mechanism(case, level, epsilon)
    totals = totals_of(case.codes, case.cells, described.pairs)
    found = []
    for seed in range(rounds):
        twin = draw_rows(described.release(totals), case.size, seed=seed).astype(np.int64)
        found.append(nearness(case, twin, held_out))
    mean = {name: float(np.mean([each[name] for each in found])) for name in found[0]}
    predicted = predicted_tv1(case.cells, nominal_size=case.size, micro_epsilon=epsilon * MICRO)
    more = f"  predicted tv1 {predicted:.4f}" if level == 1 else ""
    show(f"level {level}, epsilon {epsilon}", mean, more=more)


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


def show_peer(case: Case, kind: str, epsilon: int, held_out: Codes | None, *, environment: Path) -> None:
    with tempfile.TemporaryDirectory() as name:
        given, made = Path(name) / "given.npz", Path(name) / "made.npz"
        np.savez(given, codes=case.codes, cells=np.array(case.cells))
        script = Path(__file__).with_name("twin_peer.py")
        command = [environment / "bin" / "python", script, kind, str(epsilon), given, made]
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if ended.returncode:
            print(f"{f'dpmm {kind}, epsilon {epsilon}':<34}failed: {ended.stderr.strip().splitlines()[-1]}")
            return
        with np.load(made) as result:
            twin, seconds, peak = result["codes"], float(result["seconds"]), float(result["peak_mib"])
    more = f"  {seconds:.1f} s, {peak:.0f} MiB"
    show(f"dpmm {kind}, epsilon {epsilon}", nearness(case, twin, held_out), more=more)


def show(name: str, figures: Figures, *, more: str = "") -> None:
    print(
        f"{name:<34}" + "  ".join(f"{key} {value:.4f}" for key, value in figures.items()) + more, flush=True
    )


def costs(case: Case) -> None:
    """Of a release and a twin, each in a new process that loads nothing else; the best of three."""
    heads = f"{'wall s':>10}{'release, CPU s':>16}{'rows, CPU s':>16}{'peak MiB':>10}"
    print(f"{'one twin of ' + case.name:<34}{heads}")
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
        print(
            f"{f'level {level}, epsilon 1':<34}{best['wall_s']:>10.3f}{best['release_cpu_s']:>16.3f}"
            f"{best['rows_cpu_s']:>16.3f}{best['peak_mib']:>10.0f}"
        )


def attacks(case: Case, *, rounds: int) -> None:
    """Sentences about one column that are true of one row of a twin: of how many people they are true."""
    original = sheet(case, case.texts)
    rng = np.random.default_rng(1)
    permuted = tuple(tuple(np.array(column)[rng.permutation(case.size)]) for column in case.texts)
    singled("permuted columns (not private)", [sheet(case, permuted)], original)
    for level in (1, 2):
        described = mechanism(case, level, 1)
        totals = totals_of(case.codes, case.cells, described.pairs)
        twins = []
        for seed in range(rounds):
            codes, draw = draw_rows(described.release(totals), case.size, seed=seed), random.Random(seed)
            texts = tuple(tuple(grid.texts(codes[:, j], draw)) for j, grid in enumerate(case.grids))
            twins.append(sheet(case, texts))
        singled(f"level {level}, epsilon 1", twins, original)
    invented(rounds=rounds)


def sheet(case: Case, texts: Sequence[Sequence[str]]) -> Sheet:
    columns = zip(case.columns, texts, strict=True)
    people = tuple(str(row) for row in range(case.size))
    return Sheet(tuple(Values(column, tuple(map(str, cells))) for column, cells in columns), people)


def singled(name: str, twins: Sequence[Sheet], original: Sheet) -> None:
    rng = np.random.default_rng(0)
    hits = tries = 0
    for twin in twins:
        found = singled_out(about_one_column(twin, most=1000, draws=rng), original)
        hits, tries = hits + found.hits, tries + found.tries
    low, high = type(found)(hits, tries).interval()
    share = hits / tries if tries else 0
    print(f"{name:<34}singled out {hits} of {tries}: {share:.3f} [{low:.3f}, {high:.3f}]")


def invented(*, rounds: int) -> None:
    """The largest V of columns that are independent in the source, at epsilon 1 and 30,000 rows."""
    rng, cells = np.random.default_rng(5), (20, 20, 9, 7, 2, 5, 20, 12, 20, 20)
    found = []
    for seed in range(rounds):
        codes = np.stack([rng.choice(c, 30_000, p=rng.dirichlet(np.full(c, 2.0))) for c in cells], axis=1)
        described = Patterns(cells, MICRO, nominal_size=30_000)
        counts = described.release(totals_of(codes, cells, described.pairs))
        twin = draw_rows(counts, 30_000, seed=seed).astype(np.int64)
        found.append(max(cramers_v(twin, cells, a, b) for a, b in combinations(range(len(cells)), 2)))
    print(f"{'planted independent columns':<34}largest V of a twin {max(found):.3f} in {rounds} rounds")


if __name__ == "__main__":
    main()
