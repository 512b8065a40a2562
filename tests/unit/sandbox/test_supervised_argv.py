"""The command line of a supervisor: what must be in it, what must never be."""

from dataclasses import replace
from pathlib import Path

import pytest

from worker.sandbox.core.argv import RESEARCHERS_ROOT, Places, base_of, build_argv
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.protocol import MIB, SandboxUnavailable

HOST = HostImage(
    "host-python",
    "sha256:0",
    Path("/usr/bin/python3"),
    (Path("/usr"),),
    (("usr/bin", Path("/bin")),),
    "/usr/bin",
)
PYTHON = StoredImage("python", "sha256:1", Path("/store/1/rootfs"), "sha256:2", "/usr/bin/python3.11")
FOREIGN = StoredImage(
    "r", "sha256:3", Path("/store/3/rootfs"), "sha256:4", None, {"LD_PRELOAD": "x", "R_HOME": "y"}
)
PLACES = Places(library=Path("/s/1"), code=Path("/s/2"), blocks=Path("/s/3"))
ETC = {"passwd": 12, "group": 13}
# (in which root the supervisor runs, in which the payload)
KINDS = {
    "host": (HOST, HOST),
    "warm in an imported image": (PYTHON, PYTHON),
    "cold in a foreign image": (HOST, FOREIGN),
}


@pytest.fixture(params=KINDS)
def kind(request):
    return KINDS[request.param]


@pytest.fixture
def argv(kind):
    base, image = kind
    return build_argv(Path("/usr/bin/bwrap"), base, image, PLACES, etc=ETC, channel=15)


def values(argv, flag, count=1):
    return [tuple(argv[i + 1 : i + 1 + count]) for i, word in enumerate(argv) if word == flag]


ALWAYS_THERE = (
    *("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"),
    *("--unshare-cgroup-try", "--as-pid-1", "--die-with-parent", "--new-session", "--clearenv"),
)


def test_always_there(subtests, argv):
    for flag in ALWAYS_THERE:
        with subtests.test(flag=flag):
            assert flag in argv[: argv.index("--")]


NEVER_THERE = (
    *("--bind", "--bind-try", "--dev-bind-try", "--ro-bind-try", "--dev", "--mqueue", "--share-net"),
    *("--overlay", "--tmp-overlay", "--unshare-all", "--args", "--userns", "--pidns", "--seccomp"),
)


def test_never_there(subtests, argv):
    """No filter of bwrap's: the supervisor makes namespaces, and gives each run the filter itself."""
    for flag in NEVER_THERE:
        with subtests.test(flag=flag):
            assert flag not in argv


def test_it_is_root_of_its_own_namespace_and_of_nothing_else(argv):
    assert values(argv, "--uid") == values(argv, "--gid") == [("0",)]
    assert values(argv, "--cap-drop") == [("ALL",)]
    assert {name for (name,) in values(argv, "--cap-add")} == {
        *("CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_KILL", "CAP_SETFCAP", "CAP_SYS_PTRACE")
    }
    assert argv.index("--cap-drop") < argv.index("--cap-add")


def test_nothing_can_be_written_when_it_starts(argv):
    flags = argv[: argv.index("--")]
    assert flags[-2:] == ["--remount-ro", "/"]
    read_only = [place for (place,) in values(argv, "--remount-ro")]
    assert {place for (place,) in values(argv, "--tmpfs")} <= set(read_only)
    last = {place: i for i, place in enumerate(flags) if flags[i - 1] == "--remount-ro"}
    for i, word in enumerate(flags):
        if word == "--tmpfs":  # nothing is mounted there after it was closed
            assert last[flags[i + 1]] > i
    assert {source for source, _ in values(argv, "--dev-bind", 2)} == {
        "/dev/null",
        "/dev/random",
        "/dev/urandom",
    }


def test_each_memory_file_system_is_small(argv):
    sizes = {argv[i + 1]: argv[i - 2 : i] for i, word in enumerate(argv) if word == "--tmpfs"}
    assert sizes == {place: ["--size", str(MIB)] for place in ("/dev", "/run/dpgate")}


def test_what_is_bound(argv, kind):
    base, image = kind
    bound = {target: source for source, target in values(argv, "--ro-bind", 2)}
    own = {
        "/run/dpgate/lib": "/s/1",
        "/run/dpgate/code": "/s/2",
        "/run/dpgate/blocks": "/s/3",
        "/pipeline": "/s/2",
    }
    root = {"/usr": "/usr"} if base is HOST else {"/": str(base.rootfs)}
    researchers = {RESEARCHERS_ROOT: str(image.rootfs)} if image is FOREIGN else {}
    assert bound == {**own, **root, **researchers}


def test_a_researchers_image_is_never_the_supervisors_root(kind):
    assert base_of(FOREIGN, HOST, warm=False) is HOST
    assert base_of(PYTHON, HOST, warm=False) is HOST
    assert base_of(PYTHON, HOST, warm=True) is PYTHON  # the operator's: only then is an order warm
    assert base_of(HOST, HOST, warm=False) is base_of(HOST, HOST, warm=True) is HOST
    with pytest.raises(SandboxUnavailable, match="has no Python"):
        build_argv(Path("/b"), FOREIGN, FOREIGN, PLACES, etc={}, channel=2)


def test_environment_is_the_supervisors_own(argv):
    """Neither the worker's nor the image's."""
    given = dict(values(argv, "--setenv", 2))
    assert set(given) == {
        *("PATH", "LANG", "JE_ARROW_MALLOC_CONF"),
        *(f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "BLIS")),
    }
    assert argv.index("--clearenv") < argv.index("--setenv")


def test_it_runs_our_code_alone(argv, kind):
    command = argv[argv.index("--") + 1 :]
    assert command[0] == ("/usr/bin/python3" if kind[0] is HOST else "/usr/bin/python3.11")
    assert command[1:4] == ["-I", "-B", "-c"]
    assert 'sys.path.insert(0, "/run/dpgate/lib")' in command[4]
    assert command[5:] == ["15"]


def test_places_of_the_host_have_opaque_names(argv):
    """A view's name is all that a run sees of them; /s stands for the scratch folder."""
    hidden = [word for word in argv if word.startswith("/s/")]
    assert sorted(hidden) == ["/s/1", "/s/2", "/s/2", "/s/3"]


def test_roots_of_views_are_there_read_only_under_numbers():
    places = replace(PLACES, roots=(Path("/data/twin"), Path("/data/b c")))
    argv = build_argv(Path("/b"), HOST, HOST, places, etc={}, channel=2)
    for number, root in enumerate(places.roots):
        at = argv.index(str(root))
        assert argv[at - 1 : at + 2] == ["--ro-bind", str(root), f"/run/dpgate/roots/{number}"]
        assert at < len(argv) - argv[::-1].index("--remount-ro")
