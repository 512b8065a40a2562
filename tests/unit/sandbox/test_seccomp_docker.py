"""Both compilations of a policy agree: what a container engine is told, and what the kernel is given.

The engine's side is judged by an interpreter of its JSON. That interpreter was itself compared with filters
read back from the kernel (PTRACE_SECCOMP_GET_FILTER) of containers that Docker 20.10 with runc 1.1 had
started: they differ only in calls newer than that libseccomp, which runc answers with ENOSYS.
"""

import itertools
import json

import pytest
from bpf_interpreter import I386, X32_BIT, verdict_value

from sandbox_images.seccomp.bpf import ARCHITECTURES, compile_policy
from sandbox_images.seccomp.docker import RUNTIME_NEEDS, docker_profile, docker_profile_text
from sandbox_images.seccomp.policy import STRICT, Verdict
from sandbox_images.seccomp.standard import STANDARD

POLICIES = {"strict": STRICT, "standard": STANDARD}
HIGH = 1 << 32
COMPARE = {
    "SCMP_CMP_EQ": lambda argument, entry: argument == entry["value"],
    "SCMP_CMP_MASKED_EQ": lambda argument, entry: argument & entry["value"] == entry["valueTwo"],
}

both = pytest.mark.parametrize("machine", ARCHITECTURES.values(), ids=lambda machine: machine.name)
each = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def answers(entries, default, arguments) -> set[int]:
    """What the entries that hold say. More than one answer: the profile contradicts itself."""
    found = {
        _answer(entry["action"], entry.get("errnoRet"))
        for entry in entries
        if all(COMPARE[part["op"]](arguments[part["index"]], part) for part in entry.get("args", ()))
    }
    return found or {default}


def _answer(action, errno) -> int:
    return Verdict.ALLOW.value if action == "SCMP_ACT_ALLOW" else 0x00050000 | errno


def samples(rule):
    """Argument lists around every value that the rule names: itself, its neighbours, with a high half."""
    interesting = {}
    for case in (*rule.cases, *(case for each in (STRICT, STANDARD) for case in _cases_of(each, rule.call))):
        values = interesting.setdefault(case.argument, {0, 1, 2, 0x11, 0xFFFFFFFF, HIGH, HIGH | 1})
        for value in case.values:
            values |= {
                value,
                value ^ 1,
                (value + 1) & 0xFFFFFFFF,
                value | HIGH,
                value ^ 0x80000000,
                value | 0x1000,
            }
    for chosen in itertools.product(*(sorted(values) for values in interesting.values())):
        arguments = [0] * 6
        for argument, value in zip(interesting, chosen, strict=True):
            arguments[argument] = value
        yield tuple(arguments)


def _cases_of(policy, call):
    return [case for rule in policy.rules if rule.call == call for case in rule.cases]


@each
@both
def test_same_verdict_for_every_call(policy, machine):
    profile = json.loads(docker_profile_text(policy, machine))
    program = compile_policy(policy, machine)
    default = _answer(profile["defaultAction"], profile["defaultErrnoRet"])
    ruled = {rule.call: rule for rule in policy.rules}
    judged = 0
    for name in set(machine.numbers) - set(RUNTIME_NEEDS):
        entries = [entry for entry in profile["syscalls"] if name in entry["names"]]
        for arguments in samples(ruled[name]) if name in ruled else [(0,) * 6, (HIGH | 1,) * 6]:
            judged += 1
            bpf = verdict_value(program, machine.audit, machine.numbers[name], arguments)
            assert answers(entries, default, arguments) == {bpf}, (name, arguments)
    assert judged > 1000


@each
@both
def test_unnamed_calls_are_refused_by_both(policy, machine):
    profile = docker_profile(policy, machine)
    named = {name for entry in profile["syscalls"] for name in entry["names"]}
    assert named <= set(machine.numbers)
    assert (profile["defaultAction"], profile["defaultErrnoRet"]) == ("SCMP_ACT_ERRNO", 1)


@each
@both
def test_foreign_calls_have_no_way_in(policy, machine):
    """An engine kills what it names no architecture for, as the BPF does."""
    profile = docker_profile(policy, machine)
    assert profile["architectures"] == [f"SCMP_ARCH_{machine.name.upper()}"]
    assert not {"archMap", "subArchitectures"} & set(profile)
    program = compile_policy(policy, machine)
    assert verdict_value(program, I386, 0) == Verdict.KILL.value
    if machine.has_x32:
        assert verdict_value(program, machine.audit, X32_BIT) == Verdict.KILL.value


@both
def test_what_the_runtime_needs_is_all_that_differs(machine):
    profile = docker_profile(STRICT, machine)
    unconditional = {
        name
        for entry in profile["syscalls"]
        if entry["action"] == "SCMP_ACT_ALLOW" and "args" not in entry
        for name in entry["names"]
    }
    allowed = {name for group in STRICT.groups if group.verdict is Verdict.ALLOW for name in group.calls}
    assert unconditional - allowed == set(RUNTIME_NEEDS)


@each
@both
def test_no_entry_looks_twice_at_one_argument(policy, machine):
    """runc would take such conditions for alternatives."""
    for entry in docker_profile(policy, machine)["syscalls"]:
        looked_at = [part["index"] for part in entry.get("args", ())]
        assert len(looked_at) == len(set(looked_at))
