"""Whether runs of a data set's jobs are alone on their host, and what that promises. Said here and nowhere
else: forms, pages, commands, certificates and documentation repeat it."""

from __future__ import annotations

from enum import StrEnum


class Isolation(StrEnum):
    """What else runs on a host while a run of the data set's job does."""

    EXCLUSIVE = "exclusive"
    SHARED = "shared"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Isolation.EXCLUSIVE: (
        "While a run goes on, no worker in touch with the platform makes another run of any job, or a "
        "rehearsal, on its host, so none is beside it to signal to. A job counts on one run at a time: with "
        "several slots it takes as many times as long."
    ),
    Isolation.SHARED: (
        "Runs go on beside each other, one in each slot, on cores of their own where the host has enough. "
        "It is quicker, and runs at the same time can signal to each other by what they share."
    ),
}
