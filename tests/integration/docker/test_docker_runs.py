"""Pipelines on a real daemon: what they see, how they end, and what comes back."""

import hashlib
import json
from dataclasses import replace

import pytest
from docker_orders import GIVEN_SCRIPT, TIGHT, order_for

from worker.sandbox.protocol import KIB, MIB, Audience, Cause


def test_outputs_come_back_and_nothing_else(run):
    result = run(
        """
os.mkdir(out + "/deep")
open(out + "/verdict", "w").write(open(given + "/a/b.csv").read().upper() + level)
open(out + "/deep/second", "wb").write(bytes(range(256)))
open(out + "/undeclared", "w").write("x")
""",
        {"a/b.csv": b"text", "c": b""},
        outputs=("verdict", "deep/second"),
    )
    assert result.outputs == {"verdict": b"TEXTparticipant", "deep/second": bytes(range(256))}
    assert result.detail.cause is Cause.COMPLETED
    assert (result.detail.exit_code, result.detail.level) == (0, "participant")
    assert result.detail.duration_s > 0


def test_blocks_may_hold_any_bytes(run):
    """Also those by which a person would detach from a terminal, and names that are not ASCII."""
    block = {
        "bytes": bytes(range(256)) * 300 + b"\x10\x11" * 9,
        "é/\u202e": b"",
        "x" * 255: b"1",
        "empty": b"",
    }
    script = """
import hashlib
found = {}
for folder, _, names in os.walk(given):
    for name in names:
        path = os.path.join(folder, name)
        found[os.path.relpath(path, given)] = hashlib.sha256(open(path, "rb").read()).hexdigest()
open(out + "/verdict", "w").write(json.dumps(found))
"""
    found = json.loads(run(script, block).outputs["verdict"])
    assert found == {name: hashlib.sha256(content).hexdigest() for name, content in block.items()}


def test_levels_run_in_order_on_the_same_out_with_their_own_tmp(run):
    result = run(
        """
print(level)
with open(out + "/verdict", "a") as file:
    file.write(f"{level} {os.listdir('/tmp')} {os.listdir('/dev/shm')};")
open("/tmp/left", "w"), open("/dev/shm/left", "w")
""",
        levels=("participant", "group"),
    )
    assert result.outputs == {"verdict": b"participant [] [];group [] [];"}
    assert result.detail.tail == "participant\ngroup\n"
    assert result.detail.level == "group"


def test_a_failed_level_is_the_last(run):
    result = run('open(out + "/verdict", "w"); sys.exit(7)', levels=("first", "second"))
    assert result.outputs is None
    assert (result.detail.cause, result.detail.exit_code, result.detail.level) == (Cause.EXIT, 7, "first")


def test_original_data_leave_no_word(sandbox, digest):
    talk = 'print("secret"); open(out + "/verdict", "w").write("1")'
    order = order_for(digest, GIVEN_SCRIPT, audience=Audience.ORIGINAL)
    with sandbox.open_slot(order, slot=0) as slot:
        results = [slot.run({"script.py": script.encode()}) for script in (talk, "sys.exit(3)", "os.abort()")]
    assert [result.outputs for result in results] == [{"verdict": b"1"}, None, None]
    assert [result.detail for result in results] == [None, None, None]


