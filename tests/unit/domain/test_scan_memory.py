"""The passes that a scan makes are the passes that its schedule allows for."""

from __future__ import annotations

from domain.scan_memory import USUAL_MIB, passes


def test_few_people_take_one_pass() -> None:
    assert passes(nominal_size=1000, rows=20, values=50) == 1


def test_more_people_rows_values_or_less_memory_take_more() -> None:
    usual = passes(nominal_size=1_000_000, rows=50, values=100)
    assert usual == 318  # 2 x 10^6 x (200 + 50 x (200 + 32 x 100)) bytes, in GiB, rounded up
    for larger in (
        passes(nominal_size=2_000_000, rows=50, values=100),
        passes(nominal_size=1_000_000, rows=100, values=100),
        passes(nominal_size=1_000_000, rows=50, values=200),
        passes(nominal_size=1_000_000, rows=50, values=100, memory_mib=USUAL_MIB // 2),
    ):
        assert larger > 1.9 * usual or larger > usual + 200
