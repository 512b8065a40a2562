"""From the exact counts of a twin's tables to the released file: the only place where the two meet."""

from __future__ import annotations

from domain.dataset import Declaration
from domain.errors import PlatformError
from domain.model import canonical
from domain.twin.counts import TableCounts
from domain.twin.request import FILE, FORM, TwinRequest
from privacy.concentrated import ceil_pico
from privacy.cost import Currency, format_amount
from privacy.loss import GuaranteeClass
from privacy.twin import TwinMechanism
from privacy.twin.mechanism import MECHANISM, RELATION
from worker.drawn import Drawn
from worker.scan.chunk import unpack_sums


def draw_counts(request: TwinRequest, declaration: Declaration, packed: bytes) -> Drawn:
    """Add the noise of all tables, once. The exact counts do not leave this function. Raises PlatformError
    where they are not as many as the tables take."""
    exact, planned_tables = unpack_sums(packed), request.counted(declaration)
    # before any noise is drawn; the words tell no count, and not how many there are
    if len(exact) != sum(mechanism.width for _, mechanism in planned_tables):
        raise PlatformError(f"the counts of {FILE} are not those that its tables take")
    tables: dict[str, object] = {}
    parameters: dict[str, object] = {}
    for planned, mechanism in planned_tables:
        own, exact = exact[: mechanism.width], exact[mechanism.width :]
        counts = TableCounts(
            columns=planned.counted, counts=mechanism.release(own), level=2 if planned.level == 2 else 1
        )
        tables[planned.path] = counts.document()
        parameters[planned.path] = {
            "level": planned.level,
            **_share_of(mechanism),
            **mechanism.parameters(),
        }
    content = canonical({"form": FORM, "tables": tables})
    return Drawn(
        mechanism=MECHANISM,
        guarantee=request.guarantee,
        relation=RELATION,
        parameters={"tables": parameters, "rows_per_person": request.rows},
        limit=request.limit(declaration),
        # thousands of counts that nobody reads one by one: the file holds them
        values=(),
        files={FILE: content + b"\n"},
    )


def _share_of(mechanism: TwinMechanism) -> dict[str, object]:
    """Of one table: of epsilon where they add up, of rho where epsilon and delta are those of all tables."""
    if mechanism.guarantee is GuaranteeClass.PURE_DP:
        return {"micro_epsilon": mechanism.micro_epsilon}
    return {"rho": format_amount(Currency.RHO, ceil_pico(mechanism.rho))}
