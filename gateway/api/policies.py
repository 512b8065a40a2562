"""Routes of policies."""

from __future__ import annotations

from fastapi import APIRouter

from desk import policies
from gateway.problems import RESPONSES
from gateway.routes import PREFIX
from gateway.serving import served

router = APIRouter(prefix=f"{PREFIX}/datasets", tags=["policies"], responses=RESPONSES)

router.get("/{name}/policy", summary="The policy in effect")(served(policies.get_policy))
router.get("/{name}/policy/history", summary="All policies, the newest first")(
    served(policies.get_policy_history)
)
router.put("/{name}/policy", summary="Bring another policy into effect")(served(policies.change_policy))
router.post("/{name}/policy/simulation", summary="What another policy would have decided on past jobs")(
    served(policies.simulate_policy)
)
