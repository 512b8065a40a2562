"""Check digits: published examples hold, and one wrong digit is noticed."""

from __future__ import annotations

import pytest

from twins.pii.check_digits import checker
from twins.pii.contained import is_card_number, is_iban
from twins.pii.national_ids import schemes_of

# examples from the definitions themselves, or that the issuing bodies print for explanation; nobody's numbers
PUBLISHED = [
    ("nl bsn", "111222333"),
    ("es dni", "12345678Z"),
    ("es nie", "X1234567L"),
    ("fr nir", "269054958815780"),
    ("de tax", "86095742719"),
    ("it codice fiscale", "RSSMRA85T10A562S"),
    ("uk nhs, bare", "9434765919"),
    ("be rrn", "85.07.30-033.28"),
    ("pl pesel", "44051401359"),
    ("se personnummer", "811218-9876"),
    ("fi hetu", "131052-308T"),
    ("br cpf", "111.444.777-35"),
    ("ch ahv", "756.9217.0769.85"),
    ("tr kimlik", "10000000146"),
    ("cn id", "11010519491231002X"),
    ("ie pps", "1234567T"),
    ("at svnr", "1237010180"),
    ("pt nif", "123456789"),
    ("hr oib", "33392005961"),
    ("us ssn", "078-05-1120"),
    ("kr rrn", "860221-1603137"),
    ("th pin", "3-1006-00445-63-5"),
    ("ro cnp", "1630615123457"),
    ("bg egn", "8032056031"),
    ("za id", "7503305044089"),
    ("cz, sk rodne cislo", "710319/2745"),
    ("ee, lt code", "36805280109"),
    ("is kennitala", "120174-3399"),
    ("hu taj", "111 222 337"),
    ("in pan", "ACUPA7085R"),
    ("cl rut", "12531909-2"),
    ("us mbi", "1EG4-TE5-MK73"),
    ("uk nino", "QQ123456C"),
]


def test_a_published_example_is_recognised(subtests: pytest.Subtests) -> None:
    for scheme, number in PUBLISHED:
        with subtests.test(scheme=scheme, number=number):
            names = {found.name for found in schemes_of(number)}
            # two that nobody is given, for this reason: outside the ranges that are issued
            if scheme in {"uk nhs, bare", "uk nino"}:
                assert scheme not in names
            else:
                assert scheme in names


def test_a_number_of_the_health_service_that_is_issued_is_recognised() -> None:
    assert "uk nhs, bare" in {found.name for found in schemes_of("4010232137")}
    assert checker("gb.nhs")("9434765919")


ONE_WRONG_DIGIT_IS_NOTICED = (
    ("luhn", "4111111111111111"),
    ("verhoeff", "73211009"),
    ("ean", "4006381333931"),
    ("isbn", "0306406152"),
    ("nl.bsn", "111222333"),
    ("gb.nhs", "9434765919"),
    ("pl.pesel", "44051401359"),
    ("be.nn", "85073003328"),
    ("br.cpf", "11144477735"),
    ("tr.tckimlik", "10000000146"),
    ("de.idnr", "86095742719"),
    ("pt.nif", "123456789"),
)


def test_one_wrong_digit_is_noticed(subtests: pytest.Subtests) -> None:
    for module, number in ONE_WRONG_DIGIT_IS_NOTICED:
        with subtests.test(module=module, number=number):
            holds = checker(module)
            assert holds(number)
            for place, digit in enumerate(number):
                wrong = number[:place] + str((int(digit) + 1) % 10) + number[place + 1 :]
                assert not holds(wrong), place


def test_ibans_of_the_registry_and_their_neighbours() -> None:
    for country in ("GB82WEST12345698765432", "DE89370400440532013000", "NL91ABNA0417164300"):
        assert is_iban(country)
        assert is_iban(f"{country[:4]} {country[4:]}")
        assert not is_iban(country[:-1] + str((int(country[-1]) + 1) % 10))
        assert not is_iban(country[:-1])
    assert not is_iban("XX82WEST12345698765432")


def test_a_card_number_has_a_range_a_length_and_a_check_digit() -> None:
    assert is_card_number("5555555555554444")
    assert is_card_number("378282246310005")
    assert not is_card_number("5555555555554445")
    assert not is_card_number("9999999999999995")
    assert not is_card_number("42")
