"""An identity provider on loopback: a real HTTP server, real signatures, and a count of what it is asked."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import ECKey, OctKey, RSAKey

AUDIENCE, CLIENT, CLI, SECRET = "https://dpgate.example", "dpgate-web", "dpgate-cli", "s3cret of the client"
MEMBER = "urn:mace:example:group:heart:member"
STEWARD = "urn:mace:example:group:heart:steward"
ROLES = {STEWARD: "rights_holder", MEMBER: "data_user", "client:nightly": "data_user"}


@cache
def rsa(name: str = "rsa-1") -> RSAKey:
    """Found when it is asked for: every process reads this file, and to find one takes 0.1 s."""
    return RSAKey.generate_key(2048, {"kid": name, "use": "sig"}, private=True)


@cache
def ec() -> ECKey:
    """The other key of the provider."""
    return ECKey.generate_key("P-256", {"kid": "ec-1", "use": "sig"}, private=True)


class Escaped(json.JSONEncoder):
    """Letters as their numbers, so that halves of them can be said too."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"ensure_ascii": True})


class Issuer:
    """What the server knows and what it was asked; tests change both."""

    def __init__(self) -> None:
        self.url = ""
        self.forget()

    def forget(self) -> None:
        """All that it was told and asked."""
        self.keys: list[Any] = [rsa(), ec()]
        self.asked: Counter[str] = Counter()
        self.userinfo: dict[str, Any] = {}
        self.opaque: dict[str, dict[str, Any]] = {}
        self.codes: dict[str, dict[str, Any]] = {}
        self.id_claims: dict[str, Any] = {}
        # given instead of the right answers, by path; and what the document says besides
        self.instead: dict[str, tuple[int, Any]] = {}
        self.document: dict[str, Any] = {}
        # what a waiting device is told, poll after poll
        self.polls: list[tuple[int, Any]] = []
        # replaced in the answer that begins a login of a device
        self.started: dict[str, Any] = {}

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Of an access token that is right for this platform; None leaves a claim out."""
        now = int(time.time())
        right = {
            "iss": self.url,
            "sub": "subject-1",
            "aud": AUDIENCE,
            "exp": now + 300,
            "iat": now,
            "client_id": CLI,
            "scope": "openid",
            "preferred_username": "Ada.Lovelace",
            "eduperson_entitlement": [MEMBER],
        } | changed
        return {name: value for name, value in right.items() if value is not None}

    def token(self, *, key: Any = None, header: dict[str, Any] | None = None, **changed: Any) -> str:
        """A signed access token."""
        key = rsa() if key is None else key
        algorithm = {RSAKey: "RS256", ECKey: "ES256", OctKey: "HS256"}[type(key)]
        top = {"alg": algorithm, "kid": key.kid, "typ": "at+jwt"} | (header or {})
        top = {name: value for name, value in top.items() if value is not None}
        return jwt.encode(top, self.claims(**changed), key, algorithms=[top["alg"]], encoder_cls=Escaped)

    def logout_token(self, *, header: dict[str, Any] | None = None, key: Any = None, **changed: Any) -> str:
        """A token that ends a login, as it should be; None leaves a claim out."""
        key = rsa() if key is None else key
        now = int(time.time())
        right = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 120,
            "jti": secrets.token_hex(8),
            "sub": "subject-1",
            "events": {"http://schemas.openid.net/event/backchannel-logout": {}},
        } | changed
        top = {"alg": "RS256", "kid": key.kid, "typ": "logout+jwt"} | (header or {})
        right = {name: value for name, value in right.items() if value is not None}
        return jwt.encode(top, right, key, algorithms=[top["alg"]], encoder_cls=Escaped)

    def answer(self, method: str, path: str, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        route = urlsplit(path).path
        self.asked[route] += 1
        if route in self.instead:
            return self.instead[route]
        if route == "/.well-known/openid-configuration":
            names = ("authorization", "token", "userinfo", "introspection", "device_authorization")
            ends = {f"{name}_endpoint": f"{self.url}/{name}" for name in names}
            return 200, {"issuer": self.url, "jwks_uri": f"{self.url}/keys", **ends} | self.document
        if route == "/keys":
            return 200, {"keys": [key.as_dict(private=False) for key in self.keys]}
        if route == "/userinfo":
            return (200, self.userinfo) if self.userinfo else (401, {})
        if route == "/introspection":
            return (
                (200, self.opaque.get(form["token"], {"active": False}))
                if _is_client(authorization)
                else (401, {})
            )
        if route == "/device_authorization":
            return 200, {
                "device_code": "device-1",
                "user_code": "WDJB-MJHT",
                "verification_uri": f"{self.url}/device",
                "expires_in": 60,
                "interval": 5,
            } | self.started
        if route == "/token" and form["grant_type"].endswith("device_code"):
            known = form == {**form, "device_code": "device-1", "client_id": CLI}
            return self.polls.pop(0) if known else (400, {"error": "invalid_grant"})
        if route == "/token":
            return self._exchange(form, authorization)
        return 404, {}

    def _exchange(self, form: dict[str, str], authorization: str) -> tuple[int, Any]:
        asked = self.codes.pop(form["code"], None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest())
        if asked is None or asked["code_challenge"] != challenge.rstrip(b"=").decode():
            return 400, {"error": "invalid_grant"}
        if asked["redirect_uri"] != form["redirect_uri"] or not _is_client(authorization):
            return 400, {"error": "invalid_grant"}
        identity = {"aud": CLIENT, "nonce": asked["nonce"], "scope": None, "client_id": None} | self.id_claims
        return 200, {
            "access_token": self.token(client_id=CLIENT),
            "id_token": self.token(header={"typ": None}, **identity),
            "token_type": "Bearer",
        }

    def approve(self, address: str) -> dict[str, str]:
        """What a person does at the provider: the parameters that their browser then comes back with."""
        asked = dict(parse_qsl(urlsplit(address).query))
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self.codes)}-{asked['state'][:8]}"
        self.codes[code] = asked
        return {"code": code, "state": asked["state"], "iss": self.url}


def _is_client(authorization: str) -> bool:
    expected = base64.b64encode(b"dpgate-web:" + urlencode({"": SECRET})[1:].replace("+", "%20").encode())
    return authorization == f"Basic {expected.decode()}"


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    issuer = Issuer()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer("GET", {})

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer("POST", {name: values[0] for name, values in parse_qs(body).items()})

        def _answer(self, method: str, form: dict[str, str]) -> None:
            status, content = issuer.answer(method, self.path, form, self.headers.get("Authorization", ""))
            if not status:
                self.close_connection = True  # without a word
                return
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
