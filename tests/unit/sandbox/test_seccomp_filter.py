"""The compiled filter, judged by a small interpreter of classic BPF: what would the kernel do with this
call?
"""

import hashlib
import re
import struct
from pathlib import Path

import pytest

from sandbox_images.seccomp.bpf import ARCHITECTURES, Architecture, compile_policy
from sandbox_images.seccomp.policy import STRICT, Verdict
from sandbox_images.seccomp.syscalls import AARCH64, X86_64

# A change of these is a change of what every pipeline may do: review it as one.
GOLDEN = {
    "x86_64": "8bf429f9749a1269fc7061eb9a5d56e36d73d587d4409b27d9fb3cc56999b3b8",
    "aarch64": "11ff5e954a09dd23f8d28cd857a9d9d20788a3c0d00779e58ceda665496f0ab3",
}
I386, X32_BIT = 0x40000003, 0x40000000
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
RULED = {rule.call for rule in STRICT.rules}
BY_NAME = {name: group.verdict for group in STRICT.groups for name in group.calls}
# two counters, and a variant that only big-endian machines have
NOT_CALLS = ("syscalls", "arch_specific_syscall", "sync_file_range2")
FOR_32_BIT = range(403, 424)  # clock_gettime64 and its kin
HIGH = 1 << 32

both = pytest.mark.parametrize("machine", ARCHITECTURES.values(), ids=lambda machine: machine.name)


def verdict_of(machine: Architecture, number: int, *arguments: int, audit: int | None = None) -> Verdict:
    data = struct.pack(
        "<IIQ6Q", number, audit or machine.audit, 0, *(arguments + (0,) * (6 - len(arguments)))
    )
    return Verdict(interpret(compile_policy(STRICT, machine), data))


def interpret(program: bytes, data: bytes) -> int:
    accumulator, position = 0, 0
    while True:
        code, if_true, if_false, constant = struct.unpack_from("<HBBI", program, 8 * position)
        position += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("<I", data, constant)
            case 0x54:
                accumulator &= constant
            case 0x15:
                position += if_true if accumulator == constant else if_false
            case 0x35:
                position += if_true if accumulator >= constant else if_false
            case 0x45:
                position += if_true if accumulator & constant else if_false
            case 0x06:
                return constant
            case _:
                raise ValueError(f"instruction {code:#x}")


@both
def test_program_is_the_reviewed_one(machine):
    assert hashlib.sha256(compile_policy(STRICT, machine)).hexdigest() == GOLDEN[machine.name]


@both
def test_program_fits_the_kernel_limit(machine):
    assert len(compile_policy(STRICT, machine)) // 8 <= 4096


@both
def test_every_number_gets_the_verdict_of_its_name(machine):
    names = {number: name for name, number in machine.numbers.items()}
    for number in range(1024):
        name = names.get(number)
        if name not in RULED:
            assert verdict_of(machine, number) is BY_NAME.get(name, Verdict.EPERM), (number, name)


def test_policy_decides_every_known_call_once():
    decided = [rule.call for rule in STRICT.rules] + [name for group in STRICT.groups for name in group.calls]
    assert sorted(decided) == sorted(set(X86_64) | set(AARCH64))


@both
def test_foreign_architecture_is_killed(machine):
    for number in range(1024):
        assert verdict_of(machine, number, audit=I386) is Verdict.KILL


def test_x32_numbers_are_killed():
    for number in range(1024):
        assert verdict_of(ARCHITECTURES["x86_64"], X32_BIT | number) is Verdict.KILL


A, E = Verdict.ALLOW, Verdict.EPERM
ARGUMENT_CASES = [
    ("clone", (0x11,), A),
    ("clone", (0x3D0F00,), A),  # what pthread_create asks for
    *[("clone", (flag | 0x11,), E) for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000)],
    *[("clone", (flag | 0x11,), E) for flag in (0x10000000, 0x20000000, 0x40000000)],
    ("clone", (HIGH | 0x10000011,), E),
    ("ioctl", (0, 0x5401), A),
    ("ioctl", (0, 0x5413), A),
    ("ioctl", (0, 0x5412), Verdict.ENOTTY),  # TIOCSTI
    ("ioctl", (0, HIGH | 0x5412), Verdict.ENOTTY),
    ("ioctl", (0, 0x541C), Verdict.ENOTTY),  # TIOCLINUX
    *[("fcntl", (3, command), A) for command in (0, 1, 2, 3, 4, 1030)],
    *[("fcntl", (3, command), E) for command in (5, 6, 7, 8, 15, 36, 37, 38, 1024, 1026, 1031, 1033)],
    ("prctl", (4,), A),
    ("prctl", (38,), A),
    *[("prctl", (option,), E) for option in (8, 22, 24, 26, 35, 36, 47, 59, 62, 67, 0x59616D61)],
    ("personality", (0,), A),
    ("personality", (0xFFFFFFFF,), A),
    ("personality", (0x0040000,), E),
    ("mmap", (0, 4096, 3, 0x22), A),
    ("mmap", (0, 4096, 3, 0x01), A),  # shared, of a file
    ("mmap", (0, 4096, 3, 0x21), E),
    ("mmap", (0, 4096, 3, 0x40021), E),
    ("madvise", (0, 4096, 4), A),
    ("madvise", (0, 4096, 12), E),
    ("fadvise64", (3, 0, 0, 3), A),
    ("fadvise64", (3, 0, 0, 4), E),
    ("setrlimit", (7, 1), A),
    ("setrlimit", (4, 1), E),
    ("prlimit64", (0, 7, 0x1000), A),
    ("prlimit64", (1, 7, 0x1000), E),
    ("prlimit64", (0, 4, 0), A),
    ("prlimit64", (0, 4, 0x1000), E),
    ("prlimit64", (0, 4, HIGH), E),  # a pointer whose low half is zero
    *[("socket", (family, 1), Verdict.EAFNOSUPPORT) for family in range(46)],
]


@both
@pytest.mark.parametrize(("call", "arguments", "expected"), ARGUMENT_CASES)
def test_arguments(machine, call, arguments, expected):
    assert verdict_of(machine, machine.numbers[call], *arguments) is expected


def test_every_rule_has_a_case_here():
    assert {rule.call for rule in STRICT.rules} <= {call for call, _, _ in ARGUMENT_CASES}


@both
def test_numbers_agree_with_the_kernel_headers_where_installed(machine):
    header = HEADERS[machine.name]
    text = header.read_text() if header.exists() else ""
    for name, number in re.findall(r"^#define __NR_(\w+)\s+(\d+)$", text, re.MULTILINE):
        if name not in NOT_CALLS and int(number) not in FOR_32_BIT:
            assert machine.numbers.get(name) == int(number), name
