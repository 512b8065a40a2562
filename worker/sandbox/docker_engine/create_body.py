"""The one place where a container is described. Every setting has its reason; what is not here is not set.

`Part` holds what differs between containers, and `create_body` makes all the rest of it. The proxy reads a
part back out of a request (`read_body.py`) and lets it through only if `create_body` gives the very same.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from worker.sandbox.protocol import Syscalls

from .filters import filter_text
from .masked import MASKED_PATHS
from .volumes import Room, Volume

_CPU_PERIOD_US = 100_000


@dataclass(frozen=True)
class Amounts:
    """What the container's control group and resource limits hold it to."""

    memory_bytes: int  # processes and memory file systems together
    processes: int
    cpu_s: int  # 0: no limit; of each process
    open_files: int
    file_bytes: int


@dataclass(frozen=True)
class Part:
    """One container of ours: a payload or a keeper."""

    image: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    user: int
    volumes: tuple[Volume, ...]
    temporary: Room | None  # for /tmp and /dev/shm each
    amounts: Amounts
    syscalls: Syscalls
    runtime: str
    core: str
    labels: Mapping[str, str]
    output: bool = False  # standard output and error are attached to
    input: bool = False  # standard input too, and the container ends with it


def create_body(part: Part) -> dict[str, Any]:
    """The body of POST /containers/create."""
    return {
        "Image": part.image,  # by digest: what was approved, and nothing that would be fetched
        "Entrypoint": [part.command[0]],  # explicit, so that the image's own says nothing
        "Cmd": list(part.command[1:]),  # a list: no shell in between
        "User": f"{part.user}:{part.user}",  # no name: the image's /etc/passwd has no say
        # A bare name unsets what the daemon or the image would set.
        "Env": ["HOSTNAME", *(f"{name}={value}" for name, value in sorted(part.environment.items()))],
        "WorkingDir": "/tmp",  # noqa: S108 - inside the container
        "Hostname": "sandbox",  # the default is the container's random number
        "Domainname": "",
        "NetworkDisabled": True,
        "Healthcheck": {"Test": ["NONE"]},  # the image's would run as a second process, again and again
        "StopSignal": "SIGKILL",  # the image's may be one that is ignored
        "Tty": False,  # nothing to type into
        "OpenStdin": part.input,
        "StdinOnce": part.input,  # a worker that dies closes it, and a keeper ends
        "AttachStdin": part.input,
        "AttachStdout": part.output,
        "AttachStderr": part.output,
        "Labels": dict(part.labels),
        "HostConfig": _host_config(part),
    }


def _host_config(part: Part) -> dict[str, Any]:
    return {
        **_privileges(part),
        **_namespaces(),
        **_files(part),
        **_limits(part),
        "Runtime": part.runtime,
        "LogConfig": {"Type": "none", "Config": {}},  # what a payload says reaches no disk
        "RestartPolicy": {"Name": "no", "MaximumRetryCount": 0},
        "AutoRemove": False,  # removed when its exit status has been read
    }


def _privileges(part: Part) -> dict[str, Any]:
    return {
        "Privileged": False,
        "CapDrop": ["ALL"],
        "CapAdd": [],
        "SecurityOpt": [
            "no-new-privileges:true",  # setuid programs of the image stay what they are
            f"seccomp={filter_text(part.syscalls)}",
        ],
        "GroupAdd": [],
        "Devices": [],
        "DeviceRequests": [],  # no GPU: its memory is not cleared between runs
        "DeviceCgroupRules": [],
        "Init": False,  # the payload is PID 1: when it has ended, the kernel has ended everybody else
    }


def _namespaces() -> dict[str, Any]:
    return {
        "NetworkMode": "none",
        "IpcMode": "none",  # its own, and no /dev/shm but the one below, which has a limit on files too
        "PidMode": "",
        "UTSMode": "",
        "UsernsMode": "",  # the daemon's: with userns-remap, it cannot be opted out of here
        "CgroupnsMode": "private",  # hides the daemon's groups
        "PublishAllPorts": False,
        "Links": [],
        "ExtraHosts": [],
        "Dns": [],
    }


def _files(part: Part) -> dict[str, Any]:
    room = part.temporary
    temporary = f"rw,noexec,nosuid,nodev,{room.limits()}" if room else ""
    return {
        "ReadonlyRootfs": True,
        "Binds": [],  # never a path of the host
        "VolumesFrom": [],
        "Mounts": [volume.mount(part.labels) for volume in part.volumes],
        "Tmpfs": {"/tmp": temporary, "/dev/shm": temporary} if room else {},  # noqa: S108
        "MaskedPaths": list(MASKED_PATHS),  # counters of the whole host, which tell runs of each other
        "ReadonlyPaths": [],  # the daemon's own list lies below the masked paths
    }


def _limits(part: Part) -> dict[str, Any]:
    amounts = part.amounts
    return {
        "Memory": amounts.memory_bytes,
        "MemorySwap": amounts.memory_bytes,  # the sum of both: no swap
        "MemorySwappiness": 0,
        "OomKillDisable": False,  # a run at its limit would hang instead
        "OomScoreAdj": 1000,  # if the host runs out of memory, runs go first
        "PidsLimit": amounts.processes,
        "CpuPeriod": _CPU_PERIOD_US,
        "CpuQuota": _CPU_PERIOD_US,  # one core per slot
        "CpusetCpus": part.core,
        "Ulimits": [
            # 1, not 0: the one value at which the kernel does not even pipe a dump to a host program
            _ulimit("core", 1),
            _ulimit("nofile", amounts.open_files),
            _ulimit("fsize", amounts.file_bytes),
            _ulimit("memlock", 0),
            _ulimit("msgqueue", 0),
            _ulimit("sigpending", 256),  # also counts timers
            *([_ulimit("cpu", amounts.cpu_s)] if amounts.cpu_s else []),
        ],
    }


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def as_bytes(body: Mapping[str, Any]) -> bytes:
    """One spelling for one body, to compare by."""
    return json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":")).encode()
