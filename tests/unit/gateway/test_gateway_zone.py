"""The gateway's process has no way to data: no setting that names a place, no code that could go there."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from pydantic import ValidationError

from gateway.config import GatewaySettings

NEVER = (
    "worker",
    "sandbox_images",
    "dpgate",
    "docker",
    "duckdb",
    "pandas",
    "diffprivlib",
    "dp_accounting",
    "sklearn",
    "scipy",
    "nacl",
)
# mechanisms check a request's parameters here; noise needs integers that only the worker zone has, and the
# keystream's key is made where it is used. Previews are of twins alone: pages use their closed forms
NOT_FOR_IT = {
    "store.keys",
    "store.data_keys",
    "store.sealed_areas",
    "store.sealing",
    "store.sealed_file",
    "store.profile_box",
    "store.snapshots",
    "store.people",
    "privacy.reference",
    "privacy.tight_epsilon",
    "privacy.perturbation",
    "privacy.fast_laplace",
}


def test_its_settings_are_addresses_and_limits_and_who_people_are():
    about_people = {name for name in GatewaySettings.model_fields if name.startswith("oidc_")}
    others = set(GatewaySettings.model_fields) - about_people
    about_notices = {
        "smtp_url", "smtp_user", "smtp_password_file", "mail_from",
        "webhook_hosts", "webhook_loopback", "webhook_networks", "send_notices",
    }  # fmt: skip
    assert others - about_notices == {
        "database_url", "broker_url", "max_body_bytes", "public_url", "local_accounts", "step_up",
        "log_format", "traces_endpoint", "git_hosts", "scrambled_twins", "least_free_mib",
        "certificate_key", "message_key",
    }  # fmt: skip
    places = [
        name
        for name, field in GatewaySettings.model_fields.items()
        if "Path" in str(field.annotation) or "path" in name or "folder" in name or "key" in name
    ]
    # the gateway's own secrets, at the identity provider, at the mail server and on messages: they open no
    # data; and the name of a public key
    secrets = ["message_key", "oidc_client_secret_file", "smtp_password_file"]
    assert sorted(places) == ["certificate_key", *secrets]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        ({"public_url": "dpgate.example"}, "https://"),
        ({"public_url": "http://dpgate.example"}, "https://"),
        ({"public_url": "https://u:p@dpgate.example"}, "address"),
        ({"oidc_issuer": "https://idp.example"}, "DPGATE_OIDC_ROLES"),
        ({"oidc_issuer": "http://idp.example", "oidc_roles": {"a": "operator"}}, "https://"),
        ({"oidc_issuer": "https://idp.example", "oidc_roles": {"a": "operator"}}, "AUDIENCE"),
        ({"oidc_issuer": "https://idp.example", "oidc_roles": {"a": "king"}}, "operator"),
        (
            {"oidc_issuer": "https://idp.example", "oidc_roles": {"a": "operator"}, "oidc_client_id": "x"},
            "DPGATE_PUBLIC_URL",
        ),
    ],
)
def test_a_half_set_provider_does_not_start(wrong: dict[str, object], word: str):
    with pytest.raises(ValidationError, match=word):
        GatewaySettings(database_url="sqlite://", broker_url="redis://x", **wrong)


def test_its_settings_are_fixed_and_have_no_default_place(monkeypatch: pytest.MonkeyPatch):
    for name in ("DPGATE_DATABASE_URL", "DPGATE_BROKER_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValidationError):
        GatewaySettings()
    settings = GatewaySettings(database_url="sqlite://", broker_url="redis://x")
    with pytest.raises(ValidationError):
        settings.database_url = "sqlite:///other"  # type: ignore[misc]


@pytest.mark.needs(process=True)
def test_what_a_fresh_gateway_loads():
    code = "import json, sys, gateway.app; print(json.dumps(sorted(sys.modules)))"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    loaded = set(json.loads(output))
    assert not [name for name in loaded if name.split(".")[0] in NEVER]
    assert not loaded & NOT_FOR_IT
    assert "privacy.sample_aggregate" in loaded
