"""Which system calls a pipeline may make. One table, STRICT; whatever it does not allow fails with EPERM.

Every call in the tables of `syscalls` stands here exactly once, with the reason where it is refused, so a
reader can look up any name and a test can prove that nothing was forgotten. The list lets CPython (threads,
subprocess, tempfile), numpy and pandas work; locks, sockets and shared kernel counters are out, because
runs on different blocks must not be able to talk to each other, not only because they could do harm.
"""

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What the kernel does with a call; the value is what the filter returns (linux/seccomp.h)."""

    ALLOW = 0x7FFF0000
    KILL = 0x80000000  # the whole process, not only the thread
    EPERM = 0x00050000 | 1
    ENOTTY = 0x00050000 | 25
    ENOSYS = 0x00050000 | 38  # "this kernel is too old": libc takes its older path
    EAFNOSUPPORT = 0x00050000 | 97  # "this kernel has no such network": libraries take that for an answer


class Test(Enum):
    """How one argument is looked at. All but NULL read the low 32 bits only, as the kernel does with these
    arguments: a filter that also looked at the rest could be walked around by setting a bit there."""

    __test__ = False  # not a test case, whatever pytest makes of the name

    IN = "in"
    NOT_IN = "not in"
    ANY_BIT = "any bit"
    ALL_BITS = "all bits"
    NULL = "null"  # a pointer: both halves are zero


@dataclass(frozen=True)
class Case:
    """If `argument` passes `test` against `values`, then `verdict`."""

    argument: int
    test: Test
    values: tuple[int, ...]
    verdict: Verdict


@dataclass(frozen=True)
class Rule:
    """A call whose verdict depends on its arguments: the first case that holds, else `otherwise`."""

    call: str
    cases: tuple[Case, ...]
    otherwise: Verdict


@dataclass(frozen=True)
class Group:
    """Calls that share a verdict, and why."""

    verdict: Verdict
    reason: str
    calls: frozenset[str]


@dataclass(frozen=True)
class Policy:
    rules: tuple[Rule, ...]
    groups: tuple[Group, ...]


def _allow(reason: str, calls: str) -> Group:
    return Group(Verdict.ALLOW, reason, frozenset(calls.split()))


def _deny(reason: str, calls: str, verdict: Verdict = Verdict.EPERM) -> Group:
    return Group(verdict, reason, frozenset(calls.split()))


# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (CLONE_NEWTIME is only for clone3 and
# unshare.)
_NEW_NAMESPACES = 0x7E020000
# TCGETS (isatty), FIONREAD, FIONBIO, FIOCLEX, FIONCLEX, TIOCGWINSZ. Not TIOCSTI or TIOCLINUX (CVE-2017-5226,
# CVE-2023-28100: they type into the terminal that the worker may have).
_IOCTLS = (0x5401, 0x541B, 0x5421, 0x5451, 0x5450, 0x5413)
# F_DUPFD, GETFD, SETFD, GETFL, SETFL, F_DUPFD_QUERY, F_DUPFD_CLOEXEC, F_GETPIPE_SZ. No locks (they are
# visible to another run through any shared inode, even a read-only one), leases, notifications, owners or
# pipe sizes (pipe pages are counted per host user).
_FCNTLS = (0, 1, 2, 3, 4, 1027, 1030, 1032)
# PDEATHSIG set/get, DUMPABLE get/set, NAME set/get, SECCOMP get, CAPBSET_READ, TSC get, TIMERSLACK set/get,
# NO_NEW_PRIVS set/get, GET_TID_ADDRESS, THP_DISABLE set/get, and SET_VMA (glibc names its heaps).
_PRCTLS = (1, 2, 3, 4, 15, 16, 21, 23, 25, 29, 30, 38, 39, 40, 41, 42, 0x53564D41)
_RLIMIT_CORE = 4
_SHARED_ANONYMOUS = 0x21  # MAP_ANONYMOUS | MAP_SHARED
_FADV_DONTNEED = 4
_MERGEABLE_AND_POISON = (12, 100, 101)  # MADV_MERGEABLE, HWPOISON, SOFT_OFFLINE
_PERSONALITY_DEFAULT_OR_QUERY = (0, 0xFFFFFFFF)

_RULES = (
    # New namespaces would give a payload capabilities over them, the start of most kernel exploits.
    Rule("clone", (Case(0, Test.ANY_BIT, (_NEW_NAMESPACES,), Verdict.EPERM),), Verdict.ALLOW),
    Rule("ioctl", (Case(1, Test.IN, _IOCTLS, Verdict.ALLOW),), Verdict.ENOTTY),
    Rule("fcntl", (Case(1, Test.IN, _FCNTLS, Verdict.ALLOW),), Verdict.EPERM),
    Rule("prctl", (Case(0, Test.IN, _PRCTLS, Verdict.ALLOW),), Verdict.EPERM),
    # READ_IMPLIES_EXEC and ADDR_NO_RANDOMIZE are personalities.
    Rule("personality", (Case(0, Test.IN, _PERSONALITY_DEFAULT_OR_QUERY, Verdict.ALLOW),), Verdict.EPERM),
    # Pages of an anonymous shared mapping live on after MADV_DONTNEED or after the process that touched them
    # is gone, and then no process's resident size shows them: the memory watchdog could not see them.
    Rule("mmap", (Case(3, Test.ALL_BITS, (_SHARED_ANONYMOUS,), Verdict.EPERM),), Verdict.ALLOW),
    # Merged pages (KSM) are shared with every other process of the host; the merge can be timed.
    Rule("madvise", (Case(2, Test.IN, _MERGEABLE_AND_POISON, Verdict.EPERM),), Verdict.ALLOW),
    # DONTNEED evicts shared library pages from the page cache, which another run can time.
    Rule("fadvise64", (Case(3, Test.IN, (_FADV_DONTNEED,), Verdict.EPERM),), Verdict.ALLOW),
    # A core limit of 1 is the only one that also stops dumps piped to a host program; nobody may change it
    # to 0.
    Rule("setrlimit", (Case(0, Test.IN, (_RLIMIT_CORE,), Verdict.EPERM),), Verdict.ALLOW),
    Rule(
        "prlimit64",
        (
            Case(0, Test.NOT_IN, (0,), Verdict.EPERM),  # of oneself only: PID 1 has the same user
            Case(2, Test.NULL, (), Verdict.ALLOW),  # reading
            Case(1, Test.IN, (_RLIMIT_CORE,), Verdict.EPERM),
        ),
        Verdict.ALLOW,
    ),
)

_ALLOWED = (
    _allow(
        "open descriptors: read, write, wait",
        """read write readv writev pread64 pwrite64 preadv pwritev lseek sendfile copy_file_range close
        close_range dup dup2 dup3 pipe pipe2 fsync fdatasync truncate ftruncate fallocate sync_file_range
        select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
        eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime""",
    ),
    _allow(
        "names in the file system; what may be reached is the mounts' business",
        """open openat openat2 creat stat fstat lstat newfstatat statx access faccessat faccessat2 getdents
        getdents64 getcwd chdir fchdir rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink
        unlinkat symlink symlinkat readlink readlinkat chmod fchmod fchmodat fchmodat2 chown lchown fchown
        fchownat umask utime utimes futimesat utimensat getxattr lgetxattr fgetxattr listxattr llistxattr
        flistxattr""",
    ),
    _allow(
        "private memory",
        """brk mprotect munmap mremap msync pkey_alloc pkey_free pkey_mprotect map_shadow_stack mseal
        membarrier""",
    ),
    _allow(
        "processes and threads of this run",
        """fork vfork execve exit exit_group wait4 waitid kill tkill tgkill getpid getppid gettid setpgid
        getpgid getpgrp setsid getsid set_tid_address restart_syscall arch_prctl set_robust_list
        get_robust_list rseq futex futex_waitv futex_wake futex_wait futex_requeue sched_yield""",
    ),
    _allow(
        "signals",
        """rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigqueueinfo
        rt_tgsigqueueinfo rt_sigsuspend sigaltstack pause""",
    ),
    _allow(
        "who am I, and what may I use",
        """getuid geteuid getgid getegid getresuid getresgid getgroups uname getrlimit getrusage times
        getrandom getcpu getpriority sched_getaffinity sched_getparam sched_getscheduler sched_getattr
        sched_get_priority_max sched_get_priority_min sched_rr_get_interval""",
    ),
    _allow(
        "clocks and timers (time is not a boundary of this filter: the job's schedule is)",
        """time gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep alarm getitimer setitimer
        timer_create timer_settime timer_gettime timer_getoverrun timer_delete""",
    ),
)

_REFUSED = (
    _deny("no network of any family, so AF_VSOCK and AF_ALG are gone too", "socket", Verdict.EAFNOSUPPORT),
    _deny(
        "sockets that might be inherited; in-flight descriptors and socket buffers are counted per host user",
        """socketpair connect accept accept4 bind listen sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
        shutdown getsockname getpeername setsockopt getsockopt""",
    ),
    _deny(
        "newer doors that this filter cannot look behind (arguments in memory); libc falls back on ENOSYS",
        """clone3 io_uring_setup io_uring_enter io_uring_register preadv2 pwritev2
        open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr""",
        Verdict.ENOSYS,
    ),
    _deny(
        "memory that belongs to no process's resident size: the watchdog could not count it",
        "memfd_create memfd_secret",
        Verdict.ENOSYS,
    ),
    _deny(
        "locks and change notices on an inode that another run may see too, even read-only",
        "flock inotify_init inotify_init1 inotify_add_watch inotify_rm_watch fanotify_init fanotify_mark",
    ),
    _deny("page-cache state of shared files (CVE-2019-5489)", "mincore cachestat readahead"),
    _deny(
        "free space and inode counts of a file system that other runs also use", "statfs fstatfs ustat sysfs"
    ),
    _deny("load, free memory and process counts of the whole host", "sysinfo"),
    _deny("host-wide effects: writes back every disk", "sync syncfs"),
    _deny(
        "shared objects between processes: System V and POSIX inter-process communication",
        """shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl
        mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr""",
    ),
    _deny("keyrings are per host user, not per namespace", "add_key request_key keyctl"),
    _deny(
        "looking into or steering another process: PID 1 has the same user",
        """ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_open pidfd_getfd
        pidfd_send_signal kcmp""",
    ),
    _deny(
        "scheduling and memory placement are the worker's choice, and a channel",
        """setpriority sched_setparam sched_setscheduler sched_setattr sched_setaffinity ioprio_set ioprio_get
        mbind set_mempolicy get_mempolicy migrate_pages move_pages set_mempolicy_home_node
        mlock mlock2 munlock mlockall munlockall""",
    ),
    _deny(
        "mounts, roots and namespaces",
        """mount umount2 pivot_root chroot unshare setns statmount listmount quotactl quotactl_fd swapon
        swapoff name_to_handle_at open_by_handle_at""",
    ),
    _deny("device nodes, fifos and extended attributes", "mknod mknodat"),
    _deny(
        "attributes cost kernel memory that no limit counts",
        """setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat getxattrat
        listxattrat removexattrat file_getattr file_setattr""",
    ),
    _deny(
        "identity is fixed for the run",
        """setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capget capset
        sethostname setdomainname""",
    ),
    _deny(
        "kernel programs, tracing and modules",
        """bpf perf_event_open userfaultfd seccomp landlock_create_ruleset landlock_add_rule
        landlock_restrict_self lsm_get_self_attr lsm_set_self_attr lsm_list_modules init_module finit_module
        delete_module create_module query_module get_kernel_syms kexec_load kexec_file_load lookup_dcookie""",
    ),
    _deny(
        "the machine: clocks, power, logs, ports, accounting",
        """settimeofday clock_settime clock_adjtime adjtimex reboot syslog acct vhangup iopl ioperm""",
    ),
    _deny(
        "asynchronous I/O contexts are counted host-wide",
        "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents",
    ),
    _deny(
        "zero-copy page games (CVE-2022-0847 lived here); copying works without them",
        "splice tee vmsplice remap_file_pages",
    ),
    _deny("execution is by path only", "execveat uselib"),
    _deny(
        "segment descriptors: old exploit surface, no use in 64-bit code",
        "modify_ldt set_thread_area get_thread_area",
    ),
    _deny(
        "removed from the kernel, never implemented, or without a use here",
        """_sysctl afs_syscall getpmsg putpmsg nfsservctl security tuxcall vserver
        epoll_ctl_old epoll_wait_old""",
    ),
)

STRICT = Policy(_RULES, _ALLOWED + _REFUSED)
