"""Fits one mechanism of dpmm to given cells, in an environment of its own: `twin.py --dpmm` calls it.

    python benchmarks/twin_peer.py {mst,privbayes,aim,aim-2mb} EPSILON GIVEN.npz MADE.npz

Imports nothing of ours. The declared number of cells is handed over as dpmm's public domain. aim-2mb is AIM
with a model of at most 2 MB and 200 steps a fit, where dpmm's own 80 MB and 1,000 take hours on many columns.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd


def main() -> None:
    kind, epsilon, given, made = sys.argv[1], float(sys.argv[2]), sys.argv[3], sys.argv[4]
    with np.load(given) as file:
        codes, cells = file["codes"], file["cells"]
    names = [f"c{column}" for column in range(len(cells))]
    table = pd.DataFrame(codes, columns=names)
    began, started = time.perf_counter(), time.process_time()
    twin = fitted(kind, table, dict(zip(names, map(int, cells), strict=True)), epsilon=epsilon)
    figures = {"wall_s": time.perf_counter() - began, "cpu_s": time.process_time() - started}
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = (line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    figures["peak_mib"] = int(peak) / 1024
    np.savez(made, codes=twin[names].to_numpy().astype(np.int64), **figures)


def fitted(kind: str, table: pd.DataFrame, cells: dict[str, int], *, epsilon: float) -> pd.DataFrame:
    from dpmm.models.aim import AIMGM
    from dpmm.models.mst import MSTGM
    from dpmm.models.priv_bayes import PrivBayesGM

    smaller = {"max_model_size": 2, "n_iters": 200} if kind == "aim-2mb" else {}
    model = {"mst": MSTGM, "privbayes": PrivBayesGM, "aim": AIMGM, "aim-2mb": AIMGM}[kind](
        epsilon=epsilon, delta=1e-9, domain=cells, n_jobs=1, **smaller
    )
    model.fit(table)
    return model.generate(n_records=len(table))


if __name__ == "__main__":
    main()
