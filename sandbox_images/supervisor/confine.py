"""What a run's child does to itself, in this order, before the first byte of untrusted code.

It starts as a copy of the zygote, PID 1 of a new PID namespace. Every step gives something up, and the
system-call filter, which forbids all of these steps, comes last. Nearly all of them are the same for all runs
of a slot: they are written down before the first, as system calls.
"""

import errno
import os
import resource
import struct

from sandbox_images import landlock

from . import calls, kernel
from .filesystems import INPUT, OUTPUT
from .order import read_list

_WRITABLE = ("/tmp", "/dev/shm", "/out", "/dev/null")  # noqa: S108 - the run's own
# The host's own inodes: whoever may write to one may set its times to now, for every later run to read. On a
# read-only mount nobody can, while what is written to a device still arrives.
DEVICE_NODES = ("/dev/null", "/dev/random", "/dev/urandom")
WORKING_FOLDER = "/tmp"  # noqa: S108 - the run's own
_STAGED = "/run/dpgate"  # the worker's folders, for the supervisor's eyes
_EMPTY = f"{_STAGED}/empty"
_OF_OWN = kernel.NEWNS | kernel.NEWUTS | kernel.NEWCGROUP
_WHERE_USABLE = kernel.NEWNET | kernel.NEWIPC
_STACK_BYTES = 8 << 20
_PENDING_SIGNALS = 256  # also counts timers
_HOST_NAME = b"sandbox"
_BIND, _PLAIN = kernel.MS_BIND, kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC

_MOVE_MOUNT = calls.system_call(int, bytes, int, bytes, int)
_PIVOT_ROOT = calls.system_call(bytes, bytes)
_RULESET, _RULE, _RESTRICT = (
    calls.system_call(bytes, int, int),
    calls.system_call(int, int, bytes, int),
    calls.system_call(int, int),
)


