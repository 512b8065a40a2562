"""Calls of a run that its supervisor answers (supervisor/answers.py): the kernel's own answer is a number of
the whole host, which other runs move, and a refusal would stop software that is harmless.

The supervisor holds a filter that asks it (`listening_policy`), and every run inherits that one; the run's
own filter (`answered`) lets these calls through to it. A backend without a supervisor refuses most of them.
"""

from dataclasses import replace

from .model import Case, Group, Policy, Rule, Test, Verdict

_CREATES = "the number of a pipe comes from one sequence for the host"
_STATES = "load, free memory and free space are those of the whole host"
ALWAYS = {
    **dict.fromkeys(("pipe", "pipe2"), _CREATES),
    **dict.fromkeys(("statfs", "fstatfs", "sysinfo"), _STATES),
}
# With which argument a caller says how much room it has for the name. That of nobody but the supervisor
# goes to the kernel: a supervisor that asked itself would wait for ever.
_ROOM = {"readlink": 2, "readlinkat": 3}
SUPERVISORS_ROOM = 4099
LINKS = dict.fromkeys(_ROOM, "where /proc is empty, /proc/self/exe still names the program")


def answered(policy: Policy) -> Policy:
    """`policy` for a run whose supervisor listens: what that answers is no longer refused."""
    groups = tuple(replace(group, calls=group.calls - set(ALWAYS)) for group in policy.groups)
    let_through = Group(Verdict.ALLOW, "answered by the supervisor", frozenset(ALWAYS))
    return replace(policy, groups=(*groups, let_through))


def listening_policy(*, links: bool) -> Policy:
    """What makes the supervisor hear these calls. `links`: also those that read a symbolic link."""
    asked = Group(Verdict.ANSWER, "answered by the supervisor", frozenset(ALWAYS))
    rules = tuple(
        Rule(call, (Case(room, Test.IN, (SUPERVISORS_ROOM,), Verdict.ALLOW),), Verdict.ANSWER)
        for call, room in _ROOM.items()
    )
    return Policy(rules if links else (), (asked,), otherwise=Verdict.ALLOW)
