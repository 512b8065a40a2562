"""What a preview found best, kept with the pipeline's lock, and what a job takes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from domain.model import Model, Number, Whole

_NOISE = ("noise", "delta", "clip_norm")


class Chosen(Model):
    """The recommended choices, and those that the preview was asked with; epsilon and delta as text.

    `words` tell what it costs, gives and takes. None: nothing was said, and the default holds.
    """

    epsilon: str
    block_size: Annotated[Whole, Field(ge=1)]
    aggregator: Literal["clipped_mean", "median"]
    repeats: Annotated[Whole, Field(ge=1)] | None = None
    noise: Literal["laplace", "joint", "gaussian", "auto"] | None = None
    delta: str | None = None
    clip_norm: Annotated[Number, Field(gt=0)] | None = None
    weights: dict[str, Whole] | None = None
    count_failures: bool | None = None
    words: str = ""

    def with_typed(self, typed: Mapping[str, Any]) -> dict[str, Any]:
        """These choices, but for what is typed beside them. Epsilon was recommended with all of them as they
        are, so it comes with nothing typed alone. Whoever names a block size or a noise chooses what goes
        with it, too."""
        if "block_size" in typed:
            return dict(typed)
        kept = self.model_dump(exclude={"words"}, exclude_none=True)
        if typed:
            del kept["epsilon"]
        if not typed.keys().isdisjoint(_NOISE):
            kept = {name: value for name, value in kept.items() if name not in _NOISE}
        if typed.get("noise") == "gaussian":  # which goes with means alone
            del kept["aggregator"]
        return kept | dict(typed)
