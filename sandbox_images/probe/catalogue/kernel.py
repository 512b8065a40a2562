"""Kernel interfaces, and other processes reached through them."""

from functools import partial

from .model import Expect, Probe

_call = partial(Probe, category="kernel", script="kernel_calls", quick=True)
_right = partial(Probe, category="kernel", script="privileges", quick=True)
_reach = partial(Probe, category="kernel", script="kernel_processes", quick=True)
_supervisor = partial(Probe, category="supervisor", script="kernel_processes", quick=True)

_QUEUES = "the engine mounts /dev/mqueue; it is the container's own, and no queue can be made in it"

KERNEL = (
    _call("net_io_uring", tries="set up an io_uring, which makes calls past the filter", kernel=True),
    _right("k_core_dump", tries="leave its memory on the host by crashing"),
    _right("k_core_limit", tries="set the core limit to the one value that pipes dumps to a program"),
    _call("k_bpf", tries="load a kernel program or map", kernel=True),
    _call("k_perf", tries="count events of the processor", kernel=True),
    _call("k_userfaultfd", tries="handle page faults, which widens races in the kernel", kernel=True),
    _right("k_unshare_user", tries="enter a new user namespace"),
    _right("k_unshare_time", tries="enter a new time namespace", kernel=True),
    _right("k_clone_namespaces", tries="make a child in new namespaces of each kind"),
    _right("k_clone3_user", tries="the same through clone3, whose arguments a filter cannot see"),
    _right("k_setns", tries="enter a namespace by its file"),
    _call("k_modules", tries="load or remove a kernel module", kernel=True),
    _call("k_reboot", tries="restart the machine"),
    _call("k_mincore", tries="ask which pages of a shared file others have read"),
    _call("k_fadvise", tries="throw pages of a shared file out of memory"),
    _call("k_merge_pages", tries="have pages merged with equal ones of others", kernel=True),
    _call("k_personality", tries="switch address randomisation off"),
    _call("k_sched", tries="choose processor, priority and scheduler"),
    _call("k_numa", tries="choose where memory lies, and lock it"),
    _call("k_x32_i386", tries="make a call of the x32 kind", kernel=True),
    _call("k_int80", tries="make a 32-bit call", kernel=True),
    _call("k_modify_ldt", tries="read or change segment descriptors", kernel=True),
    _call("k_ports", tries="access input and output ports", kernel=True),
    _right("k_setuid", tries="become another user or group"),
    _right("k_capabilities", tries="hold or regain any capability"),
    _right("k_new_privileges", tries="gain privileges through a program's file"),
    _right("k_change_filter", tries="replace or extend its own filter, or add a rule set"),
    _right("k_odd_prctl", tries="consent to tracers, adopt orphans, move memory layouts"),
    _right("k_raise_rlimits", tries="raise limits of its own"),
    _right("k_hostname", tries="change the host name"),
    _call("k_set_clock", tries="set the clock"),
    _call("k_kernel_log", tries="read the kernel's log"),
    _call("k_accounting", tries="switch on accounting or swap", kernel=True),
    _call("k_sysinfo", tries="read load and free memory of the host"),
    _call("k_xattr", tries="take kernel memory by extended attributes", kernel=True),
    _call("k_async_io", tries="set up a context for asynchronous input and output", kernel=True),
    _call("k_fanotify", tries="hear of files that others open", kernel=True),
    _call("k_memfd", tries="make memory that belongs to no process"),
    _call("k_exec_memory", tries="execute a program from memory"),
    _call("k_splice", tries="move pages without copying them"),
    _reach("k_ptrace", tries="trace PID 1, its parent, anybody"),
    _reach("k_keyring", tries="add a key, which belongs to the host user"),
    _reach("k_kill_others", tries="find processes beyond its own by signal 0"),
    _reach("k_signal_init", tries="stop or end PID 1"),
    _reach("k_signal_everyone", tries="stop everybody it can reach", expect=Expect.BOUNDED),
    _reach("k_steer_init", tries="set limits of other processes"),
    _reach("k_process_memory", tries="read or write memory of other processes"),
    _reach("k_process_files", tries="list files and mappings of other processes"),
    _reach("k_pidfd", tries="take a descriptor out of another process"),
    _reach("k_compare", tries="compare itself with another process", kernel=True),
    _reach("k_tiocsti", tries="type into a terminal", kernel=True),
    _reach("k_clone_parent", tries="make a child that is its parent's", expect=Expect.BOUNDED),
    _reach("k_outlive_parent", tries="survive its parent's death", expect=Expect.BOUNDED),
    _supervisor("s_processes_visible", tries="list processes other than PID 1 and its own"),
    _supervisor("s_hidden_processes", tries="open processes that are not listed"),
    _supervisor("s_channels_of_supervisor", tries="find a socket or pipe to a supervisor"),
    _supervisor(
        "s_mounts_of_supervisor",
        tries="find a mount that is writable and not its own, or shared",
        residual_on={"docker": _QUEUES},
    ),
    _supervisor("s_scheduling_of_supervisor", tries="slow its parent down"),
    _supervisor("s_trace_from_child", tries="make its parent a tracer"),
)
