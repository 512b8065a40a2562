"""The error to expect of a release, as a rehearsal or `dpgate preview --json` gives it.

preview = client.rehearsals.wait(asked).preview
preview = Preview.of_document(json.load(open("preview.json")))
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from dpgate.answers import as_model

MICRO = 1_000_000


@dataclass(frozen=True)
class Rung:
    """One choice for one output. Errors are in the output's units; 95 of 100 releases stay within
    `error_95`, of which no epsilon removes `without_noise_95`."""

    output: str
    epsilon: str
    block_size: int
    aggregator: str
    error_typical: float
    error_95: float
    noise_95: float | None
    without_noise_95: float


@dataclass(frozen=True)
class Preview:
    """A forecast from runs on the twin; nothing in it has seen data.

    `block_size`, `aggregator` and `epsilon` are what is recommended or was rehearsed; `unable` says why
    there is no forecast.
    """

    guarantee: str
    rungs: tuple[Rung, ...]
    block_size: int
    aggregator: str
    epsilon: str | None
    unable: str
    raw: dict[str, Any] = field(repr=False)

    @classmethod
    def of_document(cls, document: dict[str, Any]) -> Preview:
        """Of what `dpgate preview --json` prints for `sample_aggregate`."""
        return as_model(_of_document, document)

    @classmethod
    def of_rehearsal(cls, raw: dict[str, Any]) -> Preview | None:
        """Of a rehearsal that is DONE and was read by its id; else None."""
        return as_model(_of_rehearsal, raw) if raw.get("preview") else None

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(rung.output for rung in self.rungs))

    def ladder(self, output: str, aggregator: str) -> tuple[Rung, ...]:
        """All epsilons for one output at the block size of this preview."""
        wanted = (output, aggregator, self.block_size)
        return tuple(r for r in self.rungs if (r.output, r.aggregator, r.block_size) == wanted)

    def _repr_html_(self) -> str:
        from dpgate.notebook import preview_html

        return preview_html(self)


def _of_document(document: dict[str, Any]) -> Preview:
    taken = document["recommendation"]
    return Preview(
        guarantee=document["guarantee"],
        rungs=tuple(
            Rung(
                output=row["output"],
                epsilon=row["epsilon"],
                block_size=row["block_size"],
                aggregator=row["aggregator"],
                error_typical=row["error_typical"],
                error_95=row["error_95"],
                noise_95=row["noise_half_width_95"],
                without_noise_95=row["without_noise_95"],
            )
            for row in document["rows"]
        ),
        block_size=taken["block_size"],
        aggregator=taken["aggregator"],
        epsilon=taken["epsilon"],
        unable="",
        raw=document,
    )


def _of_rehearsal(raw: dict[str, Any]) -> Preview:
    found, names = raw["preview"], raw["outputs"]
    return Preview(
        # a rehearsal forecasts the noise of auto without a delta
        guarantee="pure_dp",
        rungs=tuple(
            Rung(
                output=names[rung["output"]],
                epsilon=f"{rung['micro_epsilon'] / MICRO:g}",
                block_size=rung["block_size"],
                aggregator=rung["aggregator"],
                error_typical=rung["typical"],
                error_95=rung["within_95"],
                noise_95=rung["noise_95"],
                without_noise_95=rung["without_noise_95"],
            )
            for rung in found["rungs"]
        ),
        block_size=raw["block_size"],
        aggregator="clipped_mean",
        epsilon=None,
        unable=found["unable"],
        raw=found,
    )
