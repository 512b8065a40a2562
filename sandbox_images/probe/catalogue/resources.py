"""More of everything than a run was given."""

from functools import partial

from .model import Control, Expect, Probe

_amount = partial(Probe, category="resources", script="resources", expect=Expect.BOUNDED)
_endless = partial(Probe, category="resources", script="endless", expect=Expect.BOUNDED)

_UNTOUCHED = "the engine fences memory when it is touched; a mapping alone costs nothing"

RESOURCES = (
    _endless("r_fork_count", tries="start 300 processes", quick=True),
    _endless("r_fork_bomb", tries="fork in every process, for ever", waits=True),
    _endless("r_threads", tries="start 300 threads"),
    _amount("r_mem_bomb", tries="fill 400 MiB", quick=True),
    _amount("r_mem_procs", tries="fill 400 MiB by eight processes"),
    _amount("r_mem_shared", tries="fill 400 MiB that no process's size shows"),
    _amount("r_disk_fill", tries="write 64 MiB to any writable place", quick=True),
    _amount("r_inodes", tries="create 5000 files in any writable place"),
    _amount("r_symlinks", tries="create 5000 links"),
    _amount("r_deep_dirs", tries="nest 2500 folders"),
    _amount("r_fds", tries="open 300 files"),
    _amount("r_stdout_flood", tries="say 80 MB on standard output and error"),
    _amount(
        "r_big_output",
        tries="hand over an output above its cap",
        expect=Expect.REJECTED,
        control=Control.COLLECTOR,
    ),
    _amount("r_sparse", tries="make a file that claims a terabyte"),
    _amount("r_address_space", tries="map 64 GiB without touching it", residual_on={"docker": _UNTOUCHED}),
    _endless("r_loop", tries="compute for ever", waits=True, quick=True),
    _endless("r_sleep", tries="wait for ever", waits=True),
    _endless("r_ignore_term", tries="ignore every signal that can be ignored", waits=True),
    _endless("r_stop_self", tries="stop itself", waits=True),
    _endless("r_vfork_hang", tries="be held by a child that never execs", waits=True),
    _endless("r_daemon", tries="leave a process behind", quick=True),
    _endless("r_cpu_hog", tries="leave processes behind that burn every processor"),
    _amount("r_cpu_limit", tries="have processor time without end"),
    _amount("r_stack_recursion", tries="recurse until the stack ends, and make it large"),
    _endless("r_zombies", tries="leave 300 dead children unwaited"),
    _amount("r_timers", tries="make thousands of kernel timers"),
    _amount("r_signal_queue", tries="queue thousands of signals"),
    _amount("r_locked_memory", tries="lock memory so that it cannot be swapped"),
)
