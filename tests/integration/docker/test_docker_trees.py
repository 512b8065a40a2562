"""What lies in a run's output folder before it starts, and the whole of that folder as its outputs."""

from __future__ import annotations

import json
from dataclasses import replace

from docker_orders import TIGHT

from worker.sandbox.protocol import KIB, MIB, Cause

TREE = {"outputs": (), "tree": True}
LEAVE = 'os.makedirs(out + "/sub-1/deep")\nopen(out + "/sub-1/deep/é.txt", "w").write("1")\n'


def test_every_plain_file_comes_back(run):
    result = run(
        LEAVE
        + """
os.makedirs(out + "/nothing/in/here")
open(out + "/empty", "w")
open(out + "/.hidden", "wb").write(bytes(range(256)) * 8192)
""",
        **TREE,
    )
    assert result.outputs == {
        ".hidden": bytes(range(256)) * 8192,
        "empty": b"",
        "sub-1/deep/é.txt": b"1",
    }
    assert list(result.outputs) == sorted(result.outputs)
    assert result.detail.cause is Cause.COMPLETED


def test_a_run_that_leaves_nothing_has_no_files(run):
    assert run("", **TREE).outputs == {}


LINKS = {
    "link to the input": 'os.symlink(given + "/f", out + "/x")',
    "link to nowhere": 'os.symlink("nowhere", out + "/x")',
    "link to a folder": 'os.symlink("/", out + "/x")',
    "loop": 'os.symlink(".", out + "/x")',
}


def test_symbolic_links_are_left_out(run_many):
    with run_many(**TREE) as run:
        for what, script in LINKS.items():
            assert run(LEAVE + script, f=b"secret").outputs == {"sub-1/deep/é.txt": b"1"}, what


HOSTILE = {
    "second name": 'os.link(out + "/sub-1/deep/é.txt", out + "/x")',
    "unreadable file": 'os.close(os.open(out + "/x", os.O_CREAT | os.O_WRONLY, 0))',
    "unreadable folder": 'os.mkdir(out + "/x", 0)',
    "locked folder": 'os.chmod(out + "/sub-1", 0)',
    "locked root": "os.chmod(out, 0)",
    "name that is not text": 'open(os.fsencode(out) + b"/\\xff", "w")',
    "name with a line end": 'open(out + "/a\\nb", "w")',
    "deep": 'os.makedirs(out + "/d" * 40); open(out + "/d" * 40 + "/f", "w")',
    "sparse": 'open(out + "/x", "w").truncate(4 << 20)',
}


def test_anything_else_in_there_is_a_failed_run(run_many):
    with run_many(**TREE) as run:
        for what, script in HOSTILE.items():
            result = run(LEAVE + script, f=b"secret")
            assert (result.outputs, result.detail.cause) == (None, Cause.OUTPUT), what
        assert run(LEAVE).outputs == {"sub-1/deep/é.txt": b"1"}


def test_a_tree_is_limited_by_bytes_and_by_files(run_many):
    """Paths count as bytes; folders count as files. One less of either is taken."""
    limits = replace(TIGHT, output_bytes=64 * KIB, inodes=60)
    script = 'for n in range({0}): open(f"{{out}}/{{n:02}}", "wb").write(bytes({1}))'
    nearly = 'open(out + "/0123456789", "wb").write(bytes({0}))'
    with run_many(limits=limits, **TREE) as run:
        full = run(script.format(58, 1022))
        assert full.outputs is not None
        assert len(full.outputs) == 58
        assert run(nearly.format(64 * KIB - 10)).outputs is not None
        assert run(nearly.format(64 * KIB - 9)).outputs is None


def test_nobody_is_left_to_change_a_tree(run_straight):
    """PID 1 ends with a child that swaps a file for a link as fast as it can: it died with its parent."""
    result = run_straight(
        """
if os.fork() == 0:
    while True:
        os.symlink("/in/f", out + "/swap"); os.rename(out + "/swap", out + "/x")
        open(out + "/plain", "w").close(); os.rename(out + "/plain", out + "/x")
time.sleep(0.2)
""",
        {"f": b"secret"},
        **TREE,
    )
    assert result.outputs is None or set(result.outputs.values()) <= {b""}


# --- before


BEFORE = {"sub-1/stats.tsv": b"1\n", "sub-2/a/b/c.bin": bytes(range(256)), "top": b""}


def test_earlier_outputs_lie_there_writable(run):
    result = run(
        """
found = {}
for folder, folders, names in os.walk(out):
    for name in (*folders, *names):
        path = os.path.join(folder, name)
        os.utime(path)
        kind = os.stat(path)
        found[os.path.relpath(path, out)] = [oct(kind.st_mode & 0o777), kind.st_uid == os.getuid()]
open(out + "/sub-1/stats.tsv", "a").write("2\\n")
os.unlink(out + "/top")
os.rename(out + "/sub-2/a/b", out + "/sub-2/moved")
open(out + "/facts", "w").write(json.dumps(found))
""",
        before=BEFORE,
        **TREE,
    )
    facts = json.loads(result.outputs.pop("facts"))
    assert facts == {
        **{path: ["0o600", True] for path in BEFORE},
        **{path: ["0o700", True] for path in ("sub-1", "sub-2", "sub-2/a", "sub-2/a/b")},
    }
    assert result.outputs == {"sub-1/stats.tsv": b"1\n2\n", "sub-2/moved/c.bin": BEFORE["sub-2/a/b/c.bin"]}


def test_earlier_outputs_may_be_declared_ones(run_straight):
    assert run_straight("", before={"verdict": b"kept"}).outputs == {"verdict": b"kept"}


def test_nothing_of_it_is_there_for_the_next_run(sandbox_straight, order):
    with sandbox_straight.open_slot(order("", **TREE), slot=0) as slot:
        assert slot.run({}, before=BEFORE).outputs == BEFORE
        assert slot.run({}).outputs == {}
        assert slot.run({}, before={"a": b"1"}).outputs == {"a": b"1"}


def test_what_does_not_fit_is_a_failed_run(sandbox_straight, order):
    """Not the platform's failure: what earlier runs wrote decides it."""
    too_much = {
        "bytes": {"big": bytes(4 * MIB + 1)},
        "files": {f"f{n}": b"" for n in range(TIGHT.inodes)},
        "pages": {f"f{n}": b"1" * 4097 for n in range(1024)},
    }
    with sandbox_straight.open_slot(order("", **TREE), slot=0) as slot:
        for what, before in too_much.items():
            result = slot.run({}, before=before)
            assert (result.outputs, result.detail.cause) == (None, Cause.FULL), what
        assert slot.run({}).outputs == {}


def test_as_much_as_fits_is_taken(sandbox_straight, order):
    """The count that decides is the file system's own, in whole pages and with its root."""
    limits = replace(TIGHT, output_bytes=256 * KIB, inodes=65)
    before = {f"f{n:02}": b"x" * 4 * KIB for n in range(64)}
    with sandbox_straight.open_slot(order("", limits=limits, outputs=()), slot=0) as slot:
        assert slot.run({}, before=before).detail.cause is Cause.COMPLETED
