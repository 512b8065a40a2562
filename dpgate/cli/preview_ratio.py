"""What a preview says of how wide the declared bounds are, and the options that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgate.preview import BlocksPreview


def ratio_words(found: BlocksPreview, names: Sequence[str]) -> str:
    from dpgate.preview_page import told_outputs
    from privacy.mechanism import MAX_OUTPUTS

    shown = told_outputs(found)
    pairs = enumerate(zip(names, found.spread_ratios, strict=True))
    ratios = ", ".join(f"{name} {ratio}" for index, (name, ratio) in pairs if index in shown)
    if len(names) > MAX_OUTPUTS:  # so many are means
        return f"Declared range over the spread of blocks: {ratios}."
    return (
        f"Declared range over the spread of blocks: {ratios}. To have a mean, a median or a mean in two "
        f"steps chosen: --aggregator auto {_as_options(found, names)}."
    )


def _as_options(found: BlocksPreview, names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"--spread-ratio {found.spread_ratios[0]}"
    pairs = zip(names, found.spread_ratios, strict=True)
    return " ".join(f"--spread-ratio {name}={ratio}" for name, ratio in pairs)
