"""The table of permissions is total and denies by default; object rules for data sets, jobs, decisions."""

from __future__ import annotations

import re

import pytest
from factories import make_user

from domain.errors import NotAllowed
from domain.model import parse
from domain.permissions import (
    DEEDS,
    GRANTS,
    Permission,
    Role,
    User,
    check_allowed,
    check_independent,
    is_allowed,
    may_see_dataset,
    may_see_job,
)

# written out a second time on purpose: a changed grant must be changed in two places, knowingly
EXPECTED = {
    Role.DATA_USER: {
        "self.read",
        "tokens.own",
        "notices.read",
        "channels.own",
        "dataset.read",
        "budget.read",
        "project.read",
        "project.lead",
        "job.submit",
        "job.read",
        "job.cancel",
        "job.comment",
        "release.read",
        "twin.take",
        "image.read",
    },
    Role.RIGHTS_HOLDER: {
        "self.read",
        "tokens.own",
        "notices.read",
        "channels.own",
        "dataset.read",
        "dataset.register",
        "dataset.end",
        "policy.change",
        "budget.read",
        "budget.allot",
        "project.read",
        "grant.decide",
        "job.read",
        "job.decide",
        "release.read",
        "release.decide",
        "twin.make",
        "twin.decide",
        "twin.withdraw",
        "twin.take",
        "job.comment",
        "image.read",
        "audit.verify",
    },
    Role.OPERATOR: {
        "self.read",
        "tokens.own",
        "notices.read",
        "channels.own",
        "job.read",
        "job.cancel",
        "image.read",
        "image.approve",
        "user.add",
        "user.read",
        "user.disable",
        "audit.verify",
        "operation.read",
        "operation.change",
        "metrics.read",
    },
}


def test_the_table_is_total():
    assert set(GRANTS) == set(Permission)
    assert all(GRANTS.values()), "a permission that nobody holds is no permission"


def test_every_permission_for_every_role(subtests):
    for role in Role:
        for permission in Permission:
            with subtests.test(role=role, permission=permission):
                user = make_user(role=role)
                expected = permission in EXPECTED[role]
                assert is_allowed(user, permission) is expected
                if expected:
                    check_allowed(user, permission)
                else:
                    with pytest.raises(
                        NotAllowed,
                        match=rf"you are logged in as .*; only .* can {re.escape(DEEDS[permission])}\.",
                    ):
                        check_allowed(user, permission)


@pytest.mark.parametrize("role", Role)
def test_an_unknown_permission_belongs_to_nobody(role):
    assert not is_allowed(make_user(role=role), "data.read")


def test_who_decides_never_submits():
    for role in Role:
        assert not {"job.submit", "job.decide"} <= EXPECTED[role]


WHO_SEES_A_DATASET = (
    (make_user("ada"), ("ada",), True),
    (make_user("bob"), ("ada",), False),
    (make_user("ada"), (), False),
    (make_user("bob"), ("*",), True),
    (make_user("holder", Role.RIGHTS_HOLDER), (), True),
    (make_user("other", Role.RIGHTS_HOLDER), ("*", "other"), False),
    (make_user("ops", Role.OPERATOR), ("*", "ops"), False),
    (make_user("holder", Role.DATA_USER), ("ada",), False),
)


def test_who_sees_a_dataset(subtests):
    for user, data_users, sees in WHO_SEES_A_DATASET:
        with subtests.test(user=user, data_users=data_users, sees=sees):
            assert may_see_dataset(user, owner="holder", data_users=data_users) is sees


WHO_SEES_A_JOB = (
    (make_user("ada"), True),
    (make_user("bob"), False),
    (make_user("holder"), False),
    (make_user("holder", Role.RIGHTS_HOLDER), True),
    (make_user("ada", Role.RIGHTS_HOLDER), False),
    (make_user("ops", Role.OPERATOR), True),
)


def test_who_sees_a_job(subtests):
    for user, sees in WHO_SEES_A_JOB:
        with subtests.test(user=user, sees=sees):
            assert may_see_job(user, author="ada", reviews=user.name == "holder") is sees


def test_nobody_decides_on_their_own_job():
    check_independent(make_user("holder", Role.RIGHTS_HOLDER), author="ada")
    with pytest.raises(NotAllowed, match="Ask another rights holder"):
        check_independent(make_user("ada", Role.RIGHTS_HOLDER), author="ada")


def test_a_user_has_one_role_and_cannot_change_it():
    user = parse(User, {"name": "ada", "role": "data_user"})
    with pytest.raises(ValueError, match="frozen"):
        user.role = Role.OPERATOR


@pytest.mark.parametrize("role", Role)
def test_what_the_table_does_not_name_is_refused(role: Role, monkeypatch: pytest.MonkeyPatch) -> None:
    for permission in Permission:
        with monkeypatch.context() as patched:
            patched.delitem(GRANTS, permission)
            assert not is_allowed(make_user(role=role), permission)
