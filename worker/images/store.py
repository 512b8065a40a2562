"""The image store of a worker zone: `<folder>/images/sha256/<hex>/rootfs`, and a description beside it.

An archive is copied while it is hashed, unpacked in a sandbox, sealed, asked for its Python and only then
moved to its place, so what lies there is whole. Everything belongs to the user that runs this; slot users
can read what they know the name of; nobody can write.
"""

import errno
import hashlib
import itertools
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sandbox_images.unpack.caps import Caps
from worker.sandbox.core.images import HostImage, StoredImage
from worker.sandbox.core.slot_user import check_open_to_slots
from worker.sandbox.host_image import describe
from worker.sandbox.protocol import SandboxUnavailable

from . import description
from .commands import why_foreign
from .description import LISTING, ROOTFS, Described, is_digest, is_name
from .environment import filtered
from .incoming import Incoming, remove_leftovers
from .interpreter import find_interpreter
from .program import import_user
from .refusal import ImageDamaged, ImageNotFound, ImageRefused
from .sealing import Sealed, lines, make_mount_points, parse_listing, seal
from .unpacking import HEAD_BYTES, Unpacked, tell_kind, unpack
from .walk import TooDeep

_PASSABLE = 0o711
_PIECE = 1024 * 1024
_IMPORT_S = 3600.0


class ImageStore:
    """May be open in several processes at once. Leftovers of a killed import go when the next one opens."""

    def __init__(
        self,
        folder: Path,
        *,
        host: HostImage | None = None,
        caps: Caps | None = None,
        wall_s: float = _IMPORT_S,
    ) -> None:
        """`host`: whose Python unpacks, default this host's. Raises SandboxUnavailable for a bad folder."""
        self._host, self._caps, self._wall_s = host, caps or Caps(), wall_s
        folder = folder.absolute()
        self._images, self._incoming = folder / "images" / "sha256", folder / "incoming"
        for place in (folder, folder / "images", self._images, self._incoming):
            _own(place)
        check_open_to_slots(self._images, listed=False)
        remove_leftovers(self._incoming)

    def add(self, archive: Path, *, name: str | None = None) -> StoredImage:
        """Import it, or find that it is here already. Raises ImageRefused; SandboxUnavailable."""
        if name is not None and not is_name(name):
            raise ImageRefused(f"{name!r} cannot be an image's name: use letters, digits and . _ / : @ + -")
        with Incoming(self._incoming) as room:
            copy = room.path / "archive"
            archive_digest, kind = self._copy(archive, copy)
            known = self._from_archive(archive_digest)
            if known is not None:
                return _same(known, name)
            made = room.path / "image"
            made.mkdir(mode=0o700)
            made.chmod(_PASSABLE)
            unpacked, sealed = self._unpack(copy, made, kind, work=room.path / "unpacked")
            digest = unpacked.digest or archive_digest
            if not is_digest(digest):
                raise ImageRefused("the image has no usable digest")
            self._describe(made, unpacked, sealed, digest, archive_digest, name or _named(unpacked, archive))
            return self._settle(made, digest, sealed.tree_digest, name)

    def get(self, digest: str) -> StoredImage:
        """Raises ImageNotFound, ImageDamaged."""
        try:
            return description.read(self._place(digest)).image
        except FileNotFoundError:
            raise ImageNotFound(f"no image {digest} is in the store: add its archive") from None

    def listed(self) -> tuple[StoredImage, ...]:
        """By name. Raises ImageDamaged."""
        images = []
        for place in self._images.iterdir():
            with suppress(FileNotFoundError):  # removed meanwhile
                images.append(description.read(place).image)
        return tuple(sorted(images, key=lambda image: (image.name, image.digest)))

    def remove(self, digest: str) -> None:
        """Raises ImageNotFound. Runs that still use it find their files gone."""
        place = self._place(digest)
        with Incoming(self._incoming) as room:
            try:
                place.rename(room.path / "image")  # out of sight at once, and gone for good even if killed
            except FileNotFoundError:
                raise ImageNotFound(f"no image {digest} is in the store") from None

    def verify(self, image: StoredImage) -> None:
        """Read every file of it, which also brings it into memory. Raises ImageDamaged, ImageNotFound."""
        try:
            listing = (self._place(image.digest) / LISTING).read_bytes()
        except FileNotFoundError:
            raise ImageNotFound(f"no image {image.digest} is in the store: add its archive") from None
        if f"sha256:{hashlib.sha256(listing).hexdigest()}" != image.tree_digest:
            raise _damaged(image, "its list of files is not the one that was written at its import")
        try:
            found = lines(image.rootfs, depth=self._caps.depth)
            changed = _first_difference(parse_listing(listing), found)
        except (TooDeep, OSError) as error:
            raise _damaged(image, f"it cannot be read ({error})") from error
        if changed is not None:
            raise _damaged(image, f"/{os.fsdecode(changed)} is not as it was imported")

    def _the_host(self) -> HostImage:
        self._host = self._host or describe()  # takes a second, and not all uses of a store need it
        return self._host

    def _place(self, digest: str) -> Path:
        if not is_digest(digest):
            raise ImageNotFound(f"{digest!r} is no image's digest (sha256: and 64 hexadecimal digits)")
        return self._images / digest.removeprefix("sha256:")

    def _from_archive(self, archive_digest: str) -> StoredImage | None:
        """A damaged image is nobody's business here."""
        for place in self._images.iterdir():
            with suppress(FileNotFoundError, ImageDamaged):
                known = description.read(place)
                if known.archive_digest == archive_digest:
                    return known.image
        return None

    def _copy(self, archive: Path, copy: Path) -> tuple[str, str]:
        """Its digest and kind. What is hashed is what is unpacked, whatever happens to the original."""
        total, size = hashlib.sha256(), 0
        try:
            if not archive.is_file():  # a fifo would keep us waiting
                raise ImageRefused(f"{archive} is no file")
            opened = archive.open("rb", buffering=0)
        except OSError as error:
            raise ImageRefused(f"{archive} cannot be read: {error.strerror}") from error
        with opened as source, copy.open("xb") as target:
            kind = tell_kind(os.pread(source.fileno(), HEAD_BYTES, 0))
            while piece := source.read(_PIECE):
                size += len(piece)
                if size > self._caps.archive_bytes:
                    raise ImageRefused(f"{archive} is larger than {self._caps.archive_bytes} bytes")
                total.update(piece)
                target.write(piece)
        copy.chmod(0o444)
        return f"sha256:{total.hexdigest()}", kind

    def _unpack(self, copy: Path, made: Path, kind: str, *, work: Path) -> tuple[Unpacked, Sealed]:
        """`made`/rootfs, sealed."""
        work.mkdir(mode=0o700)
        if os.getuid() == 0:
            os.chown(work, import_user(), import_user())
        host = self._the_host()
        unpacked = unpack(copy, work, kind, host=host, caps=self._caps, wall_s=self._wall_s)
        rootfs = made / ROOTFS
        (work / ROOTFS).chmod(0o700)  # to be moved, it must be one that its owner can write
        (work / ROOTFS).rename(rootfs)
        make_mount_points(rootfs)
        sealed = seal(rootfs, self._caps)
        (made / LISTING).write_bytes(sealed.listing)
        (made / LISTING).chmod(0o400)
        return unpacked, sealed

    def _describe(
        self, made: Path, unpacked: Unpacked, sealed: Sealed, digest: str, archive_digest: str, name: str
    ) -> None:
        environment = filtered(unpacked.environment)
        rootfs = made / ROOTFS
        interpreter = find_interpreter(rootfs, environment, self._the_host())
        image = StoredImage(
            name, digest, rootfs, sealed.tree_digest, interpreter, environment, unpacked.entry_point
        )
        if foreign := why_foreign(image):
            raise ImageRefused(f"the image was not added: {foreign}")
        description.write(made, Described(image, archive_digest, sealed.size))

    def _settle(self, made: Path, digest: str, tree_digest: str, name: str | None) -> StoredImage:
        """Move it to its place, unless the same image came in another archive, or in another process."""
        try:
            made.rename(self._place(digest))
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise SandboxUnavailable(f"the image cannot be stored: {error.strerror}") from error
            known = self.get(digest)
            if known.tree_digest != tree_digest:
                raise ImageDamaged(
                    f"the image {digest} in the store holds other files than this archive, which has the "
                    "same digest: remove it, and add the archive again"
                ) from None
            return _same(known, name)
        return self.get(digest)


