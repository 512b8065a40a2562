"""Reading and writing what is not the run's own."""

from functools import partial

from .model import Probe

_file = partial(Probe, category="files", script="files", quick=True)
_mount = partial(Probe, category="files", script="mounts", quick=True)

_LAYERS = "mountinfo shows the daemon's folder and random names of the container and its layers"

FILES = (
    _file("env_secrets", tries="find a secret of the worker's environment in its own"),
    _file("fs_host_canary", tries="read a file of the host that is open to all"),
    _file("fs_other_blocks", tries="read the block of another slot, or any beside its own"),
    _file("fs_siblings", tries="find files of others in the usual places"),
    _file("fs_sockets_present", tries="find a socket file, such as a container engine's"),
    _file("fs_proc_environ", tries="read the environment of other processes"),
    _file("fs_proc_root", tries="reach host files through another process's root"),
    _file("fs_inherited_fds", tries="find descriptors that somebody left open"),
    _file("fs_standard_input", tries="read the worker's standard input"),
    _file("fs_write_outside", tries="create a file in any place but its own"),
    _file("fs_write_input", tries="add a file to the block"),
    _file("fs_change_input", tries="change a file of the block"),
    _file("fs_write_pipeline", tries="add a file to the sources"),
    _mount("fs_exec_tmp", tries="execute a program that it wrote itself"),
    _mount("fs_setuid", tries="make a program that runs as its owner"),
    _mount("fs_mknod", tries="make a fifo and a device"),
    _mount("fs_devices", tries="open any device but null, random and the like"),
    _mount("fs_mount", tries="mount a file system"),
    _mount("fs_mount_api", tries="the same through fsopen, open_tree and pivot_root"),
    _mount("fs_remount", tries="make a read-only mount writable"),
    _mount("fs_unmount", tries="take a mount away"),
    _mount("fs_chroot", tries="change its root"),
    _mount("fs_handle", tries="open a file by its handle, past all mounts"),
    _file("fs_proc_sys", tries="open a kernel setting for writing"),
    _file("fs_proc_leaks", tries="read kernel memory, keys, timers, the kernel's log"),
    _file("fs_proc_write", tries="change settings of PID 1"),
    _mount(
        "fs_mountinfo",
        tries="learn where on the host its places lie",
        residual_on={"docker": _LAYERS},
    ),
    _mount("fs_free_space", tries="count free blocks of a file system that others use"),
    _file("fs_loaded_code", tries="write to the interpreter, a library or its own sources"),
    _file("fs_import_path", tries="leave a module where a later run imports from"),
    _file("fs_sysfs", tries="read about the hardware in /sys"),
    _file("fs_cgroup_write", tries="loosen its own control group"),
)
