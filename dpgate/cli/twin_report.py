"""`dpgate twin report`: evaluate a twin where the original lies. Nothing is sent anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain.loss import format_epsilon, micro
from dpgate.cli.declaration import load_declaration
from dpgate.cli.output import Json, Profile, err, out, plain, print_json, print_table, progress
from dpgate.client import connect
from dpgate.errors import DpgateError
from formats.public_report import check_report

if TYPE_CHECKING:
    from companions.twin_report.build import Report
    from companions.twin_report.private import TableFindings

PRIVATE, PUBLIC = "report.html", "public.html"
Counts = Annotated[
    Path | None, typer.Option(help="twin-counts.json of the release that the twin was drawn from.")
]
Epsilon = Annotated[
    str | None, typer.Option(help="What the counts cost, as you say: pages call it not verified.")
]
Signed = Annotated[
    Path | None,
    typer.Option(help="The release instead of --counts and --epsilon, as `dpgate result --json` printed it."),
]
Key = Annotated[
    Path | None, typer.Option(help="The platform's certificate key (PEM) that --release has to fit.")
]


Holdout = Annotated[
    Path | None, typer.Option(help="A folder with the same tables of people who were not in the original.")
]
Both = Annotated[Path | None, typer.Option(help="A pipeline to run on both, in the sandbox of this machine.")]
Learnt = Annotated[str | None, typer.Option(help="The column that models and attackers try to learn.")]
Quasi = Annotated[
    list[str] | None,
    typer.Option(help="A column that somebody could know of people, once for each (default: as declared)."),
]


def twin_report(
    original: Annotated[
        Path, typer.Option(help="The folder of the original, as the declaration names files.")
    ],
    twin: Annotated[Path, typer.Option(help="The folder of the twin.")],
    declaration: Annotated[Path, typer.Option("--declaration", "-d", help="The data set's dataset.yaml.")],
    folder: Annotated[Path, typer.Option("--out", "-o", help="A folder for report.html and public.html.")],
    counts: Counts = None,
    epsilon: Epsilon = None,
    release: Signed = None,
    key: Key = None,
    holdout: Holdout = None,
    pipeline: Both = None,
    learn: Learnt = None,
    quasi: Quasi = None,
    twin_seed: Annotated[int, typer.Option(min=0, help="The seed that the twin was drawn with.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulated attackers.")] = 1,
    tries: Annotated[
        int, typer.Option(min=20, max=20_000, help="Sentences of each attack; a third as many people.")
    ] = 1000,
    as_json: Json = False,
) -> None:
    """Evaluate a twin against its original, here: one page for you, one for researchers."""
    from companions.twin_report.build import Given, build
    from companions.twin_report.private import Wishes
    from dpgate.embedded.home import image_store

    for place in (original, twin, *([holdout] if holdout else [])):
        if not place.is_dir():
            raise DpgateError(f"there is no folder {place}")
    price = _price(epsilon)
    # public files without content are the twin's: they are the same there
    declared = load_declaration(declaration, twin)
    folder.mkdir(parents=True, exist_ok=True)
    with progress("evaluating", shown=not as_json) as step:
        report = build(
            declared,
            Given(original, twin, holdout, pipeline, counts, price, release, key),
            wishes=Wishes(learn, tuple(quasi or ()), tries, max(20, tries // 3), seed),
            twin_seed=twin_seed,
            images=image_store() if pipeline else None,
            step=lambda state: step(0, None, state),
        )
    _write(folder / PRIVATE, report.private, mode=0o600)
    _write(folder / PUBLIC, report.public, mode=0o644)
    _print(report, folder, as_json=as_json)


def twin_publish(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="The data set whose twin it is about.")],
    page: Annotated[
        Path | None, typer.Argument(metavar="[PUBLIC.HTML]", help="As twin report wrote it.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take the report away instead.")] = False,
    as_json: Json = False,
    profile: Profile = "default",
) -> None:
    """Hand in the public part of a report, so that researchers can open it; the private part is refused."""
    if remove == (page is not None):
        raise DpgateError("name public.html, or give --remove")
    with connect(profile=profile) as client:
        if page is None:
            client.twins.remove_report(dataset)
            digest = None
        else:
            digest = client.twins.put_report(dataset, check_report(page.read_bytes()))["digest"]
    if as_json:
        print_json({"dataset": dataset, "digest": digest})
    else:
        out.print(f"{plain(dataset)}: " + (f"handed in, {plain(digest)}" if digest else "taken away"))


def _price(epsilon: str | None) -> str | None:
    """As a certificate writes it."""
    try:
        return epsilon and format_epsilon(micro(epsilon))
    except ValueError as error:
        raise DpgateError(f"--epsilon: {error}") from None


def _print(report: Report, folder: Path, *, as_json: bool) -> None:
    if as_json:
        places = {"report": str(folder / PRIVATE), "public": str(folder / PUBLIC)}
        origin = {"origin": report.provenance.sentence, "made_again": report.provenance.made_again}
        print_json({**places, **origin, "tables": [_found(one) for one in report.findings]})
        return
    for one in report.findings:
        rows = [(each.name, f"{100 * each.found.share:.1f} %", each.standing) for each in one.attacks]
        print_table(f"Attacks on {one.path}", ("attack", "succeeds", "so"), rows)
    out.print(plain(report.provenance.sentence))
    if any(one.finds_people for one in report.findings):
        out.print("[bold red]This twin shows real people: do not hand it out as anonymous.[/]")
    out.print(f"For you alone: [bold]{plain(folder / PRIVATE)}[/]", soft_wrap=True)
    out.print(f"For researchers: [bold]{plain(folder / PUBLIC)}[/]", soft_wrap=True)
    err.print(f"[yellow]{PRIVATE} was computed from the original without noise: do not pass it on.[/]")


def _write(path: Path, page: str, *, mode: int) -> None:
    """The rights holder's page is readable by its owner alone: it is as sensitive as the data."""
    path.touch(mode=mode)
    path.chmod(mode)
    path.write_text(page, encoding="utf-8")


def _found(one: TableFindings) -> dict[str, Any]:
    distances, learned = one.fidelity.distances, one.learned
    return {
        "path": one.path,
        "shows_people": one.finds_people,
        "tv1": distances.one,
        "tv2": distances.two,
        "tv3": distances.three,
        "cramer": distances.cramer,
        "auc": None if learned is None else {"original": learned.real, "twin": learned.twin},
        "attacks": [
            {"name": attack.name, "share": attack.found.share, "so": str(attack.standing)}
            for attack in one.attacks
        ],
    }
