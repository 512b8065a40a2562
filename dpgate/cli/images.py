"""Commands of operators about images: unpack one where the worker is, approve it by digest, take it back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from domain.image import SyscallTable, check_digest
from dpgate.cli.output import Json, Profile, err, out, plain, print_json, print_line, progress, say
from dpgate.client import connect
from dpgate.embedded.home import default_home

Store = Annotated[Path | None, typer.Option(help="The worker's image store.", envvar="DPGATE_IMAGES_FOLDER")]
DigestArgument = Annotated[str, typer.Argument(help="sha256:... as in `dpgate image list`.")]


def image_add(
    archive: Annotated[
        Path, typer.Argument(help="From `docker save` or `skopeo copy`, an OCI layout, or a SIF file.")
    ],
    name: Annotated[str, typer.Option(help="Pipelines name it so; small letters, digits, hyphens.")],
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Unpack an image archive into the worker's store. Run it where the worker is."""
    from dpgate.image_store import add_image

    with progress("checking and unpacking", shown=not as_json):
        added = add_image(archive, name=name, folder=store or default_home().images)
    if as_json:
        print_json(added)
        return
    out.print(f"[bold]{plain(added['name'])}[/] is in the store; a worker announces it within seconds.")
    print_line(f"  {plain(added['digest'])}")
    out.print("Pipelines can run in it once you approve it:")
    print_line(f"  dpgate image approve {plain(added['digest'])} --profile operator")


def image_list(as_json: Json = False, profile: Profile = "default") -> None:
    """List the images that pipelines can run in, and what each is for."""
    with connect(profile=profile) as client:
        found = client.images()
    if as_json:
        print_json(found)
        return
    for image in found:
        out.print(f"[bold]{plain(image['name'])}[/]: {plain(_state(image))}; {plain(image['use'])}")
        print_line(f"  {plain(image['digest'])}")
    if not found:
        out.print("no worker has announced an image yet")


def image_approve(
    digest: DigestArgument,
    syscalls: Annotated[
        SyscallTable,
        typer.Option(help="The table of system calls; standard is for SQLite, HDF5, asyncio, Java, Node."),
    ] = SyscallTable.STRICT,
    warm: Annotated[
        bool, typer.Option("--warm", help="You made this image: load its libraries once for all runs.")
    ] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Approve an image, by digest."""
    check_digest(digest)
    with connect(profile=profile) as client:
        approved = client.approve_image(digest, syscalls=syscalls.value, warm=warm)
    if as_json:
        print_json(approved)
        return
    out.print(f"{plain(approved['name'])} is {plain(_state(approved))}")
    if approved["kind"] == "host":
        err.print(f"[yellow]This is {plain(approved['use'])}.[/]")
    if approved["syscalls"] == "standard":
        err.print(
            "[yellow]Runs with the standard table can notice more of each other: see "
            "docs/how-to/deploy.md#choose-a-sandbox.[/]"
        )


def image_withdraw(digest: DigestArgument, as_json: Json = False, profile: Profile = "default") -> None:
    """Take an approval back. Jobs that wait end without a charge; jobs that run finish."""
    check_digest(digest)
    with connect(profile=profile) as client:
        withdrawn = client.withdraw_image(digest)
    say(withdrawn, f"{plain(withdrawn['name'])} is {plain(_state(withdrawn))}", as_json=as_json)


def image_remove(
    digest: DigestArgument, store: Store = None, as_json: Json = False, profile: Profile = "default"
) -> None:
    """Take an approval back and delete the image's files. Run it where the worker is."""
    from dpgate.image_store import check_removable, remove_image

    check_digest(digest)
    folder = store or default_home().images
    check_removable(digest, folder=folder)
    with connect(profile=profile) as client:
        retired = client.retire_image(digest)
    remove_image(digest, folder=folder)
    say(
        retired,
        f"{plain(retired['name'])} is {plain(_state(retired))}, and its files are deleted",
        as_json=as_json,
    )


def _state(image: dict[str, Any]) -> str:
    if image["state"] != "approved":
        by = f" by {image['withdrawn_by']}" if image["withdrawn_by"] else ""
        return f"{image['state']}{by}"
    warm = ", libraries loaded once" if image["warm"] else ""
    return f"approved by {image['approved_by']} for the {image['syscalls']} system calls{warm}"
