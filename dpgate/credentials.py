"""Logins on this machine, in a file that only its owner can read."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from dpgate.errors import DpgateError, NotLoggedIn

DEFAULT = "default"
ADDRESS = "https://dpgate.example.org"
"""As the platform is called in a next step: it does not know where people reach it."""
LOGINS, FILE = "logins", "credentials.json"


@dataclass(frozen=True)
class Login:
    url: str
    token: str
    profile: str = field(default=DEFAULT, compare=False)
    """Under which it is kept, for whoever has to log in anew."""

    def __repr__(self) -> str:
        return f"Login(url={self.url!r}, token=...)"


def credentials_file() -> Path:
    """Where logins are kept: DPGATE_CREDENTIALS, or below DPGATE_HOME, or the user's configuration folder."""
    if named := os.environ.get("DPGATE_CREDENTIALS"):
        return Path(named)
    if home := os.environ.get("DPGATE_HOME"):
        return Path(home).resolve() / LOGINS / FILE
    configuration = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(configuration) / "dpgate" / FILE


def find_login(profile: str = DEFAULT) -> Login:
    """The login kept under `profile`; DPGATE_URL and DPGATE_TOKEN stand for the default one."""
    url, token = os.environ.get("DPGATE_URL"), os.environ.get("DPGATE_TOKEN")
    if profile == DEFAULT and (url or token):
        if not (url and token):
            raise NotLoggedIn("set both DPGATE_URL and DPGATE_TOKEN, or neither")
        return Login(url, token)
    known = _read()
    if profile not in known:
        option = "" if profile == DEFAULT else f" --profile {profile}"
        raise NotLoggedIn(
            f"there is no login named {profile} in {credentials_file()}; run `dpgate login --url "
            f"{ADDRESS}{option}` with your platform's address, or begin one here with `dpgate up`"
        )
    return known[profile]


def keep_login(login: Login, *, profile: str = DEFAULT) -> Path:
    """Keep a login; the file is made readable for its owner alone."""
    path = credentials_file()
    return _write(path, _read() | {profile: login})


def forget_login(profile: str = DEFAULT) -> Path:
    """Keep it no longer. Raises NotLoggedIn where there is none, as under DPGATE_TOKEN."""
    known = _read()
    if profile not in known:
        raise NotLoggedIn(f"there is no login named {profile} in {credentials_file()}")
    del known[profile]
    return _write(credentials_file(), known)


def _write(path: Path, known: dict[str, Login]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    content = {name: {"url": kept.url, "token": kept.token} for name, kept in known.items()}
    # a new file in place of the old one: nobody who opened that one reads on, and a crash loses no login
    descriptor, new = tempfile.mkstemp(dir=path.parent, prefix=".credentials-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2)
        os.replace(new, path)
    except BaseException:
        Path(new).unlink(missing_ok=True)
        raise
    return path


def _read() -> dict[str, Login]:
    path = credentials_file()
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        return {name: Login(str(kept["url"]), str(kept["token"]), name) for name, kept in known.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DpgateError(f"{path} is not a credentials file; move it away and log in again") from None
