"""Models: who was in the training, by what a model knows and by what one run gives away."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from companions.lab.attacks.audit import ERROR, least_epsilon
from companions.lab.attacks.membership import Success
from companions.lab.attacks.model_membership import approx_dp_bound, by_likelihood, by_threshold
from companions.lab.chapter import Chapter, Conditions, NumberTable, Standing, Text, Verdict, clock, percent
from companions.lab.chapter import Drawing as Figure
from companions.lab.chapters.training import Training, printed_epsilon
from companions.lab.contenders import models
from companions.lab.contenders.models import DELTA, Flags, People, Values
from companions.lab.drawing import LIMIT, OURS, PLAIN, Axes, draw, log_axis
from companions.lab.simulation import Generator
from companions.lab.subjects import Subjects

PEOPLE, COLUMNS, BATCH, STEPS = 120, 80, 30, 60
EPSILONS, FEW_EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0), (1.0, 8.0)

CANARIES, OTHERS, EPOCHS, NOISE = 128, 3_872, 3, 1.1
NOTEBOOK = Training(examples=CANARIES + OTHERS, batch=17, epochs=EPOCHS, noise=NOISE)
LARGE = 1_000.0
"""Of a canary in the notebook's training, where nothing bounds a feature."""


@dataclass(frozen=True)
class Attacked:
    """Models of one kind under attack, and how often they are right about other people."""

    epsilon: float | None
    threshold: Success
    likelihood: Success
    accuracy: float


def explore(subjects: Subjects, conditions: Conditions) -> Chapter:
    """The same for all data: the people are invented."""
    del subjects
    since, count = clock(), conditions.trials(48, 16)
    epsilons = FEW_EPSILONS if conditions.quick else EPSILONS
    attacked = attack_models(epsilons, count, conditions.generator("models"))
    ran = conditions.ran(since, people=PEOPLE, columns=COLUMNS, models=count, steps=STEPS, delta=DELTA)
    since = clock()
    audited = audit_runs(epsilons, conditions.generator("canaries"))
    audit_ran = conditions.ran(since, canaries=CANARIES, others=OTHERS, error=ERROR, delta=DELTA)
    words = (
        "Half of some invented people train a model, again and again by lot. The attacker sees a model and "
        "says who was in: by a threshold on what the model knows of each, and by the likelier of two laws "
        "learnt from the other models. Then canaries, each with a column of their own, are put into one "
        "training by coins, and its steps are shown: how many are guessed bounds epsilon from below."
    )
    figure = Figure(
        "What epsilon buys: right about others, and right about who was in",
        draw(
            lambda axes: _plot(axes, attacked[1:]), name="models", shown="Three lines; figures in the table."
        ),
        ran,
    )
    return Chapter(
        "models",
        "Trained models",
        "Does a model tell whom it was trained on?",
        (Text(words), _table(attacked, ran), figure, _audit_table(audited, audit_ran)),
        (*(_verdict(one) for one in attacked), *(_audit_verdict(*one) for one in audited)),
    )


