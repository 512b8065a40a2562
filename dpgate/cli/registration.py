"""Commands that bring a data set in: check it here, deliver it to the worker zone, register it."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dpgate.cli.declaration import DeclarationOption, load_declaration
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.mandates import custody_of
from dpgate.cli.output import Json, Profile, begin, err, out, plain, print_json, print_line, progress
from dpgate.client import Client, connect
from dpgate.embedded.home import default_home
from dpgate.errors import NotFinished
from dpgate.models import Dataset

if TYPE_CHECKING:
    from domain.dataset import Declaration
    from dpgate.mandates import Custody

LONGEST_IMPORT_S = 24 * 3600.0
Data = Annotated[
    str, typer.Argument(help="A folder, a tar archive, or an address such as s3://bucket/folder.")
]
Deliveries = Annotated[
    Path | None, typer.Option(help="The worker zone's deliveries folder.", envvar="DPGATE_DELIVERIES")
]
Resumed = Annotated[
    str | None, typer.Option(help="The delivery to go on with; else one of these data is looked for.")
]
Progress = Callable[[int, int], None]


def dataset_check(data: Data, declaration: DeclarationOption, as_json: Json = False) -> None:
    """Check a data set against its declaration, here; nothing leaves this machine."""
    begin(f"Checking {data} against {declaration}.", shown=not as_json)
    from dpgate.checking import about_cuts, about_size, check_locally
    from dpgate.outside import about_outside

    if _is_folder(data):
        declared = load_declaration(declaration, Path(data))
        found = check_locally(Path(data), declared, compares=True)
        outside = [*about_outside(Path(data), declared)]
    else:
        # an archive or an address is checked as what it would be delivered as
        with (
            tempfile.TemporaryDirectory(prefix="dpgate-check-") as folder,
            _copying(shown=not as_json) as step,
        ):
            copy_source(data, declaration, Path(folder), step)
            declared = load_declaration(declaration, Path(folder))
            found = check_locally(Path(folder), declared)
            outside = [*about_outside(Path(folder), declared)]
    if as_json:
        told = {"people": found.people, "cut": dict(found.cut), "outside": outside}
        print_json({"name": declared.name, "ok": True, **told})
        return
    out.print(f"[green]{declared.name} fits its declaration.[/]")
    for line in [*about_size(declared, found.people), *about_cuts(declared, found.cut), *outside]:
        out.print(f"  {plain(line)}", soft_wrap=True)


def dataset_add(
    data: Data,
    declaration: DeclarationOption,
    deliveries: Deliveries = None,
    resume: Resumed = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Check, deliver to the worker zone, and register a data set. The data never pass the gateway."""
    begin(f"Checking and delivering {data}.", shown=not as_json)
    where = deliveries or default_home().deliveries
    own = custody_of(profile)
    own.check_opens()  # before hours of copying
    with connect(profile=profile) as client, _copying(shown=not as_json) as step:
        found = add_source(client, data, declaration, deliveries=where, own=own, resumed=resume, step=step)
        ruled = client.policies.history(found.name)[0]
    if as_json:
        print_json(found.raw)
    else:
        out.print(f"[bold]{plain(found.name)}[/] version {found.version}: [bold]{plain(found.state)}[/]")
        if found.problem:
            out.print(f"  {plain(found.problem)}")
        if ruled["changed"] and ruled["reason"] == f"declared with version {found.version}":
            # a file that is older than a change in the console would undo that change unseen
            changed = ", ".join(ruled["changed"])
            out.print(f"  its policy, number {ruled['number']}, is in effect; it changed {plain(changed)}")
        for line in _outside(data, declaration):
            out.print(f"  {plain(line)}", soft_wrap=True)
    if found.state != "READY":
        raise typer.Exit(ExitCode.USAGE)


def _outside(data: str, declaration: Path) -> list[str]:
    """For the rights holder, who types this where their data are; an archive has to be checked to know."""
    from dpgate.outside import about_outside

    if not _is_folder(data):
        return []
    return [*about_outside(Path(data), load_declaration(declaration, Path(data)))]


def dataset_deliver(
    data: Data,
    declaration: DeclarationOption,
    deliveries: Deliveries = None,
    resume: Resumed = None,
    as_json: Json = False,
) -> None:
    """Check and deliver to the worker zone; whoever registers needs the number that is printed."""
    where = deliveries or default_home().deliveries
    with _copying(shown=not as_json) as step:
        folder = deliver(data, declaration, deliveries=where, resumed=resume, step=step)
    if as_json:
        print_json({"delivery": folder.name})
    else:
        out.print("Delivered. The number for the registration, on the page of the draft:")
        print_line(folder.name)
        for line in _outside(data, declaration):
            err.print(f"  {plain(line)}", soft_wrap=True)


