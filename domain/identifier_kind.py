"""The kinds of columns that identify people, as declarations and findings name them."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What the values of a column are."""

    EMAIL = "EMAIL"
    PERSON = "PERSON"
    USERNAME = "USERNAME"
    PHONE = "PHONE"
    IBAN = "IBAN"
    BANK_ACCOUNT = "BANK_ACCOUNT"
    NATIONAL_ID = "NATIONAL_ID"
    CARD = "CARD"
    ADDRESS = "ADDRESS"
    DATE_OF_BIRTH = "DATE_OF_BIRTH"
    COORDINATE = "COORDINATE"
    RECORD_ID = "RECORD_ID"
    FREE_TEXT = "FREE_TEXT"
    IP = "IP"
    MAC = "MAC"
    URL = "URL"
    PASSPORT = "PASSPORT"
    DRIVING_LICENCE = "DRIVING_LICENCE"
    LICENCE_PLATE = "LICENCE_PLATE"
    POSTCODE = "POSTCODE"
    PLACE = "PLACE"
    DATE = "DATE"
    AGE = "AGE"
    SEX = "SEX"
    DEMOGRAPHIC = "DEMOGRAPHIC"
    OCCUPATION = "OCCUPATION"
    HEALTH = "HEALTH"
    BELIEF = "BELIEF"
    CODE = "CODE"
    TEXT = "TEXT"
    CATEGORY = "CATEGORY"
    NUMBER = "NUMBER"
    EMPTY = "EMPTY"
