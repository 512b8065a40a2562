"""A host that lacks something, made of this one: the condition is real, but holds for this process only.

python unfit_host.py CONDITION FOLDER IMAGE    prints what a caller of the sandbox gets, as JSON
python unfit_host.py CONDITION FOLDER doctor OPTION ...    what `dpgate doctor` says of it
"""

import ctypes
import errno
import json
import os
import resource
import shutil
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
NEWNS, NEWUSER = 0x00020000, 0x10000000
NO_NEW_PRIVILEGES, SET_FILTER, NEW_LISTENER = 38, 1, 8
BIND, REMOUNT, READ_ONLY, PRIVATE, RECURSIVE, NO_PROGRAMS = 4096, 32, 1, 1 << 18, 16384, 8
LARGE = 3 << 20


def check(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def enter_user_namespace() -> None:
    """As the ordinary user 1500, who may set the limits of this namespace until the next exec."""
    user, group = os.getuid(), os.getgid()
    check(_libc.unshare(NEWUSER))
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"1500 {user} 1")
    Path("/proc/self/gid_map").write_text(f"1500 {group} 1")


def mount(source: str, target: Path, kind: str | None, flags: int, options: str | None = None) -> None:
    values = [None if value is None else str(value).encode() for value in (source, target, kind, options)]
    check(_libc.mount(values[0], values[1], values[2], ctypes.c_ulong(flags), values[3]))


def own_mounts(folder: Path, size: str | None = None) -> None:
    """A mount namespace of its own, with a file system of this size at `folder`."""
    if os.getuid() != 0:
        enter_user_namespace()
    check(_libc.unshare(NEWNS))
    mount("none", Path("/"), None, RECURSIVE | PRIVATE)
    if size is not None:
        mount("tmpfs", folder, "tmpfs", 0, f"size={size},mode=0711,uid={os.getuid()}")


def read_only(folder: Path) -> None:
    own_mounts(folder)
    mount(str(folder), folder, None, BIND)
    mount("none", folder, None, BIND | REMOUNT | READ_ONLY)


def no_namespaces(kind: str, most: int = 0):
    def limit(_: Path) -> None:
        enter_user_namespace()
        Path(f"/proc/sys/user/max_{kind}_namespaces").write_text(str(most))

    return limit


def without_calls(*names: str, error: int = errno.ENOSYS, flag: int = 0):
    """As under an older kernel, or in a container that refuses them: a filter answers, for this process and
    all that it starts. `flag`: only where it is in the second argument.
    """

    def refuse(_: Path) -> None:
        from sandbox_images.seccomp.bpf import ARCHITECTURES

        numbers = ARCHITECTURES[os.uname().machine].numbers
        refused, allowed = (0x06, 0, 0, 0x50000 | error), (0x06, 0, 0, 0x7FFF0000)
        program = [(0x20, 0, 0, 0)]  # the number
        for name in names:
            if flag:
                program += [
                    (0x15, 0, 4, numbers[name]),
                    (0x20, 0, 0, 24),
                    (0x45, 0, 1, flag),
                    refused,
                    allowed,
                ]
            else:
                program += [(0x15, 0, 1, numbers[name]), refused]
        _install([*program, allowed], numbers["seccomp"])

    return refuse


