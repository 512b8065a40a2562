"""Routes of data sets: catalogue, registration, twin, budget, facts, endings, policy."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from desk import datasets, endings, facts, policies, spending
from desk.datasets import DatasetView, Registration, WantedTwin
from desk.spending import SpendingView, Wanted
from domain.model import Slug
from domain.permissions import Permission, User
from domain.twin import LABEL
from gateway.access import TheDatabase, TheQueue, check_no_step_up
from gateway.problems import DOCUMENTED, RESPONSES
from gateway.routes import PREFIX
from gateway.serving import NEXT_PART, allowed, link_next, served

router = APIRouter(prefix=f"{PREFIX}/datasets", tags=["data sets"], responses=RESPONSES)

router.get("", summary="Data sets that you may use")(served(datasets.list_datasets))


@router.post("", status_code=201, summary="Register a data set or a new version of one")
def register_dataset(
    request: Request,
    registration: Registration,
    user: Annotated[User, allowed(datasets.register_dataset)],
    database: TheDatabase,
    queue: TheQueue,
) -> DatasetView:
    """The files were delivered to the worker zone before (`dpgate dataset add`); they never pass this API."""
    if datasets.brings_another_policy(database, user, registration.declaration):
        check_no_step_up(request, user, Permission.POLICY_CHANGE)
    return datasets.register_dataset(database, user, registration, queue)


router.get("/{name}", summary="One data set: its declaration and state")(served(datasets.get_dataset))
router.get("/{name}/registration", summary="The newest registration, whatever became of it")(
    served(datasets.get_registration)
)


@router.get(
    "/{name}/twin",
    summary="The twin, as a zip file",
    response_class=Response,
    responses={
        200: {"content": {"application/zip": {}}, "description": LABEL},
        429: DOCUMENTED[429],
    },
)
def get_twin(
    name: Slug,
    user: Annotated[User, allowed(datasets.get_twin)],
    database: TheDatabase,
    wanted: Annotated[WantedTwin, Query()],
) -> Response:
    """A blank form, made from the declaration alone in a process that has no way to the data; or, where
    counts were released and approved, drawn from them. Where the policy asks for a review of twins: 409 until
    the reviewers have approved it."""
    return Response(datasets.get_twin(database, user, name, wanted), media_type="application/zip")


router.get("/{name}/budget", summary="What is left of the privacy budget")(served(datasets.get_budget))
router.put("/{name}/allocations/{kind}/{holder}", summary="Allot a part of the budget to a project or user")(
    served(datasets.allot)
)

router.get("/{name}/dictionary", summary="The data dictionary: every declared column")(
    served(facts.get_dictionary)
)
router.get("/{name}/assessment", summary="A draft of a data protection impact assessment")(
    served(facts.get_assessment)
)
router.get("/{name}/attacker", summary="What an attacker could learn about one person at most")(
    served(facts.get_attacker)
)


@router.get(
    "/{name}/budget/entries",
    summary="How the privacy budget was spent",
    responses=NEXT_PART,
)
def get_spending(
    name: Slug,
    wanted: Annotated[Wanted, Query()],
    user: Annotated[User, allowed(spending.get_spending)],
    database: TheDatabase,
    response: Response,
) -> SpendingView:
    """Newest first, part by part: the rights holder sees everybody's entries, a data user their own and how
    the total grew. Where there are more, the header `Link` has the address of the next part."""
    found = spending.get_spending(database, user, name, wanted)
    link_next(response, f"{PREFIX}/datasets/{name}/budget/entries", wanted.after(found))
    return found


router.get("/{name}/withdrawal", summary="Which jobs a withdrawal would end")(served(endings.get_open_jobs))
router.post("/{name}/withdrawal", summary="Withdraw a data set: it takes no new jobs")(
    served(endings.withdraw)
)
router.get("/{name}/erasure", summary="Whether a data set is erased")(served(endings.get_erasure))
router.post("/{name}/erasure", summary="Erase a data set: the key that seals it is destroyed")(
    served(endings.erase)
)

policy_routes = APIRouter(prefix=f"{PREFIX}/datasets", tags=["policies"], responses=RESPONSES)
policy_routes.get("/{name}/policy", summary="The policy in effect")(served(policies.get_policy))
policy_routes.get("/{name}/policy/history", summary="All policies, the newest first")(
    served(policies.get_policy_history)
)
policy_routes.put("/{name}/policy", summary="Bring another policy into effect")(
    served(policies.change_policy)
)
policy_routes.post(
    "/{name}/policy/simulation", summary="What another policy would have decided on past jobs"
)(served(policies.simulate_policy))
