"""What the gateway knows of one identity provider."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from domain.entitlement import SERVICE
from domain.model import Model, Slug
from domain.permissions import Role
from gateway.web_address import Issuer


class ProviderSettings(Model):
    """One provider. The fields are those of the settings DPGATE_OIDC_..., where each is explained."""

    name: Slug
    issuer: Issuer
    audience: str | None = None
    client_id: str | None = None
    client_secret_file: Path | None = None
    cli_client_id: str | None = None
    scope: str = "openid profile"
    claim: str = Field("eduperson_entitlement", min_length=1)
    roles: dict[str, Role] = Field(min_length=1)
    acting: tuple[str, ...] = ()
    word_days: int = Field(30, ge=1, le=366)
    short_word_minutes: int = Field(60, ge=5, le=527_040)

    @property
    def services(self) -> frozenset[str]:
        """The clients that are services here."""
        return frozenset(name.removeprefix(SERVICE) for name in self.roles if name.startswith(SERVICE))

    @property
    def clients(self) -> frozenset[str]:
        """Those whose tokens count where the provider names no audience."""
        own = {self.client_id, self.cli_client_id} - {None}
        return self.services | frozenset(self.acting) | frozenset(str(client) for client in own)

    @model_validator(mode="after")
    def _check_audience(self) -> Self:
        if self.audience is None and self.client_id is None:
            raise ValueError("audience or client_id is needed: whose tokens count")
        if set(self.acting) & {self.client_id, self.cli_client_id}:
            raise ValueError(
                "acting names a client of this platform's own, by which people log in themselves"
            )
        return self
