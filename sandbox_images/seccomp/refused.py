"""What STRICT refuses with EPERM, and why: for readers and for tests.

No filter is made from this. A policy refuses whatever it does not name (model.py), so these calls would be
refused without this file, too; a test holds that every call that we know stands there or here.
"""

from .model import Group, Verdict


def _deny(reason: str, calls: str) -> Group:
    return Group(Verdict.EPERM, reason, frozenset(calls.split()))


REFUSED = (
    _deny(
        "sockets that might be inherited; in-flight descriptors and socket buffers are counted per host user",
        """socketpair connect accept accept4 bind listen sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg
        shutdown getsockname getpeername setsockopt getsockopt""",
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
        """setpriority sched_setparam sched_setscheduler sched_setattr sched_setaffinity
        sched_rr_get_interval ioprio_set ioprio_get
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
        "identity is fixed for the run",
        """setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capset
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
