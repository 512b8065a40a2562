"""Read a part back out of the body of a create request: the proxy's half of `create_body`.

Only the places are read where `create_body` puts something. Whatever else a body holds is not looked at, and
does not pass either: what the proxy sends on is made anew from the part.
"""

import re
from typing import Any

from worker.sandbox.protocol import Syscalls

from .create_body import Amounts, Part, as_bytes, create_body
from .filters import filter_text
from .volumes import Room, Volume

_LIMITS = (
    r"size=(?P<size>\d{1,15}),nr_inodes=(?P<inodes>\d{1,9}),uid=(?P<user>\d{1,9}),gid=(?P=user),mode=0700"
)
_TEMPORARY = re.compile(rf"rw,noexec,nosuid,nodev,{_LIMITS}")
_OPTIONS = re.compile(rf"(?P<noexec>noexec,)?nosuid,nodev,{_LIMITS}")


class NotOurs(Exception):
    """A body that no part gives. Its text names what is wrong with it."""


def part_of(body: dict[str, Any]) -> Part:
    """Raises NotOurs unless `create_body` of what it returns is this very body."""
    try:
        part = _read(body)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise NotOurs(f"not a body that a worker makes: {type(error).__name__} {error}") from error
    made = create_body(part)
    if as_bytes(made) != as_bytes(body):
        raise NotOurs(f"a worker does not send this: {', '.join(_differences(body, made))}")
    return part


def _read(body: dict[str, Any]) -> Part:
    host = body["HostConfig"]
    temporary = host["Tmpfs"].get("/tmp")  # noqa: S108 - inside the container
    return Part(
        image=_text(body["Image"]),
        command=tuple(_text(word) for word in (*body["Entrypoint"], *body["Cmd"])),
        environment=dict(_text(entry).split("=", 1) for entry in body["Env"][1:]),
        user=int(body["User"].partition(":")[0]),
        volumes=tuple(_volume(mount) for mount in host["Mounts"]),
        temporary=_room(_TEMPORARY, temporary) if temporary is not None else None,
        amounts=_amounts(host),
        syscalls=_syscalls(host["SecurityOpt"][1]),
        runtime=_text(host["Runtime"]),
        core=_text(host["CpusetCpus"]),
        labels={_text(name): _text(value) for name, value in body["Labels"].items()},
        output=bool(body["AttachStdout"]),
        input=bool(body["OpenStdin"]),
    )


def _volume(mount: dict[str, Any]) -> Volume:
    driver = mount["VolumeOptions"].get("DriverConfig")
    return Volume(
        name=_text(mount["Source"]),
        target=_text(mount["Target"]),
        read_only=bool(mount["ReadOnly"]),
        room=_room(_OPTIONS, driver["Options"]["o"]) if driver is not None else None,
    )


def _room(pattern: re.Pattern[str], options: str) -> Room:
    found = pattern.fullmatch(options)
    if found is None:
        raise ValueError(f"options {options!r}")
    given = found.groupdict()
    programs = "noexec" in given and given["noexec"] is None
    return Room(int(given["size"]), int(given["inodes"]), int(given["user"]), programs)


def _amounts(host: dict[str, Any]) -> Amounts:
    limits = {_text(limit["Name"]): int(limit["Hard"]) for limit in host["Ulimits"]}
    return Amounts(
        memory_bytes=int(host["Memory"]),
        processes=int(host["PidsLimit"]),
        cpu_s=limits.get("cpu", 0),
        open_files=limits["nofile"],
        file_bytes=limits["fsize"],
    )


def _syscalls(option: str) -> Syscalls:
    for syscalls in Syscalls:
        if option == f"seccomp={filter_text(syscalls)}":
            return syscalls
    raise ValueError("a system-call filter of its own")


def _text(value: object) -> str:
    if not isinstance(value, str) or "\0" in value:
        raise ValueError(f"{value!r} is not text")
    return value


def _differences(body: dict[str, Any], made: dict[str, Any]) -> list[str]:
    """The names of what differs, for whoever has to find out why."""
    host, made_host = body["HostConfig"], made["HostConfig"]
    names = [name for name in {*body, *made} - {"HostConfig"} if body.get(name) != made.get(name)]
    names += [f"HostConfig.{name}" for name in {*host, *made_host} if host.get(name) != made_host.get(name)]
    # a key with the value null, or true in place of 1
    return sorted(names)[:10] or ["a value of another type"]