class Confinement:
    """The steps of a slot's runs."""

    def __init__(self, order, filter_):
        """In the zygote, whose descriptors every child begins with; then come those that it is handed: its
        /tmp, its /dev/shm, where its pipes lie, and, if it may talk, the end to write to.
        """
        self._root = order.root.rstrip("/")
        steps = calls.Steps(kernel.open_descriptors())
        tmp, shared, pipes, *talk = [_next(steps) for _ in range(4 if order.talks else 3)]
        self.one_more = calls.lowest_free(steps.open)
        self._before = steps
        _be_first_to_die(steps)
        steps.call("unshare", calls.UNSHARE, _OF_OWN | (_WHERE_USABLE if order.wide else 0))
        # soon nothing leads there
        own = steps.opens(
            "/proc/self", calls.OPEN, calls.HERE, b"/proc/self", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
        )
        _attach(steps, self._root, tmp, shared, pipes, procfs=order.wide)
        self._input = calls.Steps(steps.open)
        _bind_read_only(self._input, INPUT, f"{self._root}/in", _PLAIN)
        self._after = steps = calls.Steps(steps.open)
        _leave(steps, order.root)
        _redirect(steps, *talk)
        _become_nobody(steps, order.user, own)
        _limit(steps, order.limits)
        steps.call("chdir", calls.CHANGE_FOLDER, WORKING_FOLDER.encode())
        steps.call("no new privileges", calls.PRCTL, kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        restrict(steps, _WRITABLE)
        steps.call("filter", calls.PRCTL, kernel.PR_SET_SECCOMP, kernel.FILTER_MODE, filter_.address, 0, 0)

    def read_parts(self):
        """In the child, before its steps: the list that was handed over last."""
        try:
            return read_list(self.one_more)
        finally:
            os.close(self.one_more)

    def carry_out(self, block, parts):
        """In the child. `block`: where it lies; `parts`: of it, to be mounted: (source, place, is a file)."""
        self._before.carry_out()
        if block == INPUT and not parts:
            self._input.carry_out()
        else:
            self._attach_input(block, parts)
        self._after.carry_out()

    def _attach_input(self, block, parts):
        kernel.bind_read_only(block, f"{self._root}/in", _PLAIN, "mount of a block")
        for source, place, _ in parts:
            kernel.bind_read_only(source, f"{self._root}/in/{place}", _PLAIN, "mount of a part of the block")


def _next(steps):
    number = calls.lowest_free(steps.open)
    steps.open.add(number)
    return number


def _be_first_to_die(steps):
    # inherited: if memory runs out, the run goes before supervisor and worker
    steps.writes("/proc/self/oom_score_adj", "1000")
    steps.call("die with the parent", calls.PRCTL, kernel.PR_SET_PDEATHSIG, 9, 0, 0, 0)


def _attach(steps, root, tmp, shared, pipes, *, procfs):
    if root:
        steps.call(
            "mount of /dev", calls.MOUNT, b"/dev", f"{root}/dev".encode(), None, _BIND | kernel.MS_REC, None
        )
        _bind_read_only(steps, f"{_STAGED}/code", f"{root}/pipeline", kernel.MS_NOSUID | kernel.MS_NODEV)
    for descriptor, place in zip((tmp, shared), _WRITABLE[:2], strict=True):
        _put(steps, descriptor, root + place)
    steps.call("mount of /out", calls.MOUNT, OUTPUT.encode(), f"{root}/out".encode(), None, _BIND, None)
    if procfs:
        # only the run's own processes, and none of the host-wide entries (loads, keys, sysctls)
        options = b"subset=pid,hidepid=invisible"
        steps.call("mount of /proc", calls.MOUNT, b"proc", f"{root}/proc".encode(), b"proc", _PLAIN, options)
    else:
        # it would tell how many share the image's pages now, and its files are numbered for the whole host
        _bind_read_only(steps, _EMPTY, f"{root}/proc", _PLAIN)
    # Soon out of reach, as all that is staged. The end of a mount that was never put anywhere takes long.
    _put(steps, pipes, OUTPUT)


def _put(steps, descriptor, place):
    arguments = (
        kernel.MOVE_MOUNT,
        descriptor,
        b"",
        calls.HERE,
        place.encode(),
        kernel.MOVE_MOUNT_F_EMPTY_PATH,
    )
    steps.call(f"mount on {place}", _MOVE_MOUNT, *arguments)


def _bind_read_only(steps, source, target, flags):
    name, place = f"mount on {target}", target.encode()
    steps.call(name, calls.MOUNT, source.encode(), place, None, _BIND, None)
    steps.call(
        name, calls.MOUNT, None, place, None, _BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY | flags, None
    )


def _leave(steps, root):
    """All that was staged, or the whole root in which it lies."""
    if root == "/":
        steps.call("umount", calls.UNMOUNT, _STAGED.encode(), kernel.MNT_DETACH)
        return
    steps.call("chdir", calls.CHANGE_FOLDER, root.encode())
    steps.call("pivot_root", _PIVOT_ROOT, kernel.PIVOT_ROOT, b".", b".")
    steps.call("umount", calls.UNMOUNT, b".", kernel.MNT_DETACH)
    steps.call("chdir", calls.CHANGE_FOLDER, b"/")


def _redirect(steps, talk=None):
    steps.call("sethostname", calls.SET_HOST_NAME, _HOST_NAME, len(_HOST_NAME))
    steps.call("setsid", calls.BEGIN_SESSION, gives=1)
    # an own one: flags set on a shared one would reach the next run
    null = steps.opens("/dev/null", calls.OPEN, calls.HERE, b"/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for number, source in enumerate((null, *[null if talk is None else talk] * 2)):
        steps.call("dup2", calls.DUP2, source, number, gives=number)


def _become_nobody(steps, user, own):
    """A user namespace of its own: the mounts above belong to its parent, so it cannot touch them, and it
    never had a capability over anything else. `own` is this process's folder of a procfs.
    """
    steps.call("unshare", calls.UNSHARE, kernel.NEWUSER)
    steps.writes("setgroups", "deny", folder=own)
    steps.writes("uid_map", f"{user} {os.getuid()} 1", folder=own)
    steps.writes("gid_map", f"{user} {os.getgid()} 1", folder=own)
    for number in kernel.capabilities():
        steps.call("capability", calls.PRCTL, kernel.PR_CAPBSET_DROP, number, 0, 0, 0)
    steps.call("capability", calls.PRCTL, kernel.PR_CAP_AMBIENT, kernel.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    steps.call("capset", calls.SET_CAPABILITIES, *kernel.NO_CAPABILITIES)


def _limit(steps, limits):
    largest_file = max(limits.tmp_bytes, limits.output_bytes)  # also bounds what a sparse file claims to be
    for limit, value in (
        # RLIMIT_CORE is inherited from the worker: the filter lets nobody change it in here
        (resource.RLIMIT_NPROC, limits.processes),
        (resource.RLIMIT_CPU, limits.cpu_s),
        (resource.RLIMIT_NOFILE, limits.open_files),
        (resource.RLIMIT_FSIZE, largest_file),
        (resource.RLIMIT_AS, limits.address_space_bytes),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_STACK, _STACK_BYTES),
        (resource.RLIMIT_SIGPENDING, _PENDING_SIGNALS),
    ):
        _, ceiling = resource.getrlimit(limit)  # a stricter worker stays stricter
        value = value if ceiling == resource.RLIM_INFINITY else min(value, ceiling)
        steps.call("setrlimit", calls.SET_LIMIT, limit, struct.pack("=2Q", value, value))


def restrict(steps, writable):
    """Landlock: files can be read and executed everywhere, opened for writing only at or below `writable`:
    folders, or nodes of devices. Descriptors that are open already keep what they can do. Below ABI 2 nothing
    can be moved from one folder to another. After no_new_privs, and before the filter, which allows none of
    this.
    """
    applied = min(landlock.abi(), landlock.NEWEST_ABI)
    if applied == 0:
        return
    attribute = landlock.ruleset_attribute(applied)
    ruleset = steps.opens("Landlock", _RULESET, landlock.CREATE_RULESET, attribute, len(attribute), 0)
    for path in writable:
        place = steps.opens(path, calls.OPEN, calls.HERE, path.encode(), os.O_PATH | os.O_CLOEXEC)
        rule = landlock.rule_attribute(applied, place, is_folder=path not in DEVICE_NODES)
        steps.call("Landlock", _RULE, landlock.ADD_RULE, ruleset, landlock.PATH_BENEATH, rule, 0)
        steps.closes(place)
    steps.call("Landlock", _RESTRICT, landlock.RESTRICT_SELF, ruleset, 0)
    steps.closes(ruleset)


def say_ready(descriptor):
    """The supervisor's proof that set-up was complete; then nothing of the supervisor is left open."""
    os.write(descriptor, READY)
    kernel.close_from(3)


READY = b"!"


def complain(descriptor, error):
    """No untrusted code has run, so the text is ours and may be said."""
    os.write(descriptor, in_words(error).encode()[:500])


def in_words(error):
    """For the operator's log. Never the name of a file: those of a block are data, such as a person's id."""
    text = f"{type(error).__name__}: {getattr(error, 'strerror', None) or error}"
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        text += " (a limit of this host is reached: raise /proc/sys/user/max_*_namespaces or fs.mount-max)"
    return text
