"""What each system call that is let through tells a run: a look asks it, or why there is nothing to ask.

A call that is newly let through stands in neither, and both a test and `dpgate doctor --deep` say so.
"""

from collections.abc import Iterable, Iterator

from sandbox_images.gate.inside.call_table import DESCRIPTORS, MADE, PAIRS, READS
from sandbox_images.seccomp.model import Policy, Rule, Verdict

# calls that a look does not ask, with what they tell
_CONTENT = "bytes of a file or pipe of the run, or how many there were"
_DONE = "that it was done: state of the run's own"
_WIDER = "under `standard` alone, whose table names the channel"
_WAITS = "that a wait is over: time, which is not this filter's"


def _each(calls: str, why: str) -> dict[str, str]:
    return dict.fromkeys(calls.split(), why)


ACTS = {
    **_each(
        """read write readv writev pread64 pwrite64 preadv pwritev sendfile copy_file_range fsync fdatasync
        truncate ftruncate fallocate sync_file_range fadvise64""",
        _CONTENT,
    ),
    **_each(
        """close_range dup2 dup3 chdir fchdir rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink
        unlinkat symlink symlinkat chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes
        futimesat utimensat mprotect mremap msync pkey_mprotect map_shadow_stack mseal madvise execve exit
        exit_group setpgid setsid set_tid_address restart_syscall set_robust_list rseq rt_sigreturn
        rt_sigqueueinfo rt_tgsigqueueinfo setitimer timer_settime timerfd_settime epoll_ctl setrlimit
        getrandom""",
        _DONE,
    ),
    **_each(
        """select pselect6 ppoll epoll_wait epoll_pwait epoll_pwait2 futex futex_waitv futex_wake futex_wait
        futex_requeue sched_yield rt_sigtimedwait rt_sigsuspend pause nanosleep clock_nanosleep""",
        _WAITS,
    ),
    **_each(
        "sendto recvfrom shutdown getsockname getsockopt flock mknod mknodat sched_setaffinity",
        _WIDER,
    ),
}


def let_through(policy: Policy) -> Iterator[str]:
    """Every call that some arguments get past the policy, or that a supervisor answers."""
    passing = (Verdict.ALLOW, Verdict.ANSWER)
    for group in policy.groups:
        if group.verdict in passing:
            yield from group.calls
    for rule in policy.rules:
        if any(verdict in passing for verdict in _verdicts(rule)):
            yield rule.call


def _verdicts(rule: Rule) -> Iterable[Verdict]:
    return (*(case.verdict for case in rule.cases), rule.otherwise)


def unclassified(policy: Policy) -> set[str]:
    """Calls of which nobody has said what they tell."""
    return set(let_through(policy)) - READS.keys() - DESCRIPTORS.keys() - PAIRS.keys() - MADE - ACTS.keys()


def twice() -> set[str]:
    """Calls that stand in more than one place."""
    places = [set(READS), set(DESCRIPTORS), set(PAIRS), set(MADE), set(ACTS)]
    return {name for index, one in enumerate(places) for other in places[index + 1 :] for name in one & other}
