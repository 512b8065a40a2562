"""The worker zone's own account: what was charged and drawn, whatever the platform's database says later.

A SQLite file in the zone folder, which the gateway cannot reach. Entries are added and never changed; each
carries a code over itself and the one before it, under a key of the zone. A release that was drawn stays
here, sealed, until the platform has it: whoever draws again for the same job is given that one.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from domain.errors import NotReady, PlatformError
from domain.model import canonical
from store.full_disk import full_for, is_full_for_database
from store.sealing import open_sealed, seal
from store.zone_entries import Entry as Entry
from store.zone_entries import Head as Head
from store.zone_entries import Kind as Kind

BUSY_S = 30
GENESIS = "0" * 64
_TABLES = """
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, cohort TEXT, body TEXT NOT NULL,
    head_number INTEGER, head_hash TEXT, code TEXT NOT NULL, UNIQUE (kind, subject)
);
CREATE INDEX entries_cohort ON entries (cohort, number);
CREATE INDEX entries_head ON entries (head_number);
CREATE TABLE drawn (job TEXT PRIMARY KEY, sealed BLOB NOT NULL);
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries is append-only'); END;
CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries is append-only'); END;
"""
_STATES = "CREATE TABLE IF NOT EXISTS states (cohort TEXT PRIMARY KEY, sealed BLOB NOT NULL)"


class Page:
    """The ledger within one transaction."""

    def __init__(self, connection: sqlite3.Connection, key: bytes) -> None:
        self._connection, self._key = connection, key

    def find(self, kind: Kind, subject: str) -> Entry | None:
        return self._one("kind = ? AND subject = ?", kind.value, subject)

    def add(
        self,
        kind: Kind,
        subject: str,
        body: Mapping[str, Any],
        *,
        cohort: str | None = None,
        head: Head | None = None,
    ) -> bool:
        """False when there is such an entry. Raises PlatformError when the newest one was changed."""
        if self.find(kind, subject) is not None:
            return False
        last = self._one("TRUE ORDER BY number DESC LIMIT 1")
        self._check(last)
        number, before = (1, GENESIS) if last is None else (last.number + 1, last.code)
        entry = Entry(number, kind, subject, cohort, dict(body), head, "")
        number_, hash_ = head or (None, None)
        values = (number, kind.value, subject, cohort, json.dumps(entry.body), number_, hash_)
        self._connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*values, self._code(entry, before))
        )
        return True

    def cohorts(self) -> list[str]:
        """All that something was spent of."""
        query = "SELECT DISTINCT cohort FROM entries WHERE cohort IS NOT NULL ORDER BY cohort"
        return [str(row[0]) for row in self._connection.execute(query)]

    def size(self) -> int:
        """How many entries there are."""
        last = self._one("TRUE ORDER BY number DESC LIMIT 1")
        return 0 if last is None else last.number

    def identity(self) -> str:
        """What tells this ledger from every other: a digest of its first entry."""
        first = self._one("number = 1")
        assert first is not None, "a ledger is made with its first entries"
        return hashlib.sha256(first.code.encode()).hexdigest()

    def newest_head(self) -> Head | None:
        """The latest event of the trail that any entry has seen, or that an operator has caught up with; as
        it was seen first, or whoever rewrites it between two charges would have the second vouch for it."""
        order = "head_number IS NOT NULL AND number >= ? ORDER BY head_number DESC, number LIMIT 1"
        found = self._one(order, self._caught_up_at())
        return None if found is None else found.head

    def heads(self) -> dict[int, str]:
        """All of them since then, by the number of their event; each as it was seen first."""
        found = self._all("head_number > 0 AND number >= ?", self._caught_up_at())
        return dict(entry.head for entry in reversed(found) if entry.head is not None)

    def _caught_up_at(self) -> int:
        caught = self._one(f"kind = '{Kind.CAUGHT_UP}' ORDER BY number DESC LIMIT 1")
        return 0 if caught is None else caught.number

    def spent(self, cohort: str) -> dict[str, int]:
        """Units of each currency that are spent of a cohort, by this ledger."""
        kinds = f"'{Kind.OPENING}', '{Kind.CHARGE}', '{Kind.VOID}'"
        found = self._one(f"cohort = ? AND kind IN ({kinds}) ORDER BY number DESC LIMIT 1", cohort)
        return {} if found is None else dict(found.body["spent"])

    def state_of(self, cohort: str) -> str | None:
        """Digest of the cohort's sealed PAC state after its newest release."""
        found = self._one("cohort = ? AND kind = ? ORDER BY number DESC LIMIT 1", cohort, Kind.STATE.value)
        return None if found is None else str(found.body["digest"])

    def charges(self, cohort: str) -> list[Entry]:
        """Of all jobs of a cohort that are not void, in order."""
        return [
            entry
            for entry in self._all("cohort = ? AND kind = ?", cohort, Kind.CHARGE.value)
            if self.find(Kind.VOID, entry.subject) is None
        ]

    def restored(self) -> Entry | None:
        """What a restore left on record and no operator has caught up with."""
        return self._one(
            f"kind = '{Kind.RESTORED}' AND number > ? ORDER BY number DESC", self._caught_up_at()
        )

    def having(self, kind: Kind) -> list[Entry]:
        """All entries of a kind of which there are few, in order."""
        return self._all("kind = ?", kind.value)

    def keep_state(self, cohort: str, sealed: bytes) -> None:
        """The cohort's newest PAC state, for a database that has forgotten it. Ledgers of before have no
        place for it."""
        self._connection.execute(_STATES)
        self._connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?)", (cohort, sealed))

    def kept_state(self, cohort: str) -> bytes | None:
        """None for one whose releases are all older than this."""
        if self._connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'states'").fetchone() is None:
            return None
        row = self._connection.execute("SELECT sealed FROM states WHERE cohort = ?", (cohort,)).fetchone()
        return None if row is None else bytes(row[0])

    def keep_drawn(self, job_id: str, sealed: bytes) -> None:
        self._connection.execute("INSERT INTO drawn VALUES (?, ?)", (job_id, sealed))

    def drawn(self, job_id: str) -> bytes | None:
        row = self._connection.execute("SELECT sealed FROM drawn WHERE job = ?", (job_id,)).fetchone()
        return None if row is None else bytes(row[0])

    def all_drawn(self) -> list[str]:
        """Jobs whose release lies here."""
        return [str(row[0]) for row in self._connection.execute("SELECT job FROM drawn ORDER BY job")]

    def forget_drawn(self, job_id: str) -> None:
        self._connection.execute("DELETE FROM drawn WHERE job = ?", (job_id,))

    def entries(self) -> list[Entry]:
        """All of them. Raises PlatformError at the first that was changed, removed or put in."""
        before, found = GENESIS, self._all("TRUE")
        for number, entry in enumerate(found, start=1):
            if entry.number != number or not hmac.compare_digest(self._code(entry, before), entry.code):
                raise PlatformError(f"entry {number} of the zone's ledger is not as it was written")
            before = entry.code
        return found

    def _check(self, entry: Entry | None) -> None:
        if entry is None:
            return
        earlier = self._one("number = ?", entry.number - 1)
        if not hmac.compare_digest(self._code(entry, earlier.code if earlier else GENESIS), entry.code):
            raise PlatformError(f"entry {entry.number} of the zone's ledger is not as it was written")

    def _code(self, entry: Entry, before: str) -> str:
        said = [entry.number, entry.kind.value, entry.subject, entry.cohort, entry.body, entry.head, before]
        return hmac.new(self._key, canonical(said), hashlib.sha256).hexdigest()

    def _one(self, condition: str, *values: object) -> Entry | None:
        # conditions are this file's own; whatever comes from elsewhere is bound
        query = f"SELECT * FROM entries WHERE {condition}"  # noqa: S608
        row = self._connection.execute(query, values).fetchone()
        return None if row is None else _entry(row)

    def _all(self, condition: str, *values: object) -> list[Entry]:
        query = f"SELECT * FROM entries WHERE {condition} ORDER BY number"  # noqa: S608
        return [_entry(row) for row in self._connection.execute(query, values)]


