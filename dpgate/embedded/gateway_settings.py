"""Which settings of the gateway `dpgate up` hands on from its own environment."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from domain.setting_names import OF_GATEWAY, PREFIX

# what `up` decides itself
OWN = frozenset({"DATABASE_URL", "BROKER_URL"})
HANDED_ON = OF_GATEWAY - OWN


def gateway_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """For the gateway alone: the worker needs no identity provider and no mail server."""
    found = {name: environment[PREFIX + name] for name in HANDED_ON if PREFIX + name in environment}
    # the gateway runs in a folder of its own: a path is meant from where `up` was typed
    return {PREFIX + name: _absolute(name, value) for name, value in found.items()}


def _absolute(name: str, value: str) -> str:
    return str(Path(value).absolute()) if name.endswith("_FILE") and value else value
