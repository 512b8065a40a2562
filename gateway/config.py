"""Settings of the gateway process. There is no setting for data, keys or sandboxes, on purpose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from domain.messages import key_of
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
    """The database of users, jobs, ledger and releases; the same as the workers'."""
    broker_url: str
    """Redis, for messages that carry ids."""
    message_key: SecretStr | None = None
    """The key under which messages carry a code, 64 hexadecimal digits as `openssl rand -hex 32`
    prints them; the same as the workers'. Without it, the gateway does not start."""
    max_body_bytes: int = Field(4 * 1024 * 1024, gt=0)
    """The largest request that is read at all."""

    public_url: Address | None = None
    """How browsers reach the platform where a proxy ends TLS; cookies and forms need it."""

    oidc_issuer: Issuer | None = None
    """The identity provider, exactly as it names itself, a `/` at the end included."""
    oidc_audience: str | None = None
    """What access tokens for this platform name as their audience."""
    oidc_client_id: str | None = None
    """The platform's own client at the provider: browser logins, opaque tokens."""
    oidc_client_secret_file: Path | None = None
    """The file with that client's secret."""
    oidc_cli_client_id: str | None = None
    """A public client with the device flow, for `dpgate login --device`."""
    oidc_scope: str = "openid profile"
    """What logins ask the provider for."""
    oidc_claim: str = "eduperson_entitlement"
    """The claim that lists what somebody is entitled to; `realm_access.roles` is a path."""
    oidc_roles: dict[str, Role] = {}
    """JSON: the role that each entitlement gives; the first that somebody has counts."""
    oidc_acting: tuple[str, ...] = ()
    """JSON: clients of services that act for people, each by tokens that the provider gave it for them."""
    # then they log in again, and what was withdrawn meanwhile is gone
    oidc_word_days: int = Field(30, ge=1, le=366)
    """Days for which the provider's last word on somebody keeps tokens working."""
    # their rights reach further
    oidc_short_word_minutes: int = Field(60, ge=5, le=527_040)
    """The same for rights holders and operators, in minutes."""
    oidc_more: tuple[ProviderSettings, ...] = ()
    """JSON: a list of further providers: `name`, `issuer`, `claim`, `roles` and so on."""

    step_up: dict[Role, StepUp] = {}
    """JSON: by role, what it has to show anew before what counts, such as decisions."""

    local_accounts: bool | None = None
    """Passwords of the platform's own; left out: only where there is no provider."""

    log_format: Literal["text", "json"] = "text"
    """`json`: each line of the log is a JSON object, and each request has one."""
    traces_endpoint: Address | None = None
    """A collector of OpenTelemetry traces (OTLP over HTTP); needs the extra `traces`."""

    smtp_url: MailServerUrl | None = None
    """The server that takes e-mail: `smtp://`, `starttls://` or `smtps://`, host and port."""
    smtp_user: str | None = None
    """The user's name there."""
    smtp_password_file: Path | None = None
    """The file with that user's password; needs `starttls://` or `smtps://`."""
    mail_from: MailAddress | None = None
    """The address in whose name notices come."""
    webhook_hosts: tuple[str, ...] = ()
    """JSON: the hosts, or HOST:PORT, that webhooks may go to. None: no webhooks."""
    webhook_networks: tuple[Annotated[str, AfterValidator(_checked_network)], ...] = ()
    """JSON: private networks in which these hosts may be, such as `10.20.0.0/16`."""
    webhook_loopback: bool = False
    """For tests: webhooks by http, and to addresses of this machine."""
    # another gateway of the same platform may send them instead
    send_notices: bool = True
    """Send notices from this gateway."""

    git_hosts: tuple[str, ...] = ()
    """JSON: hosts, or HOST:PORT, that pipelines may be fetched from. None: uploads alone."""

    least_free_mib: int = Field(LEAST_FREE_MIB, ge=0, le=1_048_576)
    """With less than so many MiB left where SQLite writes, the gateway is not ready."""

    certificate_key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """The id of the worker zone's key of certificates, as `dpgate ledger show` prints it: no release that
    another key has signed is shown, whatever the database says."""

    scrambled_twins: bool = False
    """Whether scrambled originals, of no guarantee class, may be attached and handed out at all. Policies
    must allow it, too."""

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
    """From the process's environment. Raises NotReady for a setting that nothing here knows, or without a key
    of messages."""
    check_settings(environment)
    settings = GatewaySettings()
    key_of(settings.message_key)
    return settings
