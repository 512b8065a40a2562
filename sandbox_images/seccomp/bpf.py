"""Compile a policy into the classic BPF program that `bwrap --seccomp` and the kernel take.

The program is a straight list: reject foreign system-call conventions, decide the calls that need a look at
their arguments, then walk the allowed numbers as ascending ranges, else the policy's last word. Every jump
goes forward and stays inside one short block, so a block can be read (and tested) on its own.
"""

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import syscalls
from .model import Case, Policy, Rule, Test, Verdict


@dataclass(frozen=True)
class Architecture:
    """What the kernel calls a machine (linux/audit.h), its numbers, and whether x32 numbers exist beside
    them.
    """

    name: str
    audit: int
    numbers: Mapping[str, int]
    has_x32: bool


ARCHITECTURES = {
    "x86_64": Architecture("x86_64", 0xC000003E, syscalls.X86_64, True),
    "aarch64": Architecture("aarch64", 0xC00000B7, syscalls.AARCH64, False),
}

_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06  # BPF_LD|W|ABS, BPF_ALU|AND|K, BPF_RET|K
_IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT = 0x15, 0x35, 0x45  # BPF_JMP|JEQ|K, JGE, JSET
# struct seccomp_data: nr, arch, instruction pointer, six 64-bit arguments (little-endian on both machines)
_NUMBER_OFFSET, _ARCH_OFFSET, _ARGUMENTS_OFFSET = 0, 4, 16
_X32_BIT = 0x40000000
_STRETCH = 8  # ranges

Instruction = tuple[int, int, int, int]  # code, jump if true, jump if false, constant


def compile_policy(policy: Policy, architecture: Architecture) -> bytes:
    """The program as `struct sock_filter[]`. Calls that this machine does not have are left out."""
    numbers, program = architecture.numbers, _refuse_foreign_calls(architecture)
    ruled = {numbers[rule.call]: _rule_body(rule) for rule in policy.rules if rule.call in numbers}
    program += _leaping([(number, _only_for(number, ruled[number])) for number in sorted(ruled)])
    for verdict, listed in _numbers_by_verdict(policy, architecture):
        program += _leaping([(last, _range_body(first, last, verdict)) for first, last in _ranges(listed)])
    program.append(_verdict(policy.otherwise))
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _refuse_foreign_calls(architecture: Architecture) -> list[Instruction]:
    """Kill i386 (int 0x80) and x32 calls: they reach the same kernel under other numbers."""
    program = [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_IF_EQUAL, 1, 0, architecture.audit),
        _verdict(Verdict.KILL),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
    ]
    if architecture.has_x32:
        program += [(_IF_AT_LEAST, 0, 1, _X32_BIT), _verdict(Verdict.KILL)]
    return program


def _leaping(parts: list[tuple[int, list[Instruction]]]) -> list[Instruction]:
    """`parts` with the last number of each. One beyond a stretch leaps over it: a run tries them all."""
    program = []
    for stretch in (parts[begin : begin + _STRETCH] for begin in range(0, len(parts), _STRETCH)):
        body = [instruction for _, part in stretch for instruction in part]
        program += [(_IF_AT_LEAST, _jump(len(body)), 0, stretch[-1][0] + 1), *body]
    return program


def _only_for(number: int, body: list[Instruction]) -> list[Instruction]:
    """`body` returns on every path, so past it the accumulator still holds the call number."""
    return [(_IF_EQUAL, 0, _jump(len(body)), number), *body]


def _rule_body(rule: Rule) -> list[Instruction]:
    body: list[Instruction] = []
    for case in rule.cases:
        body += _case_body(case)
    return [*body, _verdict(rule.otherwise)]


def _case_body(case: Case) -> list[Instruction]:
    """Return the verdict if the case holds, else fall out at the end."""
    low = _ARGUMENTS_OFFSET + 8 * case.argument
    load, hit = (_LOAD, 0, 0, low), _verdict(case.verdict)
    count = len(case.values)
    match case.test:
        case Test.IN:  # each comparison jumps onto the return; the last one over it if it fails too
            tests = [(_IF_EQUAL, count - 1 - i, int(i == count - 1), v) for i, v in enumerate(case.values)]
        case Test.NOT_IN:  # each comparison jumps past the return
            tests = [(_IF_EQUAL, count - i, 0, v) for i, v in enumerate(case.values)]
        case Test.ANY_BIT:
            tests = [(_IF_ANY_BIT, 0, 1, case.values[0])]
        case Test.MASKED:
            tests = [(_AND, 0, 0, case.values[0]), (_IF_EQUAL, 0, 1, case.values[1])]
        case Test.NULL:  # a pointer of which one half is zero is still a pointer
            tests = [(_IF_EQUAL, 0, 3, 0), (_LOAD, 0, 0, low + 4), (_IF_EQUAL, 0, 1, 0)]
    return [load, *tests, hit]


def _numbers_by_verdict(policy: Policy, architecture: Architecture) -> Iterable[tuple[Verdict, list[int]]]:
    """What falls out at the end needs no code."""
    for verdict in (Verdict.ENOSYS, Verdict.EOPNOTSUPP, Verdict.EAFNOSUPPORT, Verdict.ANSWER, Verdict.ALLOW):
        if verdict is policy.otherwise:
            continue
        names = {name for group in policy.groups if group.verdict is verdict for name in group.calls}
        yield verdict, sorted(architecture.numbers[name] for name in names if name in architecture.numbers)


def _ranges(numbers: list[int]) -> list[tuple[int, int]]:
    firsts = [number for number in numbers if number - 1 not in numbers]
    lasts = [number for number in numbers if number + 1 not in numbers]
    return list(zip(firsts, lasts, strict=True))


def _range_body(first: int, last: int, verdict: Verdict) -> list[Instruction]:
    if first == last:
        return [(_IF_EQUAL, 0, 1, first), _verdict(verdict)]
    return [(_IF_AT_LEAST, 0, 2, first), (_IF_AT_LEAST, 1, 0, last + 1), _verdict(verdict)]


def _verdict(verdict: Verdict) -> Instruction:
    return (_RETURN, 0, 0, verdict.value)


def _jump(distance: int) -> int:
    if distance > 255:
        raise ValueError("a rule is too long for the 8-bit jump of classic BPF: split it")
    return distance
