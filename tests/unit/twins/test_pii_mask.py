"""Made-up values: from ranges that belong to nobody, in every number, and recognisable as such."""

from __future__ import annotations

import ipaddress

import pytest

from twins.pii import Kind, masks
from twins.pii import check_digits as check
from twins.pii.contained import is_card_number, is_iban

NUMBERS = [*range(300), 9_998, 9_999, 79_999, 80_000, 1_000_000, 10**12]


def test_cards_are_of_no_issuer_and_their_digit_is_wrong_unless_asked() -> None:
    for number in NUMBERS:
        plain, valid = masks("CARD", number), masks("CARD", number, valid_checksum=True)
        assert len(plain) == len(valid) == 16
        assert not check.luhn(plain)
        assert check.luhn(valid)
        assert not is_card_number(valid), "no issuer's range"


def test_ibans_never_check_unless_asked_and_are_of_no_bank() -> None:
    for number in NUMBERS:
        plain, valid = masks("IBAN", number), masks("IBAN", number, valid_checksum=True)
        assert check.rest97(plain) != 1
        assert is_iban(valid)
        assert plain[4:8] == valid[4:8] == "XXXX"


def test_identity_numbers_lie_in_the_area_that_is_not_issued() -> None:
    for number in NUMBERS:
        assert masks("NATIONAL_ID", number).startswith("000-")
        valid = masks("NATIONAL_ID", number, valid_checksum=True)
        assert len(valid) == 9
        assert valid.startswith("000")
        assert check.bsn(valid)


def test_addresses_of_machines_are_for_documentation() -> None:
    nets = [ipaddress.ip_network(each) for each in ("192.0.2.0/24", "2001:db8::/32")]
    for number in NUMBERS:
        address = ipaddress.ip_address(masks("IP", number))
        assert any(address in net for net in nets if net.version == address.version)
        assert masks("MAC", number).startswith("00:00:5e:00:53:")


def test_the_rest_is_reserved_as_well() -> None:
    for number in NUMBERS:
        assert masks("EMAIL", number).endswith("@example.org")
        assert "-555-01" in masks("PHONE", number)
        assert masks("DATE_OF_BIRTH", number).endswith("-01-01")
        assert -49 <= float(masks("COORDINATE", number)) <= -48.5
        assert masks("POSTCODE", number).startswith("000")
    assert masks("PERSON", 17) == "Person 0017"


DIFFERENT_NUMBERS_MAKE_DIFFERENT_PEOPLE = (
    "EMAIL",
    "PERSON",
    "PHONE",
    "CARD",
    "IBAN",
    "NATIONAL_ID",
    "COORDINATE",
    "RECORD_ID",
)


def test_different_numbers_make_different_people(subtests: pytest.Subtests) -> None:
    for kind in DIFFERENT_NUMBERS_MAKE_DIFFERENT_PEOPLE:
        with subtests.test(kind=kind):
            assert len({masks(kind, number) for number in range(5_000)}) == 5_000


def test_every_kind_has_a_fake_and_equal_numbers_give_equal_fakes() -> None:
    for kind in Kind:
        assert masks(kind, 3)
        assert masks(kind, 3) == masks(kind, 3)


def test_an_unknown_kind_and_a_negative_number_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'SHOE' is no kind of finding; use one of EMAIL"):
        masks("SHOE", 1)
    with pytest.raises(ValueError, match="0 or more"):
        masks("EMAIL", -1)
