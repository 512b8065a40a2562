"""What a data user chooses of a mechanism, one model for each: from text to a frozen object of privacy/.

Everything here is public and fixed before any data is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from domain.budget import Accounting
from domain.loss import Delta, Epsilon, Nats, micro, units
from domain.model import Model, Number, Whole
from domain.output_value import OutputValue, ValueName, grids_of, parts_of
from privacy.cost import Currency
from privacy.loss import MICRO, GuaranteeClass
from privacy.mechanism import MAX_OUTPUTS
from privacy.pac import Pac
from privacy.partition import MIN_BLOCK_SIZE, block_count
from privacy.sample_aggregate import SampleAggregate
from privacy.sample_parameters import MAX_REPEATS, MAX_WEIGHT
from privacy.stability import StabilityCalibrated
from privacy.two_step import TwoStepMean, wins

BlackBox = SampleAggregate | TwoStepMean | StabilityCalibrated | Pac
"""The mechanisms that release what a pipeline computed."""


SpreadRatio = Annotated[Number, Field(ge=1, le=1e9)]


class SampleAggregateRequest(Model):
    """Means or medians over disjoint blocks of people, with noise: differential privacy."""

    name: Literal["sample_aggregate"]
    """Class `pure_dp`, with Gaussian noise `approx_dp`."""
    epsilon: Epsilon
    """What the job spends, over all its values. At most six decimals."""
    block_size: Annotated[Whole, Field(ge=MIN_BLOCK_SIZE, le=100_000)] = 10
    """People per block, as planned from the nominal size."""
    repeats: Annotated[Whole, Field(ge=1, le=MAX_REPEATS)] = 1
    """Partitions into blocks. More even out the luck of the draw; the noise stays the same."""
    aggregator: Literal["clipped_mean", "median", "two_step", "auto"] = "clipped_mean"
    """Of the blocks' outputs. `two_step` narrows wide bounds first. `auto` takes what varies least by the
    ratio: a mean, a median where enough blocks allow it, or a mean in two steps."""
    spread_ratio: SpreadRatio | None = None
    """For `auto` and `two_step`: the declared range over the spread of a block's output, from the twin."""
    # in place of one for all; left out where there are none, as before there were any
    spread_ratios: Annotated[dict[ValueName, SpreadRatio], Field(exclude_if=lambda ratios: not ratios)] = (
        Field(default_factory=dict)
    )
    """In its place, by the name of an output: one for each."""
    noise: Literal["laplace", "joint", "gaussian", "auto"] = "auto"
    """`laplace`: each mean by itself. `joint`: one draw for all means. `gaussian`: with a delta. `auto`: the
    narrowest, Gaussian where a delta is given."""
    delta: Delta | None = None
    """For `gaussian` or `auto`. At most a tenth of one in the nominal size. `auto` may find noise that needs
    none, and spends none."""
    weights: dict[ValueName, Annotated[Whole, Field(ge=1, le=MAX_WEIGHT)]] = Field(default_factory=dict)
    """Shares of epsilon by value; a value that is not named has 1."""
    count_failures: bool = False
    """Also release how many runs failed, with noise, for 5 % of epsilon."""
    interval: Literal["noise", "sampling"] = "noise"
    """`sampling`: also an interval for the population, for 30 % of each value's epsilon."""
    clip_norm: Annotated[Number, Field(ge=0.001, le=20)] | None = None
    """For Gaussian noise: the largest norm of a block's vector of values, each measured from the middle of
    its bounds in half-ranges; longer vectors are shortened to it. The root of the number of values clips
    nothing."""

    @model_validator(mode="after")
    def _choices_fit(self) -> SampleAggregateRequest:
        self._check_noise()
        if self.spread_ratio is not None and self.spread_ratios:
            raise ValueError("spread_ratio is for all outputs alike; leave it out beside spread_ratios")
        has_ratio = self.spread_ratio is not None or bool(self.spread_ratios)
        if self.aggregator in ("auto", "two_step") and not has_ratio:
            raise ValueError(
                f"aggregator {self.aggregator} needs spread_ratio, the declared range over the spread of "
                "blocks; dpgate preview takes it from the twin"
            )
        if self.aggregator not in ("auto", "two_step") and has_ratio:
            raise ValueError("spread_ratio belongs to aggregator auto or two_step; leave it out")
        if self.aggregator == "two_step" and (self.delta is not None or self.interval == "sampling"):
            raise ValueError("aggregator two_step goes without a delta and without interval sampling")
        return self

    def _check_noise(self) -> None:
        if self.noise == "gaussian" and self.delta is None:
            raise ValueError("noise gaussian needs a delta; add one, or use auto")
        if self.noise in ("laplace", "joint") and self.delta is not None:
            raise ValueError("delta belongs to noise gaussian or auto; leave it out, or choose one of them")
        if self.noise == "gaussian" and self.aggregator != "clipped_mean":
            raise ValueError("noise gaussian goes with aggregator clipped_mean only")
        if self.noise == "joint" and self.aggregator == "median":
            raise ValueError("noise joint is for means; choose aggregator clipped_mean, or leave noise out")
        if self.clip_norm is not None and self.delta is None:
            raise ValueError(
                "clip_norm goes with noise gaussian or auto and a delta; add one, or leave it out"
            )

    @property
    def guarantee(self) -> GuaranteeClass:
        """With a delta, the weakest that noise auto may come to: the certificate says which it was."""
        return GuaranteeClass.PURE_DP if self.delta is None else GuaranteeClass.APPROX_DP

    @property
    def micro_epsilon(self) -> int:
        return micro(self.epsilon)

    def check_outputs(self, names: Sequence[str]) -> None:
        """Raises ValueError for too many outputs, or a weight for one that the pipeline does not declare."""
        if self.noise == "laplace":
            _check_count(names, fix="declare fewer, or choose noise joint")
        if self.spread_ratios and set(self.spread_ratios) != set(names):
            raise ValueError(f"spread_ratios holds one for each of {', '.join(names)}")
        if unknown := sorted(set(self.weights) - set(names)):
            raise ValueError(f"weights name {unknown[0]}, which is no output; there are {', '.join(names)}")

    def build(
        self,
        values: Sequence[OutputValue],
        *,
        nominal_size: int,
        accounting: Accounting = Accounting.PURE_SUM,
    ) -> SampleAggregate | TwoStepMean:
        """`accounting` is that of the data set, which noise auto looks at. Aggregator auto is a mean in two
        steps where that is expected to vary clearly less for every value."""
        if self.aggregator == "two_step":
            return self._in_two_steps(values, nominal_size, accounting)
        found = self.in_one_step(values, nominal_size=nominal_size, accounting=accounting)
        if self.aggregator != "auto" or self.delta is not None or self.interval == "sampling":
            return found
        try:
            two = self._in_two_steps(values, nominal_size, accounting)
        except ValueError:  # bounds that are narrow enough, too many values, too little epsilon
            return found
        return two if wins(two, found) else found

    def _in_two_steps(
        self, values: Sequence[OutputValue], nominal_size: int, accounting: Accounting
    ) -> TwoStepMean:
        if parts_of(values) is not None:
            raise ValueError("aggregator two_step is not for sums, quantiles and what follows from means")
        ratios, noise = self._spread_ratios(values), self._noise_on(accounting)
        assert ratios is not None
        assert noise != "gaussian"
        return TwoStepMean(
            grids=grids_of(values),
            blocks=block_count(nominal_size, self.block_size),
            micro_epsilon=self.micro_epsilon,
            spread_ratios=ratios,
            repeats=self.repeats,
            noise=noise,
            weights=self._weights_of(values),
            count_failures=self.count_failures,
            people=nominal_size,
        )

    def in_one_step(
        self,
        values: Sequence[OutputValue],
        *,
        nominal_size: int,
        accounting: Accounting = Accounting.PURE_SUM,
    ) -> SampleAggregate:
        """The same without a step that narrows bounds: what a preview replays, whatever the aggregator."""
        noise = self._noise_on(accounting)
        is_two_step = self.aggregator == "two_step"
        return SampleAggregate(
            grids=grids_of(values),
            blocks=block_count(nominal_size, self.block_size),
            micro_epsilon=self.micro_epsilon,
            repeats=self.repeats,
            aggregator="clipped_mean" if self.aggregator == "two_step" else self.aggregator,
            spread_ratios=None if is_two_step else self._spread_ratios(values),
            noise=noise,
            atto_delta=None
            if self.delta is None or noise == "laplace"
            else units(Currency.DELTA, self.delta),
            weights=self._weights_of(values),
            count_failures=self.count_failures,
            interval=self.interval,
            people=nominal_size,
            parts=parts_of(values),
            clip_norm=None if self.clip_norm is None else Fraction(str(self.clip_norm)),
        )

    def _weights_of(self, values: Sequence[OutputValue]) -> tuple[int, ...] | None:
        return tuple(self.weights.get(value.name, 1) for value in values) if self.weights else None

    def asked(self, *, outputs: int) -> dict[str, Any]:
        """What makes two requests the same question. What has its default is left out: a later version can
        add a field, and what was answered stays answered."""
        others = self.model_dump(
            mode="json", exclude_defaults=True, exclude={"name", "epsilon", "block_size", "noise"}
        )
        # laplace was the default once; it is what auto is for one output without a delta
        is_laplace = self.noise == "laplace" or (self.noise, self.delta, outputs) == ("auto", None, 1)
        noise = {} if is_laplace else {"noise": self.noise}
        # spelled as when these two were all that could be chosen
        return {**others, **noise, "micro_epsilon": self.micro_epsilon, "block_size": self.block_size}

    def _noise_on(self, accounting: Accounting) -> Literal["laplace", "joint", "gaussian", "auto"]:
        """An account of rho charges joint noise as one piece, epsilon^2/2: p times what p Laplace noises
        cost. So there auto is Gaussian noise where it has a delta and means, else Laplace noise."""
        if self.noise != "auto" or accounting is not Accounting.ZCDP:
            return self.noise
        return "gaussian" if self.delta is not None and self.aggregator == "clipped_mean" else "laplace"

    def _spread_ratios(self, values: Sequence[OutputValue]) -> tuple[Fraction, ...] | None:
        if self.spread_ratios:
            return tuple(Fraction(str(self.spread_ratios[value.name])) for value in values)
        return None if self.spread_ratio is None else (Fraction(str(self.spread_ratio)),) * len(values)