def _own(place: Path) -> None:
    """Create it if need be. Refuses a folder that somebody else could have prepared."""
    with suppress(FileExistsError):
        # passable at once, for somebody who comes at the same moment; again, as a strict umask closes it
        place.mkdir(mode=_PASSABLE, parents=True)
        place.chmod(_PASSABLE)
    found = place.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise SandboxUnavailable(f"{place} must be a folder that only the user who runs this can write")


def _same(known: StoredImage, name: str | None) -> StoredImage:
    if name is not None and name != known.name:
        raise ImageRefused(f"this image is in the store already, under the name {known.name}")
    return known


def _named(unpacked: Unpacked, archive: Path) -> str:
    """As the archive says; else after its file."""
    candidates = (unpacked.name, archive.name.split(".tar")[0].removesuffix(".sif"))
    return next((name for name in candidates if name and is_name(name)), "unnamed")


def _damaged(image: StoredImage, what: str) -> ImageDamaged:
    return ImageDamaged(
        f"the image {image.name} ({image.digest}) was changed in the store: {what}. "
        "Remove it and add its archive again"
    )


def _first_difference(
    written: Iterator[tuple[bytes, bytes, bytes]], found: Iterator[tuple[bytes, bytes, bytes]]
) -> bytes | None:
    """The path of the first entry that is not in both. Both are in the same order."""
    for expected, seen in itertools.zip_longest(written, found):
        if expected is None or seen is None:
            return (expected or seen)[2]
        if expected != seen:
            return min(expected[2], seen[2], key=lambda path: path.split(b"/"))
    return None
