"""What a preview says of many values and of the kinds of noise for them: which it shows, what to take."""

from __future__ import annotations

import math

from dpgate.preview import BlocksPreview
from privacy.mean_noise import NoiseKind
from privacy.mechanism import MAX_OUTPUTS
from privacy.preview import KindForecast


def told_outputs(found: BlocksPreview) -> frozenset[int]:
    """All of a few. Of more than 20 those of the smallest, the middle and the largest error at the
    recommended choice: the document has all."""
    rows = [row for row in found.forecasts if row.choice == found.recommendation.choice]
    if len(rows) <= MAX_OUTPUTS:
        return frozenset(row.output for row in rows)
    ordered = sorted(rows, key=lambda row: row.error.within_95)
    return frozenset(row.output for row in (ordered[0], ordered[len(ordered) // 2], ordered[-1]))


def told_words(found: BlocksPreview) -> list[str]:
    told, all_of_them = len(told_outputs(found)), len(found.spread_ratios)
    if told == all_of_them:
        return []
    return [
        f"The tables show, of {all_of_them} values, those of the smallest, the middle and the largest error; "
        "--json has all."
    ]


def kinds_words(found: BlocksPreview) -> list[str]:
    """The error of each kind of noise, which one is taken, and a clip norm to try."""
    if not found.kinds:
        return []
    told = "; ".join(
        f"{_kind_words(row)} ({row.guarantee}) {row.error:.3g}"
        + (f", {row.clipped_share:.0%} of the twin's blocks clipped" if row.clip_norm is not None else "")
        for row in found.kinds
    )
    best = min(found.kinds, key=lambda row: row.error)
    words = [
        f"Error of all values, 95 times in 100, as a share of their declared ranges: {told}. The smallest is "
        f"that of {_kind_words(best)}. Taken is {found.noise} noise; --noise changes it."
    ]
    norm, most = found.proposed_norm, math.sqrt(len(found.spread_ratios))
    if found.kinds[-1].clip_norm is None and norm and norm < most:
        words.append(
            f"95 % of the twin's blocks have a vector of norm {norm:.3g} or less, in half-ranges from the "
            f"middle of the bounds, where {most:.3g} is possible: --clip-norm {norm:.3g} would narrow "
            f"Gaussian noise to {norm / most:.2g} of it."
        )
    return words


def _kind_words(row: KindForecast) -> str:
    clip = "" if row.clip_norm is None else f" with clip norm {row.clip_norm:.3g}"
    return f"{row.noise} noise{clip}"


def too_many_words(count: int) -> str:
    """Why more values than Laplace noise takes need another choice."""
    return (
        f"{count} values are more than the {MAX_OUTPUTS} that go with Laplace noise, where each would get a "
        f"{count}th of epsilon. Leave --noise out, for joint noise of all means; or release fewer values."
    )


def sharing_words(count: int, noise: NoiseKind, *, voxels: bool) -> list[str]:
    """What many values cost each other under this noise; nothing to say of a few."""
    if count <= MAX_OUTPUTS:
        return []
    # the deviation of joint noise over that of one value's: sqrt((p + 1)(p + 2)/6)
    times = math.sqrt(count) if noise == "gaussian" else math.sqrt((count + 1) * (count + 2) / 6)
    words = f"{count} values share the loss: each has about {times:.0f} times the noise of one alone."
    if not voxels:
        return [words]
    return [
        f"{words} A million voxels one by one would have far more, so volumes are released as averages: "
        "a mask of fewer labels, or a larger `average`, buys accuracy."
    ]
