"""Commands of operators on the worker zone's own ledger. On a worker's host, as the worker's user."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dpgate.cli import long_examples
from dpgate.cli.exit_codes import ExitCode
from dpgate.cli.hosting import HomeOption, home_of
from dpgate.cli.operation import opened_database
from dpgate.cli.output import Json, out, plain, print_json, print_line, print_table, progress
from dpgate.errors import DpgateError

if TYPE_CHECKING:
    from store.keys import Keys
    from store.zone_ledger import Entry, ZoneLedger

ZoneOption = Annotated[
    Path | None, typer.Option(help="The worker zone's folder.", envvar="DPGATE_ZONE_FOLDER")
]
DatabaseOption = Annotated[
    str | None, typer.Option(help="The database of the workers.", envvar="DPGATE_DATABASE_URL")
]


class Since(StrEnum):
    nothing = "nothing"
    unknown = "unknown"


commands = typer.Typer(help="The worker zone's own account of charges and draws.", no_args_is_help=True)


@commands.command("show", epilog="Example: dpgate ledger show")
def ledger_show(zone_folder: ZoneOption = None, home: HomeOption = None, as_json: Json = False) -> None:
    """Check every entry of the zone's ledger, and show what was spent, what was refused, and the keys."""
    from store.envelopes import fingerprint
    from store.zone_ledger import Kind
    from worker.certificate import key_id_of

    key = key_id_of(_keys(zone_folder, home).signing)
    with _ledger(zone_folder, home).reading() as page:
        entries = page.entries()
        spent = {cohort: page.spent(cohort) for cohort in page.cohorts()}
    refused = [entry.subject for entry in entries if entry.kind is Kind.REFUSED]
    drawn = sum(entry.kind is Kind.DRAW for entry in entries)
    enrolled = {entry.body["delivery"]: entry.body for entry in entries if entry.kind is Kind.ENROLLED}
    if as_json:
        found = {"entries": len(entries), "drawn": drawn, "spent": spent, "refused": refused}
        print_json({**found, "certificate_key": key, "enrolled": list(enrolled.values())})
        return
    out.print(f"{len(entries)} entries, each as it was written; {drawn} releases drawn")
    out.print(f"The zone's key of certificates: {key}")
    rows = [(cohort, currency, units) for cohort, known in spent.items() for currency, units in known.items()]
    print_table("Spent", ("cohort", "currency", "units"), rows, empty="nothing")
    print_table(
        "Refused", ("job", "reason"), [tuple(each.rsplit(" ", 1)) for each in refused], empty="nothing"
    )
    for body in enrolled.values():
        print_line(f"{body.get('dataset', '')} delivery {body['delivery']}: key {fingerprint(body['key'])}")