class StabilityRequest(Model):
    """Noise matched to how much the result moves when one person is left out: no formal guarantee."""

    name: Literal["stability_calibrated"]
    """Class `empirical`: no formal guarantee. For reviewed pipelines, once for each data set."""
    noise_multiplier: Annotated[Number, Field(ge=0.1, le=1000)]
    """Noise over the largest change that leaving one person out makes."""

    @property
    def guarantee(self) -> GuaranteeClass:
        return GuaranteeClass.EMPIRICAL

    @property
    def micro_epsilon_prime(self) -> int:
        """The divisor of the noise, rounded down: the noise is never below what the multiplier says."""
        return int(MICRO / Fraction(str(self.noise_multiplier)))

    def check_outputs(self, names: Sequence[str]) -> None:
        """Raises ValueError for too many outputs."""
        _check_count(names, fix="declare fewer")

    def build(
        self,
        values: Sequence[OutputValue],
        *,
        nominal_size: int,
        accounting: Accounting = Accounting.PURE_SUM,  # noqa: ARG002 - as the others
    ) -> StabilityCalibrated:
        return StabilityCalibrated(
            grids=grids_of(values), people=nominal_size, micro_epsilon_prime=self.micro_epsilon_prime
        )

    def asked(self, *, outputs: int) -> dict[str, Any]:  # noqa: ARG002 - as the first
        return {"noise_multiplier": self.noise_multiplier}


