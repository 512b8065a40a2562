"""The compiled filter, judged by a small interpreter of classic BPF: what would the kernel do with this
call?
"""

import hashlib
import re
import signal
from pathlib import Path

import pytest
from bpf_interpreter import I386, X32_BIT, verdict_value

from sandbox_images.seccomp.answered import ALWAYS, answered, listening_policy
from sandbox_images.seccomp.bpf import ARCHITECTURES, Architecture, compile_policy
from sandbox_images.seccomp.policy import STRICT, Policy, Verdict
from sandbox_images.seccomp.refused import REFUSED
from sandbox_images.seccomp.standard import STANDARD
from sandbox_images.seccomp.syscalls import AARCH64, X86_64

# A change of these is a change of what every pipeline may do: review it as one.
GOLDEN = {
    ("strict", "x86_64"): "8be25678acff83ae1b6fe1acb7533f0619ff3d5eae0cdd092eabddb0bbe7c305",
    ("strict", "aarch64"): "f9a51ad2d6e305669fa61170ec273789f7d91948701e526e6dae9a1172b2265b",
    ("standard", "x86_64"): "e6485adf87ad61b742d0602fe264bde37bab3051e894b20c2a7d0b94b4209ec3",
    ("standard", "aarch64"): "02af13b3cce4afafb4011c2a678a06c277cd1ef2ff8a9a08aa7e4da088a17d58",
    ("strict, answered", "x86_64"): "739516781677ad736a864c673ee7ea3761e9cf937563151551ef400e9e0bd71c",
    ("strict, answered", "aarch64"): "7af427721586bf6482b54edc7fb4e97648a74fcc6a2217778c5af24cad75ec96",
    ("standard, answered", "x86_64"): "ef7bf1c52c2a19fac1cad6729acc6212024888ed4e61fe9a9c95a27f13ffdf0b",
    ("standard, answered", "aarch64"): "ce3f3d1905a0d27a8382ddcc9cde17d602b32c49f69fae27378cb0ba14ebb29e",
}
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
POLICIES = {
    "strict": STRICT,
    "standard": STANDARD,
    "strict, answered": answered(STRICT),
    "standard, answered": answered(STANDARD),
}
# two counters, and a variant that only big-endian machines have
NOT_CALLS = ("syscalls", "arch_specific_syscall", "sync_file_range2")
FOR_32_BIT = range(403, 424)  # clock_gettime64 and its kin
HIGH = 1 << 32

both = pytest.mark.parametrize("machine", ARCHITECTURES.values(), ids=lambda machine: machine.name)
each = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def verdict_of(policy: Policy, machine: Architecture, number: int, *arguments: int) -> Verdict:
    return Verdict(verdict_value(compile_policy(policy, machine), machine.audit, number, arguments))


@both
@pytest.mark.parametrize("name", POLICIES)
def test_program_is_the_reviewed_one(name, machine):
    program = compile_policy(POLICIES[name], machine)
    assert hashlib.sha256(program).hexdigest() == GOLDEN[name, machine.name]


@each
@both
def test_program_fits_the_kernel_limit(policy, machine):
    assert len(compile_policy(policy, machine)) // 8 <= 4096


@each
@both
def test_every_number_gets_the_verdict_of_its_name(policy, machine):
    names = {number: name for name, number in machine.numbers.items()}
    ruled = {rule.call for rule in policy.rules}
    by_name = {name: group.verdict for group in policy.groups for name in group.calls}
    program = compile_policy(policy, machine)
    for number in range(1024):
        name = names.get(number)
        if name not in ruled:
            found = Verdict(verdict_value(program, machine.audit, number))
            assert found is by_name.get(name, Verdict.EPERM), (number, name)


def test_every_known_call_is_decided_once():
    """And of what STRICT refuses there is the reason, once; the other policies allow some of that."""
    reasons = [name for group in REFUSED for name in group.calls]
    assert all(group.verdict is STRICT.otherwise for group in REFUSED)
    for policy in POLICIES.values():
        rules = [rule.call for rule in policy.rules]
        decided = rules + [name for group in policy.groups for name in group.calls]
        assert len(decided) == len(set(decided))
        refused = [name for name in reasons if policy is STRICT or name not in decided]
        assert sorted(decided + refused) == sorted(set(X86_64) | set(AARCH64))


@each
@both
def test_foreign_architecture_is_killed(policy, machine):
    program = compile_policy(policy, machine)
    for number in range(1024):
        assert verdict_value(program, I386, number) == Verdict.KILL.value


@each
def test_x32_numbers_are_killed(policy):
    machine = ARCHITECTURES["x86_64"]
    program = compile_policy(policy, machine)
    for number in range(1024):
        assert verdict_value(program, machine.audit, X32_BIT | number) == Verdict.KILL.value


A, E = Verdict.ALLOW, Verdict.EPERM
ARGUMENT_CASES = [
    ("clone", (0x11,), A),
    ("clone", (0x3D0F00,), A),  # what pthread_create asks for
    *[("clone", (flag | 0x11,), E) for flag in (0x20000, 0x2000000, 0x4000000, 0x8000000)],
    *[("clone", (flag | 0x11,), E) for flag in (0x10000000, 0x20000000, 0x40000000)],
    ("clone", (HIGH | 0x10000011,), E),
    ("clone", (0x1011,), E),  # a descriptor of the child, whose number is one of the host's
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
    ("mmap", (0, 4096, 3, 0x4021), E),
    ("mmap", (0, 4096, 3, 0x40022), E),  # huge pages
    ("mmap", (0, 4096, 3, 0x28), Verdict.EINVAL),  # droppable
    ("mmap", (0, 4096, 3, HIGH | 0x28), Verdict.EINVAL),
    ("madvise", (0, 4096, 4), A),
    ("madvise", (0, 4096, 12), E),
    ("madvise", (0, 4096, 8), Verdict.EINVAL),
    *[("lseek", (3, 0, whence), A) for whence in (0, 1, 2)],
    *[("lseek", (3, 0, whence), Verdict.EINVAL) for whence in (3, 4, HIGH | 3)],
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
    *[(name, (), Verdict.EOPNOTSUPP) for name in ("setxattr", "lsetxattr", "fsetxattr", "removexattr")],
]


