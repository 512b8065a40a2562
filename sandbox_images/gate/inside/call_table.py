"""What to ask of each system call that returns something: names, and arguments that have no effect.

Imports nothing, so that a test outside can hold it against the policy. Calls that a policy refuses are asked
as well: whoever takes a wall away must see what comes through.
"""


class Out:
    """Room for an answer. `whole`: one value; else each `width` bytes are one."""

    def __init__(self, size, *, whole=False, width=8):
        self.size, self.whole, self.width = size, whole, width


class Bytes:
    """An argument that lies in memory."""

    def __init__(self, content):
        self.content = content


def _path(name):
    return Bytes(name.encode() + b"\0")


PLACES = ("/", "/usr", "/etc", "/in", "/out", "/tmp", "/dev/shm", "/dev/null", "/pipeline", "/proc")  # noqa: S108
ABSENT = "/usr/lib/dpgate-gate-no-such-name"  # a sender looks it up, and a look asks whether it is known
_NULL, _HERE, _FEW, _SIGNALS = 0, -100, range(9), range(1, 65)
_CAPABILITIES = Bytes(b"\x22\x05\x08\x20\0\0\0\0")
_CACHED = Bytes(bytes(16) + b"\x20" + bytes(7))  # struct open_how with RESOLVE_CACHED
_MOUNT = Bytes(b"\x18\0\0\0\0\0\0\0" + b"\xff" * 8 + b"\x3f" + bytes(7))  # struct mnt_id_req, of the root
_HANDLE = Bytes(b"\x80" + bytes(135))
_ATTRIBUTE = _path("security.selinux")
# linux/prctl.h: PDEATHSIG, UNALIGN, FPEMU, FPEXC, ENDIAN, TSC, CHILD_SUBREAPER, TID_ADDRESS; then DUMPABLE,
# KEEPCAPS, TIMING, SECCOMP, SECUREBITS, TIMERSLACK, MCE_KILL, NO_NEW_PRIVS, THP_DISABLE, FP_MODE, SVE,
# TAGGED_ADDR, IO_FLUSHER, SME, MDWE, MEMORY_MERGE
_INTO_MEMORY = (2, 5, 9, 11, 19, 25, 37, 40)
_RETURNED = (3, 7, 13, 21, 27, 30, 34, 39, 42, 46, 51, 56, 58, 64, 66, 68)

