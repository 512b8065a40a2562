"""The form for better twins: from what was typed to an order, and what a plan makes of the budget's bars."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from starlette.datastructures import FormData

from desk.twin_plans import PlannedCost, PlanView
from domain.dataset import Declaration
from domain.errors import InvalidRequest
from domain.loss import format_amount, units
from domain.model import parse
from domain.twin.request import PlanOrder
from gateway.pages.budget_bar import Bar, percent
from gateway.pages.submit_frame import text_of


def order_of(form: FormData, declaration: Declaration) -> PlanOrder:
    """Raises InvalidRequest naming each wrong field."""
    tables: list[dict[str, Any]] = []
    for number, table in enumerate(declaration.tables):
        level = text_of(form, f"level-{number}")
        if level not in ("1", "2"):
            continue
        columns = [str(name) for name in form.getlist(f"columns-{number}")]
        tables.append({"path": table.path, "level": int(level), "columns": columns})
    rows = text_of(form, "rows") or "1"
    if not rows.isascii() or not rows.isdigit() or len(rows) > 6:
        raise InvalidRequest("rows", "is not a whole number.", "Write one such as 1.")
    body = {
        "tables": tables,
        "epsilon": text_of(form, "epsilon"),
        **({"delta": delta} if (delta := text_of(form, "delta")) else {}),
        "rows": int(rows),
        "beyond_share": "beyond_share" in form,
        "again": "again" in form,
    }
    return parse(PlanOrder, body)


def ticked_columns(form: FormData, declaration: Declaration) -> dict[str, list[str]]:
    """By table, what was ticked: the page shows it again."""
    return {
        table.path: [str(name) for name in form.getlist(f"columns-{number}")]
        for number, table in enumerate(declaration.tables)
    }


def planned_bars(bars: list[Bar], plan: PlanView) -> list[Bar]:
    """What would be left, with the cost of the plan drawn as set aside."""
    costs = {str(account.currency): account for account in plan.accounts}
    return [_planned(bar, costs[bar.name]) if bar.name in costs else bar for bar in bars]


def _planned(bar: Bar, cost: PlannedCost) -> Bar:
    taken = units(cost.currency, cost.cost) if Fraction(cost.cost) else 0
    reserved = (units(cost.currency, bar.reserved) if Fraction(bar.reserved) else 0) + taken
    amount = format_amount(cost.currency, reserved)
    return replace(
        bar,
        reserved=amount,
        reserved_percent=percent(Fraction(amount), Fraction(bar.cap)),
        left=cost.left_after or "0",
        left_percent=percent(Fraction(cost.left_after or "0"), Fraction(bar.cap)),
    )
