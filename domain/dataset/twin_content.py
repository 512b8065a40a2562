"""What files of a person hold in the twin, beside text: rows of a small table, and recordings of electrodes.

Everything is stated by the rights holder; nothing here is ever looked up in the original.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from domain.dataset.column import Column
from domain.model import Model, Number, Whole

MAX_CELLS = 500_000
MAX_SAMPLES = 16 * 2**20
TABLES = (".tsv", ".tsv.gz")
ONSET = "onset"
RECORDINGS = (".vhdr", ".edf", ".bdf", ".set", ".fif")
SAMPLE_BYTES = {".vhdr": 2, ".edf": 2, ".bdf": 3, ".set": 4, ".fif": 2}
OTHER_RECORDINGS = (
    ".ds", ".sqd", ".con", ".kdf", ".raw", ".mhd", ".chn", ".meg4", ".res4", ".mefd", ".nwb", ".snirf",
    ".eeg", ".vmrk", ".fdt", ".cnt",
)  # fmt: skip
"""Files and folders of recordings that no twin is made of, or that come along with another file."""
NOT_MADE = (
    "no twin is made of this format: convert it to .fif, .vhdr or .edf before it is delivered, or name it "
    "under excluded"
)

ChannelName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ()'*+/._-]{0,15}$")]
ChannelType = Literal[
    "EEG", "EOG", "HEOG", "VEOG", "ECG", "EMG", "EYEGAZE", "GSR", "RESP", "PPG", "TEMP", "TRIG", "REF",
    "MISC", "SEEG", "ECOG", "MEGMAG", "MEGGRADPLANAR",
]  # fmt: skip
Units = Literal["uV", "mV", "V", "T", "T/m", "n/a"]
MAGNETIC: dict[str, Units] = {"MEGMAG": "T", "MEGGRADPLANAR": "T/m"}
Share = Annotated[Number, Field(ge=0, lt=1)]
_CELL = 8
_NUMBERS = ("number", "integer")


def _is_nothing(value: object) -> bool:
    return value in ((), False)


class TwinTable(Model):
    """Rows for a small table of each person, such as events: columns as in a table of the data set.

    A column `onset` rises from row to row, and then each person has up to a fifth more or fewer rows.
    `smallest_gap`: the least from one onset to the next, in their unit.
    """

    columns: Annotated[tuple[Column, ...], Field(min_length=1, max_length=500)]
    """As in a table, none of kind `person`. A column `onset` rises. `.tsv.gz` has no names."""
    rows: Annotated[Whole, Field(ge=1, le=100_000)] = 20
    """How many; with a column `onset` up to a fifth more or fewer."""
    smallest_gap: Annotated[Number, Field(ge=0, exclude_if=_is_nothing)] = 0
    """The least from one `onset` to the next, so that epochs do not overlap."""

    @model_validator(mode="after")
    def _can_be_made(self) -> TwinTable:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"column {next(name for name in names if names.count(name) > 1)} stands twice")
        if any(column.kind == "person" for column in self.columns):
            raise ValueError("the file is one person's by its path; remove the column of kind person")
        if any(column.name == "onset" and column.kind not in _NUMBERS for column in self.columns):
            raise ValueError("column onset rises, so it must be of kind number or integer")
        if len(names) * self.rows > MAX_CELLS:
            raise ValueError(
                f"it has {len(names) * self.rows} cells, more than {MAX_CELLS}; state fewer rows"
            )
        if self.smallest_gap:
            self._check_room()
        return self

    def _check_room(self) -> None:
        onset = next((column for column in self.columns if column.name == ONSET), None)
        if onset is None:
            raise ValueError("smallest_gap is between onsets; declare a column onset, or remove it")
        lower, upper = onset.bounds
        most = self.rows + self.rows // 5
        apart = self.smallest_gap + self._step(onset)
        if (most - 1) * apart > upper - lower:
            raise ValueError(
                f"rows: {self.rows} is up to {most} onsets, and smallest_gap: {self.smallest_gap:g} keeps "
                f"two up to {apart:g} apart: they do not fit between {lower:g} and {upper:g}; "
                "state fewer rows, a smaller gap or a later upper"
            )

    @staticmethod
    def _step(column: Column) -> float:
        """Onsets are whole multiples of it, so a gap can be longer by as much."""
        return float(10**-column.decimals if column.kind == "number" else 1)

    @property
    def size(self) -> int:
        """About so many bytes."""
        return len(self.columns) * self.rows * _CELL


class RecordedChannel(Model):
    """One channel of a recording, as BIDS has it in channels.tsv."""

    name: ChannelName
    """As in the file."""
    type: ChannelType = "EEG"
    """As BIDS has it. `EEG` gets noise and a rhythm of ten a second; `TRIG`, `MISC`, `REF` and `TEMP` stay at
    0."""
    units: Units = "uV"
    """Of its samples."""


class Marker(Model):
    """A mark in a recording that comes back, at times drawn at random."""

    name: ChannelName
    """What the mark says."""
    per_minute: Annotated[Number, Field(gt=0, le=600)]
    """How often it comes."""


class TwinRecording(Model):
    """A recording for the twin: channels, samples a second, whole seconds, and marks.

    `fdt`: the samples of a .set lie in a .fdt beside it.
    """

    channels: Annotated[tuple[RecordedChannel, ...], Field(min_length=1, max_length=512)]
    """In their order."""
    rate: Annotated[Number, Field(ge=1, le=100_000)]
    """Samples a second."""
    seconds: Annotated[Whole, Field(ge=1, le=86_400)]
    """How long it is."""
    markers: Annotated[tuple[Marker, ...], Field(max_length=100, exclude_if=_is_nothing)] = ()
    """Marks of a `.vhdr` or `.set`: at the onsets of the table of events beside it, else at times drawn at
    random."""
    fdt: Annotated[bool, Field(exclude_if=_is_nothing)] = False
    """Of a `.set`: its samples lie in a `.fdt` beside it."""

    @model_validator(mode="after")
    def _can_be_made(self) -> TwinRecording:
        names = [channel.name for channel in self.channels]
        if len(set(names)) < len(names):
            raise ValueError(f"channel {next(name for name in names if names.count(name) > 1)} stands twice")
        if self.samples * len(names) > MAX_SAMPLES:
            raise ValueError(
                f"it has {self.samples * len(names)} samples, more than {MAX_SAMPLES}; state fewer seconds"
            )
        for channel in self.channels:
            if (unit := MAGNETIC.get(channel.type)) != (
                channel.units if channel.units in ("T", "T/m") else None
            ):
                needed = unit or "uV, mV, V or n/a"
                raise ValueError(
                    f"channel {channel.name} of type {channel.type} has units {needed}; declare them"
                )
        return self

    def misfit(self, ending: str) -> str | None:
        """What a file of this ending cannot hold of it, and what to do instead."""
        if ending not in RECORDINGS:
            return (
                f"twin_recording is for a path that ends in {', '.join(RECORDINGS[:-1])} or {RECORDINGS[-1]}"
            )
        if self.markers and ending not in (".vhdr", ".set"):
            return (
                f"twin_recording.markers are for .vhdr and .set; declare the events of a {ending} as a table"
            )
        if ending in (".edf", ".bdf") and self.rate != int(self.rate):
            return f"twin_recording.rate of a {ending} must be a whole number"
        if self.fdt and ending != ".set":
            return "twin_recording.fdt is for a .set; remove it"
        if ending == ".set" and (
            other := [each for each in self.channels if each.units not in ("uV", "n/a")]
        ):
            return f"channel {other[0].name} of a .set is in uV, as EEGLAB has it; declare units uV"
        if ending != ".fif" and (other := [each for each in self.channels if each.type in MAGNETIC]):
            return f"channel {other[0].name} is of type {other[0].type}, which only a .fif holds"
        return None

    @property
    def samples(self) -> int:
        """Of each channel."""
        return round(self.rate * self.seconds)

    def size(self, ending: str) -> int:
        """Bytes of its samples in a file of this ending."""
        return self.samples * len(self.channels) * SAMPLE_BYTES[ending]
