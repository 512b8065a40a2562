"""What a worker says of a setting that it does not take."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from worker.config import WorkerSettings


def settings_with(**some: object) -> WorkerSettings:
    known = {"database_url": "sqlite://", "broker_url": "memory://", "zone_folder": Path("/z")}
    return WorkerSettings(**known, scratch_folder=Path("/s"), **some)  # type: ignore[arg-type]


def test_a_sandbox_that_is_gone_is_refused_with_those_that_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("supervised", "docker"):
        assert settings_with(sandbox=name).sandbox == name
    monkeypatch.setenv("DPGATE_SANDBOX", "bubblewrap")
    with pytest.raises(ValidationError, match=r"set DPGATE_SANDBOX=supervised, .* or docker where"):
        settings_with()
