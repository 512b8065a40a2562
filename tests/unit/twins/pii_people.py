"""Columns that name or number a person: 64 of them, of eight languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from pii_columns import (
    bsn,
    card,
    codice,
    cpf,
    day,
    digits,
    dni,
    draw,
    ean13,
    family,
    given,
    grouped,
    hetu,
    iban,
    nhs,
    nir,
    personnummer,
    pesel,
    rrn,
    tax_de,
)

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
Made = tuple[str, str, Callable[[], str]]


def people() -> Iterator[Made]:
    yield from names()
    yield from contacts()
    yield from numbers()
    yield from places_and_days()
    yield from records()


def names() -> Iterator[Made]:
    for header, language in (
        ("first_name", "en"), ("voornaam", "nl"), ("Vorname", "de"), ("nombre", "es"), ("prenom", "fr"),
        ("nome", "it"),
        ("givenName", "pl"), ("forename", "in"),
    ):  # fmt: skip
        yield header, "PERSON", lambda language=language: given(language)
    for header, language in (
        ("surname", "en"), ("achternaam", "nl"), ("Nachname", "de"), ("apellidos", "es"), ("nom_famille",
        "fr"),
        ("cognome", "it"), ("LastName", "pl"), ("maiden_name", "ar"), ("family name", "tr"),
    ):  # fmt: skip
        yield header, "PERSON", lambda language=language: family(language)
    yield "patient_name", "PERSON", lambda: f"{given()} {family()}"
    yield "Name", "PERSON", lambda: f"{family('de')}, {given('de')}"
    yield "physician", "PERSON", lambda: f"Dr. {given('in')} {family('in')}"
    yield "contactpersoon", "PERSON", lambda: f"{draw.choice('ABCHJM')}.{draw.choice('AEJM')}. {family('nl')}"
    yield "naam_arts", "PERSON", lambda: f"{draw.choice('BCDHJMPRW')}. {family('nl')}"
    yield "NEXT_OF_KIN", "PERSON", lambda: f"{given('es')} {family('es')}".upper()
    yield "interviewer", "PERSON", lambda: f"{given('vn')} {family('vn')}".lower()
    yield "q17b", "PERSON", lambda: f"{given('ar')} {family('ar')}"
    yield "ФИО", "PERSON", lambda: f"{family('ru')} {given('ru')}"
    yield "var_004", "PERSON", lambda: f"{given('fr')}{draw.randint(1, 999)}"


def contacts() -> Iterator[Made]:
    def mail() -> str:
        return f"{given('it').lower()}.{digits(3)}@{draw.choice(('klinik', 'uni', 'post', 'mail'))}.example"

    yield "e-mail", "EMAIL", mail
    yield "Correo", "EMAIL", lambda: mail().upper()
    yield "from", "EMAIL", lambda: f"{given()} {family()} <{mail()}>"
    turn = count()
    yield (
        "remarks",
        "EMAIL",
        lambda: (
            f"write to {mail()}"
            if next(turn) % 25 == 13
            else draw.choice(("ok", "called", "no answer", "moved"))
        ),
    )
    yield "phone", "PHONE", lambda: f"({draw.randint(201, 989)}) {draw.randint(220, 989)}-{digits(4)}"
    yield "tel_home", "PHONE", lambda: f"{draw.randint(201, 989)}-{draw.randint(220, 989)}-{digits(4)}"
    yield "telefoon", "PHONE", lambda: f"+31 6 {digits(4)} {digits(4)}"
    yield "mobiel", "PHONE", lambda: f"06-{digits(8)}"
    yield "Telefon", "PHONE", lambda: f"0{draw.choice(('30', '89', '221', '40'))} / {digits(7, '123456789')}"
    yield (
        "telephone",
        "PHONE",
        lambda: "0" + draw.choice("1234567") + "".join(f" {digits(2)}" for _ in range(4)),
    )
    yield "mobile", "PHONE", lambda: f"07{digits(3)} {digits(6)}"
    yield "gsm", "PHONE", lambda: f"06{digits(8)}"
    yield "homepage", "URL", lambda: f"https://www.linkedin.com/in/{given().lower()}-{digits(5)}"
    yield "ip_address", "IP", lambda: ".".join(str(draw.randint(1, 254)) for _ in range(4))
    yield "client", "IP", lambda: "2a02:" + ":".join(f"{draw.randrange(65536):x}" for _ in range(7))
    yield "mac", "MAC", lambda: ":".join(f"{draw.randrange(256):02x}" for _ in range(6))
    yield "login", "USERNAME", lambda: f"{draw.choice('abcdefghjkm')}{family().lower()}{digits(2)}"


def numbers() -> Iterator[Made]:
    yield "SSN", "NATIONAL_ID", lambda: f"{digits(3)}-{digits(2)}-{digits(4)}"
    yield "social_security_number", "NATIONAL_ID", lambda: digits(9, "1234567")
    yield "bsn", "NATIONAL_ID", bsn
    yield "DNI", "NATIONAL_ID", dni
    yield "num_secu", "NATIONAL_ID", nir
    yield "Steuer-ID", "NATIONAL_ID", tax_de
    yield "codice_fiscale", "NATIONAL_ID", codice
    yield "nhs_number", "NATIONAL_ID", lambda: (lambda n: f"{n[:3]} {n[3:6]} {n[6:]}")(nhs())
    yield "nhsno", "NATIONAL_ID", nhs
    yield "rijksregisternummer", "NATIONAL_ID", rrn
    yield "PESEL", "NATIONAL_ID", pesel
    yield "personnr", "NATIONAL_ID", personnummer
    yield "hetu", "NATIONAL_ID", hetu
    yield "CPF", "NATIONAL_ID", cpf
    yield "AHV-Nr", "NATIONAL_ID", lambda: (lambda n: f"{n[:3]}.{n[3:7]}.{n[7:11]}.{n[11:]}")(ean13("756"))
    yield (
        "NINO",
        "NATIONAL_ID",
        lambda: f"{draw.choice(('AB', 'CE', 'JK', 'PS'))}{digits(6)}{draw.choice('ABCD')}",
    )
    yield "IBAN", "IBAN", lambda: iban("NL", "ABNA0" + digits(9))
    yield "rekening", "IBAN", lambda: grouped(iban("DE", digits(18)))
    yield "credit_card", "CARD", lambda: grouped(card())
    yield "pan", "CARD", card
    yield "passport_no", "PASSPORT", lambda: f"{draw.choice('NBS')}{draw.choice('RTXW')}{digits(7)}"
    yield "rijbewijs", "DRIVING_LICENCE", lambda: digits(10, "3456")
    yield (
        "kenteken",
        "LICENCE_PLATE",
        lambda: f"{draw.choice('GHJKLNPRSTXZ')}-{digits(3)}-{draw.choice('BDFGH')}{draw.choice('KLNPR')}",
    )
    yield (
        "Kennzeichen",
        "LICENCE_PLATE",
        lambda: (
            f"{draw.choice(('B', 'M', 'HH', 'KS', 'WÜ'))}-{draw.choice('ABEKLM')}"
            f"{draw.choice('NPRSTX')} {digits(3, '123456789')}"
        ),
    )


def places_and_days() -> Iterator[Made]:
    yield (
        "address",
        "ADDRESS",
        lambda: (
            f"{draw.randint(1, 999)} {draw.choice(('Mill', 'Church', 'Orchard', 'Station'))}"
            f" {draw.choice(('Lane', 'Road', 'Street', 'Close'))}"
        ),
    )
    yield (
        "adres",
        "ADDRESS",
        lambda: (
            f"{draw.choice(('Kerk', 'Molen', 'Linden', 'Beuken'))}"
            f"{draw.choice(('straat', 'weg', 'laan', 'plein'))} {draw.randint(1, 240)}"
            f"{draw.choice(('', 'a', '-2'))}"
        ),
    )
    yield (
        "Anschrift",
        "ADDRESS",
        lambda: (
            f"{draw.choice(('Bahnhof', 'Goethe', 'Garten', 'Berliner '))}"
            f"{draw.choice(('straße', 'str.', 'weg', 'allee'))} {draw.randint(1, 120)}, {digits(5)}"
            f" {draw.choice(('Köln', 'Mainz', 'Ulm'))}"
        ),
    )
    yield (
        "domicilio",
        "ADDRESS",
        lambda: (
            f"{draw.choice(('Calle', 'C/', 'Avda.', 'Plaza'))}"
            f" {draw.choice(('Mayor', 'del Carmen', 'San Roque', 'de la Paz'))}, {draw.randint(1, 90)}"
            f", {draw.randint(1, 9)}º {draw.choice('AB')}"
        ),
    )
    yield (
        "adresse",
        "ADDRESS",
        lambda: (
            f"{draw.randint(1, 200)} {draw.choice(('rue', 'avenue', 'boulevard', 'chemin'))}"
            f" {draw.choice(('des Lilas', 'Victor Hugo', 'de la Gare'))}"
        ),
    )
    yield (
        "x3",
        "ADDRESS",
        lambda: (
            f"{draw.choice(('Via', 'Viale', 'Corso', 'Piazza'))}"
            f" {draw.choice(('Roma', 'Garibaldi', 'Mazzini'))} {draw.randint(1, 150)}"
        ),
    )
    yield "birth_date", "DATE_OF_BIRTH", lambda: "{:04}-{:02}-{:02}".format(*day(1931, 2003))
    yield "Birthday", "DATE_OF_BIRTH", lambda: (lambda y, m, d: f"{m}/{d}/{y}")(*day(1938, 2001))
    yield "Geburtsdatum", "DATE_OF_BIRTH", lambda: (lambda y, m, d: f"{d:02}.{m:02}.{y}")(*day(1940, 1999))
    yield (
        "DOB",
        "DATE_OF_BIRTH",
        lambda: (lambda y, m, d: f"{d}-{MONTHS[m - 1]}-{y}")(*day(1930, 2000)),
    )
    yield "fecha_nac", "DATE_OF_BIRTH", lambda: "{:04}{:02}{:02}".format(*day(1945, 2002))
    yield "lat", "COORDINATE", lambda: f"{52 + draw.random():.6f}"
    yield "lon", "COORDINATE", lambda: f"{4.5 + draw.random():.6f}"
    yield "location", "COORDINATE", lambda: f"{48 + draw.random():.5f}, {2 + draw.random():.5f}"


def records() -> Iterator[Made]:
    yield "uuid", "RECORD_ID", lambda: "-".join(f"{draw.randrange(16**n):0{n}x}" for n in (8, 4, 4, 4, 12))
    yield "mrn", "RECORD_ID", lambda: digits(7, "123456789")
    yield "participant_id", "RECORD_ID", lambda: f"sub-{digits(4)}"
    yield "pat_code", "RECORD_ID", lambda: f"{draw.choice('ABCDE')}{draw.choice('XYZ')}-{digits(5)}"
    yield "hash", "RECORD_ID", lambda: f"{draw.randrange(16**40):040x}"
    yield "serial", "RECORD_ID", lambda: f"SN{digits(3)}{draw.choice('ABCDEF')}{digits(4)}"
    yield (
        "notes",
        "FREE_TEXT",
        lambda: (
            f"The patient {draw.choice(('came', 'was brought'))}"
            f" with her {draw.choice(('sister', 'husband', 'son'))}"
            f" and {draw.choice(('told us', 'said', 'wrote'))}"
            f" that she {draw.choice(('moved', 'fell', 'lost weight'))}"
            f" {draw.choice(('last week', 'in spring', 'at work'))}."
        ),
    )
    yield (
        "Bemerkung",
        "FREE_TEXT",
        lambda: (
            f"Patient wurde von {draw.choice(('der Tochter', 'dem Nachbarn'))}"
            f" gebracht, {draw.choice(('klagt über', 'berichtet von'))}"
            f" {draw.choice(('Schwindel', 'Schmerzen im Knie'))} seit {draw.randint(2, 30)} Tagen."
        ),
    )
    yield (
        "opmerking",
        "FREE_TEXT",
        lambda: (
            f"mw belde {draw.choice(('maandag', 'gisteren', 'vorige week'))}"
            f" dat ze {draw.choice(('niet kan komen', 'later komt', 'een andere arts wil'))}"
            f" omdat {draw.choice(('haar man', 'het kind'))} ziek is"
        ),
    )
