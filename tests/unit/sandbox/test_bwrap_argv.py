"""The command line: what must be in it, what must never be."""

from pathlib import Path

import pytest

from worker.sandbox.bwrap_argv import Descriptors, Folders, build_argv
from worker.sandbox.host_image import HostImage
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


@pytest.mark.parametrize(
    "flag",
    [
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
    ],
)
def test_always_there(flag, argv):
    assert flag in argv[: argv.index("--")]


@pytest.mark.parametrize("flag", ["--bind", "--dev", "--share-net", "--cap-add", "--bind-try", "--overlay"])
def test_never_there(flag, argv):
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
    numbers, lists = runner[6:15], runner[15:]
    assert numbers[:3] == ["14", "15", "-1"]
    assert lists == ["1", "participant", "1", "out.json", "2", "python3", "main.py"]
