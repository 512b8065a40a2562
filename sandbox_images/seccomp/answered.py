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
LINKS = dict.fromkeys(
    ("readlink", "readlinkat"), "where /proc is empty, /proc/self/exe still names the program"
)

RESTARTS = "rt_sigaction"
_SIGCHLD = 17  # asm-generic/signal.h


def answered(policy: Policy) -> Policy:
    """`policy` for a run whose supervisor listens: what that answers is no longer refused."""
    groups = tuple(replace(group, calls=group.calls - set(ALWAYS)) for group in policy.groups)
    let_through = Group(Verdict.ALLOW, "answered by the supervisor", frozenset(ALWAYS))
    return replace(policy, groups=(*groups, let_through))


def listening_policy(*, links: bool) -> Policy:
    """What makes the supervisor hear these calls, and that a process will handle the end of its children.
    `links`: also those that read a symbolic link.
    """
    calls = frozenset(ALWAYS) | (frozenset(LINKS) if links else frozenset())
    handles = Rule(
        RESTARTS,
        (Case(1, Test.NULL, (), Verdict.ALLOW), Case(0, Test.IN, (_SIGCHLD,), Verdict.ANSWER)),
        otherwise=Verdict.ALLOW,
    )
    heard = Group(Verdict.ANSWER, "answered by the supervisor", calls)
    return Policy((handles,), (heard,), otherwise=Verdict.ALLOW)
