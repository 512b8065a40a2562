"""The Python client sends a token over TLS only to whom an authority vouches for."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import ClassVar

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import dpgate
from dpgate.client import Client
from dpgate.credentials import Login
from dpgate.errors import PlatformUnreachable

TOKEN = "dpgate.0123.a-very-secret-word"


class Answers(BaseHTTPRequestHandler):
    """Says who one is, and keeps what it was sent."""

    heard: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.heard.append(self.headers["Authorization"])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"name": "ada", "role": "data_user"}')

    def log_message(self, *_: object) -> None:
        pass


class Quiet(HTTPServer):
    """Of a handshake that was broken off there is nothing to say."""

    def handle_error(self, *_: object) -> None:
        pass


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Of 127.0.0.1, signed by itself, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    addresses = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = made.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    signed = made.add_extension(addresses, critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "certificate.pem"
    path.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + private)
    return path


@pytest.fixture
def server(certificate: Path) -> Iterator[str]:
    """Its address, without the scheme."""
    Answers.heard.clear()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Quiet(("127.0.0.1", 0), Answers) as listening:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"127.0.0.1:{listening.server_port}"
        listening.shutdown()
        thread.join()


def test_nobody_vouches_for_a_server(server: str) -> None:
    with (
        dpgate.connect(url=f"https://{server}", token=TOKEN) as client,
        pytest.raises(PlatformUnreachable) as refused,
    ):
        client.me()
    assert "certificate verify failed" in str(refused.value.__cause__)
    assert Answers.heard == []


def test_an_authority_of_this_host_vouches_for_it(
    server: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with dpgate.connect(url=f"https://{server}", token=TOKEN) as client:
        assert client.me()["name"] == "ada"
    assert Answers.heard == [f"Bearer {TOKEN}"]


def test_a_client_of_an_address_without_tls_trusts_no_server(
    server: str, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has not read who is trusted, so it must not take anybody for trusted."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with (
        Client(Login(f"http://{server}", TOKEN)) as client,
        pytest.raises(httpx.ConnectError, match="certificate verify failed"),
    ):
        client._driver.http.get(f"https://{server}/")
    assert Answers.heard == []
