"""The catalogue, and one data set: all of it was declared, nothing was counted in the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from desk.datasets import WantedTwin, get_budget, get_twin
from desk.facts import get_assessment, get_dictionary
from domain import attacker, dictionary
from domain.dataset import Dataset
from domain.model import Slug
from domain.permissions import Permission, Role, User
from gateway.access import TheDatabase
from gateway.pages import dataset_facts
from gateway.pages.budget_bar import Bar, whole, whole_or_why
from gateway.pages.downloads import attached
from gateway.pages.layout import page
from gateway.pages.session import page_requires
from store import datasets, history, reviewers, twin_reports, twin_reviews, twins, waiting

router = APIRouter(include_in_schema=False)
MAX_SEARCH = 200
Reader = Annotated[User, Depends(page_requires(Permission.DATASET_READ))]


@dataclass(frozen=True)
class Tile:
    """One data set in the catalogue."""

    dataset: Dataset
    bars: tuple[list[Bar], str]
    promises: list[dataset_facts.Promise]
    columns: int


@router.get("/")
def list_datasets(
    request: Request,
    user: Annotated[User, Depends(page_requires(Permission.SELF_READ))],
    database: TheDatabase,
    q: str = "",
) -> Response:
    """The first page: the data sets that this user may see, or for operators the platform's state."""
    if user.role is Role.OPERATOR:
        return RedirectResponse("/operation", status_code=303)
    sought = q.strip()[:MAX_SEARCH]
    with database.reading() as connection:
        visible = datasets.visible_to(connection, user)
        is_holder = user.role is Role.RIGHTS_HOLDER
        pending = waiting.count(connection, user) if is_holder else 0
        spoilt = datasets.unreadable(connection, owner=user.name) if is_holder else []
    found = [dataset for dataset in visible if _fits(dataset, sought)]
    tiles = [
        Tile(
            dataset=dataset,
            bars=whole_or_why(database, user, dataset.name),
            promises=dataset_facts.promises(dataset.declaration.policy),
            columns=sum(len(table.columns) for table in dataset.declaration.tables),
        )
        for dataset in found
    ]
    return page(
        request,
        "catalogue.html",
        user=user,
        tiles=tiles,
        sought=sought,
        total=len(visible),
        pending=pending,
        spoilt=[one.sentence for one in spoilt],
    )


@router.get("/datasets/{name}")
def show_dataset(
    request: Request,
    name: Slug,
    user: Annotated[User, Depends(page_requires(Permission.DATASET_READ))],
    database: TheDatabase,
    q: str = "",
) -> Response:
    """Everything that was declared; `q` is what is sought in the data dictionary."""
    sought = q.strip()[:MAX_SEARCH]
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        versions = history.versions(connection, name)
        twin_state = twin_reviews.of(connection, dataset).state
        basis = twins.basis(connection, dataset.id)
        is_reviewer = reviewers.is_reviewer(connection, user, name)
        has_report = twin_reports.has(connection, dataset)
    is_owner = user.name == dataset.owner
    budget = get_budget(database, user, name)
    declaration = dataset.declaration
    # a refusal of before binds only while the policy asks for reviews of twins
    is_held = declaration.policy.review_twin and not twin_state.may_leave and basis.level == 0
    return page(
        request,
        "dataset.html",
        user=user,
        dataset=dataset,
        declaration=declaration,
        contribution=dataset_facts.contribution(declaration),
        promises=dataset_facts.promises(declaration.policy),
        tables=dataset_facts.columns(declaration, sought=sought),
        sought=sought,
        found_columns=len(dictionary.entries(declaration, sought=sought)),
        total_columns=len(dictionary.entries(declaration)),
        files=dataset_facts.files(declaration),
        rules=dataset_facts.rules(declaration.policy),
        bars=whole(budget),
        budget=budget,
        example=attacker.example(declaration),
        versions=[version for version in versions if is_owner or version.state.has_been_ready],
        basis=basis,
        twin_held=twin_state if is_held else None,
        is_reviewer=is_reviewer,
        has_report=has_report,
        may_have_twin=is_reviewer or not is_held,
    )


@router.get("/datasets/{name}/twin")
def download_twin(
    name: Slug,
    user: Annotated[User, Depends(page_requires(Permission.DATASET_READ))],
    database: TheDatabase,
    wanted: Annotated[WantedTwin, Query()],
) -> Response:
    """The same bytes as the interface gives, under a name that a folder of downloads can keep."""
    return attached(f"{name}-twin.zip", get_twin(database, user, name, wanted), "application/zip")


@router.get("/datasets/{name}/dictionary.csv")
def download_dictionary(name: Slug, user: Reader, database: TheDatabase) -> Response:
    """The data dictionary, for spreadsheets."""
    with database.reading() as connection:
        declaration = datasets.newest(connection, name, user).declaration
    return attached(f"{name}-dictionary.csv", dictionary.as_csv(dictionary.entries(declaration)), "text/csv")


@router.get("/datasets/{name}/dictionary.json")
def download_dictionary_json(name: Slug, user: Reader, database: TheDatabase) -> Response:
    """The data dictionary, as the interface gives it."""
    content = get_dictionary(database, user, name).model_dump_json(indent=2)
    return attached(f"{name}-dictionary.json", content, "application/json")


@router.get("/datasets/{name}/dpia.md")
def download_assessment(
    name: Slug,
    user: Annotated[User, Depends(page_requires(Permission.DATASET_REGISTER))],
    database: TheDatabase,
) -> Response:
    """A draft of an impact assessment, for its rights holder."""
    text = get_assessment(database, user, name).text
    return attached(f"{name}-dpia.md", text, "text/markdown")


def _fits(dataset: Dataset, sought: str) -> bool:
    """Every word that was typed stands somewhere in what the page of the data set says."""
    declaration = dataset.declaration
    text = " ".join(
        [
            declaration.name,
            declaration.title,
            declaration.description,
            *(column.name for table in declaration.tables for column in table.columns),
            *(column.description for table in declaration.tables for column in table.columns),
        ]
    ).casefold()
    return all(word in text for word in sought.casefold().split())
