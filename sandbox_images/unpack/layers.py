"""Lay one layer over the tree that the layers before it have made (OCI image layer specification).

Owners, extended attributes (and with them file capabilities), setuid and setgid are dropped; devices and
fifos are left out; every file can be read by everybody. What a layer removes it names by whiteouts, which
never touch what the same layer makes.
"""

import os
from collections.abc import Iterator

from .caps import Caps
from .refusal import Refused, shown
from .streams import Budget
from .tar import Kind, Member, Tar
from .tree import Tree

_WHITEOUT, _OPAQUE = b".wh.", b".wh..wh..opq"
_OTHER_UNION_MARKS = b".wh..wh."  # of aufs: .wh..wh.plnk, .wh..wh.aufs; they mean nothing in an image
_LONGEST_PART = 255


def lay(layer: Tar, tree: Tree, caps: Caps, entries: Budget) -> None:
    """Raises Refused for whatever is not a plain layer."""
    tree.begin_layer()
    for member in layer:
        entries.spend(1)
        parts = split_name(member.name, caps)
        if not parts:  # the root itself
            if member.kind is not Kind.FOLDER:
                raise Refused(f"a layer makes its root a {member.kind.value}")
            continue
        if parts[-1].startswith(_WHITEOUT):
            _white_out(tree, parts)
        else:
            _add(tree, member, parts, layer.content(), caps)


def split_name(name: bytes, caps: Caps) -> list[bytes]:
    """An absolute name means the same as a relative one: the root is the tree's."""
    parts = [part for part in name.split(b"/") if part not in (b"", b".")]
    if b".." in parts or b"\0" in name:
        raise Refused(f"a layer holds the name {shown(name)}, which leads upwards or contains NUL")
    if any(len(part) > _LONGEST_PART for part in parts) or len(name) > caps.path_bytes:
        raise Refused(f"a layer holds a name that no file system takes: {shown(name)}")
    if len(parts) > caps.depth:
        raise Refused(f"{shown(name)} lies deeper than {caps.depth} folders")
    return parts


def _white_out(tree: Tree, parts: list[bytes]) -> None:
    name = parts[-1]
    if name != _OPAQUE and name.startswith(_OTHER_UNION_MARKS):
        return
    target = name.removeprefix(_WHITEOUT)
    if target in (b"", b".", b".."):
        raise Refused(f"a layer holds a whiteout of {shown(target)}")
    parent = tree.open_parent(parts, make=False)
    if parent is None:
        return
    try:
        if name == _OPAQUE:
            tree.white_out_content(parent)
        else:
            tree.white_out(parent, target)
    finally:
        os.close(parent)


def _add(tree: Tree, member: Member, parts: list[bytes], content: Iterator[bytes], caps: Caps) -> None:
    parent = tree.open_parent(parts, make=True)
    assert parent is not None
    try:
        if member.kind is Kind.FOLDER:
            tree.make_folder(parent, parts[-1])
        elif member.kind is Kind.FILE:
            _write(tree.new_file(parent, parts[-1], _mode(member)), member, content)
        elif member.kind is Kind.LINK:
            _check_target(member)
            tree.new_link(parent, parts[-1], member.target)
        elif member.kind is Kind.HARD_LINK:
            target = split_name(member.target, caps)
            if not target:
                raise Refused(f"{shown(member.name)} is a hard link to the root")
            tree.new_hard_link(parent, parts[-1], target)
        else:
            tree.remove(parent, parts[-1])  # the image has no such file; what an earlier layer had is gone
    finally:
        os.close(parent)


def _mode(member: Member) -> int:
    return 0o755 if member.mode & 0o111 else 0o644


def _write(fd: int, member: Member, content: Iterator[bytes]) -> None:
    try:
        for piece in content:
            while piece:
                piece = piece[os.write(fd, piece) :]
        # Python's compiled files name the time of their source.
        os.utime(fd, (member.mtime, member.mtime))
    finally:
        os.close(fd)


def _check_target(member: Member) -> None:
    if not member.target or b"\0" in member.target:
        raise Refused(f"{shown(member.name)} is a symbolic link to {shown(member.target)}")
