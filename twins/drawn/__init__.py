"""The twin of a data set as files: how it is made, and whether it has the original's shape.

blank, rules and tables draw rows; make puts the files together; draw adds the words that travel with them;
conformance compares two sets of files. What it costs is planned in `domain.twin`. Nothing here has a way to
the data.
"""

from twins.drawn.conformance import Difference, OpenFiles, check_conformance
from twins.drawn.make import MAX_BYTES, make_twin, size_of_twin

__all__ = ["MAX_BYTES", "Difference", "OpenFiles", "check_conformance", "make_twin", "size_of_twin"]
