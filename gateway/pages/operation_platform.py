"""The platform itself: versions, storage in classes of size, settings as they were loaded."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from domain.permissions import Permission, User
from gateway.access import TheDatabase
from gateway.config import GatewaySettings
from gateway.overview import overview
from gateway.pages.layout import page
from gateway.pages.session import page_requires

router = APIRouter(include_in_schema=False)
Reader = Annotated[User, Depends(page_requires(Permission.OPERATION_READ))]
HIDDEN = "hidden"
OPEN_SETTINGS = {
    "max_body_bytes", "public_url", "local_accounts", "oidc_issuer", "oidc_audience", "oidc_client_id",
    "oidc_cli_client_id", "oidc_scope", "oidc_claim", "oidc_roles", "oidc_acting",
    "oidc_word_days", "oidc_short_word_minutes", "step_up", "log_format", "least_free_mib", "scrambled_twins",
    "mail_from", "webhook_hosts", "webhook_networks", "webhook_loopback", "send_notices", "git_hosts",
}  # fmt: skip
VOLUMES = {
    "snapshots": "sealed snapshots",
    "deliveries": "deliveries",
    "images": "images",
    "room": "disk",
}


@router.get("/operation/platform")
def show_platform(request: Request, user: Reader, database: TheDatabase) -> Response:
    return page(
        request,
        "operation_platform.html",
        user=user,
        found=overview(database, request.app.state.looks.now()),
        volumes=VOLUMES,
        settings=shown(request.app.state.settings),
    )


def shown(settings: GatewaySettings) -> list[tuple[str, str]]:
    """As they were loaded. What may hold a secret is hidden: all but a short list of names."""
    return [(f"DPGATE_{name.upper()}", _value(name, value)) for name, value in settings.model_dump().items()]


def _value(name: str, value: Any) -> str:
    if value is None or value in ({}, (), ""):
        return "not set"
    if name.endswith(("_url", "_endpoint")) and name != "public_url":
        # an address may hold a password: only what kind of thing is there
        return f"{urlsplit(str(value)).scheme} ({HIDDEN})"
    return _words(value) if name in OPEN_SETTINGS else HIDDEN


def _words(value: Any) -> str:
    """Lists and tables as people write them."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name}: {found}" for name, found in value.items())
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
