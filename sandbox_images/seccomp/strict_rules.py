"""STRICT: the calls that are decided by their arguments."""

from .model import Case, Rule, Test, Verdict

# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (CLONE_NEWTIME is only for clone3 and
# unshare.)
_NEW_NAMESPACES = 0x7E020000
_CLONE_PIDFD = 0x1000
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
SHARED_ANONYMOUS = 0x21  # MAP_ANONYMOUS | MAP_SHARED
HUGE_PAGES = 0x40000  # MAP_HUGETLB
MAP_TYPE, DROPPABLE = 0xF, 0x8  # of the bits of the type no other has this one
_SEEK_DATA, _SEEK_HOLE = 3, 4
_MADV_FREE = 8
_FADV_DONTNEED = 4
# NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, REMOVE, DONTFORK, DOFORK, UNMERGEABLE, NOHUGEPAGE,
# DONTDUMP, DODUMP, WIPEONFORK, KEEPONFORK, POPULATE_READ, POPULATE_WRITE
_ADVICE = (0, 1, 2, 3, 4, 9, 10, 11, 13, 15, 16, 17, 18, 19, 22, 23)
_PERSONALITY_DEFAULT_OR_QUERY = (0, 0xFFFFFFFF)

RULES = (
    # New namespaces would give a payload capabilities over them, the start of most kernel exploits.
    # A descriptor of a process shows how many processes the host has started.
    Rule("clone", (Case(0, Test.ANY_BIT, (_NEW_NAMESPACES | _CLONE_PIDFD,), Verdict.EPERM),), Verdict.ALLOW),
    Rule("ioctl", (Case(1, Test.IN, _IOCTLS, Verdict.ALLOW),), Verdict.ENOTTY),
    Rule("fcntl", (Case(1, Test.IN, _FCNTLS, Verdict.ALLOW),), Verdict.EPERM),
    Rule("prctl", (Case(0, Test.IN, _PRCTLS, Verdict.ALLOW),), Verdict.EPERM),
    # READ_IMPLIES_EXEC and ADDR_NO_RANDOMIZE are personalities.
    Rule("personality", (Case(0, Test.IN, _PERSONALITY_DEFAULT_OR_QUERY, Verdict.ALLOW),), Verdict.EPERM),
    # Pages of an anonymous shared mapping live on after MADV_DONTNEED or after the process that touched them
    # is gone, and then no process's resident size shows them: the memory watchdog could not see them.
    # Huge pages come from one pool of the whole host and count in no resident size and no memory limit.
    # Droppable ones are zero again when the host was short of memory: a run sees what others did to it.
    Rule(
        "mmap",
        (
            Case(3, Test.MASKED, (MAP_TYPE, DROPPABLE), Verdict.EINVAL),
            Case(3, Test.ANY_BIT, (HUGE_PAGES,), Verdict.EPERM),
            Case(3, Test.MASKED, (SHARED_ANONYMOUS, SHARED_ANONYMOUS), Verdict.EPERM),
        ),
        Verdict.ALLOW,
    ),
    # COLLAPSE and HUGEPAGE give a file of the image or the slot, read-only as it is, other pages and blocks;
    # COLD and PAGEOUT take them away: later runs read that. Merged pages (KSM) are shared by all of the host.
    # What was given FREE is zero once the host was short of memory, like droppable memory.
    Rule(
        "madvise",
        (Case(2, Test.IN, (_MADV_FREE,), Verdict.EINVAL), Case(2, Test.IN, _ADVICE, Verdict.ALLOW)),
        Verdict.EPERM,
    ),
    # A file's holes, and what was reserved and never written, count as data once anybody has read them.
    Rule("lseek", (Case(2, Test.IN, (_SEEK_DATA, _SEEK_HOLE), Verdict.EINVAL),), Verdict.ALLOW),
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
