"""The mechanisms, a row each: what people are told of one, what it promises, what they choose of it.

Policy, forms, pages, the error to expect, commands and words read this table. The mathematics of a mechanism
stands in `privacy/`, its request in `domain/mechanism.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from privacy.loss import GuaranteeClass
from privacy.plan import HalfSamples, LeaveOneOut


@dataclass(frozen=True)
class Option:
    """One field of a request that a form asks for. `label`: of an input that is the same for all such fields;
    without one the form has an input of its own. `start`: what stands in it at first."""

    field: str
    kind: Literal["text", "whole", "number"] = "text"
    label: str = ""
    start: str = ""


@dataclass(frozen=True)
class OwnRuns:
    """The runs on the twin from which the error of a mechanism follows, where blocks say nothing of it.
    `kept`: as which field of a rehearsal; `caption` stands below the drawing, `told` below a command's table.
    `plan`: by how many people there are."""

    kept: Literal["half_samples", "leave_one_out"]
    about: str
    caption: str
    plan: Callable[[int], HalfSamples | LeaveOneOut]
    told: str


@dataclass(frozen=True)
class Card:
    """How a form offers a mechanism that runs a pipeline. `is_for_reviewed`: it protects from accidents, not
    from code written to disclose, so that somebody has to have read the code."""

    title: str
    does: str
    when: str
    options: tuple[Option, ...]
    own_runs: OwnRuns | None = None
    is_for_reviewed: bool = False


@dataclass(frozen=True)
class Mechanism:
    """`guarantees`: the classes that it can promise, first the one of the least that can be chosen. `card`:
    None where the platform itself computes. `is_of_policy`: a policy can leave it out."""

    title: str
    sentence: str
    guarantees: tuple[GuaranteeClass, ...]
    card: Card | None = None
    is_of_policy: bool = True


MECHANISMS: dict[str, Mechanism] = {
    "sample_aggregate": Mechanism(
        "Sample and aggregate",
        "the pipeline runs on disjoint blocks of people; the noised mean or median of what the blocks say is "
        "released.",
        (GuaranteeClass.PURE_DP, GuaranteeClass.APPROX_DP),
        Card(
            "Sample and aggregate",
            "The people are divided into disjoint blocks. The pipeline runs on each block alone, and the "
            "mean or median of what the blocks say is released with noise.",
            "Whenever the result of a few dozen people is already meaningful. The promise holds whatever the "
            "pipeline does, so nobody has to read your code.",
            (
                Option("epsilon"),
                Option("block_size", "whole"),
                Option("aggregator", start="clipped_mean"),
                Option("noise", start="auto"),
                Option("delta"),
                Option("clip_norm", "number"),
            ),
        ),
    ),
    "trusted_query": Mechanism(
        "Trusted query", "the platform itself computes the answer and adds noise.", (GuaranteeClass.PURE_DP,)
    ),
    "model_training": Mechanism(
        "Training",
        "the platform itself trains a model, with clipped gradients and noise in each step.",
        (GuaranteeClass.APPROX_DP,),
    ),
    "twin_counts": Mechanism(
        "Counts for a twin",
        "the platform counts rows in declared cells of columns, or of pairs of columns, and adds noise. Any "
        "number of twins is drawn from the noisy counts afterwards.",
        (GuaranteeClass.PURE_DP, GuaranteeClass.APPROX_DP),
        is_of_policy=False,
    ),
    "pac": Mechanism(
        "PAC",
        "the pipeline runs on a secret half of the people; noise bounds what can be told about which half.",
        (GuaranteeClass.PAC,),
        Card(
            "PAC: a secret half of the people",
            "The pipeline runs on half of the people, chosen in secret; the noise bounds what can be told "
            "about which half it was.",
            "When blocks are too small for your analysis and the rights holder accepts a promise that is "
            "weaker and of another kind.",
            (Option("nats", label="Nats (PAC)", start="0.1"),),
            OwnRuns(
                "half_samples",
                "64 runs on halves of its people",
                "For a first release of this cohort; later ones have less noise, as the halves are told "
                "apart by then. The noise that the original data get follows their own halves and is shown "
                "to nobody.",
                lambda _people: HalfSamples(),
                "A release will not say how wide its noise is.",
            ),
        ),
    ),
    "stability_calibrated": Mechanism(
        "Stability-calibrated",
        "noise as wide as one person was seen to matter. No formal guarantee.",
        (GuaranteeClass.EMPIRICAL,),
        Card(
            "Noise as wide as one person was seen to matter",
            "The pipeline runs on everybody and again without each single person; the noise is a multiple of "
            "the largest change.",
            "When the rights holder has read your code and trusts it. There is no formal guarantee.",
            (Option("noise_multiplier", "number", "Noise multiplier (no formal guarantee)", "1"),),
            OwnRuns(
                "leave_one_out",
                "a run without each of its people in turn",
                "The scale of the noise is a power of two, so the error moves in steps; other people's data "
                "may get twice as much or half, and one unusual person decides. There is no formal "
                "guarantee.",
                LeaveOneOut,
                "Another register's scale may differ.",
            ),
            is_for_reviewed=True,
        ),
    ),
}


def summary(name: str) -> str:
    """One line of what the mechanism is."""
    return f"{MECHANISMS[name].title}: {MECHANISMS[name].sentence}"


def cards() -> dict[str, Card]:
    """By name, those that run a pipeline."""
    return {name: each.card for name, each in MECHANISMS.items() if each.card is not None}


def own_runs() -> dict[str, OwnRuns]:
    """By name, those whose error follows from runs of their own on the twin."""
    return {name: card.own_runs for name, card in cards().items() if card.own_runs is not None}
