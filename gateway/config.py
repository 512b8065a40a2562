"""Settings of the gateway process. There is no setting for data, keys or sandboxes, on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.notice import MailAddress
from domain.operation import LEAST_FREE_MIB
from domain.permissions import Role
from domain.setting_names import check_settings
from domain.step_up import StepUp
from gateway.notices.addresses import check_network
from gateway.provider_settings import ProviderSettings
from gateway.web_address import Address, Issuer

MAIN = "main"


def check_mail_server(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("smtp", "starttls", "smtps") or not parts.hostname or parts.path.strip("/"):
        raise ValueError("must be smtp://HOST:PORT, starttls://HOST:PORT or smtps://HOST:PORT")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be without name and password: they have settings of their own")
    return url


def _checked_network(text: str) -> str:
    return str(check_network(text))


MailServerUrl = Annotated[str, AfterValidator(check_mail_server)]


class GatewaySettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="DPGATE_", frozen=True)

    database_url: str
    broker_url: str
    # the largest request that is read at all: a job with its sources, or a data set's declaration
    max_body_bytes: int = Field(4 * 1024 * 1024, gt=0)

    # how browsers reach this platform, where a proxy ends TLS: cookies and forms depend on it
    public_url: Address | None = None

    # people from an identity provider (OpenID Connect); exactly as it names itself
    oidc_issuer: Issuer | None = None
    # what access tokens for this platform name as their audience
    oidc_audience: str | None = None
    # the platform's own client: browser logins, and asking about opaque tokens
    oidc_client_id: str | None = None
    oidc_client_secret_file: Path | None = None
    # a public client that may use the device flow: `dpgate login --device`
    oidc_cli_client_id: str | None = None
    oidc_scope: str = "openid profile"
    # the claim that lists what somebody is entitled to; the role that each entry gives: the first one counts
    oidc_claim: str = "eduperson_entitlement"
    oidc_roles: dict[str, Role] = {}
    # clients of services that act for people
    oidc_acting: tuple[str, ...] = ()
    # how long after its last word on somebody their sessions and tokens of this platform work: then they log
    # in again, and what was withdrawn meanwhile is gone
    oidc_word_days: int = Field(30, ge=1, le=366)
    # the same for rights holders and operators, whose rights reach further
    oidc_short_word_minutes: int = Field(60, ge=5, le=527_040)
    # further providers beside this one, each with a name for the login page and settings of its own
    oidc_more: tuple[ProviderSettings, ...] = ()

    # what a role has to show anew before it decides or changes a policy
    step_up: dict[Role, StepUp] = {}

    # names and passwords of this platform's own; without a provider they are the way in
    local_accounts: bool | None = None

    # what this process logs: as text, or each line a JSON object, with one for each request
    log_format: Literal["text", "json"] = "text"
    # a collector of OpenTelemetry traces (OTLP over HTTP)
    traces_endpoint: Address | None = None

    # notices by e-mail: the server that takes them, and in whose name they come
    smtp_url: MailServerUrl | None = None
    smtp_user: str | None = None
    smtp_password_file: Path | None = None
    mail_from: MailAddress | None = None
    # notices by webhook: the hosts (or HOST:PORT) that they may go to; none means that there are no webhooks
    webhook_hosts: tuple[str, ...] = ()
    # private networks in which these hosts may be, such as 10.20.0.0/16; without, only the open internet
    webhook_networks: tuple[Annotated[str, AfterValidator(_checked_network)], ...] = ()
    # for tests alone: http, and addresses of this machine
    webhook_loopback: bool = False
    # another gateway of the same platform may send them instead
    send_notices: bool = True

    # hosts (or HOST:PORT) that pipelines may be fetched from with git over https; none: uploads alone
    git_hosts: tuple[str, ...] = ()

    # with less than so many MiB left where SQLite writes, the gateway says that it is not ready
    least_free_mib: int = Field(LEAST_FREE_MIB, ge=0, le=1_048_576)

    # whether scrambled originals, of no guarantee class, may be attached and handed out at all
    scrambled_twins: bool = False

    @property
    def has_passwords(self) -> bool:
        return self.oidc_issuer is None if self.local_accounts is None else self.local_accounts

    @property
    def providers(self) -> tuple[ProviderSettings, ...]:
        """All of them; the one of the settings OIDC_... comes first."""
        return () if self.oidc_issuer is None else (self._main_provider(), *self.oidc_more)

    def _main_provider(self) -> ProviderSettings:
        given = {
            name: getattr(self, f"oidc_{name}") for name in ProviderSettings.model_fields if name != "name"
        }
        return ProviderSettings.model_validate({"name": MAIN, **given})

    @model_validator(mode="after")
    def _check_provider(self) -> Self:
        if self.oidc_issuer is None:
            if self.oidc_more:
                raise ValueError("DPGATE_OIDC_ISSUER is needed: DPGATE_OIDC_MORE is for what comes beside it")
            return self
        if not self.oidc_roles:
            raise ValueError("DPGATE_OIDC_ROLES is needed: which entitlement gives which role")
        if self.oidc_audience is None and self.oidc_client_id is None:
            raise ValueError("DPGATE_OIDC_AUDIENCE or DPGATE_OIDC_CLIENT_ID is needed: whose tokens count")
        if self.public_url is None and any(one.client_id is not None for one in self.providers):
            raise ValueError("DPGATE_PUBLIC_URL is needed: the provider sends browsers back there")
        for what in ("name", "issuer"):
            found = [getattr(one, what) for one in self.providers]
            if len(set(found)) < len(found):
                raise ValueError(f"DPGATE_OIDC_MORE has a {what} twice: each provider needs its own")
        return self

    @model_validator(mode="after")
    def _check_mail(self) -> Self:
        if self.smtp_url is None:
            return self
        if self.mail_from is None:
            raise ValueError("DPGATE_MAIL_FROM is needed: in whose name e-mail comes")
        if (self.smtp_user is None) != (self.smtp_password_file is None):
            raise ValueError("DPGATE_SMTP_USER and DPGATE_SMTP_PASSWORD_FILE belong together")
        if self.smtp_user is not None and self.smtp_url.startswith("smtp:"):
            raise ValueError("DPGATE_SMTP_URL needs starttls:// or smtps://: no password in the clear")
        return self


def settings_of(environment: Mapping[str, str]) -> GatewaySettings:
    """From the process's environment. Raises NotReady for a setting that nothing here knows."""
    check_settings(environment)
    return GatewaySettings()