class PacRequest(Model):
    """The result on a secret half of the people, with noise that bounds what can be learned of the half."""

    name: Literal["pac"]
    """Class `pac`: what can be learned about which half of the people was analysed."""
    nats: Nats
    """Mutual information that the job spends. At most 0.5, at most six decimals."""

    @property
    def guarantee(self) -> GuaranteeClass:
        return GuaranteeClass.PAC

    def check_outputs(self, names: Sequence[str]) -> None:
        """Raises ValueError for too many outputs."""
        _check_count(names, fix="declare fewer")

    def build(
        self,
        values: Sequence[OutputValue],
        *,
        nominal_size: int,  # noqa: ARG002 - as the others
        accounting: Accounting = Accounting.PURE_SUM,  # noqa: ARG002 - as the others
    ) -> Pac:
        return Pac(grids=grids_of(values), micro_nats=units(Currency.NATS, self.nats))

    def asked(self, *, outputs: int) -> dict[str, Any]:  # noqa: ARG002 - as the first
        return {"nats": self.nats}


MechanismRequest = Annotated[
    SampleAggregateRequest | StabilityRequest | PacRequest, Field(discriminator="name")
]
REQUESTS: dict[str, type[SampleAggregateRequest | StabilityRequest | PacRequest]] = {
    "sample_aggregate": SampleAggregateRequest,
    "stability_calibrated": StabilityRequest,
    "pac": PacRequest,
}


def _check_count(names: Sequence[str], *, fix: str) -> None:
    if len(names) > MAX_OUTPUTS:
        raise ValueError(f"at most {MAX_OUTPUTS} values: each one shares the loss with the others; {fix}")
