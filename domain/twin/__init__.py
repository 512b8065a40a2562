"""What a twin is asked to be: what a column can hold, what is counted of it, and what that would cost.

lattice and cells say what a column can hold; counts is what was released of it; plan says before anything is
spent which level each column is worth; request asks, basis says what a twin is drawn from.
"""

from domain.twin.cells import CellGrid, cell_grid, has_cells
from domain.twin.counts import TableCounts
from domain.twin.levels import LABEL, README

__all__ = ["LABEL", "README", "CellGrid", "TableCounts", "cell_grid", "has_cells"]
