"""Images on record: what an approval says, how it is taken back, and that older records are kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
import sqlalchemy as sa
from factories import IMAGE, NOW, given_dataset, given_image, given_job
from sqlalchemy.exc import IntegrityError
from undone import undone

from domain.errors import Conflict, InvalidRequest, NotFound
from domain.image import ImageKind, ImageState, SyscallTable
from domain.job import Reason
from domain.states import JobState
from store import images, jobs

OTHER = "sha256:" + "2b" * 32
IMPORTED = images.Origin(ImageKind.IMPORTED, tree_digest=OTHER, source_digest=IMAGE, size=123)


@pytest.fixture
def connection(database):
    with database.transaction() as opened:
        yield opened


def announced(connection, origin=IMPORTED):
    return images.announce(connection, digest=IMAGE, name="python", description="", now=NOW, origin=origin)


def test_what_is_announced_is_kept_and_waits(connection):
    image = announced(connection)
    assert (image.kind, image.tree_digest, image.source_digest, image.size) == ("imported", OTHER, IMAGE, 123)
    assert (image.state, image.is_approved, image.syscalls, image.warm) == (
        ImageState.WAITING,
        False,
        None,
        False,
    )
    assert images.listed(connection) == [image]


def test_the_hosts_own_has_no_archive(connection):
    image = announced(connection, images.HOST)
    assert (image.kind, image.source_digest, image.use) == ("host", None, ImageKind.HOST.use)


def test_an_approval_is_strict_and_cold_unless_it_says_otherwise(connection):
    announced(connection)
    approved = images.approve(connection, digest=IMAGE, by="olga", now=NOW)
    assert (approved.state, approved.syscalls, approved.warm) == (
        ImageState.APPROVED,
        SyscallTable.STRICT,
        False,
    )
    wider = images.approve(
        connection, digest=IMAGE, by="olga", now=NOW, syscalls=SyscallTable.STANDARD, warm=True
    )
    assert (wider.syscalls, wider.warm) == (SyscallTable.STANDARD, True)


def test_a_withdrawn_image_takes_no_new_job_until_it_is_approved_again(connection):
    given_image(connection)
    withdrawn = images.withdraw(connection, digest=IMAGE, by="olga", now=NOW)
    assert (withdrawn.state, withdrawn.withdrawn_by, withdrawn.approved_by) == (
        ImageState.WITHDRAWN,
        "olga",
        "operator",
    )
    with pytest.raises(InvalidRequest, match="no image python is approved"):
        images.approved(connection, "python")
    with pytest.raises(Conflict, match="is not approved"):
        images.withdraw(connection, digest=IMAGE, by="olga", now=NOW)
    assert announced(connection).state is ImageState.WITHDRAWN
    again = images.approve(connection, digest=IMAGE, by="olga", now=NOW)
    assert (again.state, again.withdrawn_at) == (ImageState.APPROVED, None)


def test_an_older_approval_of_the_name_counts_when_the_newest_is_withdrawn(connection):
    given_image(connection)
    images.announce(connection, digest=OTHER, name="python", description="", now=NOW)
    images.approve(connection, digest=OTHER, by="olga", now=NOW + timedelta(seconds=1))
    images.withdraw(connection, digest=OTHER, by="olga", now=NOW + timedelta(seconds=2))
    assert images.approved(connection, "python").digest == IMAGE


def test_an_image_is_not_retired_under_an_unfinished_job(connection, subtests):
    given_dataset(connection)
    for state in (JobState.SUBMITTED, JobState.QUEUED, JobState.RUNNING, JobState.IN_REVIEW):
        with subtests.test(msg=state), undone(connection):
            given_job(connection, state=state)
            with pytest.raises(Conflict) as refusal:
                images.retire(connection, digest=IMAGE, by="olga", now=NOW)
            assert "1 unfinished jobs name the image" in refusal.value.problems[0].problem
            assert images.get(connection, IMAGE).is_approved


def test_a_retired_image_stays_on_record(connection, subtests):
    given_dataset(connection)
    for state in (JobState.RELEASED, JobState.CANCELLED, JobState.ERRORED):
        with subtests.test(msg=state), undone(connection):
            job = given_job(connection, state=state)
            for _ in range(2):
                retired = images.retire(connection, digest=IMAGE, by="olga", now=NOW)
                assert retired.state is ImageState.WITHDRAWN
            assert jobs.get(connection, job.id).image_digest == IMAGE


def test_an_image_that_nobody_announced(connection):
    for call in (images.withdraw, images.retire, images.approve):
        with pytest.raises(NotFound, match=f"there is no image {OTHER}"):
            call(connection, digest=OTHER, by="olga", now=NOW)


@pytest.fixture(params=["sqlite", "postgresql"])
def older(request, brought):
    """What version 0.1 left, in the form of this one: two images, and a job with its chunk."""
    with brought(request.param, "0001", as_version_0_1_left_it) as database:
        yield database


def as_version_0_1_left_it(connection):
    for statement in OLDER_ROWS:
        connection.execute(sa.text(statement), {"now": "2026-03-02 09:30:00+00:00"})


OLDER_ROWS = (
    "INSERT INTO users VALUES ('ada', 'data_user', 't', 'h', :now)",
    f"INSERT INTO images VALUES ('{IMAGE}', 'python', 'words', :now, 'olga', :now)",
    f"INSERT INTO images VALUES ('{OTHER}', 'r', 'words', :now, NULL, NULL)",
    "INSERT INTO cohorts VALUES ('c', 'ada', :now)",
    "INSERT INTO datasets VALUES "
    """('d', 'd', 1, 'ada', 'c', '{"policy": {}}', 'x', 'READY', NULL, NULL, :now)""",
    "INSERT INTO jobs (id, dataset_id, author, request, image_digest, question, state, attempts, reason, "
    f"created_at, moved_at) VALUES ('job-0001', 'd', 'ada', '{{}}', '{IMAGE}', 'q', 'ERRORED', 1, "
    "'IMAGE_CHANGED', :now, :now)",
    "INSERT INTO jobs (id, dataset_id, author, request, image_digest, question, state, attempts, "
    f"answered_by, created_at, moved_at) VALUES ('job-0002', 'd', 'ada', '{{}}', '{IMAGE}', 'q', 'RELEASED', "
    "1, 'job-0001', :now, :now)",
    "INSERT INTO chunks VALUES ('job-0001', 0, 'WAITING', 0, NULL, NULL)",
    "INSERT INTO releases VALUES ('r', 'job-0001', '{}', :now)",
)


def rows(database, query):
    with database.reading() as connection:
        return [tuple(row) for row in connection.execute(sa.text(query))]


def test_records_of_the_first_version_are_kept(older):
    with older.reading() as connection:
        python, r = images.listed(connection)
    assert (python.kind, python.state, python.syscalls, python.warm) == ("host", "approved", "strict", True)
    assert (r.kind, r.state, r.syscalls, r.warm) == ("host", "waiting for approval", None, False)
    assert rows(older, "SELECT id, reason, answered_by FROM jobs ORDER BY id") == [
        ("job-0001", "IMAGE_CHANGED", None),
        ("job-0002", None, "job-0001"),
    ]
    assert (
        rows(older, "SELECT job_id FROM chunks")
        == rows(older, "SELECT job_id FROM releases")
        == [("job-0001",)]
    )


def test_keys_and_constraints_hold_after_the_change(older):
    for reason in Reason:
        with older.transaction() as connection:
            connection.execute(sa.text(f"UPDATE jobs SET reason = '{reason.name}' WHERE id = 'job-0001'"))
    for statement in (
        "UPDATE jobs SET reason = 'BECAUSE'",
        "UPDATE jobs SET state = 'DONE'",
        "UPDATE jobs SET image_digest = 'x'",
        "UPDATE images SET kind = 'other'",
        "UPDATE images SET syscalls = 'all'",
        f"DELETE FROM images WHERE digest = '{IMAGE}'",
        "DELETE FROM jobs WHERE id = 'job-0001'",
        "UPDATE chunks SET job_id = 'job-none'",
    ):
        with pytest.raises(IntegrityError), older.transaction() as connection:
            connection.execute(sa.text(statement))


def test_changing_twice_is_changing_once(older):
    before = rows(older, "SELECT digest, kind, warm FROM images ORDER BY digest")
    older.migrate()
    assert rows(older, "SELECT digest, kind, warm FROM images ORDER BY digest") == before
