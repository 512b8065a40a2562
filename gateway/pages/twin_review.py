"""The page on which reviewers look at a twin before data users may fetch it."""

from __future__ import annotations

import csv
import io
import zipfile
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.datastructures import FormData

from desk.drawn_twins import Drawing, zipped_twin
from desk.reviews import TwinVote, decide_twin
from domain.dataset import Dataset, DatasetState, Declaration
from domain.errors import FieldProblem, InvalidRequest, NotFound, TooLarge
from domain.model import Slug
from domain.permissions import Permission, User
from domain.review import Stage
from domain.twin import LABEL
from gateway.access import TheDatabase
from gateway.pages import dataset_facts
from gateway.pages.dataset_facts import ColumnFact
from gateway.pages.layout import page
from gateway.pages.reviews import parsed
from gateway.pages.session import CheckedForm, page_requires
from store import datasets, reviewers, reviews, scrambled, twin_reviews, twins
from store.database import Database

router = APIRouter(include_in_schema=False)
Reviewer = Annotated[User, Depends(page_requires(Permission.TWIN_DECIDE))]
FIRST_ROWS = 8
FIRST_BYTES = 64 * 1024
MAX_PUBLIC = 4000
"""Characters of a public file that are shown."""


@dataclass(frozen=True)
class ShownTable:
    """One table: its columns as declared, and its first rows in the twin."""

    path: str
    rows: str
    columns: list[ColumnFact]
    header: list[str]
    first: list[list[str]]


@router.get("/reviews/twins/{name}")
def show_twin(request: Request, name: Slug, user: Reviewer, database: TheDatabase) -> Response:
    return _page(request, name, user, database)


@router.post("/reviews/twins/{name}")
def decide(
    request: Request, name: Slug, form: CheckedForm, user: Reviewer, database: TheDatabase
) -> Response:
    """Approve or refuse the twin of the version that the page showed. What was typed is kept on refusal."""
    try:
        _, word, reason = parsed(form, (Stage.TWIN,))
        version = _version(str(form.get("version", "")))
    except InvalidRequest as error:
        return _page(request, name, user, database, typed=form, problems=error.problems)
    decide_twin(database, user, name, TwinVote(version=version, decision=word, reason=reason))
    return RedirectResponse("/reviews", status_code=303)


def tables(declaration: Declaration, content: bytes | None) -> list[ShownTable]:
    """Every table as declared, with its first rows where there is a twin to read them from."""
    return [
        ShownTable(path, rows, columns, *_first_rows(content, path))
        for path, rows, columns in dataset_facts.columns(declaration)
    ]


def _first_rows(content: bytes | None, path: str) -> tuple[list[str], list[list[str]]]:
    """Header and first rows of a table of text; nothing of any other."""
    if content is None or not path.endswith((".csv", ".tsv")):
        return [], []
    with zipfile.ZipFile(io.BytesIO(content)) as archive, archive.open(path) as file:
        text = file.read(FIRST_BYTES).decode(errors="replace")
    # the last line may be cut
    lines = text.split("\n")[: FIRST_ROWS + 2][:-1]
    # a .tsv file has no quotes
    is_tsv = path.endswith(".tsv")
    rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if is_tsv else csv.reader(lines)
    found = list(rows)
    return (found[0], found[1:]) if found else ([], [])


def _page(
    request: Request,
    name: str,
    user: User,
    database: Database,
    *,
    typed: FormData | None = None,
    problems: tuple[FieldProblem, ...] = (),
) -> Response:
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        if not reviewers.is_reviewer(connection, user, name):
            raise NotFound("dataset", f"there is no data set {name} that you review.")
        review = twin_reviews.of(connection, dataset)
        has_voted = reviews.has_voted(connection, user, subject=dataset.id, stage=Stage.TWIN)
        others = reviewers.of(connection, name)
        counts_wait = bool(twins.waiting(connection, [dataset]))
        scramble_waits = scrambled.waiting(connection, dataset) is not None
    declaration = dataset.declaration
    content, problem = _twin(dataset, user)
    return page(
        request,
        "twin_review.html",
        user=user,
        status=422 if problems else 200,
        dataset=dataset,
        review=review,
        has_voted=has_voted,
        counts_wait=counts_wait,
        scramble_waits=scramble_waits,
        reviewers=others,
        ready=dataset.state is DatasetState.READY,
        label=LABEL,
        problem=problem,
        tables=tables(declaration, content),
        files=dataset_facts.files(declaration),
        public=[
            {"path": file.path, "text": file.content[:MAX_PUBLIC].decode(errors="replace")}
            for file in declaration.public_files
        ],
        typed={field: str(value) for field, value in typed.items()} if typed else {},
        problems=problems,
    )


def _twin(dataset: Dataset, user: User) -> tuple[bytes | None, str]:
    """The archive, or why there is none."""
    try:
        return zipped_twin(Drawing(dataset.declaration), user=user.name), ""
    except TooLarge as error:
        return None, error.problems[0].problem


def _version(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidRequest("version", "is no number.", "Load the page again.")
    return int(text)
