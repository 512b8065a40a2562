"""Whether a command is there, asked of an image's tree and of the host's."""

import os
import platform
import tempfile
from pathlib import Path

import pytest
from made_images import Recipe, folder, layer, link, member, pack

from worker.images.commands import program_of, resolve_command
from worker.images.refusal import CommandRefused
from worker.images.store import ImageStore

pytestmark = pytest.mark.needs(backend="bubblewrap")

OTHER = {"x86_64": ("aarch64", b"\xb7\x00"), "aarch64": ("x86_64", b"\x3e\x00")}[platform.machine()]
CODE = {"main.py": b"print()", "run.sh": b"#!/bin/sh\n", "odd.sh": b"#!/bin/fish\n", "sub/x.py": b""}


def program(name, content=b"\x7fELF"):
    return member(name, content, mode=0o755)


@pytest.fixture(scope="module")
def image(host):
    """One for all: who asks changes nothing in it."""
    content = layer(
        program("usr/bin/tool"),
        program("bin/sh"),
        program("usr/bin/env"),
        program("usr/bin/script", b"#!/bin/sh\n"),
        program("usr/bin/by-env", b"#! /usr/bin/env  tool\n"),
        program("usr/bin/by-env-s", b"#!/usr/bin/env -S tool -x\n"),
        program("usr/bin/broken", b"#!/usr/bin/absent -x\n"),
        program("usr/bin/broken-env", b"#!/usr/bin/env absent\n"),
        program("usr/bin/relative", b"#!sh\n"),
        program("usr/bin/endless", b"#!/usr/bin/endless\n"),
        member("usr/bin/text", b"x"),
        folder("usr/bin/folder"),
        link("usr/bin/link", "../../usr/bin/tool"),
        link("usr/bin/up", "../../../../../../usr/bin/tool"),
        link("usr/bin/absolute", "/bin/sh"),
        link("usr/bin/hosts", "/etc/hostname"),
        link("usr/bin/dangling", "nothing"),
        program("opt/other/alone"),
        program("usr/bin/foreign", b"\x7fELF\x02\x01\x01".ljust(18, b"\0") + OTHER[1]),
        program("usr/bin/by-foreign", b"#!/usr/bin/foreign\n"),
    )
    with tempfile.TemporaryDirectory(prefix="images") as place:
        os.chmod(place, 0o755)
        archive = pack(Recipe([content]).docker(), Path(place, "image.tar"))
        yield ImageStore(Path(place, "store"), host=host).add(archive)


@pytest.mark.parametrize(
    "command",
    [
        ("tool",),
        ("/usr/bin/tool", "x"),
        ("script",),
        ("by-env",),
        ("by-env-s",),
        ("link",),
        ("up",),
        ("absolute",),
        ("/opt/other/alone",),
        ("env", "MODE=1", "tool", "/pipeline/main.py"),
        ("/usr/bin/env", "PATH=/pipeline:/opt/other", "alone"),
        ("env", "PATH=/pipeline", "run.sh"),
        ("env", "-i", "absent"),
        ("env", "A=b"),
        ("tool", "/pipeline/main.py"),
        ("tool", "/pipeline/sub/x.py", "/pipeline/absent"),
        ("/pipeline/run.sh",),
    ],
)
def test_it_is_there(command, image):
    resolve_command(image, command, CODE)


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ((), "neither an entry point"),
        (("",), "no command"),
        (("absent",), "no program of the image made:1"),
        (("alone",), "its PATH is /usr/bin:/bin"),
        (("/usr/bin/absent",), "not in the image made:1: No such file"),
        (("text",), "no program"),
        (("/usr/bin/text",), "may not be executed"),
        (("/usr/bin/folder",), "no program"),
        (("/usr/bin/dangling",), "not in the image"),
        (("/usr/bin/hosts",), "not in the image"),  # the host has this file
        (("/usr/bin/broken",), "/usr/bin/absent is not in the image"),
        (("broken-env",), "absent"),
        (("/usr/bin/relative",), "no absolute path"),
        (("/usr/bin/endless",), "without end"),
        (("bin/tool",), "relative path"),
        (("/in/tool",), "files of its own"),
        (("/usr/bin/tool\0",), "NUL"),
        (("tool", "/pipeline/absent.py"), "no file absent.py, which its command names; it has main.py"),
        (("/pipeline/absent",), "no file absent"),
        (("env", "PATH=/opt:/pipeline", "tool"), "its PATH is /opt:/pipeline"),
        (("env", "MODE=1", "tool", "/pipeline/absent.py"), "no file absent.py"),
        (("/pipeline/odd.sh",), "/bin/fish is not in the image"),
        (("/usr/bin/foreign",), f"is a program for {OTHER[0]}, and this machine is {platform.machine()}"),
        (("/usr/bin/by-foreign",), "have the image built for this kind of machine"),
    ],
)
def test_it_is_not(command, sentence, image):
    with pytest.raises(CommandRefused, match=sentence):
        resolve_command(image, command, CODE)


def test_the_host_image(host, tmp_path):
    resolve_command(host, ("python3", "/pipeline/main.py"), CODE)
    resolve_command(host, ("/bin/sh",), CODE)  # /bin may be a link into /usr
    resolve_command(host, (os.path.realpath("/usr/bin/env"),), CODE)
    (tmp_path / "mine").write_bytes(b"#!/bin/sh\n")
    (tmp_path / "mine").chmod(0o755)
    for name in (str(tmp_path / "mine"), "/etc/hostname", "absent"):
        with pytest.raises(CommandRefused):
            resolve_command(host, (name,), CODE)


def test_what_a_command_is_to_start_stands_behind_env():
    for command, program in (
        (("env", "A=b", "PATH=/x", "tool", "c=d"), "tool"),
        (("tool", "env"), "tool"),
        (("env", "-i", "tool"), "env"),
        ((), ""),
    ):
        assert program_of(command) == program
