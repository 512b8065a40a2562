"""Routes of users."""

from __future__ import annotations

from fastapi import APIRouter

from desk import users
from gateway.offers import HasPasswords
from gateway.problems import RESPONSES
from gateway.routes import PREFIX, OurId
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/users", tags=["users"], responses=RESPONSES)

router.get("", summary="All users")(served(users.list_users))
router.post("", status_code=201, summary="Add a user")(served(users.add_user, has_passwords=HasPasswords))
router.post("/{name}/password", status_code=201, summary="A new first password for a user")(
    served(users.renew_password, has_passwords=HasPasswords)
)
router.get("/{name}/tokens", summary="The tokens of a user that work")(served(users.list_tokens_of))
router.delete("/{name}/tokens/{token_id}", summary="Revoke a token of a user")(
    served(users.revoke_token_of, token_id=OurId)
)
router.delete("/{name}", summary="Disable a user: all sessions and tokens end at once")(
    served(users.disable_user)
)
