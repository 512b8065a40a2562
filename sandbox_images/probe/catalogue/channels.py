"""Ways to tell: the outside, the next run, the run beside."""

from functools import partial

from .model import Control, Expect, Mode, Probe

_outside = partial(
    Probe,
    category="visible",
    script="visible",
    mode=Mode.ROLES,
    expect=Expect.NOT_VISIBLE,
    control=Control.COLLECTOR,
)
_next = partial(Probe, category="cross-run", script="cross_run", mode=Mode.SEQUENCE, expect=Expect.SAME_VALUE)
_number = partial(_next, script="host_numbers")
_beside = partial(Probe, category="concurrent", script="beside", mode=Mode.PAIR, expect=Expect.SAME_VALUE)
_quota = partial(_beside, script="user_quotas")

_SEQUENCE = (
    "the kernel numbers them in one sequence for the whole host: a hostile run can move it far, "
    "and others can read that"
)
_WITHOUT_SUPERVISOR = {"docker": _SEQUENCE}
_FUTEX = "threads wait for each other by this call, and a filter does not see for which page: run one slot"
_PROCFS = "a run reads in its own /proc/self/smaps who else maps a page: take a supervisor and strict calls"
_ONE_USER = "all slots are one host user, whose quotas they share: run the worker as root, or one slot"
_OWN_NODES = "each container has nodes of its own: they show when it was made, which is the clock"
_RUNC = "threads of the engine's own runtime take a number or two inside; no run decides how many"

VISIBLE = (
    _outside("v_exit_code", tries="another exit code", quick=True),
    _outside("v_stderr", tries="words on standard error", quick=True),
    _outside("v_crash_kind", tries="a signal or too much memory"),
    _outside("v_limit_kind", tries="one limit or another"),
    _outside("v_missing_output", tries="no output"),
    _outside("v_out_size", tries="the same number at greater length"),
    _outside("v_float_bits", tries="digits that no release shows"),
    _outside("v_file_count", tries="other files"),
    _outside(
        "v_time",
        tries="more time",
        expect=Expect.SAME_TIME,
        residual="runs take as long as they take; padded timing starts and ends them on a grid",
    ),
)

CROSS_RUN = (
    _next("x_tmp_counter", tries="a file in any place that can be written", quick=True),
    _next("x_sysv_ipc", tries="a System V segment", kernel=True),
    _next("x_posix_mq", tries="a POSIX queue", kernel=True),
    _next("x_keyring", tries="a key of the host user", kernel=True),
    _number("x_atime_mtime", tries="a time stamp on a shared file"),
    _number(
        "x_device_times",
        tries="the time of a device node, set to now",
        quick=True,
        residual_on={"docker": _OWN_NODES},
    ),
    _number(
        "x_pid_numbers", tries="how far process numbers have got", quick=True, residual_on={"docker": _RUNC}
    ),
    _number(
        "x_hostname_ids",
        tries="anything that names the host",
        mode=Mode.SINGLE,
        expect=Expect.BLOCKED,
        quick=True,
    ),
    _number(
        "x_loadavg",
        tries="counters of the whole host",
        mode=Mode.SINGLE,
        expect=Expect.BLOCKED,
        quick=True,
    ),
    _number("x_ns_inodes", tries="numbers of namespaces", residual_on=_WITHOUT_SUPERVISOR),
    _number("x_anon_inodes", tries="numbers of pipes", residual_on=_WITHOUT_SUPERVISOR),
    _number("x_device_numbers", tries="numbers of file systems", residual_on=_WITHOUT_SUPERVISOR),
    _number("x_mount_ids", tries="numbers of mounts", residual_on=_WITHOUT_SUPERVISOR),
    _number("x_tmpfs_inode", tries="numbers of new files", quick=True),
    _number(
        "x_wallclock",
        tries="when the run before ended",
        residual="a run can read the clock; padded timing makes it say nothing as long as steps end in time",
    ),
    _number("x_pagecache", tries="which pages of a shared file an earlier run has read", kernel=True),
    _next("x_inherited_memory", tries="a needle in memory", control=Control.SERVER, quick=True),
    _next(
        "x_interpreter_state",
        tries="modules, signal actions, mask, limits of an interpreter",
        control=Control.SERVER,
        quick=True,
    ),
    _next("x_changed_code", tries="a function of the C library, rewritten in memory", control=Control.SERVER),
    _next("x_random_state", tries="draws of a shared generator", control=Control.SERVER),
    _next("x_text_channel", tries="what an earlier run said"),
    _next("x_view", tries="anything else that a run sees of its surroundings", quick=True),
)

CONCURRENT = (
    _beside("c_flock", tries="a lock on a shared file"),
    _beside("c_posix_lock", tries="a record lock on a shared file"),
    _beside("c_lease", tries="a lease on a shared file"),
    _beside("c_inotify", tries="a notice that a shared file was opened"),
    _beside("c_abstract_unix", tries="an abstract socket"),
    _beside("c_loopback", tries="a connection on loopback"),
    _quota("c_pipe_quota", tries="a user's pages for pipes", residual_on={"shared user": _ONE_USER}),
    _quota("c_unix_inflight", tries="a user's descriptors in flight"),
    _quota("c_nproc_quota", tries="a user's processes"),
    _quota("c_signal_quota", tries="a user's queued signals"),
    _beside("c_shm_names", tries="a name in /dev/shm", quick=True),
    _beside("c_proc_visibility", tries="each other's processes", quick=True),
    _beside(
        "c_shared_pages",
        tries="who else maps a page of a shared file",
        residual_on={"docker": _PROCFS},
    ),
    _beside("c_futex", tries="a wait on a page of a shared file", residual=_FUTEX),
    _beside("c_pty", tries="numbers of terminals"),
    _quota("c_async_io", tries="the host's count of contexts for asynchronous input and output", kernel=True),
    _beside(
        "c_cpu_contention",
        tries="how fast a loop turns",
        residual="slots share processors and caches: one slot, or cores of its own",
    ),
)
