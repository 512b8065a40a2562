"""Which noise the clipped means of one release get, all of it decided from public numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from privacy.clipped_mean import gaussian_noise, laplace_noise
from privacy.joint_noise import JointNoise, joint_noise
from privacy.l2_clip import L2Clip
from privacy.noise import GaussianNoise, Noise

NoiseKind = Literal["laplace", "joint", "gaussian"]

_SHOWN = Fraction(1, 20)


@dataclass(frozen=True)
class Means:
    """The clipped means of a release, one entry for each.

    sensitivities   by how many grid units one person moves the sum
    epsilons        each one's share; joint noise spends their sum on all of them at once
    weights         what the shares, and those of rho, are in proportion to
    rho             zCDP that Gaussian noise of all of them may have, None where it is not allowed
    clip            the ball that Gaussian noise covers, where vectors of all means are clipped to one
    repeats         how many vectors of a sum one person changes
    """

    sensitivities: tuple[int, ...]
    epsilons: tuple[Fraction, ...]
    weights: tuple[int, ...]
    rho: Fraction | None
    clip: L2Clip | None = None
    repeats: int = 1


def noises_of(means: Means, kind: NoiseKind) -> Sequence[Noise]:
    """The noise of each mean by itself. Raises ValueError for what cannot be drawn."""
    if kind == "joint":
        return joint_of(means).marginals if means.epsilons else ()
    if kind == "laplace":
        pairs = zip(means.sensitivities, means.epsilons, strict=True)
        return [laplace_noise(sensitivity, epsilon=epsilon) for sensitivity, epsilon in pairs]
    assert means.rho is not None
    if means.clip is not None:
        return [
            GaussianNoise(means.clip.variance(place, repeats=means.repeats, rho=means.rho))
            for place in range(len(means.sensitivities))
        ]
    shares = [means.rho * weight / sum(means.weights) for weight in means.weights]
    return [
        gaussian_noise(sensitivity, rho=rho)
        for sensitivity, rho in zip(means.sensitivities, shares, strict=True)
    ]


def joint_of(means: Means) -> JointNoise:
    """One person moves all sums together, by at most their sensitivities: the loss is the epsilons' sum."""
    return joint_noise(means.sensitivities, epsilon=sum(means.epsilons, start=Fraction(0)))


def narrowest(means: Means, *, has_laplace: bool) -> NoiseKind:
    """Laplace noise, unless joint noise widens no mean's 95 % interval; then Gaussian noise, likewise.

    With equal weights that is the smallest error of all. With others it keeps what they ask for: joint noise
    gives every mean the same share of its range, and is taken where the mean of the largest weight gains too.
    Without `has_laplace` (too many outputs), joint noise is for equal weights only. Raises ValueError where
    nothing is left.
    """
    best: NoiseKind | None = None
    narrow: Sequence[Noise] = ()
    refusal = "so many outputs need equal weights and means, or a delta for gaussian noise."
    for kind in _possible(means, has_laplace=has_laplace):
        try:
            candidate = noises_of(means, kind)
        except ValueError as error:
            refusal = str(error)  # what cannot be drawn is no choice
            continue
        if best is None or _is_nowhere_wider(candidate, narrow):
            best, narrow = kind, candidate
    if best is None:
        raise ValueError(refusal)
    return best


def _possible(means: Means, *, has_laplace: bool) -> Iterator[NoiseKind]:
    if has_laplace:
        yield "laplace"
    if len(means.epsilons) > 1 and (has_laplace or len(set(means.weights)) == 1):
        yield "joint"
    if means.rho is not None:
        yield "gaussian"


def _is_nowhere_wider(candidate: Sequence[Noise], than: Sequence[Noise]) -> bool:
    pairs = zip(candidate, than, strict=True)
    return all(new.half_width(_SHOWN) <= old.half_width(_SHOWN) for new, old in pairs)
