"""The gateway's process has no way to data: no setting that names a place, no code that could go there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.config import GatewaySettings

# all of the mathematics, because the mechanism checks a request's parameters; noise needs integers that only
# the worker zone has, and the keystream's key is made where it is used
PRIVACY = {
    "privacy",
    "privacy.discrete_laplace",
    "privacy.grid",
    "privacy.keystream",
    "privacy.loss",
    "privacy.partition",
    "privacy.sample_aggregate",
}
NEVER = ("worker", "sandbox_images", "dpgate", "docker", "pandas", "diffprivlib", "sklearn", "scipy", "nacl")
NOT_FOR_IT = {"store.keys", "store.sealing", "store.snapshots", "store.people"}


def test_its_settings_are_two_addresses_and_a_limit():
    assert set(GatewaySettings.model_fields) == {"database_url", "broker_url", "max_body_bytes"}
    assert not [
        name
        for name, field in GatewaySettings.model_fields.items()
        if field.annotation is Path or "path" in name or "folder" in name or "key" in name
    ]


def test_its_settings_are_fixed_and_have_no_default_place(monkeypatch: pytest.MonkeyPatch):
    for name in ("DPGATE_DATABASE_URL", "DPGATE_BROKER_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValidationError):
        GatewaySettings()
    settings = GatewaySettings(database_url="sqlite://", broker_url="redis://x")
    with pytest.raises(ValidationError):
        settings.database_url = "sqlite:///other"  # type: ignore[misc]


def test_what_a_fresh_gateway_loads():
    code = "import json, sys, gateway.app; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    loaded = set(json.loads(output))
    assert not [name for name in loaded if name.split(".")[0] in NEVER]
    assert not loaded & NOT_FOR_IT
    assert {name for name in loaded if name.split(".")[0] == "privacy"} == PRIVACY
