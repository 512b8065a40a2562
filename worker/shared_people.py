"""People whom cohorts of several rights holders have in common, for whoever audits the worker zone.

Their budgets do not meet: each rights holder's releases are within the cap of their own cohort, and what two
of them release about the same person adds up. No import looks at that, and nobody but the auditor is told:
either rights holder would learn who is in the other's register. Read from what every import leaves in the
worker zone, so it holds for all imports that there were.
"""

from __future__ import annotations

from dataclasses import dataclass

from privacy.cost import format_amount
from store import datasets, ledger
from store.database import Database
from store.people import CohortPeople


@dataclass(frozen=True)
class Standing:
    """One cohort, and what was spent of its budgets: exact decimals by currency."""

    cohort: str
    owner: str
    spent: dict[str, str]


@dataclass(frozen=True)
class SharedPeople:
    """So many people are in these cohorts and in no other. An exact count of original data."""

    people: int
    cohorts: tuple[Standing, ...]


def shared_people(database: Database, people: CohortPeople) -> list[SharedPeople]:
    """Groups of cohorts of several rights holders, those with the most people first. A person counts once."""
    with database.reading() as connection:
        owners = datasets.living_cohorts(connection)
        with people.locked():
            found = people.shared(list(owners))
        groups = {
            cohorts: count for cohorts, count in found.items() if len({owners[one] for one in cohorts}) > 1
        }
        standings = {
            cohort: Standing(
                cohort,
                owners[cohort],
                {
                    str(account.currency): format_amount(account.currency, account.spent)
                    for account in ledger.list_accounts(connection, cohort=cohort)
                    if account.kind == "cohort"
                },
            )
            for cohort in sorted({one for cohorts in groups for one in cohorts})
        }
    in_order = sorted(groups.items(), key=lambda group: (-group[1], group[0]))
    return [SharedPeople(count, tuple(standings[one] for one in cohorts)) for cohorts, count in in_order]