class ZoneLedger:
    """The file. It is opened for each transaction: nothing of it crosses a fork or a thread."""

    def __init__(self, path: Path, *, key: bytes, sealing: bytes) -> None:
        self.path, self._key, self._sealing = path, key, sealing

    @contextmanager
    def writing(self) -> Iterator[Page]:
        """All or nothing, one writer at a time, on the disk when it returns."""
        with self._refusing(), closing(self._open()) as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield Page(connection, self._key)
            except BaseException:
                if connection.in_transaction:  # a full disk has ended it already
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    @contextmanager
    def reading(self) -> Iterator[Page]:
        with self._refusing(), closing(self._open()) as connection:
            connection.execute("BEGIN")
            yield Page(connection, self._key)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """A disk that is full, a file that was changed or one that somebody holds: the platform's fault."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise  # a mistake of ours
        except sqlite3.DatabaseError as error:
            if is_full_for_database(error):
                raise NotReady(full_for(self.path)) from None
            found = type(error).__name__  # what it says may hold values
            raise NotReady(f"the zone's ledger at {self.path} cannot be used: {found}") from None

    def seal(self, content: Mapping[str, Any], *, job_id: str) -> bytes:
        return seal(canonical(dict(content)), key=self._sealing, context=_context(job_id))

    def open(self, sealed: bytes, *, job_id: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(open_sealed(sealed, key=self._sealing, context=_context(job_id)))
        return found

    def create(self, begin: Callable[[Page], None]) -> None:
        """The file, with its first entries, all or nothing. Raises NotReady where there is one: what it has
        on record, keys of rights holders among it, would be lost."""
        descriptor, name = tempfile.mkstemp(dir=self.path.parent, prefix=".ledger-")  # for its owner alone
        os.close(descriptor)
        try:
            with closing(sqlite3.connect(name, isolation_level=None)) as connection:
                connection.execute("PRAGMA synchronous=FULL")
                connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version=1;")
                begin(Page(connection, self._key))
                connection.execute("COMMIT")
            os.link(name, self.path)
        except FileExistsError:
            raise NotReady(f"there is a ledger of this zone already, at {self.path}; it stays") from None
        finally:
            os.unlink(name)
        _keep(self.path.parent)

    def _open(self) -> sqlite3.Connection:
        """Never makes a file: a ledger that is lost has guards on record that a new one has not."""
        if not self.path.exists():
            raise NotReady(
                f"the worker zone's ledger, {self.path}, is missing: put back that file as it was last. "
                "Where there never was one, type: dpgate ledger begin"
            )
        try:
            address = f"file:{quote(str(self.path.absolute()))}?mode=rw"
            connection = sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None)
            # a rollback journal, not a write-ahead log: the zone folder may be shared between hosts
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA secure_delete=ON")  # no release lingers in free pages
            version = connection.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.DatabaseError:
            raise NotReady(f"the zone's ledger at {self.path} cannot be opened") from None
        if version != 1:
            connection.close()
            raise NotReady(f"the zone's ledger at {self.path} is empty, or of a later version; put it back")
        return connection


def _keep(folder: Path) -> None:
    """A new name in it is on the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _entry(row: tuple[Any, ...]) -> Entry:
    number, kind, subject, cohort, body, head_number, head_hash, code = row
    head = None if head_number is None else (head_number, head_hash)
    return Entry(number, Kind(kind), subject, cohort, json.loads(body), head, code)


def _context(job_id: str) -> str:
    return f"drawn release of {job_id}"
