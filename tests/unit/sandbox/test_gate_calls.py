"""No system call is let through of which nobody has said what it tells a run."""

import ast
import dataclasses

from sandbox_images.gate import gate_sources
from sandbox_images.gate.classified import let_through, twice, unclassified
from sandbox_images.seccomp.answered import answered
from sandbox_images.seccomp.model import Case, Group, Rule, Test, Verdict
from sandbox_images.seccomp.policy import STRICT
from sandbox_images.seccomp.standard import STANDARD


def test_every_call_that_is_let_through_is_asked_or_says_why_not():
    for policy in (answered(STRICT), answered(STANDARD)):
        assert not unclassified(policy)
    assert not twice()


def test_a_call_that_is_newly_let_through_is_noticed():
    opened = Group(Verdict.ALLOW, "a test", frozenset({"swapon"}))
    by_rule = Rule("bpf", (Case(0, Test.IN, (1,), Verdict.ALLOW),), Verdict.EPERM)
    wider = dataclasses.replace(STRICT, groups=(*STRICT.groups, opened), rules=(*STRICT.rules, by_rule))
    assert unclassified(wider) == {"swapon", "bpf"}


def test_what_is_answered_or_allowed_for_some_arguments_is_let_through():
    assert {"sysinfo", "pipe2", "madvise", "getrusage"} <= set(let_through(answered(STRICT)))
    assert "mount" not in set(let_through(STRICT))


def named_inside() -> set[str]:
    """The senders of the pipeline, read and not imported: its modules know each other by bare names."""
    tree = ast.parse(gate_sources()["senders.py"])
    (table,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "SENDERS"
    )
    more = ast.parse(gate_sources()["last_senders.py"])
    defined = {node.name for node in (*tree.body, *more.body) if isinstance(node, ast.FunctionDef)}
    return {node.id for node in ast.walk(table) if isinstance(node, ast.Name)} & defined


def test_each_sender_is_asked_for_and_exists():
    from worker.sandbox.gate import senders

    every = (senders.ALL, senders.ALL_BESIDE, *senders.one_by_one())
    named = {name for sending in every for name in sending.senders}
    assert named | set(senders.OF_CHANNEL.values()) == named_inside()
