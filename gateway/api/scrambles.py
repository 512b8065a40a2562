"""Routes of scrambles."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Response

from desk import scrambles
from desk.scrambles import Acceptance
from domain.model import Slug
from domain.permissions import User
from domain.scrambled import LABEL
from gateway.access import TheDatabase
from gateway.offers import HasScrambles
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, AnId
from gateway.serving import allowed, archive, put_once, served

router = APIRouter(prefix=PREFIX + "/datasets/{name}/twin/scrambles", tags=["twins"], responses=RESPONSES)

router.get("", summary="Scrambled twins that you may see, newest first")(served(scrambles.list_scrambles))
put_once(
    router,
    "/{scramble_id}",
    scrambles.offer_scramble,
    summary="Offer one, under an id of your choice; its files do not come along",
    what="offer",
    scramble_id=AnId,
    is_on=HasScrambles,
)
router.post("/{scramble_id}/signature", summary="Sign for a scrambled twin, or refuse to")(
    served(scrambles.sign_scramble, scramble_id=AnId, is_on=HasScrambles)
)
router.put("/{scramble_id}/parts/{number}", summary="Send a part of its archive, once it is signed for")(
    served(
        scrambles.send_part,
        scramble_id=AnId,
        number=Annotated[int, Path(ge=1, le=10_000)],
        is_on=HasScrambles,
    )
)
router.post("/{scramble_id}/withdrawal", summary="Withdraw a scrambled twin at once")(
    served(scrambles.withdraw_scramble, scramble_id=AnId)
)


@router.post(
    "/{scramble_id}/download",
    summary="Agree to its terms and download it, as a zip file",
    response_class=Response,
    responses={200: {"content": {"application/zip": {}}, "description": LABEL}},
)
def download_scramble(
    name: Slug,
    scramble_id: AnId,
    body: Acceptance,
    user: Annotated[User, allowed(scrambles.download_scramble)],
    database: TheDatabase,
    is_on: HasScrambles,
) -> Response:
    """Each download is recorded with the terms, before its first byte. One that is withdrawn meanwhile breaks
    off."""
    size, parts = scrambles.download_scramble(database, user, name, scramble_id, body, is_on)
    return archive(f"{name}-scrambled-NOT-ANONYMOUS.zip", size, parts)
