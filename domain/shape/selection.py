"""Which declared bounds belong to which number of a file, and what the release calls each number."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.pipeline import MAX_VALUES, CurveBounds, OutputFile, OutputValue, SelectedBounds, VolumeBounds

COLUMN = "column:"
_SHOWN = 8


class Addressed(Protocol):
    """What a shape tells of its numbers, in reading order."""

    @property
    def numbers(self) -> int: ...

    @property
    def addresses(self) -> tuple[str, ...]: ...


def name_values(output: OutputFile, shape: Addressed) -> tuple[OutputValue, ...]:
    """The results of one file in reading order. Raises ValueError when they are not declared as they are."""
    if output.curve:
        names = (f"{output.curve.name}-{place}" for place in range(1, output.curve.coefficients + 1))
        return tuple(_value(name, output.curve) for name in names)
    if output.columns:
        return tuple(value for each in output.columns for value in each.values)
    shape = _Results.of(shape, constant_places(output, shape))
    if output.values:
        return _check_count(output, shape)
    if shape.numbers > MAX_VALUES:
        raise ValueError(
            f"{output.file} holds {shape.numbers} numbers; at most {MAX_VALUES} can be released, "
            f"since each one shares the loss with the others{_fix(output)}"
        )
    if output.volume:
        return tuple(_value(name, output.volume) for name in _volume_names(output.volume, shape.addresses))
    return _by_place(output, shape)


def constant_places(output: OutputFile, shape: Addressed) -> tuple[bool, ...]:
    """For each number of a file whether it is declared constant.

    Raises ValueError for a place without a number, and for a file that keeps no result.
    """
    columns = _columns(shape)
    chosen = [False] * shape.numbers
    for select in output.constants:
        taken = [fits(select, *place) for place in zip(shape.addresses, columns, strict=True)]
        if not any(taken):
            raise ValueError(
                f"{output.file}: the constants {select!r} fit no number{_there(shape.addresses)}"
            )
        chosen = [one or other for one, other in zip(chosen, taken, strict=True)]
    if output.constants and all(chosen):
        raise ValueError(f"{output.file}: all numbers are constants; leave the file out, or name fewer")
    return tuple(chosen)


@dataclass(frozen=True)
class _Results:
    """The numbers of a file that are no constants."""

    addresses: tuple[str, ...]
    columns: tuple[str | None, ...]

    @property
    def numbers(self) -> int:
        return len(self.addresses)

    @classmethod
    def of(cls, shape: Addressed, constant: Sequence[bool]) -> _Results:
        places = zip(shape.addresses, _columns(shape), constant, strict=True)
        left = [(address, column) for address, column, is_constant in places if not is_constant]
        return cls(tuple(address for address, _ in left), tuple(column for _, column in left))


def fits(select: str, address: str, column: str | None) -> bool:
    """Whether an entry of `bounds` takes the number at this address."""
    if select == "*" or select == address:
        return True
    if select.startswith(COLUMN):
        return column is not None and select.removeprefix(COLUMN) == column
    if select.startswith("/"):  # keys of a JSON file may hold dots and brackets of their own
        return address.startswith(f"{select}/")
    inner = select[:-1] + "," if select.endswith("]") else None  # [1] is a row of [1,2]
    return address.startswith((f"{select}/", f"{select}.", f"{select}[", inner or f"{select}/"))


def _by_place(output: OutputFile, shape: Addressed) -> tuple[OutputValue, ...]:
    places = zip(shape.addresses, _columns(shape), strict=True)
    taken = [_first(output, address, column) for address, column in places]
    counts = Counter(entry.name for entry in taken)
    for entry in output.bounds:
        if not counts[entry.name]:
            raise ValueError(
                f"{output.file}: the bounds of {entry.select!r} fit no number{_there(shape.addresses)}"
            )
    met: Counter[str] = Counter()
    found = []
    for entry in taken:
        met[entry.name] += 1
        name = entry.name if counts[entry.name] == 1 else f"{entry.name}-{met[entry.name]}"
        found.append(_value(name, entry))
    return tuple(found)


def _columns(shape: Addressed) -> Sequence[str | None]:
    """The heading of each number's column, in formats that have any."""
    found: Sequence[str | None] = getattr(shape, "columns", (None,) * shape.numbers)
    return found


def _first(output: OutputFile, address: str, column: str | None) -> SelectedBounds:
    for entry in output.bounds:
        if fits(entry.select, address, column):
            return entry
    where = f" (column {column})" if column else ""
    raise ValueError(
        f"{output.file}: no bounds for the number at {address or 'the top'}{where}; "
        "declare them, or end the list with select '*'"
    )


def _volume_names(bounds: VolumeBounds, addresses: Sequence[str]) -> list[str]:
    """By the label, or the place of the cube: the address `label 3` of roi is called roi-3."""
    if len(addresses) == 1:
        return [bounds.name]
    return ["-".join([bounds.name, *re.findall(r"[0-9]+", address)]) for address in addresses]


def _value(name: str, bounds: SelectedBounds | VolumeBounds | CurveBounds) -> OutputValue:
    return OutputValue(name=name, lower=bounds.lower, upper=bounds.upper)


def _check_count(output: OutputFile, shape: Addressed) -> tuple[OutputValue, ...]:
    if shape.numbers != len(output.values):
        raise ValueError(
            f"{output.file} holds {shape.numbers} numbers, the manifest declares {len(output.values)}: "
            f"{', '.join(value.name for value in output.values)}"
        )
    return output.values


def _fix(output: OutputFile) -> str:
    if output.format == "nifti":
        return "; declare a volume with a mask of few labels, or a larger average"
    return "; write fewer"


def _there(addresses: Sequence[str]) -> str:
    if not addresses:
        return "; the file holds none: n/a, nan, inf and what stands in quotation marks are none"
    shown = ", ".join(address or "the top" for address in addresses[:_SHOWN])
    return f"; there are {shown}{' ...' if len(addresses) > _SHOWN else ''}"
