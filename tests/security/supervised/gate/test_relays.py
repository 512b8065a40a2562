"""On the worker's own route: how many blocks of a job learn of one person, and what is released of it.

Two data sets that differ in what one person's row says, under the same identifier. A run is a function of its
own block exactly if no block but the person's own says anything else.
"""

import os
import secrets
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from heights import COARSE, LOWER, UPPER
from host_devices import host_nodes
from relay import BY_FILES, pipeline
from sandbox_harness import open_folder
from zones import Bench, given_heights, open_bench, submit

from privacy.partition import assign_blocks, derive_key
from store import runs
from store.sealing import open_sealed
from worker.chunk import output_context
from worker.collect import unpack

BLOCK_SIZE, BLOCKS = 3, 6
EPSILON = 24  # of each job, of a budget of 1000: the noise is smaller than what one block changes
PEOPLE = {f"sub-{number}": 120 + 4 * number for number in range(1, BLOCK_SIZE * BLOCKS + 1)}
MARKED = {**PEOPLE, "sub-5": 219}
PADDED = {"mode": "padded"}
WALL_S = {"padded": 2, "coarse": 10}  # on the grid each run takes that long, and a half second
LONG_AGO = (1_000_000_000, 1_000_000_000)
SIGNS_LAST_S = 600  # as the pipeline has it
NODES = ("/dev/null", "/dev/random", "/dev/urandom")


@contextmanager
def zone(sqlite_url: str, folder: Path) -> Iterator[Bench]:
    """One slot, so that runs follow each other."""
    with open_bench(sqlite_url, folder, slots=1) as bench:
        yield bench


def nobody_has_sent() -> None:
    """The signs of the host's own numbers are taken away, if a control has left some."""
    if os.geteuid() == 0:
        for node in NODES:
            if time.time() - os.stat(node).st_mtime < SIGNS_LAST_S:
                os.utime(node, LONG_AGO)
    while _pipe_number() % 65536 > 1000:
        pass


def _pipe_number() -> int:
    ends = os.pipe()
    number = os.fstat(ends[0]).st_ino
    for end in ends:
        os.close(end)
    return number


def block_of(bench: Bench, job_id: str, person: str) -> int:
    key = derive_key(bench.zone.keys.partition, dataset_id=bench.job(job_id).dataset_id, job_id=job_id)
    dealt = assign_blocks(PEOPLE, key=key, blocks=BLOCKS, people=len(PEOPLE))
    block = dict(zip(PEOPLE, dealt, strict=True))[person]
    assert block is not None  # there is a slot for everybody
    return block


def released(
    bench: Bench, people: dict[str, int], timing: dict, source: str | None = None
) -> tuple[str, list[bool], float]:
    """The job, which of its runs knew, in their order, and the value."""
    policy = {"timing": timing, "max_epsilon_per_job": "1000"}
    given_heights(bench, people, policy=policy, nominal_size=len(people))
    source = source or pipeline(secrets.token_hex(8))
    job_id = submit(bench, source, wall_s=WALL_S[timing["mode"]], epsilon=str(EPSILON), block_size=BLOCK_SIZE)
    nobody_has_sent()
    known: list[bool] = []
    while bench.sent.queue:
        message = bench.sent.queue.popleft()
        if message[0] == "publish":
            known = _known(bench, job_id)
        bench.deliver(message)
    return job_id, known, bench.release(job_id).values[0].value


def _known(bench: Bench, job_id: str) -> list[bool]:
    """What the runs handed over, before it is noised: the upper bound of the grid, or the lower one."""
    with bench.database.reading() as connection:
        sealed = runs.sealed_outputs(connection, job_id)
    key = bench.outputs_key(job_id)
    opened = {
        run: unpack(open_sealed(content, key=key, context=output_context(job_id, run)))
        for run, content in sealed.items()
    }
    assert len(opened) == BLOCKS
    assert all(opened.values())
    steps = [opened[run][0] for run in sorted(opened)]
    return [step > 0 for step in steps]


def allowed(repeats: int = 1) -> float:
    """How far two releases may be apart: what `repeats` blocks change, and two draws of the noise. With a
    scale of b their difference is beyond t with probability (1 + t / 2b) exp(-t / b): 1.9e-10 at t = 25 b.
    """
    share = repeats * (UPPER - LOWER) / BLOCKS
    return share + 25 * share / EPSILON


