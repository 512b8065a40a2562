"""What could an attacker learn about one person: the bounds as a table, as a picture, and in plain words."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from markupsafe import Markup

from domain.attacker import EVER, SO_FAR, SUSPICIONS, Bound, learnable
from domain.model import Slug
from domain.permissions import Permission, User
from drawing.suspicion import Group, Growth, draw_suspicions
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import page_requires
from store import datasets, history

router = APIRouter(include_in_schema=False)


@router.get("/datasets/{name}/attacker")
def show_attacker(
    request: Request,
    name: Slug,
    user: Annotated[User, Depends(page_requires(Permission.BUDGET_READ))],
    database: TheDatabase,
) -> Response:
    """Closed formulas only; where a class has no bound, the page says so."""
    with database.reading() as connection:
        dataset = datasets.newest(connection, name, user)
        spent = history.spent(connection, cohort=dataset.cohort)
    found = learnable(dataset.declaration, spent)
    return page(
        request,
        "attacker.html",
        user=user,
        dataset=dataset,
        found=found,
        alone=[bound for bound in found.bounds if bound.people == 1],
        families=[bound for bound in found.bounds if bound.people > 1],
        picture=picture(found.bounds),
        budget_sentence=dataset.declaration.budget_sentence,
    )


def picture(bounds: tuple[Bound, ...]) -> Markup:
    """The suspicions about one person after everything so far, and after everything that may ever come."""
    groups = [
        Group(f"{bound.what[:1].upper()}{bound.what[1:]}: {bound.about}", tuple(_growths(bound)))
        for bound in bounds
        if bound.people == 1 and bound.what in (SO_FAR, EVER)
    ]
    return Markup(draw_suspicions(groups))  # noqa: S704 - its texts are escaped


def _growths(bound: Bound) -> list[Growth]:
    return [
        Growth(f"{prior:.0%}", float(prior), share, f"at most {words}" if bound.holds else words)
        for prior, share, words in zip(SUSPICIONS, bound.shares, bound.become, strict=True)
    ]
