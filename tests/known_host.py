"""The real sandbox, and what it found of this host kept for the whole process.

A worker looks once and then runs jobs for weeks; a test makes a worker zone for each job, and looking runs a
control pipeline each time. Only a yes is kept, as by a worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worker.config import WorkerSettings
from worker.sandbox.choice import OpenSandbox
from worker.sandbox.profiles import Feature

_found: dict[tuple[object, ...], tuple[Feature, ...]] = {}


@dataclass(frozen=True, eq=False)
class KnownHost:
    real: OpenSandbox
    settings: WorkerSettings

    def probe(self) -> tuple[Feature, ...]:
        profile = self.settings.isolation
        key = (self.settings.sandbox, profile, self.settings.scratch_folder, self.settings.input_mib)
        if key in _found:
            return _found[key]
        features = self.real.probe()
        if not any(feature.stops(profile) for feature in features):
            _found[key] = features
        return features

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


__all__ = ["KnownHost"]
