"""Routes of spending."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from desk import spending
from desk.spending import Wanted
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/datasets", tags=["data sets"], responses=RESPONSES)

router.get("/{name}/budget/entries", summary="How the privacy budget was spent")(
    served(spending.get_spending, wanted=Annotated[Wanted, Query()])
)
