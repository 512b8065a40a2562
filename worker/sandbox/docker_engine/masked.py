"""Paths that are covered in every container: what tells of the host or of everybody on it.

Those of /proc are listed by name, since the daemon's kernel may be another than the worker's; the runtime
skips names that its kernel does not have. The processes' own folders remain.
"""

_HOST_WIDE = """acpi asound bootconfig buddyinfo bus cgroups cmdline config.gz consoles cpuinfo crypto devices
    diskstats dma driver dynamic_debug execdomains fb filesystems fs interrupts iomem ioports irq kallsyms
    kcore key-users keys kmsg kpagecgroup kpagecount kpageflags latency_stats loadavg locks lockdep
    lockdep_stats lock_stat
    mdstat meminfo misc modules mtrr pagetypeinfo partitions pressure sched_debug schedstat scsi
    slabinfo softirqs stat swaps sys sysrq-trigger sysvipc timer_list timer_stats tty uptime version
    version_signature vmallocinfo vmstat xen zoneinfo"""

MASKED_PATHS = (
    *(f"/proc/{name}" for name in _HOST_WIDE.split()),
    "/sys",  # disk, memory and processor counters, and the control groups
    "/etc/resolv.conf",  # a copy of the host's
)
