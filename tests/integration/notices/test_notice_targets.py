"""Where a webhook cannot lead: into the platform's own network, past the operator's list, or elsewhere."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from pydantic import ValidationError
from receivers import current, mail_server, receiving
from waiting import PATIENCE_S, wait_until

from domain.errors import Conflict, InvalidRequest
from domain.notice import Notice, NoticeKind, SendProblem
from gateway.config import GatewaySettings
from gateway.notices.addresses import NotSent, Rules, check_network, check_url, is_open, resolve
from gateway.notices.mail import MailServer, message_of
from gateway.notices.webhook import WebhookPost
from store.channels import SigningSecrets

NOTICE = Notice("msg_0123", NoticeKind.TEST, "ada", current(), {})
SECRETS = SigningSecrets("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", None)
HERE = (
    "127.0.0.1", "127.1", "127.0.0.2", "2130706433", "0x7f000001", "017700000001", "0", "0.0.0.0",
    "localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:0:0:1]",
)  # fmt: skip
INSIDE = (
    "10.0.0.1", "10.255.255.255", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1",
    "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "[fe80::1]", "[fc00::1]", "[fd12:3456::1]",
    "[ff02::1]", "[64:ff9b::a00:1]", "[2002:a00:1::]", "[2001::1]", "[2001:db8::1]", "[::ffff:10.0.0.1]",
    "[fec0::1]", "192.88.99.1", "192.0.0.8", "[3fff::1]", "168.63.129.16", "[::ffff:168.63.129.16]",
)  # fmt: skip


@contextmanager
def listening() -> Iterator[tuple[int, list[bytes]]]:
    """A port of this machine, on both protocols of addresses, and whoever connected to it."""
    came: list[bytes] = []
    with closing(socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True)) as server:
        server.settimeout(0.05)
        ended = threading.Event()

        def accept() -> None:
            while not ended.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                came.append(b"somebody")
                connection.close()

        thread = threading.Thread(target=accept)
        thread.start()
        yield server.getsockname()[1], came
        ended.set()
        thread.join()


@pytest.mark.parametrize("host", HERE)
def test_no_way_of_writing_this_machine_leads_to_it(host: str):
    with listening() as (port, came):
        url = f"https://{host}:{port}/"
        with pytest.raises((NotSent, InvalidRequest)) as refused:
            WebhookPost(Rules.of([f"{host}:{port}"], loopback=False)).send(NOTICE, url, SECRETS, current())
        if isinstance(refused.value, NotSent):
            forbidden = {SendProblem.FORBIDDEN_ADDRESS, SendProblem.UNKNOWN_HOST, SendProblem.SWITCHED_OFF}
            assert refused.value.problem in forbidden
        assert came == []
        # without the defence the same text does lead there
        if host in ("127.0.0.1", "2130706433", "localhost", "[::1]"):
            socket.create_connection((host.strip("[]"), port), timeout=PATIENCE_S).close()
            wait_until(lambda: came, said="who connected")


@pytest.mark.parametrize("host", INSIDE)
def test_addresses_inside_are_refused_also_when_the_list_names_them(host: str):
    rules = Rules.of([host], loopback=False)
    with pytest.raises(NotSent) as refused:
        resolve(check_url(f"https://{host}/", rules), rules)
    assert refused.value.problem is SendProblem.FORBIDDEN_ADDRESS
    assert not is_open(ipaddress.ip_address(host.strip("[]")))


LISTED = ("10.20.0.0/16", "fd00:20::/32", "100.64.0.0/10", "fd00:e00::/24", "fd20::/16")


@pytest.mark.parametrize(
    ("host", "is_listed"),
    [
        ("10.20.3.4", True), ("[fd00:20::4]", True), ("[::ffff:10.20.3.4]", True), ("10.21.3.4", False),
        ("[fd00:21::4]", False), ("127.0.0.1", False), ("169.254.169.254", False), ("[fe80::1]", False),
        ("[64:ff9b::a14:304]", False), ("0.0.0.0", False), ("192.168.1.1", False), ("224.0.0.1", False),
        # where clouds keep credentials, in networks that are listed
        ("100.100.100.200", False), ("[::ffff:100.100.100.200]", False), ("[fd00:ec2::254]", False),
        ("[fd20:ce::254]", False), ("100.100.100.201", True), ("[fd00:ec3::254]", True),
    ],
)  # fmt: skip
def test_of_addresses_inside_those_of_listed_networks_are_reached(host: str, is_listed: bool):
    rules = Rules.of([host], loopback=False, networks=LISTED)
    target = check_url(f"https://{host}/", rules)
    if is_listed:
        assert ipaddress.ip_address(host.strip("[]")) == resolve(target, rules)
        # control: without the list it is refused
        rules = Rules.of([host], loopback=False)
    with pytest.raises(NotSent) as refused:
        resolve(target, rules)
    assert refused.value.problem is SendProblem.FORBIDDEN_ADDRESS


@pytest.mark.parametrize(
    "network",
    ["0.0.0.0/0", "127.0.0.0/8", "169.254.0.0/16", "8.0.0.0/8", "10.0.0.0/7", "::/0", "fe80::/10", "::1/128",
     "10.20.0.1/16", "here", ""],
)  # fmt: skip
def test_a_network_that_is_not_an_organisations_own_cannot_be_listed(network: str):
    with pytest.raises(ValueError):  # noqa: PT011
        check_network(network)
    with pytest.raises(ValidationError):
        GatewaySettings(database_url="sqlite://", broker_url="x", webhook_networks=(network,))


@pytest.mark.parametrize("host", ["93.184.215.14", "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]", "1.1.1.1"])
def test_addresses_of_the_open_internet_are_not(host: str):
    rules = Rules.of([host], loopback=False)
    assert str(resolve(check_url(f"https://{host}/", rules), rules)) == host.strip("[]")


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example.org/", "ftp://hooks.example.org/", "file:///etc/passwd", "//hooks.example.org/",
        "https://evil.example.org/", "https://hooks.example.org.evil.org/", "https://hooks.example.org:8443/",
        "https://hooks.example.org@evil.org/", "https://evil.org#@hooks.example.org/",
        "https://ada:pw@hooks.example.org/", "https://hooks.example.org\\@evil.org/", "https:",
        "https://hooks.example.org/a b", "https://hooks.example.org/\r\nX: y", "https://hooks.example.org/\x00",
        "https://hooks.éxample.org/", "https://hooks.example.org:99999/", "https://[::1/", "no address", "",
        "https://hooks.example.org/" + "x" * 500, "javascript:alert(1)", "https://evil.org?hooks.example.org",
    ],
)  # fmt: skip
def test_only_https_addresses_of_listed_hosts_are_kept(url: str):
    with pytest.raises(InvalidRequest) as refused:
        check_url(url, Rules.of(["hooks.example.org"], loopback=True))
    assert refused.value.problems[0].field == "url"
    assert refused.value.problems[0].fix


@pytest.mark.parametrize("url", ["https://HOOKS.example.org/a?b=1", "https://hooks.example.org.:443/a?b=1"])
def test_an_address_is_taken_apart_as_it_is_used(url: str):
    target = check_url(url, Rules.of(["Hooks.Example.org"], loopback=False))
    assert (target.authority, target.target) == ("hooks.example.org", "/a?b=1")


def test_with_an_empty_list_there_are_no_webhooks():
    with pytest.raises(Conflict, match="webhooks are off"):
        check_url("https://hooks.example.org/", Rules.of([], loopback=True))
    with pytest.raises(NotSent) as refused:
        WebhookPost(Rules.of([], loopback=True)).send(
            NOTICE, "https://hooks.example.org/", SECRETS, current()
        )
    assert refused.value.problem is SendProblem.SWITCHED_OFF


def test_a_name_is_resolved_once_and_the_certificate_is_for_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []
    real = socket.getaddrinfo

    def counted(host, *args, **kwargs):
        asked.append(host)
        return real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", counted)
    server, trust = certificate("localhost", tmp_path)
    with receiving(server, host="localhost") as receiver:
        post = WebhookPost(Rules.of([receiver.host], loopback=True), trust=trust)
        post.send(NOTICE, receiver.url, SECRETS, current())
        assert asked.count("localhost") == 1
        # the system's authorities know nothing of that certificate
        with pytest.raises(NotSent) as refused:
            WebhookPost(Rules.of([receiver.host], loopback=True)).send(
                NOTICE, receiver.url, SECRETS, current()
            )
        assert refused.value.problem is SendProblem.INSECURE
    server, trust = certificate("somebody-else.example.org", tmp_path)
    with receiving(server, host="localhost") as receiver:
        with pytest.raises(NotSent) as refused:
            WebhookPost(Rules.of([receiver.host], loopback=True), trust=trust).send(
                NOTICE, receiver.url, SECRETS, current()
            )
        assert refused.value.problem is SendProblem.INSECURE
        assert receiver.got == []


def test_no_proxy_of_the_environment_takes_a_notice(monkeypatch: pytest.MonkeyPatch):
    with receiving() as receiver, listening() as (port, came):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{port}")
        WebhookPost(Rules.of([receiver.host], loopback=True)).send(NOTICE, receiver.url, SECRETS, current())
        assert (len(receiver.got), came) == (1, [])


def test_a_password_goes_to_the_mail_server_only_through_tls(tmp_path: Path):
    server, trust = certificate("localhost", tmp_path)
    message = message_of(
        NOTICE, to="ada@example.org", sender="dpgate@example.org", public_url=None, code=None, now=current()
    )
    with mail_server(server, logins=True) as mailbox:
        MailServer(mailbox.url, "x@example.org", "dpgate", "right", trust).send(message)
        assert mailbox.logins == [(b"dpgate", b"right")]
        for attempt, problem in (
            (MailServer(mailbox.url, "x@example.org", "dpgate", "wrong", trust), SendProblem.REFUSED),
            # another authority than the one that signed
            (MailServer(mailbox.url, "x@example.org", "dpgate", "right"), SendProblem.INSECURE),
        ):
            with pytest.raises(NotSent) as refused:
                attempt.send(message)
            assert refused.value.problem is problem
        assert len(mailbox.messages) == 1
    with mail_server() as plain:
        url = plain.url.replace("smtp:", "starttls:")
        with pytest.raises(NotSent) as refused:
            MailServer(url, "x@example.org", "dpgate", "right", trust).send(message)
        assert refused.value.problem is SendProblem.INSECURE
        assert plain.messages == []


def certificate(name: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts of a server with a certificate for this name, and of a client that trusts it alone."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(current() - dt.timedelta(days=1))
        .not_valid_after(current() + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / f"{name}.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(path)
    return server, ssl.create_default_context(cafile=str(path))
