"""Whom people could take for somebody else by name."""

from __future__ import annotations

import random

from domain.near_names import are_near, near_ones
from domain.permissions import Role, User

ALIKE = [
    ("alice", "alice-2"), ("alice", "a-lice"), ("bob", "b0b"), ("holder", "ho1der"), ("ali", "all"),
    ("carmen", "carrnen"), ("alice-2", "alice-17"), ("grace", "graces"), ("grace", "grcae"),
    ("anna", "hanna"),
]  # fmt: skip
APART = [
    ("alice", "bob"),
    ("bob", "rob"),
    ("ada", "eva"),
    ("grace", "trade"),
    ("alice", "malicia"),
    ("a-2", "b-2"),
]


def test_which_names_are_near():
    for one, other in ALIKE:
        assert are_near(one, other), (one, other)
        assert are_near(other, one), (one, other)
    for one, other in APART:
        assert not are_near(one, other), (one, other)


def user(name: str, role: Role = Role.DATA_USER) -> User:
    return User(name=name, role=role)


def test_the_same_name_in_any_role_and_a_letter_off_in_another():
    everybody = [
        user("alice", Role.RIGHTS_HOLDER), user("alice-2"), user("alicia"), user("alise"), user("alise-x"),
        user("bob"),
    ]  # fmt: skip
    found = near_ones(["alice", "alice-2", "alise", "bob", "nobody"], everybody)
    names = {name: [other.name for other in others] for name, others in found.items()}
    assert names == {"alice": ["alice-2", "alise"], "alice-2": ["alice"], "alise": ["alice"], "bob": []}


def test_the_index_finds_what_comparing_all_pairs_finds():
    drawn = random.Random(7)
    names = {"".join(drawn.choices("abi1l0o-", k=drawn.randint(3, 6))).strip("-") or "x" for _ in range(150)}
    roles = list(Role)
    everybody = [
        user(f"n{name}".rstrip("-").replace("--", "-"), drawn.choice(roles)) for name in sorted(names)
    ]
    everybody = list({one.name: one for one in everybody if "--" not in one.name}.values())
    found = near_ones([one.name for one in everybody], everybody)
    for one in everybody:
        across = {
            other.name for other in everybody if other.role != one.role and are_near(one.name, other.name)
        }
        assert across <= {other.name for other in found[one.name]}
