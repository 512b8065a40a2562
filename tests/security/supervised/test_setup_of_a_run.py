"""A run's child makes a list of system calls. Where one does not go as foreseen, no untrusted code runs."""

from dataclasses import replace

import pytest
from sandbox_harness import SLOT, TIGHT
from supervisors import supervisor_of

from worker.sandbox.protocol import Cause, SandboxUnavailable

PERSON = "person-4711"
SCRIPT = "import sys; open('/out/verdict', 'a').write(open('/in/a').read() + sys.argv[3][0])"
TWO_LEVELS = ("participant", "group")

# the kernel refuses the step that the block names, or that has its number
REFUSING = """

_wanted, _made = None, 0


def _refused(name):
    global _wanted, _made
    if _wanted is None:
        _wanted = open("/run/dpgate/in/step").read()
    _made += 1
    if _wanted not in (name, str(_made)):
        return 0
    ctypes.set_errno(errno.EPERM)
    return -1
"""


@pytest.fixture
def refuse(supervised, ask, doctored):
    """Gives what is said of a run whose child is refused a step, or nothing if there is a result."""
    call = "given = function(*arguments)"
    doctored(
        "calls.py",
        lambda source: source.replace(call, "given = _refused(name) or function(*arguments)") + REFUSING,
    )

    with supervised.open_slot(ask(SCRIPT), slot=SLOT) as slot:

        def once(step: str) -> str:
            try:
                slot.run({"a": b"1", f"{PERSON}/a": b"1", "step": step.encode()})
            except SandboxUnavailable as error:
                return str(error)
            return ""

        yield once


STEPS = (
    "die with the parent",
    "unshare",
    "mount on /in",
    "mount on /tmp",
    "uid_map",
    "capset",
    "Landlock",
    "filter",
)


def test_a_step_that_fails_is_named(refuse, subtests):
    for name in STEPS:
        with subtests.test(msg=name):
            assert refuse(name).endswith(f"SetupFailed: PermissionError: {name}: Operation not permitted")
    assert refuse("none of them") == ""


@pytest.mark.deep("a supervisor for each of a hundred steps; of some, every change is asked")
def test_whichever_step_fails_no_untrusted_code_runs(refuse):
    said = []
    while not said or said[-1]:
        said.append(refuse(str(len(said) + 1)))
    assert len(said) > 90
    for each in said[:-1]:
        assert each.startswith("a run could not be isolated: SetupFailed: PermissionError: ")
        assert PERSON not in each


# what is sent to a child, or open in its zygote, is not what the list of calls was written for
UNFORESEEN = {
    "one more in the message": ("run.py", "handed = self._systems.of_level(index)", "handed += handed[:1]"),
    "one fewer in the message": ("run.py", "self._answers.pipes = handed[-1]", "handed = handed[:-1]"),
    "one more in the zygote": ("zygote.py", "kernel.unshare(kernel.NEWPID)", "self.more = os.dup(0)"),
    "a message cut short": (
        "zygote.py",
        "self._numbers = kernel.process_numbers()",
        "global MOST_DESCRIPTORS; MOST_DESCRIPTORS = 1",
    ),
}


@pytest.mark.parametrize("name", UNFORESEEN)
def test_a_descriptor_with_another_number_ends_the_run(name, supervised, ask, doctored):
    file, line, more = UNFORESEEN[name]
    doctored(file, lambda source: source.replace(line, f"{line}; {more}"))
    with (
        supervised.open_slot(ask(SCRIPT), slot=SLOT) as slot,
        pytest.raises(
            SandboxUnavailable, match=r"could not be isolated.*/proc/self/oom_score_adj: \d+ instead of \d+"
        ),
    ):
        slot.run({"a": b"1"})


def hold_up(source: str) -> str:
    """The first child of all does not come to read what it is to do."""
    line = "        if kernel.fork() == 0:\n"
    count = "        self.forks = getattr(self, 'forks', 0) + 1\n"
    wait = "            if self.forks == 1: select.select((), (), ())\n"
    return source.replace(line, count + line + wait)


def killed_unread(supervised, asked) -> list[object]:
    """How the first run ended, which was killed before it had read its message, and what the second gave."""
    with supervised.open_slot(asked, slot=SLOT) as slot:
        first, supervisor = slot.run({"a": b"1"}).detail.cause, supervisor_of(slot)
        second = slot.run({"a": b"2"}).outputs
        assert supervisor_of(slot) == supervisor
    return [first, second]


@pytest.mark.parametrize("mode", ["warm"])
def test_what_a_killed_run_has_not_read_the_next_one_does_not(supervised, ask, doctored):
    doctored("zygote.py", hold_up)
    asked = ask(SCRIPT, levels=TWO_LEVELS, limits=replace(TIGHT, wall_s=1.5))
    assert killed_unread(supervised, asked) == [Cause.WALL, {"verdict": b"2p2g"}]


@pytest.mark.parametrize("mode", ["warm"])
def test_it_would_if_the_supervisor_did_not_take_the_message_back(supervised, ask, doctored):
    """The fork for the level that is not reached would be the killed run."""
    doctored("zygote.py", hold_up)
    doctored("zygote.py", lambda source: source.replace("        self._forget()\n", ""))
    asked = ask(SCRIPT, levels=TWO_LEVELS, limits=replace(TIGHT, wall_s=1.5))
    with pytest.raises(SandboxUnavailable, match="could not be isolated"):
        killed_unread(supervised, asked)


@pytest.mark.parametrize("mode", ["warm"])
def test_a_zygote_that_cannot_get_ready_for_the_next_run_says_why(supervised, ask, doctored):
    """The run before has its result: the limit was reached after it."""
    line = "        kernel.unshare(kernel.NEWPID)\n"
    count = "        self.made = getattr(self, 'made', 0) + 1\n"
    full = "        if self.made == 3: raise OSError(28, 'unshare: full')\n"
    doctored("zygote.py", lambda source: source.replace(line, line + count + full))
    with supervised.open_slot(ask(SCRIPT), slot=SLOT) as slot:
        for _ in range(2):
            assert slot.run({"a": b"1"}).outputs == {"verdict": b"1p"}
        with pytest.raises(SandboxUnavailable, match=r"unshare: full \(a limit of this host is reached"):
            slot.run({"a": b"2"})
        assert slot.run({"a": b"3"}).outputs == {"verdict": b"3p"}
