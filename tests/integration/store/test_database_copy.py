"""A copy of PostgreSQL is of one moment, whatever is written meanwhile, and goes into an empty database."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import sqlalchemy as sa
from factories import NOW, given_dataset
from services import PostgreSQL

from domain.errors import NotReady
from store import audit
from store.database_copy import moment_of, put_back


def test_a_moment_of_postgresql_is_copied(
    postgresql: PostgreSQL, postgresql_url: str, tmp_path: Path
) -> None:
    database = postgresql.opened(postgresql_url)
    with database.transaction() as connection:
        given_dataset(connection)
        then = audit.head(connection)
    with moment_of(database) as moment:
        with database.transaction() as connection:
            audit.append(connection, at=NOW, actor="ada", action="job.comment", subject="job-0001")
        moment.copy(tmp_path / "copy")
    assert moment.head == then
    assert (tmp_path / "copy").stat().st_mode & 0o077 == 0
    with pytest.raises(NotReady, match="holds tables already"):
        put_back(tmp_path / "copy", database)
    with database.transaction() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    put_back(tmp_path / "copy", database)
    with database.reading() as connection:
        assert audit.head(connection) == then
        assert audit.verify(connection).intact


def test_no_password_is_among_the_arguments_of_a_copy(
    postgresql: PostgreSQL, postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every user of the machine reads those. Wherever the address has it."""
    real, said, wrapper = shutil.which("pg_dump"), tmp_path / "said", tmp_path / "bin" / "pg_dump"
    wrapper.parent.mkdir()
    says = f'printf \'%s \' "$@" >{said}; echo "$PGPASSWORD" >{said}-aside'
    wrapper.write_text(f'#!/bin/sh\n{says}; exec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    url = sa.make_url(postgresql_url).update_query_dict({"password": "secret"})
    database = postgresql.opened(url.render_as_string(hide_password=False))
    with moment_of(database) as moment:
        moment.copy(tmp_path / "copy")
    assert "--dbname" in said.read_text()
    assert "secret" not in said.read_text()
    assert Path(f"{said}-aside").read_text() == "secret\n"