def check_neighbours(bench: Bench) -> None:
    """One job on each of the two data sets."""
    values = []
    for people, knowing in ((PEOPLE, 0), (MARKED, 1)):
        job_id, known, value = released(bench, people, PADDED)
        assert sum(known) == knowing, known
        assert not knowing or known[block_of(bench, job_id, "sub-5")]
        values.append(value)
    assert abs(values[0] - values[1]) <= allowed()


def test_one_person_changes_one_block_of_a_padded_job(sqlite_url, tmp_path):
    with host_nodes(), zone(sqlite_url, tmp_path) as bench:
        check_neighbours(bench)


@pytest.mark.deep("twenty times")
@pytest.mark.timeout(3600)
def test_one_person_changes_one_block_of_each_padded_job(sqlite_url, tmp_path):
    with zone(sqlite_url, tmp_path) as bench:
        for _ in range(20):
            with host_nodes():  # each time anew: others wait for them, too
                check_neighbours(bench)


def _run_until_heard(
    bench: Bench, source: str | None = None, before: Callable[[], None] = lambda: None
) -> tuple[int, list[bool], float]:
    """A job in which somebody comes after the person's block."""
    while True:
        before()
        job_id, known, value = released(bench, MARKED, COARSE, source)
        if (own := block_of(bench, job_id, "sub-5")) < BLOCKS - 2:
            return own, known, value


SIGNS = """
MINE = State(), Numbers(), Pages(), Room()
print([type(each).__name__ for each in MINE if tried(each.hear)], end=" ", flush=True)
for each in MINE:
    tried(each.send)
if os.fork() == 0:
    print([type(each).__name__ for each in MINE if tried(each.hear)], flush=True)
    os._exit(0)
os.wait()
os.kill(-1, 9)
"""


def test_what_has_no_wall_of_its_own_is_heard_where_there_is_none():
    """In one process, with one /tmp and a file that nobody else maps; of whom nobody else is seen."""
    with open_folder() as folder:
        own = folder / "own"
        with own.open("wb") as file:
            file.write(bytes(1 << 16))
            os.fsync(file.fileno())  # what is on its way to the disk counts as another kind of page
        said = _said_of_signs(repr(str(own)))
    assert said.stdout == "[] ['State', 'Numbers', 'Pages', 'Room']\n", said


def _said_of_signs(own: str) -> subprocess.CompletedProcess[str]:
    bare = pipeline(secrets.token_hex(8)).partition("\nrows = ")[0].replace("os.__file__", own) + SIGNS
    rooms = "for each in /tmp /dev/shm; do mount -t tmpfs -o size=8m none $each; done"
    alone = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]
    command = [*alone, "sh", "-ec", f'{rooms}; "$@"; true', "sh", "/usr/bin/python3", "-c", bare]
    return subprocess.run(command, capture_output=True, text=True, check=False)


GONE = {
    "device nodes": (
        ("main.py", "kernel.make_read_only(node)", "pass"),
        ("hygiene.py", "if writable and", "if 0 and"),
    ),
    "pipes": (("answers.py", "where, flags = ", "return 0, 0, _LET_THE_KERNEL\n        where, flags = "),),
}


@pytest.mark.parametrize(
    "name", ["device nodes", pytest.param("pipes", marks=pytest.mark.deep("another wall"))]
)
def test_it_would_change_all_later_blocks_without(name, sqlite_url, tmp_path, doctored):
    for file, text, other in GONE[name]:
        doctored(file, lambda source, text=text, other=other: source.replace(text, other))
    with host_nodes(), zone(sqlite_url, tmp_path) as bench:
        own, known, value = _run_until_heard(bench)
    assert known == [number >= own for number in range(BLOCKS)]
    assert value - LOWER > allowed()


def _hardly_read() -> list[str]:
    """Small files of the host that its image shows, and no program reads."""
    return sorted(str(path) for path in Path("/usr/share/doc").glob("*/copyright") if not path.is_symlink())[
        :60
    ]


def _forget(paths: list[str]) -> None:
    for path in paths:
        with open(path, "rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.deep("of a residual channel, how far it carries")
def test_files_that_nobody_has_read_tell_all_later_blocks(sqlite_url, tmp_path):
    """As the threat model says of `page_faults`: where no run hears it any more, that is to be changed."""
    paths = _hardly_read()
    assert len(paths) > 20
    source = BY_FILES.replace("@FILES@", repr(paths))
    with zone(sqlite_url, tmp_path) as bench:
        own, known, value = _run_until_heard(bench, source, lambda: _forget(paths))
    assert known == [number >= own for number in range(BLOCKS)]
    assert value - LOWER > allowed()
