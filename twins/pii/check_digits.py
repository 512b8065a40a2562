"""Check digits of public numbering schemes, by python-stdnum, which is loaded at the first question.

A check that holds is no proof: one digit in ten or eleven holds by chance, so a column is judged by the share
of its values (see `twins/pii/decide.py`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module


@functools.cache
def checker(module: str) -> Callable[[str], bool]:
    """`is_valid` of a module of stdnum, such as `luhn` or `br.cpf`. It takes a number as it is written."""
    valid: Callable[[str], bool] = import_module(f"stdnum.{module}").is_valid
    return valid


def luhn(number: str) -> bool:
    """ISO/IEC 7812-1, annex B: cards, and many others."""
    return checker("luhn")(number)


def verhoeff(number: str) -> bool:
    """Verhoeff 1969: SNOMED CT identifiers, Aadhaar."""
    return checker("verhoeff")(number)


def ean(number: str) -> bool:
    """GS1 General Specifications, 7.9: EAN-8, EAN-13 and ISBN-13."""
    return checker("ean")(number)


def isbn(number: str) -> bool:
    """ISO 2108, of ten or thirteen digits."""
    return checker("isbn")(number)


def substance(number: str) -> bool:
    """Of a chemical, in the registry of CAS."""
    return checker("casrn")(number)


def bsn(number: str) -> bool:
    """The Dutch eleven test."""
    return checker("nl.bsn")(number)


def rest97(text: str) -> int:
    """ISO 7064 MOD 97-10, the first four signs moved behind: ISO 13616. 1 for an IBAN."""
    rest: int = import_module("stdnum.iso7064.mod_97_10").checksum(text[4:] + text[:4])
    return rest
