"""The units that the page on deployment has people copy start what `dpgate up` starts."""

from __future__ import annotations

import configparser
import importlib.util
import shlex

import pytest
from fenced import ROOT

from gateway.config import GatewaySettings
from worker.config import WorkerSettings

UP = (ROOT / "dpgate" / "embedded" / "stack.py").read_text(encoding="utf-8")
# whoever starts them hands over a socket there, and names an address here
OF_A_HOST = {"--host", "--port", "-P", "-m"}


def service(name: str) -> configparser.SectionProxy:
    # %-signs and capitals are systemd's
    unit = configparser.RawConfigParser(strict=False)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    text = (ROOT / "deploy" / "systemd" / f"dpgate-{name}.service").read_text(encoding="utf-8")
    unit.read_string(text.replace("\\\n", " "))
    return unit["Service"]


@pytest.mark.parametrize(("name", "module"), [("gateway", "gateway.app"), ("worker", "worker.app")])
def test_a_unit_starts_its_process_as_up_does(name: str, module: str) -> None:
    words = shlex.split(service(name)["ExecStart"])
    assert any(word.partition(":")[0] == module for word in words)
    assert importlib.util.find_spec(module)
    options = {word for word in words if word.startswith("-")} - OF_A_HOST
    assert {option for option in options if f'"{option}"' not in UP} == set()


def test_the_page_names_settings_that_there_are() -> None:
    page = (ROOT / "docs" / "how-to" / "deploy.md").read_text(encoding="utf-8")
    fields = {*GatewaySettings.model_fields, *WorkerSettings.model_fields}
    named = {word.strip("`").removeprefix("DPGATE_").lower() for word in page.split() if "DPGATE_" in word}
    named = {word.partition("=")[0].strip(".,;:`") for word in named}
    assert named
    assert named <= fields


def test_the_gateway_sees_no_processes_of_others() -> None:
    """What a run on its host calls itself depends on what it read: docs/explanation/threat-model.md."""
    assert service("gateway")["ProtectProc"] == "invisible"


def test_the_gateway_sees_no_control_groups() -> None:
    """They say how much memory and how many processes each run has, whatever /proc hides."""
    assert service("gateway")["InaccessiblePaths"] == "-/sys/fs/cgroup"
