"""No secret of the settings is on a page, in an answer, in a figure or in a log, whoever asks."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from asking import PEOPLE, running_gateway
from hostile_messages import MESSAGE_KEY

from domain.permissions import User
from gateway.pages.session import COOKIE
from store import sessions
from store.clock import database_time

SECRET = "hush-hush-5ecret"
PAGES = ("", "/workers", "/images", "/people", "/platform", "/notices")


def test_no_secret_is_shown_anywhere(
    postgresql_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / SECRET).write_text(SECRET)
    settings = {
        "traces_endpoint": f"http://localhost:9/{SECRET}",
        "smtp_url": f"starttls://{SECRET}.example.org:587",
        "smtp_user": SECRET,
        "smtp_password_file": tmp_path / SECRET,
        "mail_from": "dpgate@example.org",
        "send_notices": False,
    }
    database_url = postgresql_url.replace("postgres@", f"postgres:{SECRET}@")
    assert database_url != postgresql_url
    with running_gateway(database_url, f"redis://:{SECRET}@localhost:9/0", **settings) as gateway:
        with gateway.database.transaction() as connection:
            olga = User(name="olga", role=PEOPLE["olga"])
            cookie = sessions.open_session(connection, olga, database_time(connection))
        said = [gateway.ask("GET", "/operation", by="olga").text, gateway.ask("GET", "/health/ready").text]
        for path in [*(f"/operation{page}" for page in PAGES), "/metrics"]:
            headers = {"Cookie": f"{COOKIE}={cookie}"}
            if path == "/metrics":
                headers = {"Authorization": f"Bearer {gateway.tokens['olga']}"}
            answer = gateway.portal.call(lambda: gateway.http.get(path, headers=headers))  # noqa: B023
            assert answer.status_code == 200, path
            said.append(answer.text)
    assert "DPGATE_SMTP_USER" in "".join(said)
    for secret in (SECRET, MESSAGE_KEY):
        assert not [text for text in said if secret in text]
        assert not [record for record in caplog.records if secret in record.getMessage()]
