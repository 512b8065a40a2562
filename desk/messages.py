"""Messages to the workers, as a use case sends them after its commit; the gateway's queue carries them."""

from __future__ import annotations

from typing import Protocol


class Messages(Protocol):
    """What is lost on the way is found by the sweep, so no answer depends on it."""

    def run_job(self, job_id: str) -> None: ...

    def import_dataset(self, dataset_id: str) -> None: ...

    def rehearse(self, rehearsal_id: str) -> None: ...

    def profile(self, profile_id: str) -> None: ...

    def sweep(self) -> None: ...