@commands.command("verify", epilog="Example: dpgate ledger verify")
def ledger_verify(
    zone_folder: ZoneOption = None,
    database_url: DatabaseOption = None,
    marks: Annotated[
        Path | None, typer.Option(help="Lines of `dpgate ledger mark` that you kept elsewhere.")
    ] = None,
    release: Annotated[
        list[Path] | None, typer.Option(help="A release whose certificate says what the trail was.")
    ] = None,
    home: HomeOption = None,
    as_json: Json = False,
) -> None:
    """Walk the database's audit trail, and hold it against each event that the zone's ledger has seen.

    Without the gateway: a trail whose end was cut off, or that was written anew from some event on, fits
    itself and not the ledger. So do releases that were changed or taken away since the zone has drawn them,
    and another key of certificates. What a restore has forgotten before the latest catch-up is not looked
    for. With marks or releases also if the ledger was put back with it; to them a restore is a trail that
    was cut off.
    """
    from store import audit, releases
    from worker.certificate import public_key_pem
    from worker.marks import first_changed_release

    ledger, keys = _ledger(zone_folder, home), _keys(zone_folder, home)
    with (
        opened_database(database_url, home) as database,
        ledger.reading() as page,
        progress("walking both books", shown=not as_json),
    ):
        entries, under_way = page.entries(), page.all_drawn()
        known = page.heads()  # first: what it has seen is in the trail by now
        with database.reading() as connection:
            verdict, hashes = audit.verify(connection, known=known), audit.hashes(connection)
            digests, public = releases.digests(connection), releases.public_key(connection)
            ids = releases.ids(connection)
    kept = kept_elsewhere(keys, hashes, entries, marks=marks, releases=release or [], ids=ids)
    own = public in (None, public_key_pem(keys.signing))
    changed = first_changed_release(entries, digests, under_way=under_way, has_own_key=own)
    is_whole = verdict.intact and kept is None and changed is None
    if as_json:
        found = {"kept": kept, "changed": changed}
        print_json({"intact": is_whole, "seen": len(known), **vars(verdict), **found})
    elif verdict.intact and kept is None and changed is not None:
        out.print(f"[bold red]Somebody has written past the platform: {plain(changed)}.[/]")
    elif verdict.intact and kept is not None:
        out.print(f"[bold red]The chain holds, and was cut off or written anew: {plain(kept)}.[/]")
    elif verdict.intact:
        out.print(f"{verdict.events} events, the chain holds; so do the {len(known)} that the zone has seen")
    elif verdict.broken_at is not None and verdict.broken_at > verdict.events:
        out.print(f"[bold red]The trail was cut off before event {verdict.broken_at}.[/]")
    else:
        out.print(f"[bold red]Event {verdict.broken_at} is the first that does not fit.[/]")
    if not is_whole:
        raise typer.Exit(ExitCode.BROKEN_CHAIN)


@commands.command("mark", epilog="Example: dpgate ledger mark >> marks.jsonl")
def ledger_mark(
    zone_folder: ZoneOption = None, database_url: DatabaseOption = None, home: HomeOption = None
) -> None:
    """Print one line to keep elsewhere: which event and which entry are the newest now.

    It tells nobody but the zone what they are. Send it where neither the database's nor the zone's
    administrator can change it: to a file of somebody else's, or by a command of yours to a web address.
    """
    from store import audit
    from worker.marks import mark

    ledger = _ledger(zone_folder, home)
    with opened_database(database_url, home) as database, ledger.reading() as page:
        entries = page.entries()
        with database.reading() as connection:
            head = audit.head(connection)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    key = _keys(zone_folder, home).marks
    print_line(mark(key, at=at, head=head, newest=entries[-1] if entries else None).model_dump_json())


@commands.command("begin", epilog="Example: dpgate ledger begin")
def ledger_begin(
    zone_folder: ZoneOption = None,
    database_url: DatabaseOption = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="In place of a ledger that is lost for good; workers are ended.")
    ] = False,
    home: HomeOption = None,
) -> None:
    """For a zone that has never had a ledger: begin one from what the platform has on record.

    Not in place of one that was lost: keys of rights holders that were enrolled, and jobs that were drawn,
    would be forgotten. Put its file back instead. The platform charges by one ledger alone, and refuses
    another without --anew.
    """
    from worker.catching_up import begin_ledger

    ledger = _ledger(zone_folder, home)
    with opened_database(database_url, home) as database:
        begin_ledger(ledger, database, anew=anew)
    out.print(f"The zone's ledger is begun: {plain(str(ledger.path))}")


@commands.command("catch-up", epilog="Example: dpgate ledger catch-up")
def ledger_catch_up(
    zone_folder: ZoneOption = None,
    database_url: DatabaseOption = None,
    since: Annotated[
        Since | None,
        typer.Option(help="After a restore without the newest ledger: what happened after the backup."),
    ] = None,
    home: HomeOption = None,
    as_json: Json = False,
) -> None:
    """After a restore from a backup: what the database has forgotten is spent there as well.

    --since nothing is your word that no worker ran after the backup. With --since unknown all that was left
    of every budget is spent, and jobs that had not ended end.
    """
    from worker import catching_up

    with opened_database(database_url, home) as database:
        found = catching_up.catch_up(
            _ledger(zone_folder, home),
            database,
            now=datetime.now(UTC),
            since=catching_up.Since(since.value) if since else None,
        )
    if as_json:
        print_json({"written_off": found})
        return
    for cohort, units in found.items():
        said = ", ".join(f"{currency} {amount}" for currency, amount in units.items())
        out.print(f"{plain(cohort)}: {plain(said)} units are spent again")
    out.print("Both ledgers agree. What has waited for that goes on.")


