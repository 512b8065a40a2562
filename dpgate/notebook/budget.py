"""A budget in a notebook: one bar for each account, and what the caps promise together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpgate.notebook.frame import careful, legible, paragraph, text, view
from drawing.account_bar import AccountBar, draw_account_bar

if TYPE_CHECKING:
    from dpgate.models import Account, Budget

WHOSE = {"cohort": "everybody together", "project": "the project", "user": "one user"}


@careful
def budget_html(budget: Budget) -> str:
    return view(
        f"Privacy budget of {budget.dataset}",
        paragraph(budget.sentence, kind="promise"),
        *(_account(account) for account in budget.accounts),
        paragraph("Currencies are never added to each other; what is spent never comes back."),
    )


def _account(account: Account) -> str:
    holder = "" if account.kind == "cohort" else f" {account.holder}"
    name = f"{account.currency} for {WHOSE[account.kind]}{holder}"
    bar = draw_account_bar(
        AccountBar(legible(name), account.cap, account.spent, account.reserved, account.left),
    )
    left = f"{account.left} of {account.cap} left"
    return f'<p class="named"><span>{text(name)}</span><strong>{text(left)}</strong></p>{bar}'
