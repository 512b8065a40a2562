"""How a preview shows what follows from drawn means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpgate.preview_page import Table
    from privacy.preview.results import ResultForecast


def results_table(found: Mapping[str, ResultForecast]) -> Table:
    """What follows from the released means."""
    from dpgate.preview_page import digits

    return (
        ("result", "on the twin", "error, typical", "error, 95 %", "without noise", "left open"),
        [
            (
                name,
                digits(row.on_twin),
                digits(row.error.typical),
                digits(row.error.within_95),
                digits(row.without_noise_95),
                f"{row.open_share:.0%}",
            )
            for name, row in found.items()
        ],
    )