def _install(program: Sequence[tuple[int, int, int, int]], number: int) -> None:
    lines = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    filter_ = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(lines)))
    check(_libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    check(_libc.syscall(ctypes.c_long(number), ctypes.c_long(SET_FILTER), ctypes.c_long(0), filter_))


def no_notification(folder: Path) -> None:
    """Linux before 5.0: no filter hands a call over. A container's filter that refuses `seccomp` is alike."""
    without_calls("seccomp", error=errno.EINVAL, flag=NEW_LISTENER)(folder)


def read_only_proc(_: Path) -> None:
    """As this process sees it: without BIND it would be so for the whole host."""
    own_mounts(Path("/"))
    mount("/proc", Path("/proc"), None, BIND | RECURSIVE)
    mount("none", Path("/proc"), None, BIND | REMOUNT | READ_ONLY)


def no_groups(_: Path) -> None:
    own_mounts(Path("/sys/fs/cgroup"), "1m")


def instead(place: str, text: str):
    """A file that is there reads otherwise."""

    def cover(folder: Path) -> None:
        own_mounts(folder)
        (folder / "cover").write_text(text)
        mount(str(folder / "cover"), Path(place), None, BIND)

    return cover


def nothing_in(place: str):
    return lambda _: own_mounts(Path(place), "1m")


def switches(without: str | None = None, **others: str):
    """The kernel's, but one, and these: a procfs takes no new file, so the folder is another."""

    def cover(folder: Path) -> None:
        place, kept = Path("/proc/sys/kernel"), {}
        for path in place.rglob("*"):
            if path.is_file() and path.name != without:
                name = str(path.relative_to(place))
                try:
                    kept[name] = path.read_text()
                except OSError:  # for writing only, or of others
                    kept[name] = ""
        own_mounts(place, "4m")
        for name, text in (kept | others).items():
            (place / name).parent.mkdir(exist_ok=True)
            (place / name).write_text(text)

    return cover


def no_bwrap(_: Path) -> None:
    os.environ["PATH"] = "/nowhere"
    sys.path[:] = [path for path in sys.path if not path.endswith("site-packages")]


def limited(kind: int, value: int):
    return lambda _: resource.setrlimit(kind, (value, value))


def fewer_files(spare: int):
    """This many more descriptors than are open when the sandbox is."""
    return lambda _: resource.setrlimit(
        resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + spare,) * 2
    )


def no_processes(_: Path) -> None:
    """Root has no such limit: it is checked for whom bwrap runs as."""
    resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))


def no_memory(folder: Path) -> None:
    """For whatever the worker starts; it has its own already."""
    (folder / "bin").mkdir()
    (folder / "bin/bwrap").write_text(f'#!/bin/sh\nulimit -v 16000\nexec {shutil.which("bwrap")} "$@"\n')
    (folder / "bin/bwrap").chmod(0o755)
    os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}"


CRASHES, KILLS = "/proc/sys/debug/exception-trace", "/proc/sys/kernel/seccomp/actions_logged"
SMT = "/sys/devices/system/cpu/smt/active"
ONE_AREA = "Filename Type Size Used Priority\n/swap file 1000 0 -2\n"


def quiet_log(folder: Path) -> None:
    instead(CRASHES, "0\n")(folder)
    (folder / "kills").write_text("errno log\n")
    mount(str(folder / "kills"), Path(KILLS), None, BIND)


def scratch_on_a_disk(folder: Path) -> None:
    own_mounts(folder)
    mount(str(folder), Path("/dev/shm"), None, BIND)


def scratch_without_programs(_: Path) -> None:
    own_mounts(Path("/dev/shm"), "4g")
    mount("none", Path("/dev/shm"), None, BIND | REMOUNT | NO_PROGRAMS)


def processes(options: str | None):
    """Another /proc, of the same processes: options are of one mount, not of the host."""

    def mounted(_: Path) -> None:
        own_mounts(Path("/"))
        mount("proc", Path("/proc"), "proc", 0, options)

    return mounted


def no_program(_: Path) -> None:
    """Neither the distribution's bwrap nor that of the environment."""
    own_mounts(Path("/"))
    for place in (Path("/usr/bin/bwrap"), *Path(sys.prefix).rglob("bwrap")):
        if place.is_file():
            mount("/dev/null", place, None, BIND)


def dumps_to_a_program(folder: Path) -> None:
    instead("/proc/sys/kernel/core_pattern", "|/bin/collector\n")(folder)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


