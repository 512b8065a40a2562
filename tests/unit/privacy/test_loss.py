from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privacy.loss import (
    MAX_MICRO_EPSILON,
    MICRO,
    MIN_MICRO_EPSILON,
    GuaranteeClass,
    check_micro_epsilon,
    format_epsilon,
    micro_epsilon,
)

EPSILON_IS_PARSED_EXACTLY = (
    ("1", MICRO),
    (" 1.5 ", 1_500_000),
    ("0.001", MIN_MICRO_EPSILON),
    ("1000", MAX_MICRO_EPSILON),
    ("1e3", MAX_MICRO_EPSILON),
    ("+.5", 500_000),
    ("2.", 2_000_000),
    ("1.500000000", 1_500_000),
    (1, MICRO),
    (0.1, 100_000),
    (0.3, 300_000),
    (np.float64(0.7), 700_000),
    (Decimal("0.123456"), 123_456),
    (Fraction(1, 8), 125_000),
)


def test_epsilon_is_parsed_exactly(subtests):
    for value, micro in EPSILON_IS_PARSED_EXACTLY:
        with subtests.test(value=value, micro=micro):
            assert micro_epsilon(value) == micro


NOT_FINITE, NOT_POSITIVE, TOO_SMALL, TOO_LARGE = "finite", "above zero", "below 0.001", "above 1000"
TOO_FINE, NOT_A_NUMBER, BOOLEAN = "6 decimal places", "must be a number", "true or false"


EPSILON_IS_REFUSED_WITH_A_REASON = (
    ("nan", NOT_FINITE),
    ("-NaN", NOT_FINITE),
    ("inf", NOT_FINITE),
    ("-Infinity", NOT_FINITE),
    (float("nan"), NOT_FINITE),
    (float("-inf"), NOT_FINITE),
    (Decimal("NaN"), NOT_FINITE),
    (Decimal("sNaN"), NOT_FINITE),
    (Decimal("Infinity"), NOT_FINITE),
    ("0", NOT_POSITIVE),
    ("-0.0", NOT_POSITIVE),
    (0, NOT_POSITIVE),
    (-1, NOT_POSITIVE),
    ("-0.5", NOT_POSITIVE),
    (Fraction(-1, 2), NOT_POSITIVE),
    ("-1e999999999", NOT_POSITIVE),
    ("1e-18", TOO_SMALL),
    ("1e-999999999", TOO_SMALL),
    ("0.000999", TOO_SMALL),
    (1e-300, TOO_SMALL),
    (Decimal("1e-999999"), TOO_SMALL),
    (Fraction(1, 1001), TOO_SMALL),
    ("1000.000001", TOO_LARGE),
    ("1e999999999", TOO_LARGE),
    (Decimal("1e999999999"), TOO_LARGE),
    (10**400, TOO_LARGE),
    (1e308, TOO_LARGE),
    ("0.1234567", TOO_FINE),
    ("0.300000000000000001", TOO_FINE),
    (0.1 + 0.2, TOO_FINE),
    (Fraction(1, 3), TOO_FINE),
    ("", NOT_A_NUMBER),
    ("one", NOT_A_NUMBER),
    ("1_000", NOT_A_NUMBER),
    ("1,5", NOT_A_NUMBER),
    ("1/2", NOT_A_NUMBER),
    ("0x1", NOT_A_NUMBER),
    ("١", NOT_A_NUMBER),
    ("0." + "0" * 100 + "1", NOT_A_NUMBER),
    (None, NOT_A_NUMBER),
    ([1], NOT_A_NUMBER),
    (1j, NOT_A_NUMBER),
    (True, BOOLEAN),
)


def test_epsilon_is_refused_with_a_reason(subtests):
    for value, reason in EPSILON_IS_REFUSED_WITH_A_REASON:
        with subtests.test(value=value, reason=reason), pytest.raises(ValueError, match=reason):
            micro_epsilon(value)


@given(st.integers(MIN_MICRO_EPSILON, MAX_MICRO_EPSILON))
def test_format_and_parse_are_inverse(micro):
    text = format_epsilon(micro)
    assert micro_epsilon(text) == micro
    assert Fraction(text) == Fraction(micro, MICRO)


FORMAT = (
    (1_500_000, "1.5"),
    (1_000, "0.001"),
    (MICRO, "1"),
    (10 * MICRO, "10"),
    (0, "0"),
    (-250_000, "-0.25"),
)


def test_format(subtests):
    for micro, text in FORMAT:
        with subtests.test(micro=micro, text=text):
            assert format_epsilon(micro) == text


def test_check_refuses_what_the_parser_cannot_return(subtests):
    for micro in (0, -1, 999, MAX_MICRO_EPSILON + 1, True, 1000.0, "1000"):
        with subtests.test(micro=micro), pytest.raises(ValueError, match="epsilon"):
            check_micro_epsilon(micro)


def test_every_guarantee_has_its_sentence():
    sentences = {guarantee.sentence for guarantee in GuaranteeClass}
    assert len(sentences) == len(GuaranteeClass)
    assert GuaranteeClass("empirical").sentence.endswith("adversarial pipeline.")


def test_names_of_the_guarantees_are_those_that_are_stored():
    assert [guarantee.value for guarantee in GuaranteeClass] == ["pure_dp", "approx_dp", "pac", "empirical"]


def test_the_longest_text_of_a_number():
    assert micro_epsilon("0." + "5".ljust(62, "0")) == 500_000
    with pytest.raises(ValueError, match="a number such as"):
        micro_epsilon("0." + "5".ljust(63, "0"))


def test_a_balance_may_be_one_unit_below_zero():
    assert format_epsilon(-1) == "-0.000001"
