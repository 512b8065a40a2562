"""The words a policy is written in: a verdict for each call, or rules that look at its arguments first."""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What the kernel does with a call; the value is what the filter returns (linux/seccomp.h)."""

    ALLOW = 0x7FFF0000
    ANSWER = 0x7FC00000  # the supervisor, which listens, is asked for the result
    KILL = 0x80000000  # the whole process, not only the thread
    EPERM = 0x00050000 | 1
    EINVAL = 0x00050000 | 22  # "this kernel does not know that": libraries take what older ones know
    ENOTTY = 0x00050000 | 25
    ENOSYS = 0x00050000 | 38  # "this kernel is too old": libc takes its older path
    EOPNOTSUPP = 0x00050000 | 95  # "this file system has none": GNU's cp and install then set the mode alone
    EAFNOSUPPORT = 0x00050000 | 97  # "this kernel has no such network": libraries take that for an answer


class Test(Enum):
    """How one argument is looked at. All but NULL read the low 32 bits only, as the kernel does with these
    arguments: a filter that also looked at the rest could be walked around by setting a bit there."""

    __test__ = False  # not a test case, whatever pytest makes of the name

    IN = "in"
    NOT_IN = "not in"
    ANY_BIT = "any bit"
    MASKED = "masked"  # two values: these bits of the argument equal that
    NULL = "null"  # a pointer: both halves are zero


@dataclass(frozen=True)
class Case:
    """If `argument` passes `test` against `values`, then `verdict`."""

    argument: int
    test: Test
    values: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Rule:
    """A call whose verdict depends on its arguments: the first case that holds, else `otherwise`."""

    call: str
    cases: tuple[Case, ...]
    otherwise: Verdict


@dataclass(frozen=True)
class Group:
    """Calls that share a verdict, and why."""

    verdict: Verdict
    reason: str
    calls: frozenset[str]


@dataclass(frozen=True)
class Policy:
    """A call stands in one rule, in one group, or in neither: `otherwise` is for those."""

    rules: tuple[Rule, ...]
    groups: tuple[Group, ...]
    otherwise: Verdict = Verdict.EPERM
