"""Commands that bring a data set in: check it here, deliver it to the worker zone, register it."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from pathlib import Path
from typing import Annotated

import typer

from domain.dataset import Declaration
from domain.errors import InvalidRequest
from domain.model import parse
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.output import Json, Profile, out, plain, print_json, progress
from dpgate.client import Client, connect
from dpgate.embedded.home import default_home
from dpgate.errors import DpgateError, NotFinished
from dpgate.models import Dataset
from dpgate.pipeline_folder import load_yaml, read_text

MAX_FILE_BYTES = 4 * 1024**3
LONGEST_IMPORT_S = 3600.0
Data = Annotated[Path, typer.Argument(help="The folder with the data.")]
DeclarationOption = Annotated[Path, typer.Option("--declaration", "-d", help="The dataset.yaml.")]


def dataset_check(data: Data, declaration: DeclarationOption, as_json: Json = False) -> None:
    """Check a data set against its declaration, here; nothing leaves this machine."""
    declared = load_declaration(declaration, data)
    check_locally(data, declared)
    if as_json:
        print_json({"name": declared.name, "ok": True})
    else:
        out.print(f"[green]{declared.name} fits its declaration.[/]")


def dataset_add(
    data: Data,
    declaration: DeclarationOption,
    deliveries: Annotated[
        Path | None, typer.Option(help="The worker zone's deliveries folder.", envvar="DPGATE_DELIVERIES")
    ] = None,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Check, deliver to the worker zone, and register a data set. The data never pass the gateway."""
    declared = load_declaration(declaration, data)
    with connect(profile=profile) as client, progress("importing", shown=not as_json):
        found = add_dataset(client, data, declared, deliveries=deliveries or default_home().deliveries)
    if as_json:
        print_json(found.raw)
    else:
        out.print(f"[bold]{plain(found.name)}[/] version {found.version}: [bold]{plain(found.state)}[/]")
        if found.problem:
            out.print(f"  {plain(found.problem)}")
    if found.state != "READY":
        raise typer.Exit(ExitCode.USAGE)


def add_dataset(client: Client, data: Path, declared: Declaration, *, deliveries: Path) -> Dataset:
    """The steps of `dataset add`: check here, deliver, register, wait for the import."""
    check_locally(data, declared)
    delivery = str(uuid.uuid4())
    try:
        deliver(data, deliveries / delivery)
        registered = client.register(declared.model_dump(mode="json"), delivery=delivery)
    except BaseException:
        shutil.rmtree(deliveries / delivery, ignore_errors=True)
        raise
    return _imported(client, registered)


def load_declaration(path: Path, data: Path) -> Declaration:
    """A dataset.yaml; a public file without `text` is filled from the data's folder, by the holder's word."""
    content = load_yaml(path)
    public_files = content.get("public_files")
    for file in public_files if isinstance(public_files, list) else ():
        if isinstance(file, dict) and "text" not in file and isinstance(file.get("path"), str):
            file["text"] = read_text(data / file["path"])
    return parse(Declaration, content)


def check_locally(data: Path, declared: Declaration) -> None:
    """Raises InvalidRequest with place and detail: the rights holder may see their own data."""
    from worker.intake import ImportRefused, check_delivery

    if not data.is_dir():
        raise DpgateError(f"there is no folder {data}")
    try:
        check_delivery(data, declared, max_file_bytes=MAX_FILE_BYTES)
    except ImportRefused as refused:
        detail = f"{refused.problem}." + (f" ({refused.detail})" if refused.detail else "")
        raise InvalidRequest(refused.place, detail) from None


def deliver(data: Path, target: Path) -> None:
    """Copy the data into the worker zone; only its owner can read the copy."""
    if not target.parent.is_dir():
        raise DpgateError(
            f"there is no deliveries folder {target.parent}; run this where the worker zone is, "
            "or name it with --deliveries"
        )
    target.mkdir(mode=0o700)
    for folder, folders, files in os.walk(data):
        here = target / os.path.relpath(folder, data)
        for name in folders:
            (here / name).mkdir(mode=0o700)
        for name in files:
            _copy(Path(folder, name), here / name)


def _copy(original: Path, copy: Path) -> None:
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as target, original.open("rb") as source:
        shutil.copyfileobj(source, target)


def _imported(client: Client, dataset: Dataset) -> Dataset:
    """The registration once its import has ended."""
    deadline = time.monotonic() + LONGEST_IMPORT_S
    while dataset.state == "IMPORTING":
        if time.monotonic() > deadline:
            raise NotFinished(f"the import of {dataset.name} goes on; look again with: dpgate datasets")
        time.sleep(0.2)
        dataset = client.registration(dataset.name)
    return dataset
