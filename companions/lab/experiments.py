"""All experiments by name, and the report that they make together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

from companions.lab.chapter import Chapter, Conditions, clock
from companions.lab.drawing import require_matplotlib
from companions.lab.report import render
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from companions.lab.subjects import Subjects


@dataclass(frozen=True)
class Experiment:
    """One chapter: `module` of companions.lab.chapters has its function `explore(subjects, conditions)`."""

    name: str
    module: str
    summary: str

    def explore(self, subjects: Subjects, conditions: Conditions) -> Chapter:
        # imported when it is its turn: some need seconds to import
        chapter: Chapter = import_module(f"companions.lab.chapters.{self.module}").explore(
            subjects, conditions
        )
        return chapter


EXPERIMENTS = (
    Experiment(
        "reconstruction", "reconstruction", "Name people's values from a noised mean, or a vector of them."
    ),
    Experiment("linkage", "linkage", "Find people in a table without names, and in its twin."),
    Experiment(
        "twins", "twins", "Attack a permuted table and twins of each level; who was not in it as control."
    ),
    Experiment("membership", "membership", "Tell whether one person was in the data; the bounds drawn in."),
    Experiment("floating-point", "floating_point", "Read the true value off the low bits of one release."),
    Experiment(
        "utility",
        "utility",
        "Error against epsilon for mean, median, deviation and count; what noise looks like.",
    ),
    Experiment("training", "training", "What a training run that prints epsilon 0.49 really costs."),
    Experiment("models", "models", "Who trained a model: with and without privacy; canaries in one run."),
    Experiment("gan", "gan", "A generative network beside the platform's twins: nearness and leaks."),
)

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Report:
    """The chapters, and the page that shows them."""

    chapters: tuple[Chapter, ...]
    page: str


def choose(names: str | None) -> tuple[Experiment, ...]:
    """The experiments of a list such as "linkage,utility"; all of them for None. Raises DpgateError."""
    if names is None:
        return EXPERIMENTS
    wanted = [name.strip() for name in names.split(",")]
    known = {experiment.name for experiment in EXPERIMENTS}
    if unknown := [name for name in wanted if name not in known]:
        raise DpgateError(f"there is no experiment {unknown[0]!r}; there are: {', '.join(sorted(known))}")
    return tuple(experiment for experiment in EXPERIMENTS if experiment.name in wanted)


def run_all(
    experiments: Sequence[Experiment],
    subjects: Subjects,
    conditions: Conditions,
    *,
    now: datetime,
    progress: Progress,
) -> Report:
    """Run the experiments one after the other. Raises DpgateError when matplotlib is missing."""
    require_matplotlib()
    since, chapters = clock(), []
    for number, experiment in enumerate(experiments):
        progress(number, len(experiments), experiment.name)
        chapters.append(experiment.explore(subjects, conditions))
    page = render(chapters, subjects=subjects.described, now=now, seconds=clock() - since)
    return Report(tuple(chapters), page)
