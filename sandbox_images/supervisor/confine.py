"""What a run's child does to itself, in this order, before the first byte of untrusted code.

It starts as a copy of the supervisor, PID 1 of a new PID namespace. Every step gives something up, and the
system-call filter, which forbids all of these steps, comes last.
"""

import errno
import os
import resource

from sandbox_images import landlock

from . import kernel

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


def confine(order, mounts, filter_, *, output):
    """`mounts` is a Mounts; `output` where a twin's run may talk, or None."""
    _be_first_to_die()
    kernel.unshare(_OF_OWN | (_WHERE_USABLE if order.own_channels else 0))
    own = os.open("/proc/self", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # soon nothing leads there
    _attach(order.root.rstrip("/"), mounts, procfs=order.procfs)
    if order.root == "/":
        kernel.detach(_STAGED)
    else:
        kernel.pivot_into(order.root)
    kernel.set_host_name("sandbox")
    os.setsid()
    _redirect(output)
    _become_nobody(order.user, own)
    _limit(order.limits)
    os.chdir(WORKING_FOLDER)
    os.umask(0o077)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    landlock.restrict(_WRITABLE)
    filter_.install()


def _be_first_to_die():
    # inherited: if memory runs out, the run goes before supervisor and worker
    _write("/proc/self/oom_score_adj", "1000")
    kernel.prctl(kernel.PR_SET_PDEATHSIG, 9)


def _write(path, text, folder=None):
    """Not open(): its buffers and codecs would be copied from the supervisor, page by page, for every run."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


class Mounts:
    """Where a level's block, its parts and its output lie in the supervisor's view, and its two detached file
    systems.
    """

    def __init__(self, block, parts, output, tmp, shared):
        self.block, self.parts, self.output = block, parts, output
        self.own = (("/tmp", tmp), ("/dev/shm", shared))  # noqa: S108


def _attach(root, mounts, *, procfs):
    if root:
        kernel.mount("/dev", f"{root}/dev", None, kernel.MS_BIND | kernel.MS_REC)
        _bind_read_only("/run/dpgate/code", f"{root}/pipeline", kernel.MS_NOSUID | kernel.MS_NODEV)
    for place, descriptor in mounts.own:
        kernel.attach(descriptor, root + place)
    kernel.mount(mounts.output, f"{root}/out", None, kernel.MS_BIND)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
    _bind_read_only(mounts.block, f"{root}/in", flags)
    for source, place, _ in mounts.parts:
        _bind_read_only(source, f"{root}/in/{place}", flags, "mount of a part of the block")
    if procfs:
        # only the run's own processes, and none of the host-wide entries (loads, keys, sysctls)
        kernel.mount("proc", f"{root}/proc", "proc", flags, "subset=pid,hidepid=invisible")
    else:
        # it would tell how many share the image's pages now, and its files are numbered for the whole host
        _bind_read_only(_EMPTY, f"{root}/proc", flags)


def _bind_read_only(source, target, flags, step=None):
    kernel.mount(source, target, None, kernel.MS_BIND, step=step)
    again = kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY
    kernel.mount(None, target, None, again | flags, step=step)


def _redirect(output):
    null = os.open("/dev/null", os.O_RDWR)  # an own one: flags set on a shared one would reach the next run
    os.dup2(null, 0)
    os.dup2(null if output is None else output, 1)
    os.dup2(null if output is None else output, 2)


def _become_nobody(user, own):
    """A user namespace of its own: the mounts above belong to its parent, so it cannot touch them, and it
    never had a capability over anything else. `own` is this process's folder of a procfs.
    """
    outside_user, outside_group = os.getuid(), os.getgid()
    kernel.unshare(kernel.NEWUSER)
    lines = (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {outside_user} 1"),
        ("gid_map", f"{user} {outside_group} 1"),
    )
    for name, line in lines:
        _write(name, line, folder=own)
    kernel.drop_bounding_set()
    kernel.drop_capabilities()


def _limit(limits):
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
        resource.setrlimit(limit, (value, value))


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
