"""What the rights holder decided about identifying columns, done to each cell before anything is sealed.

A pseudonym is a keyed digest: without the worker zone's key nobody can try out names. A mask is made up and
says nothing of the value, only that it is the same person's. What is missing stays missing.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any, cast

from domain.dataset import Column, Declaration, Table
from domain.twin.cells import cell_grid
from store.keys import Keys
from twins.pii import masks
from twins.profile.cells import is_missing

Change = Callable[[str, str], str]
"""From the name of a row's person and a cell to the cell that is kept."""

_LETTERS = 20  # of hexadecimal: 80 bits tell the people of any data set apart
_MASKS = 1_000_000


class Decisions:
    """The changes of one data set. Without a key, nothing that needs one can be read."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key

    @classmethod
    def of(cls, keys: Keys, declaration: Declaration) -> Decisions:
        """One key for all versions of a data set: an import that is repeated gives the same bytes."""
        return cls(hmac.digest(keys.pseudonyms, declaration.name.encode(), "sha256"))

    def of_table(self, table: Table) -> Mapping[str, Change]:
        """The columns whose cells change."""
        found = {column.name: self._change(column) for column in table.columns}
        return {name: change for name, change in found.items() if change is not None}

    def of_people(self, table: Table) -> Callable[[str], str]:
        """The name under which a person is kept."""
        change = self._change(table.person_column)
        return (lambda name: name) if change is None else (lambda name: change(name, name))

    def _change(self, column: Column) -> Change | None:
        match column.pii.decision if column.pii else "keep":
            case "pseudonymise":
                return lambda _person, cell: cell if is_missing(cell) else self._pseudonym(cell)
            case "mask":
                return self._mask(column)
            case "generalise":
                return _generalise(column)
        return None

    def _pseudonym(self, text: str) -> str:
        return f"p{self._digest('pseudonym', text.strip()).hex()[:_LETTERS]}"

    def _mask(self, column: Column) -> Change:
        kind = column.pii.kind if column.pii else ""

        def masked(person: str, cell: str) -> str:
            if is_missing(cell):
                return cell
            number = int.from_bytes(self._digest(f"mask {column.name}", person)[:8]) % _MASKS
            return masks(kind, number)

        return masked

    def _digest(self, purpose: str, text: str) -> bytes:
        if self._key is None:
            raise RuntimeError("pseudonyms and masks need the worker zone's key")
        return hmac.digest(self._key, f"{purpose}\0{text}".encode(errors="surrogatepass"), hashlib.sha256)


UNDECIDED = Decisions(None)
"""Where no key is at hand, as on the rights holder's machine: tables are checked, and not written."""


def _generalise(column: Column) -> Change:
    """A category becomes the coarser one; a number or date the middle of its bin."""
    if column.kind == "categorical":
        return lambda _person, cell: column.coarsen.get(cell.strip(), column.missing)
    grid = cell_grid(column.model_copy(update={"pii": None, "count_missing": True}), nominal_size=1)
    held: dict[int, str] = {}

    def generalised(_person: str, cell: str) -> str:
        code = int(grid.codes([cell])[0])
        if code not in held:
            held[code] = grid.text(code, cast(Any, _Middle()))
        return held[code]

    return generalised


class _Middle:
    """Draws the middle: the same for everybody in a bin."""

    def randrange(self, start: int, stop: int) -> int:
        return (start + stop - 1) // 2
