"""Posting a notice to a webhook: one short request to an address that was looked at, never redirected.

The answer's status is all that is used of it; its body is never read.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import ssl
from datetime import datetime
from importlib.metadata import version

import httpx

from domain.notice import Notice, SendProblem
from gateway.notices.addresses import IP, NotSent, Rules, Target, allowed, resolve
from store.channels import SECRET_PREFIX, SigningSecrets

LIMIT_S = 5


class WebhookPost:
    """Sends to any webhook; safe to use from several threads."""

    def __init__(self, rules: Rules, *, trust: ssl.SSLContext | None = None) -> None:
        self._rules = rules
        self._trust = trust or httpx.create_ssl_context()

    def send(self, notice: Notice, url: str, secrets: SigningSecrets, now: datetime) -> None:
        """One attempt. Raises NotSent."""
        target = allowed(url, self._rules)
        body = payload(notice)
        headers = {
            "Host": target.authority,
            "Content-Type": "application/json",
            "User-Agent": f"dpgate/{version('dpgate')}",
            **signed_headers(notice.id, body, secrets, now),
        }
        _check_status(asyncio.run(self._post(target, resolve(target, self._rules), headers, body)))

    async def _post(self, target: Target, address: IP, headers: dict[str, str], body: bytes) -> int:
        """The status of the answer. The limit holds for all of it, also when the answer drips."""
        try:
            async with asyncio.timeout(LIMIT_S):
                # a proxy of the environment would connect to another address than the one looked at
                async with (
                    httpx.AsyncClient(
                        verify=self._trust, trust_env=False, follow_redirects=False, timeout=LIMIT_S
                    ) as client,
                    client.stream(
                        "POST",
                        target.url_at(address),
                        headers=headers,
                        content=body,
                        # the certificate must be for the name, not for the address
                        extensions={"sni_hostname": target.host},
                    ) as answer,
                ):
                    return answer.status_code
        except (TimeoutError, httpx.TimeoutException):
            raise NotSent(SendProblem.TIMEOUT) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise NotSent(_word_for(error)) from None


def payload(notice: Notice) -> bytes:
    """What is posted: the notice as one JSON object. Always the same bytes for the same notice."""
    content = {
        "id": notice.id,
        "kind": notice.kind,
        "subject": notice.subject,
        "at": notice.at.isoformat(),
        "facts": dict(notice.facts),
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode()


def _check_status(status: int) -> None:
    if 300 <= status < 400:
        raise NotSent(SendProblem.REDIRECT)
    if not 200 <= status < 300:
        raise NotSent(SendProblem.REFUSED)


def _word_for(error: BaseException) -> SendProblem:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return SendProblem.INSECURE
        cause = cause.__cause__ or cause.__context__
    return SendProblem.UNREACHABLE


# Signatures of webhooks, as the Standard Webhooks specification has them. HMAC-SHA256 over
# `id.timestamp.body`, in base64, after `v1,`. While a secret is being replaced the header has two
# signatures, with a space between them: a receiver accepts a message when one of them is right.


def signed_headers(message_id: str, body: bytes, secrets: SigningSecrets, now: datetime) -> dict[str, str]:
    """The three headers that a receiver needs."""
    timestamp = str(int(now.timestamp()))
    signatures = [
        signature(secret, message_id, timestamp, body) for secret in (secrets.now, secrets.before) if secret
    ]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def signature(secret: str, message_id: str, timestamp: str, body: bytes) -> str:
    """`secret` is as it was shown: `whsec_` and base64."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
