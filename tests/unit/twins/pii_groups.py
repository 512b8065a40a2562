"""Columns about groups of people: quasi-identifiers, which say little alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pii_columns import day, digits, draw

Made = tuple[str, str, Callable[[], str]]


def choice(*values: str) -> Callable[[], str]:
    return lambda: draw.choice(values)


def quasi() -> Iterator[Made]:
    yield "zip", "POSTCODE", lambda: f"0{digits(4)}"
    yield (
        "postcode",
        "POSTCODE",
        lambda: (
            f"{draw.choice(('LS', 'M', 'SW', 'EH'))}{draw.randint(1, 19)} {draw.randint(1, 9)}"
            f"{draw.choice('ABDEFGHJ')}{draw.choice('LNPQRSTU')}"
        ),
    )
    yield "pc6", "POSTCODE", lambda: f"{digits(4, '123456789')} {draw.choice('ABDEG')}{draw.choice('HJKLM')}"
    yield (
        "city",
        "PLACE",
        choice(
            "Rotterdam",
            "Gent",
            "Leeds",
            "Sevilla",
            "Lyon",
            "Kassel",
            "Uppsala",
            "Brno",
            "Porto",
            "Graz",
            "Cork",
        ),
    )
    yield (
        "country_of_birth",
        "PLACE",
        choice("Netherlands", "Morocco", "Turkey", "Germany", "Poland", "Ghana", "Brazil"),
    )
    yield "age", "AGE", lambda: str(draw.randint(18, 91))
    yield "geslacht", "SEX", choice("man", "vrouw")
    yield "sex", "SEX", choice("F", "M")
    yield "ethnicity", "DEMOGRAPHIC", choice("White British", "Asian", "Black Caribbean", "Mixed")
    yield "marital_status", "DEMOGRAPHIC", choice("married", "single", "divorced", "widowed")
    yield "beroep", "OCCUPATION", choice("leraar", "verpleegkundige", "loodgieter", "boer", "jurist")
    yield "geboortejaar", "AGE", lambda: str(draw.randint(1935, 2004))
    yield "date_of_death", "DATE", lambda: "{:04}-{:02}-{:02}".format(*day(2019, 2023))
    yield "admission_date", "DATE", lambda: "{:04}-{:02}-{:02}".format(*day(2022, 2022))
    yield "state", "PLACE", choice("Ohio", "Texas", "Maine", "Utah", "Nevada", "Iowa")
