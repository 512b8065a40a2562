"""What a person may ask for stands at the desk, with its right; routes and pages are ways to it, not to each
other."""

from __future__ import annotations

import ast
import importlib
import pkgutil

import pytest
from source import modules

import desk
from desk.rights import RIGHTS
from domain.acting import FOR_PEOPLE
from domain.errors import NotAllowed
from domain.permissions import GRANTS, Role, User

# routes of what is the gateway's own: this process, its providers, who somebody is
OWN = {"gateway/api/operation.py", "gateway/api/platform.py", "gateway/api/providers.py"}


def test_no_page_calls_a_route_no_route_another_and_rights_come_from_the_desk() -> None:
    found = {
        module.name
        for module in modules("gateway")
        if any(name.startswith("gateway.api") for name in module.imports)
    }
    assert found == {"gateway.app"}
    stating = {
        module.place
        for module in modules("gateway")
        if module.place.startswith("gateway/api/") and "gateway.access.requires" in module.imports
    }
    assert stating == OWN


# what else of the gateway writes: who somebody is and that they came, its own notices, drafts of a page
WRITES = {
    "gateway/access.py", "gateway/logins.py", "gateway/oidc/provider.py", "gateway/oidc/refusals.py",
    "gateway/api/ended.py", "gateway/notices/sender.py", "gateway/pages/login.py", "gateway/pages/session.py",
    "gateway/pages/register.py", "gateway/pages/register_draft.py", "gateway/pages/submit.py",
    "gateway/pages/submit_check.py", "gateway/pages/submit_frame.py",
}  # fmt: skip


def test_what_people_do_is_written_by_the_desk_alone() -> None:
    found = {
        module.place
        for module in modules("gateway")
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr == "transaction"
    }
    assert found == WRITES


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
            with pytest.raises(NotAllowed, match=r"only .* can"):
                use_case(None, User(name="vera", role=role))
        if permission not in FOR_PEOPLE:
            somebody = User(name="vera", role=min(GRANTS[permission]), through="a-service")
            with pytest.raises(NotAllowed, match="service"):
                use_case(None, somebody)
