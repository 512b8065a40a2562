"""The twin of a data set: what it is made of, how it is planned, and whether it has the original's shape.

lattice and cells say what a column can hold; blank, rules and tables draw rows; make puts the files together.
plan says before anything is spent which level each column is worth; conformance compares two sets of files.
Nothing here has a way to the data.
"""

from domain.twin.cells import CellGrid, cell_grid, has_cells
from domain.twin.conformance import Difference, OpenFiles, check_conformance
from domain.twin.counts import TableCounts
from domain.twin.levels import LABEL, README
from domain.twin.make import MAX_BYTES, make_twin, size_of_twin

__all__ = [
    "LABEL",
    "MAX_BYTES",
    "README",
    "CellGrid",
    "Difference",
    "OpenFiles",
    "TableCounts",
    "cell_grid",
    "check_conformance",
    "has_cells",
    "make_twin",
    "size_of_twin",
]
