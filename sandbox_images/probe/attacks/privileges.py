"""More rights than a run has: namespaces, identity, limits, another filter."""

# ruff: noqa: ARG001 - attacks take one kind of argument
import ctypes
import os
import resource
import struct

from face import (  # type: ignore[import-not-found]
    any_of,
    become_root_of_namespace,
    check,
    exit_of,
    is_heard,
    libc,
    may_gain_privileges,
    syscall,
    works,
)

_NEW = {"mount": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000}
_NEW |= {"pid": 0x20000000, "net": 0x40000000}


def _prctl(option, *arguments):
    wide = [ctypes.c_ulong(each) for each in (*arguments, 0, 0, 0, 0)[:4]]
    return check(libc.prctl(option, *wide), f"prctl {option}")


def k_unshare_user(target):
    check(libc.unshare(_NEW["user"]), "unshare")
    return True


def k_unshare_time(target):
    """A time namespace is made by unshare or clone3 only; a bare attack needs a user namespace with it."""
    check(libc.unshare(0x80 | (_NEW["user"] if target["bare"] else 0)), "unshare")
    return True


def k_clone_namespaces(target):
    """clone() with each kind of namespace, alone and with a user namespace."""

    def clones(flags):
        pid = syscall(56, 220, flags | 17, 0, 0, 0, 0)
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)
        return True

    every = [*_NEW.values(), *(flag | _NEW["user"] for flag in _NEW.values())]
    return any_of([lambda flags=flags: clones(flags) for flags in every])


def k_clone3_user(target):
    arguments = struct.pack("8Q", _NEW["user"], 0, 0, 0, 17, 0, 0, 0)
    pid = syscall(435, 435, arguments, 64)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return True


def k_setns(target):
    """Enter a namespace by its file; one's own will do."""
    if target["bare"]:
        become_root_of_namespace(_NEW["uts"])

    def enters(name):
        fd = os.open(f"/proc/self/ns/{name}", os.O_RDONLY)
        check(libc.setns(fd, 0), "setns")
        return True

    return any_of([lambda name=name: enters(name) for name in ("uts", "net", "ipc", "mnt", "pid")])


def k_setuid(target):
    """Become somebody else, or one more group."""
    if target["bare"] and os.getuid():
        become_root_of_namespace()
    return any_of(
        [
            lambda: works(os.setresuid, 0, 0, 0),
            lambda: works(os.setresgid, 0, 0, 0),
            lambda: works(os.setgroups, [0]),
            lambda: works(os.setreuid, os.getuid(), os.getuid()),
        ]
    )


def k_capabilities(target):
    """Hold any capability, or any that could come back by a program's file."""
    if target["bare"] and os.getuid():
        become_root_of_namespace()
    sets = (ctypes.c_uint32 * 6)()
    syscall(125, 90, (ctypes.c_uint32 * 2)(0x20080522, 0), sets)
    return any(sets) or any(libc.prctl(23, number, 0, 0, 0) == 1 for number in range(64))


def k_new_privileges(target):
    """A program with a setuid bit or file capabilities would still gain something."""
    return may_gain_privileges()


def k_change_filter(target):
    """Put another system-call filter or rule set in place: of notifications, say, that someone else
    answers.
    """
    nothing = struct.pack("HxxxxxxQ", 0, 0)
    return any_of(
        [
            lambda: is_heard(lambda: syscall(317, 277, 1, 1 << 3, nothing)),
            lambda: is_heard(lambda: _prctl(22, 2, 0)),
            lambda: is_heard(lambda: syscall(444, 444, struct.pack("Q", 1), 8, 0)),
        ]
    )


def k_odd_prctl(target):
    """Traps on the clock, other memory layouts, adoption of orphans, tracers by consent."""
    options = {
        "SET_PTRACER": (0x59616D61, -1),
        "SET_CHILD_SUBREAPER": (36, 1),
        "SET_MM": (35, 1, 0),
        "MCE_KILL": (33, 0),
    }
    return any_of([lambda each=each: is_heard(lambda: _prctl(*each)) for each in options.values()])


def k_core_limit(target):
    """A core limit of zero lets the kernel pipe a dump to a program of the host."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    return _set_limit("RLIMIT_CORE", 0, hard)


def _set_limit(name, soft, hard):
    try:
        resource.setrlimit(getattr(resource, name), (soft, hard))
    except ValueError as error:  # how the module says EPERM
        raise PermissionError(str(error)) from None
    return True


def k_core_dump(target):
    """Leave memory on the host."""

    def crashes():
        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        finally:
            os.abort()

    return os.WCOREDUMP(exit_of(crashes))


def k_raise_rlimits(target):
    """Open files, file size, locked memory, queued signals: more than a run is given, as if nobody had set
    it.
    """
    generous = {
        "RLIMIT_NOFILE": 4096,
        "RLIMIT_FSIZE": 1 << 40,
        "RLIMIT_MEMLOCK": 1 << 16,
        "RLIMIT_CORE": 1 << 20,
    }
    return any_of(
        [lambda name=name, value=value: _set_limit(name, value, value) for name, value in generous.items()]
    )


def k_hostname(target):
    if target["bare"]:
        become_root_of_namespace(_NEW["uts"])
    check(libc.sethostname(b"other", 5), "sethostname")
    return True
