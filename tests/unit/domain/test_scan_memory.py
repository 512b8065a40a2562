"""The passes that a scan makes are the passes that its schedule allows for."""

from __future__ import annotations

from domain.scan_memory import USUAL_MIB, passes


def test_few_people_take_one_pass() -> None:
    assert passes(nominal_size=1000, rows=20, values=50, is_choice=True) == 1


def test_rows_that_are_made_into_one_are_not_held() -> None:
    assert passes(nominal_size=1_000_000, rows=1, values=1, is_choice=False) == 1
    assert passes(nominal_size=1_000_000, rows=1, values=1, is_choice=True) == 5


def test_more_people_rows_values_or_less_memory_take_more() -> None:
    usual = passes(nominal_size=1_000_000, rows=50, values=100, is_choice=True)
    assert usual == 321  # 2 x 10^6 x (200 + 50 x (200 + 32 x 100) + 20 x 100) bytes, in GiB, rounded up
    for larger in (
        passes(nominal_size=2_000_000, rows=50, values=100, is_choice=True),
        passes(nominal_size=1_000_000, rows=100, values=100, is_choice=True),
        passes(nominal_size=1_000_000, rows=50, values=200, is_choice=True),
        passes(nominal_size=1_000_000, rows=50, values=100, is_choice=True, memory_mib=USUAL_MIB // 2),
    ):
        assert larger > 1.9 * usual or larger > usual + 200
