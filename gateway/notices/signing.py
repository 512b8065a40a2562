"""Signatures of webhooks, as the Standard Webhooks specification has them.

HMAC-SHA256 over `id.timestamp.body`, in base64, after `v1,`. While a secret is being replaced the header has
two signatures, with a space between them: a receiver accepts a message when one of them is right.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from datetime import datetime

from store.channels import SECRET_PREFIX, SigningSecrets


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