# changes of the order, and for each script how it ends
ENDINGS = {
    "by itself": (
        {},
        {
            "sys.exit(3)": (Cause.EXIT, 3),
            "import ctypes; ctypes.string_at(0)": (Cause.SIGNAL, -11),
            "pass": (Cause.OUTPUT, 0),
        },
    ),
    "wall": (
        {"limits": replace(TIGHT, wall_s=1)},
        {
            "time.sleep(60)": (Cause.WALL, None),
            'while True: print("x" * 10000)': (Cause.WALL, None),
        },
    ),
    "cpu": ({"limits": replace(TIGHT, cpu_s=1)}, {"while True: pass": (Cause.SIGNAL, -9)}),
    "memory": (
        {},
        {
            "x = b'1' * (400 << 20)": (Cause.MEMORY, None),
            "if os.fork() == 0: x = b'1' * (400 << 20)\nos.wait()": (Cause.MEMORY, None),
        },
    ),
    "no such command": ({"command": ("no-such-command",)}, {"": (Cause.START, None)}),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_endings(sandbox, digest, ending):
    """After each, its slot runs the next."""
    changes, scripts = ENDINGS[ending]
    with sandbox.open_slot(order_for(digest, GIVEN_SCRIPT, **changes), slot=0) as slot:
        for script, (cause, code) in scripts.items():
            result = slot.run({"script.py": script.encode()})
            assert result.outputs is None
            ended = result.detail.cause, result.detail.exit_code
            # a busy daemon hears of the kernel's kill by memory after it has told of the end
            late = {(Cause.SIGNAL, -9)} if cause is Cause.MEMORY else set()
            assert ended in {(cause, code), *late}, (script, result.detail)


@pytest.mark.parametrize("command", ["/usr", "/etc/passwd"], ids=["a folder", "not a program"])
def test_what_is_no_command_does_not_start(run_straight, command):
    result = run_straight("", command=(command,))
    assert (result.outputs, result.detail.cause, result.detail.exit_code) == (None, Cause.START, None)


# what a payload puts at /out/verdict; none of it is an output
TRICKS = {
    "link to the host": 'os.symlink("/etc/passwd", out + "/verdict")',
    "link to its input": 'os.symlink(given + "/a", out + "/verdict")',
    "second name": 'open(out + "/x", "w"); os.link(out + "/x", out + "/verdict")',
    "folder": 'os.mkdir(out + "/verdict")',
    "too large": f'open(out + "/verdict", "w").write("1" * {64 * KIB + 1})',
    "sparse": 'open(out + "/verdict", "w").truncate(3 << 20)',
    "unreadable": 'open(out + "/verdict", "w"); os.chmod(out + "/verdict", 0)',
    "unreadable folder": 'open(out + "/verdict", "w"); os.chmod(out, 0)',
}


# The proxy has no part in what the keeper takes for an output: these run straight on the daemon.


def test_only_plain_files_are_outputs(run_many):
    with run_many() as run:
        for trick, script in TRICKS.items():
            result = run(script, a=b"1")
            assert (result.outputs, result.detail.cause) == (None, Cause.OUTPUT), trick


def test_the_tricks_work_where_they_are_allowed(run_many):
    """The control: without the rule, the payload's trick does what it is for."""
    check = 'import stat; kind = os.stat(out + "/verdict")\nprint(stat.S_IFMT(kind.st_mode), kind.st_size)'
    tricks = ("link to the host", "too large", "folder")
    with run_many() as run:
        words = {trick: run(f"{TRICKS[trick]}\n{check}").detail.tail.split() for trick in tricks}
    assert {trick: kind for trick, (kind, _) in words.items()} == {
        "link to the host": "32768",
        "too large": "32768",
        "folder": "16384",
    }
    assert words["too large"][1] == str(64 * KIB + 1)


def test_a_link_on_the_way_is_not_followed(run_straight):
    script = 'os.mkdir("/tmp/d"); open("/tmp/d/verdict", "w"); os.symlink("/tmp/d", out + "/d")'
    assert run_straight(script, outputs=("d/verdict",)).detail.cause is Cause.OUTPUT


def test_nobody_is_left_to_change_an_output(run_straight):
    """PID 1 ends with a child that rewrites the output as fast as it can: it died with its parent."""
    result = run_straight(
        """
if os.fork() == 0:
    while True:
        open(out + "/verdict", "w").write("changed")
time.sleep(0.2)
open(out + "/verdict.new", "w").write("1")
os.rename(out + "/verdict.new", out + "/verdict")
"""
    )
    assert result.outputs in ({"verdict": b"1"}, {"verdict": b"changed"}, {"verdict": b""})


def test_flood_of_words_is_cut_to_its_tail(run):
    result = run(
        """
for _ in range(400):
    print("x" * 65535)
print("last words")
open(out + "/verdict", "w")
"""
    )
    assert result.outputs == {"verdict": b""}
    assert len(result.detail.tail) == 64 * KIB
    assert result.detail.tail.endswith("xxx\nlast words\n")


HOSTILE_WORDS = (
    "--privileged",
    "; id",
    "$(id)",
    "`id`",
    "a b\nc",
    "'\"",
    "\\",
    "-v/:/host",
    "é\u202e",
    "{{.Id}}",
)


def test_command_lines_are_words_not_text(run):
    """No shell and no template on the way: what stands in the order arrives, byte for byte."""
    script = 'open(out + "/verdict", "w").write(json.dumps(sys.argv[1:]))'
    command = ("python3", "-I", "-c", "import os, sys, json\nout = '/out'\n" + script, *HOSTILE_WORDS)
    result = run("", command=command, levels=("--rm",))
    assert json.loads(result.outputs["verdict"]) == [*HOSTILE_WORDS, "/in", "/out", "--rm"]


def test_nul_cannot_stand_in_a_command(run_straight):
    with pytest.raises(ValueError, match="NUL"):
        run_straight("", command=("python3", "a\0b"))


def test_code_may_be_a_program(run):
    code = {"go": b"#!/bin/sh\necho $1 $2 $3 > /out/verdict\n"}
    assert run("", code=code, command=("/pipeline/go",)).outputs == {"verdict": b"/in /out participant\n"}


def test_runs_of_a_slot_cannot_tell_their_number(sandbox_straight, digest):
    """More runs than a batch holds: every one finds the same inode numbers, and nothing of the last."""
    script = """
os.makedirs("/out/" + "/".join("d" * 90))
facts = [os.stat(path).st_ino for path in (out, given, given + "/f")] + os.listdir(out) + os.listdir("/tmp")
open(out + "/verdict", "w").write(json.dumps(facts))
os.chmod(out + "/d/d", 0)
"""
    with sandbox_straight.open_slot(order_for(digest, script), slot=1) as slot:
        results = [slot.run({"f": b"1"}) for _ in range(5)]
    assert len({result.outputs["verdict"] for result in results}) == 1


def test_a_block_larger_than_any_may_be_is_a_failed_run(sandbox_straight, digest):
    """By a fixed limit: a platform failure would be an output that nobody noised."""
    with sandbox_straight.open_slot(order_for(digest, 'open(out + "/verdict", "w")'), slot=0) as slot:
        result = slot.run({"f": bytes(9 * MIB)})
        assert (result.outputs, result.detail.cause) == (None, Cause.INPUT)
        assert slot.run({"f": bytes(7 * MIB)}).outputs == {"verdict": b""}
