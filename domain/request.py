"""What a job may ask, whatever kind it is: the one form that store, worker and gateway know."""

from __future__ import annotations

from typing import Any, Protocol

from domain.dataset import Declaration
from domain.schedule import Schedule
from privacy.cost import Cost
from privacy.loss import GuaranteeClass


class Request(Protocol):
    """Frozen, parsed from a data user's text, and complete before any data is read."""

    @property
    def dataset(self) -> str:
        """The data set's name."""

    @property
    def project(self) -> str | None:
        """Whose allocation pays as well."""

    @property
    def is_of_holder(self) -> bool:
        """Whether only the rights holder asks it, of whose policy no rule is about it."""

    @property
    def title(self) -> str:
        """What lists call it."""

    @property
    def pipeline_digest(self) -> str | None:
        """Which code runs, if any of the data user's."""

    @property
    def mechanism_name(self) -> str:
        """As in certificates."""

    @property
    def guarantee(self) -> GuaranteeClass:
        """The class of the promise."""

    def choices(self) -> dict[str, Any]:
        """What the data user chose of the mechanism: JSON values, for views."""

    def cost(self, declaration: Declaration) -> Cost:
        """What the release takes from the accounts of a data set with this declaration."""

    def question(self, *, dataset_id: str, image_digest: str | None) -> str:
        """Equal for requests that ask the same of the same: an answered one is answered again for free."""

    def once_key(self, *, snapshot: str) -> str | None:
        """Names what may be released only once; None where the account alone sets the limit."""

    def schedule(self, declaration: Declaration, *, slots: int) -> Schedule:
        """When its runs happen, from public values only."""
