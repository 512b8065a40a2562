"""The command line: what must be in it, what must never be."""

from dataclasses import replace
from pathlib import Path

import pytest

from worker.sandbox.bwrap_argv import Descriptors, Folders, build_argv, part_flags
from worker.sandbox.host_image import HostImage
from worker.sandbox.parts import Bound
from worker.sandbox.protocol import MIB, Audience, Limits, SlotOrder

IMAGE = HostImage(
    "host-python",
    "sha256:0",
    Path("/usr/bin/python3"),
    (Path("/usr"),),
    (("usr/bin", Path("/bin")),),
    "/usr/bin",
)
ORDER = SlotOrder(
    IMAGE,
    {},
    ("python3", "main.py"),
    ("participant",),
    ("out.json",),
    Limits(1, 2, 3 * MIB),
    Audience.ORIGINAL,
)
FOLDERS = Folders(code=Path("/s/1"), block=Path("/s/2"), empty=Path("/s/3"))
DESCRIPTORS = Descriptors(seccomp=10, runner=11, etc={"passwd": 12}, status=13, result=14, go=15, stdio=-1)


@pytest.fixture(scope="module")
def argv():
    return build_argv(Path("/usr/bin/bwrap"), IMAGE, ORDER, FOLDERS, DESCRIPTORS)


ALWAYS_THERE = (
    "--unshare-user",
    "--unshare-ipc",
    "--unshare-pid",
    "--unshare-net",
    "--unshare-uts",
    "--unshare-cgroup-try",
    "--as-pid-1",
    "--die-with-parent",
    "--new-session",
    "--clearenv",
)


def test_always_there(subtests, argv):
    for flag in ALWAYS_THERE:
        with subtests.test(flag=flag):
            assert flag in argv[: argv.index("--")]


NEVER_THERE = ("--bind", "--dev", "--share-net", "--cap-add", "--bind-try", "--overlay")


def test_never_there(subtests, argv):
    for flag in NEVER_THERE:
        with subtests.test(flag=flag):
            assert flag not in argv


def test_each_writable_mount_is_limited(argv):
    sizes = {argv[i + 1]: argv[i - 1] for i, flag in enumerate(argv) if flag == "--tmpfs"}
    read_only = {argv[i + 1] for i, flag in enumerate(argv) if flag == "--remount-ro"}
    sizes = {place: size for place, size in sizes.items() if place not in read_only}
    tmp, out = str(ORDER.limits.tmp_bytes), str(ORDER.limits.output_bytes)
    assert sizes == {"/tmp": tmp, "/dev/shm": tmp, "/out": out}


def test_root_is_made_read_only_after_all_mounts(argv):
    flags = argv[: argv.index("--")]
    assert flags[-2:] == ["--remount-ro", "/"]


def test_only_named_descriptors_are_inherited():
    assert DESCRIPTORS.all() == (10, 11, 12, 13, 14, 15)


def test_every_host_wide_proc_entry_is_covered(argv):
    covered = {
        argv[i + 2] for i, flag in enumerate(argv) if flag == "--ro-bind" and argv[i + 2].startswith("/proc/")
    }
    assert {"/proc/stat", "/proc/loadavg", "/proc/sys", "/proc/meminfo", "/proc/uptime"} <= covered
    assert not covered & {"/proc/self", "/proc/net"}


def test_runner_gets_what_it_documents(argv):
    runner = argv[argv.index("--") + 1 :]
    assert runner[:6] == ["/usr/bin/python3", "-I", "-S", "-B", "-E", "/run/dpgate/runner.py"]
    numbers, lists = runner[6:18], runner[18:]
    assert numbers[:4] == ["14", "15", "-1", "-1"]
    assert numbers[-2:] == ["-1", "-1"]
    assert lists == ["1", "participant", "1", "out.json", "2", "python3", "main.py"]


def test_parts_are_mounted_after_the_block_and_before_all_is_closed():
    """By descriptor: everybody on a host can read command lines."""
    flags = build_argv(Path("/bwrap"), IMAGE, ORDER, FOLDERS, replace(DESCRIPTORS, parts=20, tree=21))
    assert flags.index("/in") < flags.index("--args") < len(flags) - flags[::-1].index("--remount-ro")
    assert flags[flags.index("--args") + 1] == "20"
    assert flags[flags.index("/run/dpgate/output_tree.py") - 2 :][:2] == ["--ro-bind-data", "21"]
    assert {20, 21} <= set(replace(DESCRIPTORS, parts=20, tree=21).all())


def test_each_part_is_read_only():
    parts = [Bound("sub-01", False, Path("/s/a b")), Bound("x/cue.wav", True, Path("/s/ü"), 0)]
    words = part_flags(parts).split(b"\0")
    assert words == [
        *(b"--ro-bind", b"/s/a b", b"/in/sub-01"),
        *(b"--ro-bind", "/s/ü".encode(), b"/in/x/cue.wav"),
        b"",
    ]


def test_an_order_for_a_tree_says_its_limits():
    order = replace(ORDER, outputs=(), tree=True)
    argv = build_argv(Path("/bwrap"), IMAGE, order, FOLDERS, replace(DESCRIPTORS, before=22))
    runner = argv[argv.index("--") + 1 :]
    assert runner[9] == "22"
    assert runner[16:18] == [str(ORDER.limits.output_bytes), str(ORDER.limits.inodes)]
