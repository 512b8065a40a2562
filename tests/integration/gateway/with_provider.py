"""A gateway that trusts an identity provider: the fixture `gateway` of files that ask about one.

gateway = gateway_with_provider(step_up=RULE)
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import Gateway, running_gateway
from issuer import AUDIENCE, CLIENT, ROLES, SECRET, Issuer

NO_REDIS = "redis+socket:///none"


def gateway_with_provider(**changed: Any) -> Any:
    """Of each test's own; what the provider says and was asked is as new. `changed`: settings besides."""

    @pytest.fixture(name="gateway")
    def own_gateway(sqlite_url: str, issuer: Issuer, tmp_path: Path) -> Iterator[Gateway]:
        issuer.forget()
        with running_gateway(sqlite_url, NO_REDIS, **settings(issuer, tmp_path) | changed) as running:
            yield running

    return own_gateway


def settings(issuer: Issuer, folder: Path) -> dict[str, Any]:
    secret = folder / "client-secret"
    secret.write_text(f"{SECRET}\n")  # as an editor leaves it
    return {
        "public_url": "http://127.0.0.1",
        "oidc_issuer": issuer.url,
        "oidc_audience": AUDIENCE,
        "oidc_client_id": CLIENT,
        "oidc_client_secret_file": secret,
        "oidc_roles": ROLES,
    }
