"""Training by noised gradients on real tables, beside the same models without privacy.

    DPGATE_DATA=FOLDER python benchmarks/train.py [--case NAME ...] [--epsilon 1 8] [--repeats 3] [--plain]
        [--opacus PYTHON]

UCI Adult (32,561 people, tested on 16,281), MNIST (60,000 images as people, tested on 10,000) and the table
of `gupt.py`, tested on itself, at delta 1e-5.
Features are scaled by public bounds alone, categories are columns of 0 and 1. What is told: accuracy, for two
classes the area under the curve, the noise, processor seconds of one training and of the search for the
noise, and the most memory of a process of its own. Without privacy: scikit-learn on the same inputs, with
--plain. Class `approx_dp`. Several trainings on one table would add up: here, each stands for itself.

With --opacus, or DPGATE_OPACUS, the Python of an environment that has Opacus, each case is trained by Opacus
as well: same epsilon, delta, network, steps, batch, clip, rates and inputs; its accountant finds its noise.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from gupt import DECLARED, simulated_table
from numpy.typing import NDArray
from twin_cases import ADULT_ORDER, ADULT_RANGES

from privacy.training import Head, Network, PeopleRows, Trainer

ATTO_DELTA = 10**13
ADULT_NARROWED = {"capital-gain": (0, 20_000)}
"""Values beyond count as the bound; the declared range reaches to 100,000."""


@dataclass(frozen=True)
class Split:
    inputs: NDArray[np.int16]
    targets: NDArray[np.int32]
    test_inputs: NDArray[np.int16]
    test_targets: NDArray[np.int32]


@dataclass(frozen=True)
class Case:
    data: Callable[[], Split]
    head: Head
    outputs: int
    hidden: tuple[int, ...]
    batch: int
    steps: int
    clip: Fraction
    learning_rate: float
    momentum: float = 0.9


def adult() -> Split:
    train, test = _adult_rows("adult.data.gz"), _adult_rows("adult.test.gz")
    columns = []
    for place, name in enumerate(ADULT_ORDER[:-1]):
        if name in ADULT_RANGES:
            lower, upper = ADULT_NARROWED.get(name, ADULT_RANGES[name])
            columns.append(
                lambda row, at=place, a=lower, b=upper: [2 * min(1, (float(row[at]) - a) / (b - a)) - 1]
            )
        else:
            words = sorted({row[place] for row in (*train, *test)})
            columns.append(lambda row, at=place, words=words: [float(row[at] == word) for word in words])
    inputs, test_inputs = (
        np.rint(np.array([[x for column in columns for x in column(row)] for row in rows]) * 4096).astype(
            np.int16
        )
        for rows in (train, test)
    )
    targets, test_targets = (
        np.array([row[-1].startswith(">") for row in rows], np.int32) for rows in (train, test)
    )
    return Split(inputs, targets, test_inputs, test_targets)


def mnist() -> Split:
    def read(name: str, header: int) -> NDArray[np.uint8]:
        with gzip.open(_data() / "mnist" / f"{name}-ubyte.gz") as file:
            return np.frombuffer(file.read()[header:], np.uint8)

    def images(name: str) -> NDArray[np.int16]:
        return (read(name, 16).reshape(-1, 784).astype(np.int16) * 16).astype(np.int16)

    return Split(
        images("train-images-idx3"),
        read("train-labels-idx1", 8).astype(np.int32),
        images("t10k-images-idx3"),
        read("t10k-labels-idx1", 8).astype(np.int32),
    )


def gupt() -> Split:
    """The table of `benchmarks/gupt.py`, of DPGATE_GUPT or simulated; tested on itself, as there."""
    named = os.environ.get("DPGATE_GUPT")
    table = np.loadtxt(named, delimiter=",") if named else simulated_table()
    lower, upper = np.array(DECLARED).T
    scaled = 2 * (np.clip(table[:, :-1], lower, upper) - lower) / (upper - lower) - 1
    inputs, targets = np.rint(scaled * 4096).astype(np.int16), table[:, -1].astype(np.int32)
    return Split(inputs, targets, inputs, targets)


CASES = {
    "adult, logistic": Case(adult, Head.LOGISTIC, 1, (), 1024, 600, Fraction(1), 1.0),
    "adult, 2 x 64": Case(adult, Head.LOGISTIC, 1, (64, 64), 1024, 600, Fraction(1), 0.5),
    "gupt, logistic": Case(gupt, Head.LOGISTIC, 1, (), 1024, 600, Fraction(1), 1.0),
    "gupt, 2 x 64": Case(gupt, Head.LOGISTIC, 1, (64, 64), 1024, 600, Fraction(1), 0.5),
    "mnist, softmax": Case(mnist, Head.SOFTMAX, 10, (), 2048, 400, Fraction(1), 0.5),
    "mnist, 2 x 64": Case(mnist, Head.SOFTMAX, 10, (64, 64), 2048, 600, Fraction(1), 0.5),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--epsilon", nargs="*", type=Fraction, default=[Fraction(1), Fraction(8)])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plain", action="store_true")
    parser.add_argument("--opacus", default=os.environ.get("DPGATE_OPACUS"))
    asked = parser.parse_args()
    # one thread each: seconds of a busy machine can be compared
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if not asked.opacus:
        print("Opacus is not beside it: name the Python of its environment with --opacus.\n")
    print("| case | epsilon | by | accuracy | AUC | noise / clip | training, s | search, s | MiB |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name in asked.case:
        if asked.plain:
            apart(without_privacy, name)
        for epsilon in asked.epsilon:
            apart(private, name, epsilon, asked.repeats)
            if asked.opacus:
                apart(by_opacus, name, epsilon, asked.repeats, asked.opacus)


def apart(tell: Callable[..., str], *given: object) -> None:
    """In a process of its own, whose memory and threads are then its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.apply(tell, given), flush=True)


