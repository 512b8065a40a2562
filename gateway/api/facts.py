"""Routes of facts."""

from __future__ import annotations

from fastapi import APIRouter

from desk import facts
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/datasets", tags=["data sets"], responses=RESPONSES)

router.get("/{name}/dictionary", summary="The data dictionary: every declared column")(
    served(facts.get_dictionary)
)
router.get("/{name}/assessment", summary="A draft of a data protection impact assessment")(
    served(facts.get_assessment)
)
router.get("/{name}/attacker", summary="What an attacker could learn about one person at most")(
    served(facts.get_attacker)
)
