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


def test_the_same_display_name_in_any_letters():
    everybody = [
        user("alice", Role.RIGHTS_HOLDER),
        user("m1"),
        user("m2"),
        user("m3"),
        user("m4"),
        user("m5"),
    ]
    shown = {
        "alice": "Alice Smith",
        "m1": "\u0410l\u0456\u0441\u0435 Sm\u0456th",  # of Cyrillic letters that look the same
        "m2": "A\u200blice\u00a0 SMITH.",
        "m3": "Alice Smyth",
        "m4": "\u0391\u2113ice Smith",  # of a Greek and a mathematical one
        "m5": "A.L.I.C.E",
    }
    found = near_ones(["alice", "m3", "m5"], everybody, shown)
    names = {name: [other.name for other in others] for name, others in found.items()}
    assert names == {"alice": ["m1", "m2", "m4", "m5"], "m3": [], "m5": ["alice"]}
    # without display names none of them is called alike
    assert near_ones(["alice"], everybody) == {"alice": []}
    assert near_ones(["m1", "m2"], everybody, {"m1": "...", "m2": "\u200b"}) == {"m1": [], "m2": []}


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
