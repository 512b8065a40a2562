"""Figures as SVG that stands inside a page: no file, no address, no script, readable on a phone."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Sequence
from typing import Any

from dpgate.errors import DpgateError

Axes = Any
"""matplotlib's; it is an optional part and has no types."""

OURS, FLAWED, LIMIT, PLAIN, LIGHT = "#00695c", "#c62828", "#e08e0b", "#455a64", "#b0bec5"
UNPROMISED = "#8a5a00"
CYCLE = (OURS, "#3949ab", "#8e24aa", "#6d4c41", "#00838f", "#ad1457")

_WIDTH = 4.6  # inches; about a phone's width, so that nothing has to shrink
_STYLE: dict[str, Any] = {
    "font.size": 8.5,
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "grid.color": "#eceff1",
    "axes.axisbelow": True,
    "axes.edgecolor": "#90a4ae",
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.5,
    # text stays text: it can be searched, copied and read aloud
    "svg.fonttype": "none",
}


def require_matplotlib() -> None:
    """Raises DpgateError when the optional part is not installed."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise DpgateError(
            'the laboratory draws with matplotlib, which is not installed: pip install "dpgate[lab]"'
        ) from None


def draw(plot: Callable[[Axes], None], *, name: str, shown: str, height: float = 2.9) -> str:
    """One set of axes. `name` makes the ids of this figure its own, `shown` says in words what it shows."""
    return draw_grid([plot], name=name, shown=shown, height=height, columns=1)


def draw_grid(
    plots: Sequence[Callable[[Axes], None]], *, name: str, shown: str, height: float, columns: int = 2
) -> str:
    """Several axes of one size, in rows. `height` is that of one row, in inches."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    rows = -(-len(plots) // columns)
    style: Any = _STYLE | {"svg.hashsalt": name}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(_WIDTH, height * rows), layout="constrained")
        FigureCanvasSVG(figure)
        for place, plot in enumerate(plots):
            plot(figure.add_subplot(rows, columns, place + 1))
        buffer = io.StringIO()
        # neither date nor program: they would put addresses into the file
        figure.savefig(
            buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None}
        )
    return _inline(buffer.getvalue(), name=name, shown=shown)


def log_axis(axes: Axes, places: Sequence[float]) -> None:
    """A logarithmic x axis that is marked where something was measured, and nowhere else."""
    axes.set_xscale("log")
    axes.set_xticks(list(places), [f"{place:g}" for place in places])
    axes.minorticks_off()


def _inline(svg: str, *, name: str, shown: str) -> str:
    """The element alone: without declarations, addresses and sizes, and with ids that no other figure has."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.DOTALL)
    body = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", body)
    opening, rest = body.split(">", 1)
    view = re.search(r'viewBox="[^"]*"', opening)
    assert view is not None
    rest = re.sub(r'\bid="', f'id="{name}-', rest)
    rest = rest.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
    return f'<svg {view.group()} role="img" aria-label="{html.escape(shown)}">{rest}'