def private(name: str, epsilon: Fraction, repeats: int) -> str:
    case = CASES[name]
    split = case.data()
    size, inputs = split.inputs.shape
    trainer = Trainer(
        Network(inputs, case.head, case.outputs, case.hidden),
        nominal_size=size,
        batch=case.batch,
        steps=case.steps,
        clip=case.clip,
        micro_epsilon=int(epsilon * 10**6),
        atto_delta=ATTO_DELTA,
        learning_rate=case.learning_rate,
        momentum=case.momentum,
    )
    people = PeopleRows(split.inputs, split.targets, np.arange(size + 1))
    began = time.process_time()
    noise = trainer.sampled.variance**0.5 / trainer.sampled.norm
    searched = time.process_time()
    trained = [np.rint(trainer.train(people) * 2**20) for _ in range(repeats)]
    seconds = (time.process_time() - searched) / repeats
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    tests = split.test_inputs[:, None].astype(float)
    found = [scores(trainer.network.sums(weights, tests)[:, 0], split.test_targets) for weights in trained]
    return line(name, epsilon, "dpgate", found, noise, seconds, searched - began, memory)


def by_opacus(name: str, epsilon: Fraction, repeats: int, python: str) -> str:
    case = CASES[name]
    split = case.data()
    asked = {
        "epsilon": float(epsilon),
        "delta": ATTO_DELTA / 10**18,
        "hidden": case.hidden,
        "outputs": case.outputs,
        "batch": case.batch,
        "steps": case.steps,
        "clip": float(case.clip),
        "learning_rate": case.learning_rate,
        "momentum": case.momentum,
        "repeats": repeats,
    }
    with tempfile.TemporaryDirectory() as folder:
        arrays, sums = Path(folder) / "arrays.npz", Path(folder) / "sums.npz"
        np.savez(arrays, inputs=split.inputs, targets=split.targets, test_inputs=split.test_inputs)
        command = [python, str(Path(__file__).with_name("train_opacus.py")), str(arrays)]
        answer = subprocess.run(
            command,
            input=json.dumps(asked | {"sums": str(sums)}),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        told = json.loads(answer.stdout)
        with np.load(sums) as kept:
            found = [scores(kept[key], split.test_targets) for key in kept.files]
    return line(name, epsilon, "Opacus", found, told["noise"], told["train_s"], told["search_s"], told["mib"])


def line(
    name: str,
    epsilon: object,
    by: str,
    found: list[tuple[float, float]],
    noise: float,
    seconds: float,
    search: float,
    memory: float,
) -> str:
    accuracy, area = np.mean(found, axis=0)
    spread = f" +- {np.std([one for one, _ in found], ddof=1):.4f}" if len(found) > 1 else ""
    return (
        f"| {name} | {epsilon} | {by} | {accuracy:.4f}{spread} | {area:.4f} | {noise:.3f} "
        f"| {seconds:.1f} | {search:.1f} | {memory:.0f} |"
    )


def without_privacy(name: str) -> str:
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    case = CASES[name]
    split = case.data()
    began = time.process_time()
    model = (
        MLPClassifier(case.hidden, activation="tanh", early_stopping=True, random_state=0)
        if case.hidden
        else LogisticRegression(max_iter=300)
    )
    model.fit(split.inputs / 4096, split.targets)
    powers = model.predict_log_proba(split.test_inputs / 4096)
    sums = powers if case.outputs > 1 else powers[:, 1:] - powers[:, :1]
    seconds = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return line(name, "none", "scikit-learn", [scores(sums, split.test_targets)], 0, seconds, 0, memory)


def scores(sums: NDArray[np.float64], targets: NDArray[np.int32]) -> tuple[float, float]:
    """Accuracy, and for two classes the area under the curve (NaN for more)."""
    if sums.shape[1] > 1:
        return float((sums.argmax(axis=1) == targets).mean()), float("nan")
    ranks = np.unique(sums[:, 0], return_inverse=True, return_counts=True)
    places = (np.cumsum(ranks[2]) - (ranks[2] - 1) / 2)[ranks[1]]
    ones = int(targets.sum())
    area = (places[targets == 1].sum() - ones * (ones + 1) / 2) / (ones * (len(targets) - ones))
    return float(((sums[:, 0] > 0) == targets).mean()), float(area)


def _adult_rows(name: str) -> list[list[str]]:
    with gzip.open(_data() / "uci_adult" / name, "rt", encoding="utf-8") as file:
        rows = [[cell.strip() for cell in line.split(",")] for line in file]
    return [row for row in rows if len(row) == len(ADULT_ORDER)]


def _data() -> Path:
    return Path(os.environ["DPGATE_DATA"])


if __name__ == "__main__":
    main()
