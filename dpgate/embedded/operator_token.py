"""The operator's token of an embedded platform, which its home keeps."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from domain.errors import RequestError
from store import users
from store.database import Database
from store.first_operator import token_of_operator


def operator_of(database: Database, token_file: Path) -> str:
    """The operator's token; the first start adds the user."""
    with database.transaction() as connection:
        if token := _valid_token(connection, token_file):
            return token
        token = token_of_operator(connection, name="operator", now=datetime.now(UTC))
        # inside the transaction: a token that nobody has must not be the valid one
        descriptor = os.open(token_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(token + "\n")
    return token


def _valid_token(connection: Any, token_file: Path) -> str | None:
    """The token that this home keeps, unless another database stands behind it now."""
    if not token_file.exists():
        return None
    token = token_file.read_text(encoding="ascii").strip()
    try:
        return token if users.authenticate(connection, token).name == "operator" else None
    except RequestError:
        return None
