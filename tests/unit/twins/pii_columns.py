"""Columns to judge the identifier scan by: made up here, with check digits of this file's own.

Nobody's data. Names are put together from short lists written for this file, numbers are drawn from a '
    'fixed seed.
The character model was trained on other lists (Faker), and the rules do not read this file.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

ROWS = 25


class Case(NamedTuple):
    """`expected` is direct, quasi or none (a look-alike)."""

    header: str
    expected: str
    kind: str
    values: tuple[str, ...]


draw = random.Random(971)


def digits(count: int, first: str = "0123456789") -> str:
    return draw.choice(first) + "".join(draw.choice("0123456789") for _ in range(count - 1))


def weighted(number: str, weights: tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))


def luhn_digit(number: str) -> str:
    total = 0
    for position, digit in enumerate(reversed(number)):
        doubled = int(digit) * (2 if position % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return str(-total % 10)


def until(make: Callable[[], str | None]) -> str:
    while (made := make()) is None:
        pass
    return made


def bsn() -> str:
    def attempt() -> str | None:
        front = digits(8, "123")
        last = weighted(front, (9, 8, 7, 6, 5, 4, 3, 2)) % 11
        return f"{front}{last}" if last < 10 else None

    return until(attempt)


def nhs() -> str:
    def attempt() -> str | None:
        front = digits(9, "46")
        last = -weighted(front, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
        return f"{front}{last}" if last < 10 else None

    return until(attempt)


def isbn10() -> str:
    front = digits(9, "01389")
    last = -weighted(front, (10, 9, 8, 7, 6, 5, 4, 3, 2)) % 11
    return front + ("X" if last == 10 else str(last))


def ean13(first: str) -> str:
    front = first + digits(12 - len(first))
    return front + str(-weighted(front, (1, 3) * 6) % 10)


def dni() -> str:
    number = digits(8, "1234567")
    return number + "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23]


def nir() -> str:
    front = (
        f"{draw.choice('12')}{draw.randint(40, 99)}{draw.randint(1, 12):02d}{draw.randint(10, 89)}{digits(6)}"
    )
    return f"{front}{97 - int(front) % 97:02d}"


def rrn() -> str:
    day = f"{draw.randint(40, 99)}{draw.randint(1, 12):02d}{draw.randint(1, 28):02d}"
    serial = f"{draw.randint(1, 997):03d}"
    check = 97 - int(day + serial) % 97
    return f"{day[:2]}.{day[2:4]}.{day[4:]}-{serial}.{check:02d}"


def pesel() -> str:
    front = f"{draw.randint(40, 99)}{draw.randint(1, 12):02d}{draw.randint(1, 28):02d}{digits(4)}"
    return front + str(-weighted(front, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3)) % 10)


def personnummer() -> str:
    front = f"{draw.randint(40, 99)}{draw.randint(1, 12):02d}{draw.randint(1, 28):02d}{digits(3)}"
    return f"{front[:6]}-{front[6:]}{luhn_digit(front)}"


def hetu() -> str:
    day = f"{draw.randint(1, 28):02d}{draw.randint(1, 12):02d}{draw.randint(40, 99)}"
    serial = f"{draw.randint(2, 899):03d}"
    return f"{day}-{serial}{'0123456789ABCDEFHJKLMNPRSTUVWXY'[int(day + serial) % 31]}"


def cpf() -> str:
    front = digits(9)
    for length in (10, 11):
        rest = weighted(front, tuple(range(length, 1, -1))) % 11
        front += str(0 if rest < 2 else 11 - rest)
    return f"{front[:3]}.{front[3:6]}.{front[6:9]}-{front[9:]}"


def codice() -> str:
    odd = dict(zip("0123456789", (1, 0, 5, 7, 9, 13, 15, 17, 19, 21), strict=True))
    odd |= dict(
        zip(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
            (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23),
            strict=True,
        )
    )
    letters = "".join(draw.choice("BCDFGLMNPRSTVZ") for _ in range(6))
    front = (
        f"{letters}{draw.randint(40, 99)}{draw.choice('ABCDEHLMPRST')}{draw.randint(1, 28):02d}H{digits(3)}"
    )
    total = sum(
        odd[sign] if place % 2 == 0 else (int(sign) if sign.isdigit() else ord(sign) - 65)
        for place, sign in enumerate(front)
    )
    return front + chr(65 + total % 26)


def tax_de() -> str:
    def attempt() -> str | None:
        front = digits(10, "123456789")
        counts = sorted(front.count(digit) for digit in set(front))
        if len(counts) != 9 or counts[-1] != 2:
            return None
        product = 10
        for digit in front:
            total = (int(digit) + product) % 10 or 10
            product = 2 * total % 11
        return front + str((11 - product) % 10)

    return until(attempt)


def iban(country: str, account: str) -> str:
    turned = "".join(str(int(sign, 36)) for sign in account + country + "00")
    return f"{country}{98 - int(turned) % 97:02d}{account}"


def grouped(text: str, size: int = 4, by: str = " ") -> str:
    return by.join(text[at : at + size] for at in range(0, len(text), size))


def card() -> str:
    front = draw.choice(("4", "51", "53", "4")) + digits(13)
    front = (front + digits(2))[:15]
    return front + luhn_digit(front)


_D = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_P = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415",
    "7046913258",
)  # fmt: skip


def snomed() -> str:
    front = digits(8, "123478")[:6] + "00"
    for last in "0123456789":
        check = 0
        for place, digit in enumerate(reversed(front + last)):
            check = int(_D[check][int(_P[place % 8][int(digit)])])
        if check == 0:
            return front + last
    raise AssertionError


def day(first: int, last: int) -> tuple[int, int, int]:
    return draw.randint(first, last), draw.randint(1, 12), draw.randint(1, 28)


GIVEN = {
    "en": "Oliver Martha Desmond Priscilla Gareth Beatrice Humphrey Rosalind Wayne Tabitha Clive Winifred "
    "Nigel Philippa",
    "nl": "Joost Machteld Wouter Liesbeth Sjoerd Hanneke Gijs Willemijn Bram Femke Roelof Anneloes Teun "
    "Marijke",
    "de": "Jürgen Hannelore Detlef Ingeborg Torsten Waltraud Uwe Gisela Rüdiger Anneliese Holger Sieglinde "
    "Björn Heike",
    "es": "Iñaki Rocío Gonzalo Maite Álvaro Inmaculada Joaquín Begoña Rodrigo Encarnación Borja Lourdes "
    "Fermín Pilar",
    "fr": "Thibault Ségolène Gaspard Clémence Olivier Solange Mathieu Bernadette Loïc Maëlys Didier "
    "Joséphine Yannick Élodie",
    "it": "Giancarlo Ornella Fabrizio Mariagrazia Ettore Donatella Raffaele Loredana Tommaso Ilaria "
    "Vincenzo Fiorella",
    "pl": "Zbigniew Małgorzata Przemysław Jadwiga Wojciech Bożena Krzysztof Danuta Mirosław Grażyna "
    "Sławomir Halina",
    "in": "Venkatesh Lakshmi Arjun Padmini Suresh Deepika Raghav Meenakshi Harpreet Sunita Anirudh Kavitha",
    "ar": "Abdulrahman Khadija Mustafa Yasmin Tariq Noura Hamza Layla Youssef Fatima Karim Salma",
    "tr": "Mehmet Ayşegül Serkan Elif Burak Zeynep Tolga Gülşen Emre Nurhan Hakan Sevgi",
    "ru": "Дмитрий Светлана Алексей Ольга Игорь Наталья Сергей Татьяна Павел Екатерина",
    "vn": "Minh Thuy Quang Linh Duc Huong Tuan Ngoc Hieu Trang",
}
FAMILY = {
    "en": "Whitcombe Ashdown Pemberton Lockhart Thistlewood Barraclough Winterbourne Haddock Fairweather "
    "Cartwright Prescott",
    "nl": "van der Veen|de Graaf|Hoekstra|ter Braak|Dijkstra|van den Heuvel|Kuipers|de Wit|Schouten|van "
    "Dongen|Brouwer",
    "de": "Schönfeld Krautwurst Zimmermann Oberhauser Pfeiffer Rautenberg Kesselring Brandstätter Hufnagel "
    "Dietrich Löffler",
    "es": "Echeverría Zubizarreta Carrasco Montalbán Villanueva Quesada Benavente Peñalver Iturralde "
    "Cifuentes Olmedo",
    "fr": "Delacroix Beaumont Lefèvre Charpentier Rousselot Montaigne Duchêne Grandjean Pelletier Vasseur "
    "Marchand",
    "it": "Bevilacqua Santangelo Mastroianni Quattrocchi Fumagalli Pellegrini Castiglione Bonaventura "
    "Tagliaferri",
    "pl": "Wiśniewska Kaczmarek Wojciechowski Szymańska Pawlak Dąbrowski Jankowska Grabowski Nowicka Zając",
    "in": "Subramaniam Chatterjee Deshpande Iyer Bhattacharya Kulkarni Ramachandran Gill Mukherjee Nair",
    "ar": "Al-Farsi Haddad Benali El-Masri Khoury Mansour Bouazizi Saleh Rahmani Najjar",
    "tr": "Yıldırım Özdemir Kılıçoğlu Karaca Şimşek Aydoğan Erdem Tunçel Bulut Demirtaş",
    "ru": "Кузнецов Соколова Морозов Лебедева Новиков Павлова Волков Зайцева",
    "vn": "Nguyen Tran Pham Vo Dang Bui Ngo Duong",
}


def given(language: str = "en") -> str:
    return draw.choice(GIVEN[language].split())


def family(language: str = "en") -> str:
    names = FAMILY[language]
    return draw.choice(names.split("|") if "|" in names else names.split())


def cases() -> Iterator[Case]:
    """All columns, always the same."""
    draw.seed(971)
    from pii_groups import quasi
    from pii_lookalikes import lookalikes
    from pii_people import people

    for header, kind, make in people():
        yield Case(header, "direct", kind, tuple(make() for _ in range(ROWS)))
    for header, kind, make in quasi():
        yield Case(header, "quasi", kind, tuple(make() for _ in range(ROWS)))
    for header, kind, make in lookalikes():
        yield Case(header, "none", kind, tuple(make() for _ in range(ROWS)))