def deliver(data: str, declaration: Path, *, deliveries: Path, resumed: str | None, step: Progress) -> Path:
    """The whole delivery, checked as a copy. Raises DpgateError; what was copied so far stays."""
    from dpgate.checking import check_locally
    from dpgate.delivery.copying import delivery_for, finish
    from dpgate.pipeline_folder import load_yaml

    name = str(load_yaml(declaration).get("name"))
    folder = delivery_for(deliveries, source=_identity(data), dataset=name, resumed=resumed)
    with _kept(folder):
        copy_source(data, declaration, folder, step)
        check_locally(folder, load_declaration(declaration, folder))
    finish(folder).unlink()
    return folder


def add_source(
    client: Client,
    data: str,
    declaration: Path,
    *,
    deliveries: Path,
    resumed: str | None,
    step: Progress,
    own: Custody | None = None,
) -> Dataset:
    """The steps of `dataset add`: check (a folder before it is copied), copy, register, wait for the end. A
    key of one's own is enrolled with the delivery, and signs the mandate."""
    from dpgate.checking import check_locally
    from dpgate.pipeline_folder import load_yaml

    if _is_folder(data):
        declared = load_declaration(declaration, Path(data))
        return add_dataset(
            client, Path(data), declared, deliveries=deliveries, resumed=resumed, step=step, own=own
        )
    from dpgate.delivery.copying import delivery_for

    name = str(load_yaml(declaration).get("name"))
    folder = delivery_for(deliveries, source=_identity(data), dataset=name, resumed=resumed)
    with _kept(folder):
        copy_source(data, declaration, folder, step)
        declared = load_declaration(declaration, folder)
        check_locally(folder, declared)
        return _registered(client, declared, folder, own)


def add_dataset(
    client: Client,
    data: Path,
    declared: Declaration,
    *,
    deliveries: Path,
    resumed: str | None = None,
    step: Progress = lambda _done, _total: None,
    own: Custody | None = None,
) -> Dataset:
    """The same steps for a folder whose declaration is read."""
    from dpgate.checking import check_locally
    from dpgate.delivery.copying import copy, delivery_for
    from dpgate.delivery.opening import FolderSource
    from dpgate.delivery.source import rooted

    check_locally(data, declared)
    source = FolderSource(data, declared.excludes)
    folder = delivery_for(deliveries, source=source.identity, dataset=declared.name, resumed=resumed)
    with _kept(folder):
        there = rooted(source, declared.privacy_unit.table, declared.excludes)
        copy(there, folder, dataset=declared.name, progress=step)
    try:
        return _registered(client, declared, folder, own)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def copy_source(data: str, declaration: Path, folder: Path, step: Progress) -> None:
    """An archive or what lies at an address, copied to a folder. Raises DpgateError."""
    from domain.dataset.files import covers
    from dpgate.delivery.copying import copy
    from dpgate.delivery.opening import open_source
    from dpgate.delivery.source import rooted
    from dpgate.pipeline_folder import load_yaml

    content = load_yaml(declaration)
    places = [place for place in content.get("excluded") or () if isinstance(place, str)]
    unit = content.get("privacy_unit")
    table = str(unit.get("table")) if isinstance(unit, dict) else ""

    def excludes(path: str) -> bool:
        return any(covers(place, path) for place in places)

    source = rooted(open_source(data, excludes=excludes), table, excludes)
    copy(source, folder, dataset=str(content.get("name")), progress=step)


def _registered(client: Client, declared: Declaration, folder: Path, own: Custody | None) -> Dataset:
    """The registration of a whole delivery once its import has ended, and the mandate for it."""
    from dpgate.delivery.copying import finish, unfinish

    if own is not None:
        own.enrol_with(folder)
    journal = finish(folder)
    try:
        registered = client.register(declared.model_dump(mode="json"), delivery=folder.name)
    except BaseException:
        unfinish(folder, journal)
        raise
    journal.unlink()
    deadline = time.monotonic() + LONGEST_IMPORT_S
    while registered.state == "IMPORTING":
        if time.monotonic() > deadline:
            raise NotFinished(f"the import of {registered.name} goes on; look again with: dpgate datasets")
        time.sleep(0.2)
        registered = client.registration(registered.name)
    if own is not None and registered.state == "READY":
        signed = own.first_for(declared, version=registered.version, delivery=folder.name)
        own.deliver(signed, folder.parent)
    return registered


@contextmanager
def _kept(folder: Path) -> Iterator[None]:
    """A copy that ends early is kept, and its owner is told."""
    try:
        yield
    except BaseException:
        err.print(
            f"The copy so far stays in {plain(folder)}, where only you can read it. Run the same command "
            "again to go on, or remove that folder.",
            soft_wrap=True,
        )
        raise


@contextmanager
def _copying(*, shown: bool) -> Iterator[Progress]:
    with progress("delivering", shown=shown) as step:
        yield lambda done, total: step(done, total, f"{done / 1e6:.1f} of {total / 1e6:.1f} MB")


def _identity(data: str) -> str:
    return data.rstrip("/") if "://" in data else str(Path(data).resolve())


def _is_folder(data: str) -> bool:
    return "://" not in data and not Path(data).is_file()
