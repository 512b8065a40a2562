"""The tables of a folder, with errors for whoever typed its name."""

from __future__ import annotations

from pathlib import Path

from dpgate.errors import DpgateError
from twins.profile import NoTable
from twins.profile.proposals import DictionaryEntry
from worker.profile import places
from worker.profile.places import Found, Source, read_dictionary


def find_tables(place: Path) -> Found:
    """Of a folder, or the one file. Raises DpgateError where there is no table, or far too many."""
    try:
        return places.find_tables(place)
    except NoTable as error:
        raise DpgateError(str(error)) from None


def dictionaries_of(found: Found) -> dict[str, dict[str, DictionaryEntry]]:
    """What sidecars say, by table and column."""
    return {source.name: read_dictionary(source) for source in found.sources}


def name_of(found: Found) -> str:
    """What these data are called on the disk."""
    is_folder = len(found.sources) > 1 or found.is_bids
    return found.root.resolve().name if is_folder else found.sources[0].name


__all__ = ["Found", "Source", "dictionaries_of", "find_tables", "name_of", "read_dictionary"]
