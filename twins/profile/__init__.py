"""The registration profile: what a table holds, counted for its rights holder, and what to ask them.

Nothing here goes to a researcher or through the gateway: figures follow from the data without any noise.
"""

from twins.profile.found import FoundColumn, FoundTable
from twins.profile.table import NoTable, profile_table

__all__ = ["FoundColumn", "FoundTable", "NoTable", "profile_table"]
