"""A misspelt setting is refused with the right name, by every process; right ones reach who needs them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from domain.errors import NotReady
from domain.setting_names import KNOWN, OF_COMMANDS, OF_GATEWAY, OF_WORKER, PREFIX, SHARED, check_settings
from dpgate.cli.hosting import gateway_settings
from dpgate.embedded.processes import PASSED_ON
from gateway.config import GatewaySettings, settings_of
from worker.config import WorkerSettings

ROOT = Path(__file__).parents[3]


def test_the_table_has_every_setting_and_no_other():
    assert {name.upper() for name in GatewaySettings.model_fields} == OF_GATEWAY
    assert {name.upper() for name in WorkerSettings.model_fields} == OF_WORKER
    sample = (ROOT / "deploy" / "env.sample").read_text(encoding="utf-8")
    shown = {
        line.lstrip("#").partition("=")[0].removeprefix("DPGATE_")
        for line in sample.splitlines()
        if line.lstrip("#").startswith("DPGATE_")
    }
    assert shown == OF_GATEWAY | OF_WORKER | OF_COMMANDS


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("DPGATE_OIDC_ISUER", "DPGATE_OIDC_ISSUER"),
        ("DPGATE_WEBHOOK_HOST", "DPGATE_WEBHOOK_HOSTS"),
        ("dpgate_smtp_ulr", "DPGATE_SMTP_URL"),
        ("DPGATE_SLOT", "DPGATE_SLOTS"),
        ("DPGATE_ALLOW_DISC_SCRATCH", "DPGATE_ALLOW_DISK_SCRATCH"),
    ],
)
def test_a_misspelt_name_is_refused_with_the_right_one(misspelt: str, meant: str):
    with pytest.raises(NotReady, match=f"do you mean {meant}") as refused:
        check_settings({"PATH": "/bin", misspelt: "a secret value"})
    # the value is nobody's to read
    assert "secret" not in str(refused.value)


def test_a_name_that_is_like_none_is_refused_too():
    with pytest.raises(NotReady, match=r"remove it; all settings are in deploy/env\.sample"):
        check_settings({"DPGATE_QQQQ_ZZZZ": "1"})


def test_every_known_name_and_what_is_not_ours_is_taken():
    check_settings({f"DPGATE_{name}": "" for name in KNOWN} | {"DPGATES": "", "MY_DPGATE_X": ""})


def test_the_gateway_does_not_start_with_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("DPGATE_DATABASE_URL", "sqlite://")
    monkeypatch.setenv("DPGATE_BROKER_URL", "redis://x")
    with pytest.raises(NotReady, match="DPGATE_MESSAGE_KEY is needed"):
        settings_of(os.environ)
    monkeypatch.setenv("DPGATE_MESSAGE_KEY", "5a" * 32)
    assert settings_of(os.environ).database_url == "sqlite://"
    monkeypatch.setenv("DPGATE_MAX_BODY_BYTE", "1")
    with pytest.raises(NotReady, match="DPGATE_MAX_BODY_BYTES"):
        settings_of(os.environ)


@pytest.mark.needs(process=True)
@pytest.mark.parametrize(
    "command", [["-m", "dpgate", "up"], ["-c", "import worker.app"]], ids=["up", "worker"]
)
def test_neither_do_the_worker_and_the_command(command: list[str], tmp_path: Path):
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "DPGATE_HOME": str(tmp_path / "home"),
        "DPGATE_LEASE_MARGIN": "5",
    }
    ended = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert ended.returncode != 0
    assert "do you mean DPGATE_LEASE_MARGIN_S?" in ended.stderr
    assert not (tmp_path / "home").exists()


def test_up_hands_on_what_is_of_both_and_not_its_own_to_decide():
    own = {"DATABASE_URL", "BROKER_URL", "MESSAGE_KEY"}
    assert {PREFIX + name for name in SHARED - own} <= set(PASSED_ON)


def test_up_hands_on_what_is_the_gateways_and_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.chdir(tmp_path)
    found = gateway_settings(
        {
            "DPGATE_SMTP_URL": "smtp://127.0.0.1:25",
            "DPGATE_OIDC_CLIENT_SECRET_FILE": "secret",
            "DPGATE_WEBHOOK_HOSTS": '["hooks.example.org"]',
            "DPGATE_DATABASE_URL": "sqlite:///elsewhere",
            "DPGATE_ZONE_FOLDER": "/srv",
            "DPGATE_TOKEN": "a token",
            "PATH": "/bin",
        }
    )
    assert found == {
        "DPGATE_SMTP_URL": "smtp://127.0.0.1:25",
        "DPGATE_OIDC_CLIENT_SECRET_FILE": str(tmp_path / "secret"),
        "DPGATE_WEBHOOK_HOSTS": '["hooks.example.org"]',
    }
