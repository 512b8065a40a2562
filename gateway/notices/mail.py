"""Sending a notice by e-mail: a sentence, where to look, and nothing else."""

from __future__ import annotations

import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from urllib.parse import quote, urlsplit

from domain.notice import Notice, NoticeKind, SendProblem
from gateway.notices.addresses import NotSent

LIMIT_S = 10
PORTS = {"smtp": 25, "starttls": 587, "smtps": 465}


@dataclass(frozen=True, repr=False)
class MailServer:
    """Where mails are handed in. `url` is smtp://, starttls:// or smtps:// with host and port."""

    url: str
    sender: str
    user: str | None = None
    password: str | None = None
    trust: ssl.SSLContext | None = None

    def send(self, message: EmailMessage) -> None:
        """One attempt. Raises NotSent; what the server says is not kept."""
        try:
            self._hand_in(message)
        except TimeoutError:
            raise NotSent(SendProblem.TIMEOUT) from None
        except ssl.SSLError:
            raise NotSent(SendProblem.INSECURE) from None
        except smtplib.SMTPNotSupportedError:
            # no TLS, or no login, where the operator asked for one: never without
            raise NotSent(SendProblem.INSECURE) from None
        except smtplib.SMTPServerDisconnected as error:
            late = isinstance(error.__context__, TimeoutError)
            raise NotSent(SendProblem.TIMEOUT if late else SendProblem.UNREACHABLE) from None
        except smtplib.SMTPException:
            raise NotSent(SendProblem.REFUSED) from None
        except OSError:
            raise NotSent(SendProblem.UNREACHABLE) from None

    def _hand_in(self, message: EmailMessage) -> None:
        server = self._connected()
        try:
            if self.user is not None:
                server.login(self.user, self.password or "")
            server.send_message(message)
            # it is handed in: whatever becomes of the farewell
            with suppress(smtplib.SMTPException, OSError):
                server.quit()
        finally:
            server.close()

    def _connected(self) -> smtplib.SMTP:
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
        trust = self.trust or ssl.create_default_context()
        if parts.scheme == "smtps":
            return smtplib.SMTP_SSL(host, port, timeout=LIMIT_S, context=trust)
        server = smtplib.SMTP(host, port, timeout=LIMIT_S)
        if parts.scheme == "starttls":
            try:
                server.starttls(context=trust)
            except BaseException:
                server.close()
                raise
        return server


def message_of(
    notice: Notice, *, to: str, sender: str, public_url: str | None, code: str | None, now: datetime
) -> EmailMessage:
    """The mail of a notice. `code` confirms the address it is sent to, and is in no other mail."""
    message = EmailMessage(policy=SMTP)
    message["From"] = _address(sender, "dpgate")
    message["To"] = _address(to)
    message["Subject"] = (
        "dpgate: confirm your address"
        if notice.kind is NoticeKind.CONFIRMATION
        else f"dpgate: {notice.sentence.rstrip('.')}"
    )
    message["Date"] = format_datetime(now)
    # the same at each attempt: who gets it twice shows it once
    message["Message-ID"] = f"<{notice.id}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n\n".join(_paragraphs(notice, public_url, code)) + "\n")
    return message


def _paragraphs(notice: Notice, public_url: str | None, code: str | None) -> list[str]:
    said = [notice.sentence]
    if code is not None:
        said.append("If it was you, log in and confirm it within a day with this code:")
        said.append(f"    {code}")
        if public_url:
            said.append(f"{public_url}{notice.path}?code={quote(code, safe='')}")
        return [*said, "If it was not, do nothing: no other mail will come."]
    if public_url:
        said.append(f"{public_url}{notice.path}")
        said.append(f"What you are told of, and where: {public_url}/account/notices")
    return said


def _address(address: str, called: str = "") -> Address:
    local, _, domain = address.rpartition("@")
    return Address(called, local, domain)