CONDITIONS = {
    "none": lambda _: None,
    "no user namespaces": no_namespaces("user"),
    "one user namespace": no_namespaces("user", 1),
    "no mount namespaces": no_namespaces("mnt"),
    "no pid namespaces": no_namespaces("pid"),
    "no network namespaces": no_namespaces("net"),
    "one network namespace": no_namespaces("net", 1),
    "one pid namespace": no_namespaces("pid", 1),
    "no Landlock": without_calls("landlock_create_ruleset"),
    "Landlock refused": without_calls("landlock_create_ruleset", error=errno.EPERM),
    "no notification": no_notification,
    "no seccomp": without_calls("seccomp", error=errno.EPERM),
    "no detached mounts": without_calls("fsopen"),
    "read-only /proc": read_only_proc,
    "no control groups": no_groups,
    "user namespaces for root alone": switches(unprivileged_userns_clone="0\n"),
    "no process numbers": switches("ns_last_pid"),
    "no time namespaces": no_namespaces("time"),
    "no large pages": nothing_in("/sys/kernel/mm"),
    "quiet log": quiet_log,
    "loud log": instead(CRASHES, "1\n"),
    "no program of bubblewrap": no_program,
    "processes of others": processes(None),
    "hidden processes": processes("hidepid=invisible"),
    "swap": instead("/proc/swaps", ONE_AREA),
    "threads": instead(SMT, "1\n"),
    "scratch on a disk": scratch_on_a_disk,
    "scratch without programs": scratch_without_programs,
    "dumps": dumps_to_a_program,
    "no bwrap": no_bwrap,
    "small scratch": lambda folder: own_mounts(folder, "1m"),
    "no scratch": lambda folder: own_mounts(folder, "16k"),
    "read-only scratch": read_only,
    "read-only /tmp": lambda _: read_only(Path("/tmp")),
    "no processes": no_processes,
    "no memory": no_memory,
    "no files of any size": limited(resource.RLIMIT_FSIZE, 1000),
}
# where the largest input is what the host has room for, not what somebody set without looking
FIXED = {"small scratch, known": CONDITIONS["small scratch"]}
CONDITIONS |= FIXED
TOLD = {
    *("no user namespaces", "no Landlock", "Landlock refused", "no notification", "no seccomp"),
    *("no detached mounts", "read-only /proc", "no control groups"),
}
# conditions that set in when the sandbox is open
LATER = {f"{spare} descriptors": fewer_files(spare) for spare in (0, 2, 4, 6, 8, 10, 12)}


def absent(scratch: Path) -> list[str]:
    """What the doctor says of it, but for what it finds by a run."""
    from worker.sandbox.host_features import check_bubblewrap, check_worker_process

    found = (*check_bubblewrap(), *check_worker_process(scratch, slots=1))
    return [feature.name for feature in found if not feature.present and "scratch" not in feature.name]


def main(condition: str, folder: Path, image: str) -> dict[str, object]:
    CONDITIONS.get(condition, CONDITIONS["none"])(folder)
    told = {"absent": absent(folder / "scratch")} if condition in TOLD else {}
    return told | what_a_caller_gets(condition, folder, image)


def what_a_caller_gets(condition: str, folder: Path, image: str) -> dict[str, object]:
    from worker.sandbox.core.images import HostImage
    from worker.sandbox.protocol import MIB, Audience, Limits, SlotOrder
    from worker.sandbox.supervised import SupervisedSandbox

    script = b"import os; open('/out/verdict', 'w').write(str(len(open('/in/a', 'rb').read())))"
    order = SlotOrder(
        image=eval(image, {"HostImage": HostImage, "PosixPath": Path}),
        code={"main.py": script},
        command=("python3", "/pipeline/main.py"),
        levels=("participant",),
        outputs=("verdict",),
        limits=Limits(wall_s=10, cpu_s=10, memory_bytes=256 * MIB),
        audience=Audience.ORIGINAL,
        warm=(),
    )
    from worker.sandbox.supervised import giving

    giving.VIEW_ABOVE_BYTES = LARGE - 1
    try:
        with SupervisedSandbox(
            order.image,
            scratch_root=folder / "scratch",
            allow_disk_scratch=True,
            input_bytes=None if condition in FIXED else 2 * LARGE,
        ) as sandbox:
            LATER.get(condition, CONDITIONS["none"])(folder)
            with sandbox.open_slot(order, slot=0) as slot:
                result = slot.run({"a": b"x" * LARGE})
        left = sorted(path.name for path in (folder / "scratch").iterdir() if path.is_dir())
        return {"result": str(result.outputs), "left": str(left)}
    except Exception as error:
        return {"raised": type(error).__name__, "text": str(error)}


def doctor(condition: str, folder: Path, options: Sequence[str]) -> None:
    """In place of this process: what it has set is kept. Its scratch folder has a name of its user's, and
    that is in some of these root with another number: nobody else's is to be there."""
    own_mounts(Path("/dev/shm"), "16g")
    CONDITIONS[condition](folder)
    os.execv(sys.executable, [sys.executable, "-m", "dpgate", "doctor", "--json", "--no-battery", *options])


if __name__ == "__main__":
    if sys.argv[3] == "doctor":
        doctor(sys.argv[1], Path(sys.argv[2]), sys.argv[4:])
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])))