def attack_models(epsilons: tuple[float, ...], count: int, generator: Generator) -> list[Attacked]:
    """Without privacy, then at each epsilon: `count` models, each of half the people."""
    population = models.invented(2 * PEOPLE, COLUMNS, generator)
    first = np.arange(2 * PEOPLE) < PEOPLE
    people, others = population.kept(first), population.kept(~first)
    there = np.array([generator.permutation(count) < count // 2 for _ in range(PEOPLE)]).T
    plain = [models.without_privacy(people.kept(half), steps=500) for half in there]
    found = [_attacked(None, plain, people, others, there)]
    for epsilon in epsilons:
        ours = models.trainer(COLUMNS, people=PEOPLE // 2, batch=BATCH, steps=STEPS, epsilon=epsilon)
        trained = [ours.train(models.rows_of(people.kept(half))) for half in there]
        found.append(_attacked(epsilon, trained, people, others, there))
    return found


def audit_runs(epsilons: tuple[float, ...], generator: Generator) -> list[tuple[str, float | None, float]]:
    """Of each training its name, the epsilon it claims, and one that a single run refutes."""
    there = generator.random(CANARIES) < 0.5
    own = np.arange(CANARIES)
    inputs = np.zeros((CANARIES + OTHERS, CANARIES))
    inputs[CANARIES:, :4] = np.rint(generator.uniform(-1, 1, (OTHERS, 4)) * 4096) / 4096
    classes = (generator.random(CANARIES + OTHERS) < 0.5).astype(np.int32)
    classes[:CANARIES] = 0
    inputs[own, own] = np.where(there, LARGE, 0.0)
    seen = models.seen_in_batches(
        People(inputs, classes),
        CANARIES,
        batch=NOTEBOOK.batch,
        epochs=EPOCHS,
        noise=NOISE,
        generator=generator,
    )
    notebook = least_epsilon(seen, there, delta=DELTA)
    inputs[own, own] = 1.0
    kept = People(inputs, classes).kept(np.concatenate([there, np.ones(OTHERS, bool)]))
    plain = least_epsilon(-models.without_privacy(kept, steps=20)[:CANARIES], there, delta=DELTA)
    found: list[tuple[str, float | None, float]] = [
        ("a model without privacy", None, plain),
        ("a clipped batch gradient, taken for DP-SGD", printed_epsilon(NOTEBOOK), notebook),
    ]
    for epsilon in epsilons:
        ours = models.trainer(CANARIES, people=OTHERS + CANARIES // 2, batch=1_000, steps=50, epsilon=epsilon)
        seen = models.seen_in_steps(ours, kept)[:CANARIES]
        found.append((f"model_training at {epsilon:g}", epsilon, least_epsilon(seen, there, delta=DELTA)))
    return found


def _attacked(
    epsilon: float | None, trained: list[Values], people: People, others: People, there: Flags
) -> Attacked:
    knows = np.array([people.knows(weights) for weights in trained])
    accuracy = float(np.mean([others.knows(weights) > 0 for weights in trained]))
    return Attacked(epsilon, by_threshold(knows, there), by_likelihood(knows, there), accuracy)


def _name(one: Attacked) -> str:
    return "a model without privacy" if one.epsilon is None else f"model_training at {one.epsilon:g}"


def _bound(one: Attacked) -> float:
    return 1.0 if one.epsilon is None else approx_dp_bound(one.epsilon, DELTA)


def _table(attacked: list[Attacked], ran: str) -> NumberTable:
    return NumberTable(
        "Right about who was in, and about others' classes",
        ("model", "threshold", "likelihood", "bound", "right about others"),
        tuple(
            (
                _name(one),
                percent(one.threshold.rate),
                percent(one.likelihood.rate),
                "none" if one.epsilon is None else percent(_bound(one)),
                percent(one.accuracy),
            )
            for one in attacked
        ),
        ran,
    )


def _audit_table(audited: list[tuple[str, float | None, float]], ran: str) -> NumberTable:
    rows = tuple(
        (name, "none" if claimed is None else f"{claimed:.2f}", f"{refuted:.2f}")
        for name, claimed, refuted in audited
    )
    return NumberTable(
        "Epsilon that one run refutes", ("training", "claimed epsilon", "more than"), rows, ran
    )


def _verdict(one: Attacked) -> Verdict:
    best = max(one.threshold, one.likelihood, key=lambda success: success.rate)
    outcome = f"right about who was in {percent(best.rate)} of the time"
    if one.epsilon is None:
        return Verdict("membership inference", _name(one), outcome, Standing.NO_PROMISE)
    broken = best.rate - best.margin > _bound(one)
    standing = Standing.BROKEN if broken else Standing.HOLDS
    return Verdict("membership inference", _name(one), f"{outcome}; bound {percent(_bound(one))}", standing)


def _audit_verdict(name: str, claimed: float | None, refuted: float) -> Verdict:
    outcome = f"one run shows an epsilon above {refuted:.2f}"
    if claimed is None:
        return Verdict("canaries in one run", name, outcome, Standing.NO_PROMISE)
    standing = Standing.BROKEN if refuted > claimed else Standing.HOLDS
    return Verdict("canaries in one run", name, f"{outcome}; claimed {claimed:.2f}", standing)


def _plot(axes: Axes, attacked: list[Attacked]) -> None:
    epsilons = [one.epsilon for one in attacked if one.epsilon is not None]
    best = [max(one.threshold.rate, one.likelihood.rate) for one in attacked]
    axes.plot(epsilons, [one.accuracy for one in attacked], "o-", color=OURS, label="right about others")
    axes.plot(epsilons, best, "o-", color=PLAIN, label="right about who was in")
    axes.plot(epsilons, [_bound(one) for one in attacked], "--", color=LIMIT, label="bound")
    axes.set(xlabel="epsilon", ylabel="share right")
    log_axis(axes, epsilons)
    axes.legend()
