"""An identity provider to try the workbench with, on this machine alone: two people, and token exchange.

    python provider.py --port 8761

In its place stands your Keycloak, EGI Check-in or Entra. It asks for a name and a password directly, which a
real one does on a page of its own, and its passwords stand below: never let it be reached from elsewhere.
"""

from __future__ import annotations

import argparse
import base64
import hmac
import json
import secrets
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey

PEOPLE = {"researcher": "of-the-example-1", "colleague": "of-the-example-2"}
AUDIENCE = "dpgate"  # for whom its tokens are: DPGATE_OIDC_AUDIENCE
SERVICE, SERVICE_SECRET = "workbench", "secret-of-the-example"
CLI = "dpgate-cli"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
MEMBER = "urn:example:researcher"
LIFE_S = 3600  # a job in padded timing takes minutes, and its author waits for the release


class Provider:
    """What it knows, and its answer to each request: a status and a document."""

    def __init__(self, url: str) -> None:
        self.url = url
        # a name of its own at each start: a gateway keeps a key that it knows by name
        self._key = ECKey.generate_key("P-256", {"kid": secrets.token_hex(8), "use": "sig"}, private=True)

    def answer(self, path: str, form: dict[str, str], client: tuple[str, str]) -> tuple[int, dict[str, Any]]:
        if path == "/.well-known/openid-configuration":
            ends = {f"{end}_endpoint": f"{self.url}/{end}" for end in ("authorization", "token", "userinfo")}
            return 200, {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **ends}
        if path == "/keys":
            return 200, {"keys": [self._key.as_dict(private=False)]}
        if path == "/token" and form.get("grant_type") == "password":
            return self._log_in(form, client)
        if path == "/token" and form.get("grant_type") == EXCHANGE:
            return self._exchange(form, client)
        return 404, {"error": "not_found"}

    def _log_in(self, form: dict[str, str], client: tuple[str, str]) -> tuple[int, dict[str, Any]]:
        """A person's token: for the workbench, if that asks, else for the platform's own command line."""
        known = PEOPLE.get(form.get("username", ""), "")
        if not known or not hmac.compare_digest(known, form.get("password", "")):
            return 400, {"error": "invalid_grant"}
        name = form["username"]
        if _is_service(client):
            return 200, {"access_token": self._token(name, audience=SERVICE, client=SERVICE)}
        return 200, {"access_token": self._token(name, audience=AUDIENCE, client=CLI)}

    def _exchange(self, form: dict[str, str], client: tuple[str, str]) -> tuple[int, dict[str, Any]]:
        """RFC 8693: the token that brought a person to the workbench, for one with which it acts for them."""
        if not _is_service(client):
            return 401, {"error": "invalid_client"}
        if form.get("audience") != AUDIENCE:
            return 400, {"error": "invalid_target"}
        try:
            claims = jwt.decode(form.get("subject_token", ""), self._key, algorithms=["ES256"]).claims
        except JoseError:
            return 400, {"error": "invalid_grant"}
        if claims["aud"] != SERVICE or claims["exp"] < time.time():
            return 400, {"error": "invalid_grant"}
        token = self._token(claims["preferred_username"], audience=AUDIENCE, client=SERVICE, acts=True)
        return 200, {
            "access_token": token,
            "issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
        }

    def _token(self, name: str, *, audience: str, client: str, acts: bool = False) -> str:
        now = int(time.time())
        claims = {
            "iss": self.url, "sub": f"person-{name}", "aud": audience, "iat": now, "exp": now + LIFE_S,
            "client_id": client, "preferred_username": name, "scope": "openid",
            "eduperson_entitlement": [MEMBER], **({"act": {"sub": SERVICE}} if acts else {}),
        }  # fmt: skip
        return jwt.encode({"alg": "ES256", "kid": self._key.kid, "typ": "at+jwt"}, claims, self._key)


def _is_service(client: tuple[str, str]) -> bool:
    return client[0] == SERVICE and hmac.compare_digest(client[1], SERVICE_SECRET)


def serving(port: int) -> ThreadingHTTPServer:
    """Not begun yet. Port 0 is any free one."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._say(*provider.answer(self.path, {}, ("", "")))

        def do_POST(self) -> None:
            body = self.rfile.read(min(int(self.headers.get("content-length", 0)), 64 * 1024))
            scheme, _, packed = self.headers.get("authorization", "").partition(" ")
            name, _, secret = base64.b64decode(packed if scheme == "Basic" else "").decode().partition(":")
            self._say(*provider.answer(self.path, dict(parse_qsl(body.decode())), (name, secret)))

        def _say(self, status: int, document: dict[str, Any]) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    return server


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, required=True)
    options = parser.parse_args()
    serving(options.port).serve_forever()
