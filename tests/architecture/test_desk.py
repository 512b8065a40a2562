"""What a person may ask for stands at the desk, with its right; routes and pages are ways to it, not to each
other."""

from __future__ import annotations

import ast
import importlib
import pkgutil

import pytest
from source import Module, modules

import desk
from desk.rights import RIGHTS
from domain.acting import FOR_PEOPLE
from domain.errors import NotAllowed
from domain.permissions import GRANTS, Role, User

# pages that still call a route; the list is to become empty
LEFT = {"endings"}  # fmt: skip
# routes that take from another route
LEFT_ROUTES: set[str] = set()


def _from_routes(module: Module) -> bool:
    return any(name.startswith("gateway.api") for name in module.imports)


def test_no_page_calls_a_route_and_no_route_another() -> None:
    found = {module.name for module in modules("gateway") if _from_routes(module)} - {"gateway.app"}
    left = {f"gateway.pages.{name}" for name in LEFT} | {f"gateway.api.{name}" for name in LEFT_ROUTES}
    assert found == left


def test_each_use_case_states_its_right_and_refuses_whoever_lacks_it() -> None:
    for module in pkgutil.iter_modules(desk.__path__):
        importlib.import_module(f"desk.{module.name}")
    stated = {f"{one.__module__}.{one.__name__}" for one in RIGHTS}
    written = {
        f"{module.name}.{node.name}"
        for module in modules("desk")
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        and [ast.unparse(each.annotation) for each in node.args.args[:2] if each.annotation]
        == ["Database", "User"]
    }  # fmt: skip
    assert stated == written
    for use_case, permission in RIGHTS.items():
        for role in set(Role) - GRANTS[permission]:
            with pytest.raises(NotAllowed, match="role"):
                use_case(None, User(name="vera", role=role))
        if permission not in FOR_PEOPLE:
            somebody = User(name="vera", role=min(GRANTS[permission]), through="a-service")
            with pytest.raises(NotAllowed, match="service"):
                use_case(None, somebody)