@commands.command("enrol", epilog=f"Example: {long_examples.ENROL}")
def ledger_enrol(
    delivery: Annotated[str, typer.Argument(help="The delivery's number, as `dpgate ledger show` has it.")],
    key: Annotated[str, typer.Argument(help="The new public key, as `dpgate custody key` prints it.")],
    confirmed: Annotated[
        str, typer.Option(help="Its fingerprint, as the rights holder reads it out to you.")
    ],
    zone_folder: ZoneOption = None,
    home: HomeOption = None,
) -> None:
    """After a key was lost: enrol another for a delivery. The old one counts no more, and jobs wait.

    Two people do this: whoever guards the worker zone types it, and the rights holder, called back at a
    number that you know, reads out the fingerprint. Then they sign: dpgate custody sign.
    """
    from domain.mandate import CustodyKey
    from domain.model import parse
    from store.envelopes import fingerprint
    from store.zone_ledger import Kind
    from worker.mandates import add_key

    public = parse(CustodyKey, {"key": key}).key
    if "".join(confirmed.split()).lower() != fingerprint(public).replace(" ", ""):
        raise DpgateError("that is not the key's fingerprint: somebody may have given you another key")
    with _ledger(zone_folder, home).writing() as page:
        known = [entry.body for entry in page.having(Kind.ENROLLED) if entry.body["delivery"] == delivery]
        if not known:
            raise DpgateError(f"no key was enrolled with a delivery {delivery}; see `dpgate ledger show`")
        is_new = add_key(page, known[-1], key=public)
    if not is_new:
        raise DpgateError("this key was enrolled for this delivery before; make another")
    out.print(f"{plain(delivery)}: mandates of the key [bold]{fingerprint(public)}[/] count from now on")


def kept_elsewhere(
    keys: Keys,
    hashes: Mapping[int, str],
    entries: Sequence[Entry],
    *,
    marks: Path | None,
    releases: Sequence[Path],
    ids: Mapping[str, str],
) -> str | None:
    """What was there once, by marks and certificates, and is no more; None where all of it is. `ids`: of the
    releases on record, by their jobs. Where both books were put back, a job may have been drawn again."""
    from domain.model import parse
    from worker.marks import Mark, event_of_release, first_missing

    lines = marks.read_text("utf-8").splitlines() if marks is not None else []
    known = [parse(Mark, _json(line, of=str(marks))) for line in lines if line.strip()]
    if (missing := first_missing(keys.marks, known, hashes, entries)) is not None:
        return missing
    for path in releases:
        statement = _signed(path, keys)
        if event_of_release(keys.marks, statement, hashes) is None:
            return f"the event that was the newest when {path.name} was drawn is not there"
        if ids.get(statement["predicate"]["job"]) != statement["predicate"]["release"]:
            return f"{path.name} is not the release of its job that is on record"
    return None


def _signed(path: Path, keys: Keys) -> Mapping[str, Any]:
    from dpgate.verification import check_release, read_release
    from worker.certificate import public_key_pem

    try:
        release = read_release(path.read_text("utf-8"))
    except (ValueError, RecursionError):
        raise DpgateError(f"{path.name} is no JSON") from None
    statement = check_release(release, public_key_pem(keys.signing))
    if statement is None:
        raise DpgateError(f"{path.name} is no release that this zone has signed")
    if "trail" not in statement["predicate"]:
        raise DpgateError(f"the certificate of {path.name} is older, and says nothing of the trail")
    return statement


def _json(line: str, *, of: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise DpgateError(f"{of} holds a line that is no JSON") from None


def _ledger(zone_folder: Path | None, home: Path | None) -> ZoneLedger:
    from worker.catching_up import zone_ledger

    return zone_ledger(zone_folder or home_of(home).worker_zone)


def _keys(zone_folder: Path | None, home: Path | None) -> Keys:
    from store.keys import load_keys

    return load_keys((zone_folder or home_of(home).worker_zone) / "master.key")
