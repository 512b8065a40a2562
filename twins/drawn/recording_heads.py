"""The head of a recording in any of the formats that twins have, from files that are opened when needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePosixPath
from typing import BinaryIO

from twins.drawn import files_headers
from twins.drawn.files_eeglab_head import read_set
from twins.drawn.files_fif_head import read_fif
from twins.drawn.files_headers import RecordingHead

Open = Callable[[str], BinaryIO]


def read_recording(path: str, opened: Open) -> RecordingHead:
    """Raises ValueError, without a word of the file, and OSError or KeyError where `path` is none."""
    ending = PurePosixPath(path).suffix
    with opened(path) as file:
        if ending == ".set":
            return read_set(file)
        if ending == ".fif":
            return read_fif(file)
        head = file.read(files_headers.MAX_BYTES)
    if ending in (".edf", ".bdf"):
        return files_headers.read_edf(head)
    found = files_headers.read_vhdr(head)
    return replace(found, seconds=_seconds(f"{path.removesuffix('.vhdr')}.eeg", found, opened))


def _seconds(path: str, head: RecordingHead, opened: Open) -> float | None:
    """By the size of the file of the samples, if it is there."""
    try:
        with opened(path) as file:
            size = file.seek(0, 2)
    except (OSError, KeyError):
        return None
    return size / (head.rate * len(head.channels) * head.sample_bytes) or None
