"""Images on record: what an approval says, and how it is taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from factories import IMAGE, NOW, given_dataset, given_image, given_job
from undone import undone

from domain.errors import Conflict, InvalidRequest, NotFound
from domain.image import ImageKind, ImageState, SyscallTable
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
