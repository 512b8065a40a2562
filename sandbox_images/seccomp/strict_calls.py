"""STRICT: the calls that are decided by their name. Whatever stands neither here nor in strict_rules.py is
refused with EPERM; refused.py has the reasons.
"""

from .model import Group, Verdict


def _allow(reason: str, calls: str) -> Group:
    return Group(Verdict.ALLOW, reason, frozenset(calls.split()))


def _deny(reason: str, calls: str, verdict: Verdict) -> Group:
    return Group(verdict, reason, frozenset(calls.split()))


ALLOWED = (
    _allow(
        "open descriptors: read, write, wait",
        """read write readv writev pread64 pwrite64 preadv pwritev sendfile copy_file_range close
        close_range dup dup2 dup3 pipe pipe2 fsync fdatasync truncate ftruncate fallocate sync_file_range
        select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
        eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime""",
    ),
    _allow(
        "names in the file system; what may be reached is the mounts' business",
        """open openat creat stat fstat lstat newfstatat access faccessat faccessat2 getdents
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
        """getuid geteuid getgid getegid getresuid getresgid getgroups capget uname getrlimit getrusage times
        getrandom getcpu getpriority sched_getaffinity sched_getparam sched_getscheduler sched_getattr
        sched_get_priority_max sched_get_priority_min""",
    ),
    _allow(
        "clocks and timers (time is not a boundary of this filter: the job's schedule is)",
        """time gettimeofday clock_gettime clock_getres nanosleep clock_nanosleep alarm getitimer setitimer
        timer_create timer_settime timer_gettime timer_getoverrun timer_delete""",
    ),
)

# Not EPERM: software takes these for a machine that has no such thing, and goes on.
MISSING = (
    _deny(
        "attributes cost kernel memory that no limit counts",
        """setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr setxattrat getxattrat
        listxattrat removexattrat file_getattr file_setattr""",
        Verdict.EOPNOTSUPP,
    ),
    _deny("no network of any family, so AF_VSOCK and AF_ALG are gone too", "socket", Verdict.EAFNOSUPPORT),
    _deny(
        "newer doors that this filter cannot look behind (arguments in memory); libc falls back on ENOSYS",
        """clone3 openat2 io_uring_setup io_uring_enter io_uring_register preadv2 pwritev2
        open_tree open_tree_attr move_mount fsopen fsconfig fsmount fspick mount_setattr""",
        Verdict.ENOSYS,
    ),
    _deny(
        "statx also tells the number of a mount, which comes from one sequence for the host; libc falls back",
        "statx",
        Verdict.ENOSYS,
    ),
    _deny(
        "memory that belongs to no process's resident size: the watchdog could not count it",
        "memfd_create memfd_secret",
        Verdict.ENOSYS,
    ),
)
