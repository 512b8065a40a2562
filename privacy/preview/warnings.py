"""What a person should know about a choice besides its error: bias that no epsilon removes, and guesses."""

from __future__ import annotations

from collections.abc import Sequence

from privacy.loss import MICRO
from privacy.preview.forecast import Forecast

MANY = 0.05
"""Share of failed or clamped blocks that is worth a word."""

MOST_WORDS = 20
"""Values of which the same is said one by one."""

WEAK_MICRO_EPSILON = 10 * MICRO


def warnings_about(rows: Sequence[Forecast], *, names: Sequence[str]) -> list[str]:
    """One sentence for each thing that is wrong with this choice; often none."""
    found = [
        *_about_epsilon(rows[0]),
        *_about_failures(rows[0]),
        *_about_extrapolation(rows[0]),
        *_about_the_clip_norm(rows[0]),
    ]
    for about in (_about_clamping, _about_bias):
        words = [word for row in rows for word in about(row, names[row.output])]
        found += words[:MOST_WORDS]
        if len(words) > MOST_WORDS:
            found.append(f"The same holds for {len(words) - MOST_WORDS} more of the {len(rows)} values.")
    return found


def _about_epsilon(row: Forecast) -> list[str]:
    if row.choice.micro_epsilon <= WEAK_MICRO_EPSILON:
        return []
    return ["Above 10 epsilon is weak: it says little about one person."]


def _about_failures(row: Forecast) -> list[str]:
    if row.failed_share <= MANY:
        return []
    return [
        f"{row.failed_share:.0%} of the twin's blocks of {row.choice.block_size} failed and count as a "
        "default: larger blocks fail less."
    ]


def _about_extrapolation(row: Forecast) -> list[str]:
    if row.extrapolated_from is None:
        return []
    return [
        f"Blocks of {row.choice.block_size} are a guess from blocks of {row.extrapolated_from}: run them on "
        "the twin before you rely on it."
    ]


def _about_the_clip_norm(row: Forecast) -> list[str]:
    if not row.clipped_share:
        return []
    return [
        f"{row.clipped_share:.0%} of the twin's blocks are beyond the clip norm: all their values move "
        "towards the middle of the bounds, a bias that no epsilon removes and that the errors above hold. "
        "A larger norm removes it and costs noise in proportion."
    ]


def _about_clamping(row: Forecast, name: str) -> list[str]:
    if row.clamped_share <= MANY:
        return []
    return [
        f"{name}: {row.clamped_share:.0%} of the twin's blocks ended on a bound. Wider bounds remove that "
        "bias and cost noise in proportion. The people of a blank form lie evenly between the declared "
        "bounds: with such a twin keep bounds that you know from the subject."
    ]


def _about_bias(row: Forecast, name: str) -> list[str]:
    """Only when it is most of what no epsilon removes: the luck of a mean is not to be taken for a bias."""
    if abs(row.error.bias) <= row.error.within_95 / 2:
        return []
    return [
        f"{name}: blocks answer {abs(row.error.bias):.3g} {'above' if row.error.bias > 0 else 'below'} the "
        "whole twin on average, more than the noise. Take larger blocks, or a statistic that small blocks "
        "estimate well."
    ]
