"""Check digits of public numbering schemes. Each function takes the bare number and says whether it holds.

Written from the public definitions named beside each. A check that holds is no proof: one digit in ten or
eleven holds by chance, so a column is judged by the share of its values (see `domain/pii/decide.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

_VERHOEFF = (
    "0123456789", "1234067895", "2340178956", "3401289567", "4012395678",
    "5987604321", "6598710432", "7659821043", "8765932104", "9876543210",
)  # fmt: skip
_VERHOEFF_TURNS = (
    "0123456789", "1576283094", "5803796142", "8916043527", "9453126870", "4286573901", "2793806415",
    "7046913258",
)  # fmt: skip
_LUHN_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)


def weighted(number: str, weights: Sequence[int]) -> int:
    """The sum of the digits, each times its weight."""
    return sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))


def luhn(number: str) -> bool:
    """ISO/IEC 7812-1, annex B: cards, and many others."""
    turned = [int(digit) for digit in reversed(number)]
    return (sum(turned[::2]) + sum(_LUHN_DOUBLED[digit] for digit in turned[1::2])) % 10 == 0


def verhoeff(number: str) -> bool:
    """Verhoeff 1969: SNOMED CT identifiers, Aadhaar."""
    check = 0
    for place, digit in enumerate(reversed(number)):
        check = int(_VERHOEFF[check][int(_VERHOEFF_TURNS[place % 8][int(digit)])])
    return check == 0


def rest97(text: str) -> int:
    """ISO 7064 MOD 97-10 over letters and digits, the first four moved behind: ISO 13616. 1 for an IBAN."""
    return int("".join(str(int(sign, 36)) for sign in text[4:] + text[:4])) % 97


def mod11_10(number: str) -> bool:
    """ISO 7064 MOD 11,10: the German tax number, OIB of Croatia."""
    product = 10
    for digit in number[:-1]:
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return (product + int(number[-1])) % 10 == 1


def ean(number: str) -> bool:
    """GS1 General Specifications, 7.9: EAN-8, EAN-13, ISBN-13, and the Swiss AHV number."""
    turned = number[::-1]
    return (sum(map(int, turned[::2])) + 3 * sum(map(int, turned[1::2]))) % 10 == 0


def isbn10(text: str) -> bool:
    """ISO 2108:1992: weights 10 to 1, X is ten."""
    last = 10 if text[-1] in "Xx" else int(text[-1])
    return (weighted(text[:9], range(10, 1, -1)) + last) % 11 == 0


def bsn(number: str) -> bool:
    """The Dutch eleven test: weights 9 to 2 and -1."""
    return number.strip("0") != "" and weighted(number, (9, 8, 7, 6, 5, 4, 3, 2, -1)) % 11 == 0


def nhs(number: str) -> bool:
    """NHS Data Dictionary, NHS NUMBER: weights 10 to 2, 11 minus the rest, 10 is never issued."""
    return 11 - (weighted(number, range(10, 1, -1)) % 11 or 11) == int(number[-1])


def spanish(text: str) -> bool:
    """DNI and NIE: the letter of the number modulo 23 (Real Decreto 1553/2005)."""
    digits = str("XYZ".find(text[0])) + text[1:-1] if text[0] in "XYZ" else text[:-1]
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(digits) % 23] == text[-1]


def french(text: str) -> bool:
    """NIR: 97 minus the 13 signs modulo 97; Corsica's 2A and 2B count as 19 and 18."""
    front = text[:13].replace("2A", "19").replace("2B", "18")
    return front.isdigit() and 97 - int(front) % 97 == int(text[13:])


_ITALIAN_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def italian(text: str) -> bool:
    """Codice fiscale (D.M. 23 December 1976): odd places by table, even places plain, modulo 26."""
    values = [int(sign) if sign.isdigit() else ord(sign) - 65 for sign in text[:15]]
    odd = sum(_ITALIAN_ODD[value] for value in values[::2])
    return (odd + sum(values[1::2])) % 26 == ord(text[15]) - 65


def belgian(number: str) -> bool:
    """Rijksregisternummer: 97 minus nine digits modulo 97, with a 2 in front for births from 2000."""
    check = int(number[9:])
    return 97 - int(number[:9]) % 97 == check or 97 - int("2" + number[:9]) % 97 == check


def polish(number: str) -> bool:
    """PESEL: weights 1 3 7 9 repeated."""
    return weighted(number, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3, 1)) % 10 == 0


def finnish(text: str) -> bool:
    """HETU: the date and serial modulo 31 name the last sign."""
    return "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(text[:6] + text[7:10]) % 31] == text[10]


def norwegian(number: str) -> bool:
    """Fødselsnummer: two check digits modulo 11."""
    first = weighted(number, (3, 7, 6, 1, 8, 9, 4, 5, 2, 1)) % 11
    return first == 0 and weighted(number, (5, 4, 3, 2, 7, 6, 5, 4, 3, 2, 1)) % 11 == 0


def portuguese(number: str) -> bool:
    """NIF: weights 9 to 2, modulo 11."""
    rest = weighted(number, range(9, 1, -1)) % 11
    return int(number[8]) == (0 if rest < 2 else 11 - rest)


def brazilian(number: str) -> bool:
    """CPF: two check digits modulo 11; eleven equal digits are never issued."""
    for length in (9, 10):
        rest = weighted(number[:length], range(length + 1, 1, -1)) % 11
        if int(number[length]) != (0 if rest < 2 else 11 - rest):
            return False
    return len(set(number)) > 1


def turkish(number: str) -> bool:
    """T.C. Kimlik No: the tenth digit from odd and even places, the eleventh from all."""
    digits = [int(digit) for digit in number]
    tenth = (7 * sum(digits[0:9:2]) - sum(digits[1:8:2])) % 10
    return digits[0] != 0 and digits[9] == tenth and sum(digits[:10]) % 10 == digits[10]


def chinese(text: str) -> bool:
    """GB 11643-1999: ISO 7064 MOD 11-2 over 17 digits."""
    total = weighted(text[:17], (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2))
    return "10X98765432"[total % 11] == text[17].upper()


def irish(text: str) -> bool:
    """PPS number: weights 8 to 2, a second letter counts nine times; modulo 23."""
    extra = 9 * (ord(text[8]) - 64) if len(text) == 9 and text[8] != "W" else 0
    return "WABCDEFGHIJKLMNOPQRSTUV"[(weighted(text[:7], range(8, 1, -1)) + extra) % 23] == text[7]


def austrian(number: str) -> bool:
    """Sozialversicherungsnummer: the fourth digit, weights 3 7 9 - 5 8 4 2 1 6, modulo 11."""
    return weighted(number, (3, 7, 9, 0, 5, 8, 4, 2, 1, 6)) % 11 == int(number[3])
