"""What could an attacker learn about one person: the bounds as a table, as a picture, and in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response
from markupsafe import Markup

from domain.attacker import EVER, ONE_JOB, SO_FAR, SUSPICIONS, About, Bound, learnable
from domain.model import Slug
from domain.permissions import Permission, User
from drawing.suspicion import Group, Growth, draw_suspicions
from gateway.access import TheDatabase
from gateway.pages.layout import page
from gateway.pages.session import page_requires
from store import datasets, history

router = APIRouter(include_in_schema=False)
# short enough for a telephone: drawings cannot wrap
READ = {ONE_JOB: "after one job", SO_FAR: "so far", EVER: "ever"}


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
    """A suspicion of one half about one person: after one job, so far, and after all that may ever come."""
    groups = [
        Group(f"Somebody thinks it as likely as not: {about}", tuple(_growths(bounds, about)))
        for about in About
    ]
    return Markup(draw_suspicions(groups))  # noqa: S704 - its texts are escaped


def _growths(bounds: tuple[Bound, ...], about: About) -> Iterator[Growth]:
    prior = SUSPICIONS[-1]
    for bound in bounds:
        if bound.people == 1 and bound.about is about:
            words = f"at most {bound.become[-1]}" if bound.holds else "no bound"
            yield Growth(f"{READ[bound.what]}: 50 %", float(prior), bound.shares[-1], words)