STANDARD_CASES = [
    ("socketpair", (1, 1), A),
    ("socketpair", (HIGH | 1, 1), A),  # the kernel reads an int, too
    *[("socketpair", (family, 1), E) for family in (0, *range(2, 46))],
    ("sendto", (3, 0x1000, 4, 0, 0), A),
    ("sendto", (3, 0x1000, 4, 0, 0x2000), E),  # to an address
    ("sendto", (3, 0x1000, 4, 0, HIGH), E),
    *[("fcntl", (3, command), A) for command in (5, 6, 7, 36, 37, 38, 1033, 1034)],
    *[("fcntl", (3, command), E) for command in (8, 10, 15, 1024, 1026, 1031)],
    *[("mknodat", (-100 & 0xFFFFFFFF, 0x1000, kind | 0o600), E) for kind in (0x2000, 0x6000, 0x8000, 0xC000)],
    ("mknodat", (-100 & 0xFFFFFFFF, 0x1000, 0x11B6), A),
    ("mmap", (0, 4096, 3, 0x21), A),
    ("mmap", (0, 4096, 3, 0x40021), E),
    ("mmap", (0, 4096, 3, 0x40022), E),
    *[("memfd_create", (0x1000, flags), A) for flags in (0, 1, 3, 9, 0x11)],
    *[("memfd_create", (0x1000, flags), Verdict.ENOSYS) for flags in (4, 5, 0x20, 0x54000005)],
]
OWN = {"fcntl", "mmap"}  # what STANDARD answers otherwise than STRICT


@both
def test_arguments_strict(subtests, machine):
    for call, arguments, expected in ARGUMENT_CASES:
        with subtests.test(call=call, arguments=arguments, expected=expected):
            assert verdict_of(STRICT, machine, machine.numbers[call], *arguments) is expected


@both
def test_arguments_standard(subtests, machine):
    for call, arguments, expected in STANDARD_CASES + [case for case in ARGUMENT_CASES if case[0] not in OWN]:
        with subtests.test(call=call, arguments=arguments, expected=expected):
            assert verdict_of(STANDARD, machine, machine.numbers[call], *arguments) is expected


MKNOD_MAKES_FIFOS_ONLY = ((0x1000, A), (0x2000, E), (0x6000, E), (0x8000, E), (0xC000, E), (0, E))


def test_mknod_makes_fifos_only(subtests):
    for kind, expected in MKNOD_MAKES_FIFOS_ONLY:
        with subtests.test(kind=kind, expected=expected):
            machine = ARCHITECTURES["x86_64"]  # others have only mknodat
            assert verdict_of(STANDARD, machine, machine.numbers["mknod"], 0x1000, kind | 0o600) is expected


def test_every_rule_has_a_case_here():
    assert {rule.call for rule in STRICT.rules} <= {call for call, _, _ in ARGUMENT_CASES}
    ruled = {rule.call for rule in STANDARD.rules}
    assert ruled <= {call for call, _, _ in STANDARD_CASES + ARGUMENT_CASES} | {"mknod"}


@both
def test_numbers_agree_with_the_kernel_headers_where_installed(machine):
    header = HEADERS[machine.name]
    text = header.read_text() if header.exists() else ""
    for name, number in re.findall(r"^#define __NR_(\w+)\s+(\d+)$", text, re.MULTILINE):
        if name not in NOT_CALLS and int(number) not in FOR_32_BIT:
            assert machine.numbers.get(name) == int(number), name


@both
def test_a_listener_hears_what_it_answers_and_nothing_else(machine):
    programs = {links: compile_policy(listening_policy(links=links), machine) for links in (True, False)}
    for links, program in programs.items():
        heard = {
            name
            for name, number in machine.numbers.items()
            if verdict_value(program, machine.audit, number) == Verdict.ANSWER.value
        }
        assert heard == ({*ALWAYS} | ({"readlink", "readlinkat"} if links else set())) & set(machine.numbers)
        others = {
            verdict_value(program, machine.audit, number)
            for name, number in machine.numbers.items()
            if name not in heard
        }
        assert others == {Verdict.ALLOW.value}


@both
def test_a_listener_hears_that_a_process_will_handle_the_end_of_its_children(machine):
    program, action = compile_policy(listening_policy(links=False), machine), 1 << 40
    asked = {
        (number, place): verdict_value(
            program, machine.audit, machine.numbers["rt_sigaction"], (number, place)
        )
        for number in range(1, 65)
        for place in (0, action)
    }
    assert asked.pop((signal.SIGCHLD, action)) == Verdict.ANSWER.value
    assert set(asked.values()) == {Verdict.ALLOW.value}


@pytest.mark.parametrize("policy", [STRICT, STANDARD], ids=["strict", "standard"])
@both
def test_a_run_whose_supervisor_listens_is_refused_nothing_of_what_that_answers(policy, machine):
    before, after = (compile_policy(each, machine) for each in (policy, answered(policy)))
    for name, number in machine.numbers.items():
        found = verdict_value(after, machine.audit, number)
        assert found == (A.value if name in ALWAYS else verdict_value(before, machine.audit, number)), name
