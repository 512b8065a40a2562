"""What this platform offers, as its operator set it, for the use cases that go by it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from desk.channels import Ways
from gateway.config import GatewaySettings
from gateway.notices.addresses import check_url
from gateway.notices.sender import rules_of


def _settings(request: Request) -> GatewaySettings:
    found: GatewaySettings = request.app.state.settings
    return found


def has_passwords(request: Request) -> bool:
    return _settings(request).has_passwords


def has_scrambles(request: Request) -> bool:
    return _settings(request).scrambled_twins


def ways(request: Request) -> Ways:
    settings = _settings(request)
    return Ways(
        sends_email=settings.smtp_url is not None,
        webhook_hosts=settings.webhook_hosts,
        check_url=lambda url: check_url(url, rules_of(settings)),
    )


HasPasswords = Annotated[bool, Depends(has_passwords)]
HasScrambles = Annotated[bool, Depends(has_scrambles)]
TheWays = Annotated[Ways, Depends(ways)]
