"""Drawings as SVG text: numbers in, text out, for pages and for notebooks.

Horizontal places are percentages of the width, vertical ones pixels, so that a drawing fills its place on
every screen and its letters stay as large as all others. Colours and weights come from classes, and each
drawing says in words what it shows. Whatever a person typed is escaped here: the text may go into a page.

Reading order: axis, then error_curve and distribution.
"""

from drawing.axis import Axis, Linear, Logarithmic, figure_text
from drawing.distribution import Distribution, draw_distribution
from drawing.error_curve import Curve, ErrorCurve, draw_error_curve

__all__ = [
    "Axis",
    "Curve",
    "Distribution",
    "ErrorCurve",
    "Linear",
    "Logarithmic",
    "draw_distribution",
    "draw_error_curve",
    "figure_text",
]