READS = {
    **dict.fromkeys(
        ("getpid", "getppid", "gettid", "getpgrp", "getuid", "geteuid", "getgid", "getegid"), ((),)
    ),
    **dict.fromkeys(("getpgid", "getsid", "sched_getscheduler"), tuple((who,) for who in _FEW)),
    **dict.fromkeys(("getresuid", "getresgid"), (tuple(Out(4, width=4) for _ in range(3)),)),
    "getgroups": [(64, Out(256, width=4))],
    "capget": [(_CAPABILITIES, Out(24, width=4))],
    "uname": [(Out(390, whole=True),)],
    "getrlimit": [(which, Out(16)) for which in range(16)],
    "prlimit64": [(who, which, _NULL, Out(16)) for who in (0, 1) for which in range(16)],
    "getrusage": [(who, Out(144)) for who in (0, -1, 1)],
    "times": [(Out(32),)],
    "getcpu": [(Out(4, width=4), Out(4, width=4), _NULL)],
    "getpriority": [(which, _NULL) for which in range(3)],
    "sched_getaffinity": [(0, 128, Out(128, whole=True))],
    "sched_getparam": [(0, Out(4, width=4))],
    "sched_getattr": [(0, Out(56), 56, 0)],
    "sched_get_priority_max": [(policy,) for policy in range(7)],
    "sched_get_priority_min": [(policy,) for policy in range(7)],
    "sched_rr_get_interval": [(0, Out(16))],
    "ioprio_get": [(1, 0), (3, 0)],
    "get_mempolicy": [(Out(4, width=4), Out(128, whole=True), 1024, _NULL, 0)],
    "time": [(_NULL,)],
    "gettimeofday": [(Out(16), Out(8))],
    "clock_gettime": [(clock, Out(16)) for clock in range(12)],
    "clock_getres": [(clock, Out(16)) for clock in range(12)],
    "clock_adjtime": [(0, Out(208, whole=True))],
    "adjtimex": [(Out(208, whole=True),)],
    "getitimer": [(which, Out(32)) for which in range(3)],
    "alarm": [(0,)],
    "personality": [(0xFFFFFFFF,)],
    "rt_sigprocmask": [(0, _NULL, Out(8), 8)],
    "rt_sigpending": [(Out(8), 8)],
    "rt_sigaction": [(number, _NULL, Out(32), 8) for number in _SIGNALS],
    "sigaltstack": [(_NULL, Out(24))],
    "getcwd": [(Out(256, whole=True), 256)],
    "brk": [(0,)],
    "umask": [(0o077,)],
    "membarrier": [(0, 0, 0)],
    "get_robust_list": [(0, Out(8), Out(8))],
    "arch_prctl": [*((what, Out(8)) for what in (0x1003, 0x1004, 0x1021, 0x1022, 0x4001)), (0x1011, 0)],
    "prctl": [
        *((what, Out(8), 0, 0, 0) for what in _INTO_MEMORY),
        (16, Out(16, whole=True), 0, 0, 0),
        *((what, 0, 0, 0, 0) for what in _RETURNED),
        *((23, capability, 0, 0, 0) for capability in range(42)),
        *((52, what, 0, 0, 0) for what in range(3)),
    ],
    "access": [(_path(place), 7) for place in PLACES],
    "faccessat": [(_HERE, _path(place), 6) for place in PLACES],
    "faccessat2": [(_HERE, _path(place), 2, 0x200) for place in PLACES],
    "statfs": [(_path(place), Out(120)) for place in PLACES],
    "fstatfs": [(0, Out(120))],
    "ustat": [(device, Out(32)) for device in range(1, 6)],
    "sysfs": [(3, 0, 0)],
    "sysinfo": [(Out(112),)],
    "readlink": [
        (_path(f"/proc/self/{name}"), Out(256, whole=True), 256) for name in ("exe", "fd/0", "fd/1", "cwd")
    ],
    "readlinkat": [(_HERE, _path("/proc/self/exe"), Out(256, whole=True), 256)],
    **{
        name: [(_path(place), _ATTRIBUTE, Out(256, whole=True), 256) for place in PLACES]
        for name in ("getxattr", "lgetxattr")
    },
    "fgetxattr": [(0, _ATTRIBUTE, Out(256, whole=True), 256)],
    **{
        name: [(_path(place), Out(256, whole=True), 256) for place in PLACES]
        for name in ("listxattr", "llistxattr")
    },
    "flistxattr": [(0, Out(256, whole=True), 256)],
    "getxattrat": [(_HERE, _path("/out"), 0, _ATTRIBUTE, Out(16), 16)],
    "listxattrat": [(_HERE, _path("/out"), 0, Out(256, whole=True), 256)],
    "file_getattr": [(_HERE, _path(place), Out(24), 24, 0) for place in PLACES],
    "statx": [(_HERE, _path(place), 0x100, 0x3FFFF, Out(256)) for place in PLACES],
    "name_to_handle_at": [
        (_HERE, _path(place), _HANDLE, Out(8), flags) for place in PLACES for flags in (0, 1)
    ],
    "statmount": [(_MOUNT, Out(512, whole=True), 512, 0)],
    "listmount": [(_MOUNT, Out(512, whole=True), 64, 0)],
    "openat2": [(_HERE, _path(ABSENT), _CACHED, 24)],
    "mincore": [(_NULL, 4096, Out(1, whole=True))],
    "cachestat": [(0, Bytes(bytes(16)), Out(40), 0)],
    "kcmp": [(1, 1, 0, 0, 0)],
    "kill": [(process, 0) for process in range(2, 40)],
    "tkill": [(thread, 0) for thread in range(2, 20)],
    "tgkill": [(1, thread, 0) for thread in range(2, 20)],
    "shmctl": [(0, 14, Out(48)), (0, 3, Out(72))],
    "semctl": [(0, 0, 19, Out(40))],
    "msgctl": [(0, 12, Out(32))],
    "keyctl": [(0, which, 0) for which in (-1, -3, -4, -5)],
    "lsm_list_modules": [(Out(64, whole=True), Bytes(b"\x40" + bytes(7)), 0)],
    "lsm_get_self_attr": [(100, Out(256, whole=True), Bytes(b"\0\x01" + bytes(6)), 0)],
    "seccomp": [(3, 0, Out(6, whole=True))],
    "landlock_create_ruleset": [(_NULL, 0, 1)],
    "syslog": [(9, _NULL, 0), (10, _NULL, 0)],
    "get_thread_area": [(Bytes(bytes(16)),)],
    "quotactl": [(0x800005 << 8, _NULL, 0, Out(72))],
}

# calls that return a descriptor: what `fstat` and `fcntl` tell of it
DESCRIPTORS = {
    "open": [(_path("/"), 0), (_path("/dev/null"), 0)],
    "openat": [(_HERE, _path("/usr"), 0)],
    "creat": [(_path("/tmp/gate-made"), 0o600)],  # noqa: S108
    "dup": [(0,)],
    "eventfd": [(0,)],
    "eventfd2": [(0, 0)],
    "epoll_create": [(1,)],
    "epoll_create1": [(0,)],
    "signalfd": [(-1, Bytes(bytes(8)), 8)],
    "signalfd4": [(-1, Bytes(bytes(8)), 8, 0)],
    "timerfd_create": [(1, 0)],
    "memfd_create": [(_path("gate"), 0)],
    "memfd_secret": [(0,)],
    "pidfd_open": [(1, 0)],
    "inotify_init1": [(0,)],
    "fanotify_init": [(0x200, 0)],
    "socket": [(1, 1, 0), (2, 2, 0), (16, 3, 0)],
    "userfaultfd": [(1,)],
    "mq_open": [(_path("gate"), 0o102, 0o600, _NULL)],
    "open_tree": [(_HERE, _path("/out"), 0)],
    "fsopen": [(_path("tmpfs"), 0)],
}
# those that write two of them into memory
PAIRS = {"pipe": [(Out(8),)], "pipe2": [(Out(8), 0)], "socketpair": [(1, 1, 0, Out(8))]}

# calls of which the answer is a number of an object of the run's own, or of a child: see looks_made.py
_MADE = """timer_create timer_delete pkey_alloc pkey_free fork vfork clone wait4 waitid mmap munmap fcntl
    ioctl poll lseek getdents getdents64 stat lstat fstat newfstatat close timerfd_gettime timer_gettime
    timer_getoverrun"""
MADE = frozenset(_MADE.split())
