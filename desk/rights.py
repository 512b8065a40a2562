"""The right of each use case, stated where it is written and asked at each call.

So a page, a route or another interface that forgets to ask is refused here. What a token was made for, how
fresh a login is and whether there is maintenance belongs to how somebody came, and is asked at the edge.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from domain.acting import check_acting
from domain.permissions import Permission, User, check_allowed
from store.database import Database

P = ParamSpec("P")
T = TypeVar("T")
UseCase = Callable[Concatenate[Database, User, P], T]

RIGHTS: dict[Callable[..., Any], Permission] = {}
"""Of every use case that was loaded."""


def needs(permission: Permission) -> Callable[[UseCase[P, T]], UseCase[P, T]]:
    """A use case of those who hold the permission. Raises NotAllowed for others, before it begins."""

    def stated(use_case: UseCase[P, T]) -> UseCase[P, T]:
        @functools.wraps(use_case)
        def asked(database: Database, user: User, *args: P.args, **options: P.kwargs) -> T:
            check_allowed(user, permission)
            check_acting(user, permission)
            return use_case(database, user, *args, **options)

        RIGHTS[asked] = permission
        return asked

    return stated
