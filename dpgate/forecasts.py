"""The error to expect at one choice of any mechanism, as the platform works it out of a rehearsal.

found = client.rehearsals.forecast(rehearsal, {"name": "pac", "nats": "0.1"})
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpgate.answers import as_model


@dataclass(frozen=True)
class Expected:
    """The error at one amount, in the output's units: 95 of 100 releases stay within `error_95`. `noise_95`
    is that of the noise alone, None for medians."""

    amount: str
    error_typical: float
    error_95: float
    noise_95: float | None


@dataclass(frozen=True)
class OutputForecast:
    """One output. `amount` names the rung that the choice is at, `simulated` are releases at it if the twin
    were the data."""

    output: str
    amount: str
    rungs: tuple[Expected, ...]
    simulated: tuple[float, ...]


@dataclass(frozen=True)
class Forecast:
    """An estimate from runs on the twin; nothing in it has seen data. `unit` is that of the amounts: epsilon,
    nats or noise multiplier."""

    mechanism: str
    guarantee: str
    unit: str
    outputs: tuple[OutputForecast, ...]
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, raw: dict[str, Any]) -> Forecast:
        return as_model(_forecast, raw)

    def __getitem__(self, output: str) -> OutputForecast:
        """The forecast of the output with this name. Raises KeyError for one that there is not."""
        for found in self.outputs:
            if found.output == output:
                return found
        raise KeyError(f"{output}: there are {', '.join(found.output for found in self.outputs)}")

    def _repr_html_(self) -> str:
        from dpgate.notebook import forecast_html

        return forecast_html(self)


def _forecast(raw: dict[str, Any]) -> Forecast:
    return Forecast(
        mechanism=raw["mechanism"],
        guarantee=raw["guarantee"],
        unit=raw["unit"],
        outputs=tuple(_output(one) for one in raw["outputs"]),
        raw=raw,
    )


def _output(raw: dict[str, Any]) -> OutputForecast:
    return OutputForecast(
        output=raw["output"],
        amount=raw["amount"],
        rungs=tuple(
            Expected(
                amount=rung["amount"],
                error_typical=rung["typical"],
                error_95=rung["within_95"],
                noise_95=rung["noise_95"],
            )
            for rung in raw["rungs"]
        ),
        simulated=tuple(raw["simulated"]),
    )
