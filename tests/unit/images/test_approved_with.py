"""On a platform, a run on the twin that lacks a library is told of the approved images that have it."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from pathlib import Path

from store import images
from store.database import Database
from worker.images import description
from worker.images.description import Described
from worker.images.held import HeldImages
from worker.rehearsal.advice import approved_with
from worker.sandbox.core.images import HostImage, StoredImage

LIBRARIES = {"with-it": "lme4", "not-approved": "lme4", "without": "base"}
HOST = HostImage("host-python", "sha256:h", Path("/usr/bin/python3"), (), (), "/usr/bin")


def test_only_approved_images_of_this_worker_are_named(
    open_folder: Path, sqlite_url: str, now: datetime
) -> None:
    held = HeldImages(HOST, open_folder / "store")
    with closing(Database(sqlite_url)) as database:
        assert approved_with(database, held, "lme4") == ()
        for number, (name, library) in enumerate(LIBRARIES.items()):
            digest = f"sha256:{str(number) * 64}"
            folder = open_folder / "store" / "images" / "sha256" / (str(number) * 64)
            (folder / "rootfs" / "usr" / "lib" / "R" / "library" / library).mkdir(parents=True)
            image = StoredImage(name, digest, folder / "rootfs", digest, None)
            description.write(folder, Described(image, digest, 1))
            with database.transaction() as connection:
                images.announce(connection, digest=digest, name=name, description="", now=now)
                if name != "not-approved":
                    images.approve(connection, digest=digest, by="olga", now=now)
        assert approved_with(database, held, "lme4") == ("with-it",)
        (folder / description.DESCRIPTION).unlink()
        (folder / description.DESCRIPTION).write_text("{")
        assert approved_with(database, held, "lme4") == ()  # the log says why
