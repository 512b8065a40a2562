"""Columns that only look like somebody's: codes of catalogues, eponyms, versions, measurements."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count

from pii_columns import digits, draw, ean13, isbn10, snomed

Made = tuple[str, str, Callable[[], str]]


def choice(*values: str) -> Callable[[], str]:
    return lambda: draw.choice(values)


def lookalikes() -> Iterator[Made]:
    yield from codes()
    yield from words()
    yield from measures()


def codes() -> Iterator[Made]:
    yield "icd10", "CODE", lambda: f"{draw.choice('ABCEFGIJKMNR')}{digits(2)}.{digits(1)}"
    yield "diag_code", "CODE", snomed
    yield "loinc", "CODE", lambda: (lambda n: f"{n}-{_mod10(n)}")(digits(4, "123456789"))
    yield "rxnorm", "CODE", lambda: digits(draw.choice((5, 6, 7)), "123456789")
    yield (
        "atc",
        "CODE",
        lambda: (
            f"{draw.choice('ABCGJLMNR')}0{digits(1, '1234567')}{draw.choice('ABC')}"
            f"{draw.choice('ABCX')}{digits(2)}"
        ),
    )
    yield "ndc", "CODE", lambda: f"{digits(5)}-{digits(4)}-{digits(2)}"
    yield "snp", "CODE", lambda: f"rs{digits(7, '123456789')}"
    yield "hpo", "CODE", lambda: f"HP:000{digits(4)}"
    yield "ensembl", "CODE", lambda: f"ENSG00000{digits(6)}"
    yield (
        "hgvs",
        "CODE",
        lambda: (
            f"NM_{digits(6)}.{draw.randint(1, 6)}:c.{draw.randint(10, 4000)}{draw.choice('ACGT')}"
            f">{draw.choice('ACGT')}"
        ),
    )
    yield "locus", "CODE", lambda: f"chr{draw.randint(1, 22)}:{digits(8, '123456789')}"
    yield (
        "doi",
        "CODE",
        lambda: f"10.{digits(4, '123456789')}/j.{draw.choice(('neuro', 'cell', 'bmj'))}.{digits(6)}",
    )
    yield "isbn", "CODE", isbn10
    yield "isbn13", "CODE", lambda: ean13("978")
    yield "ean", "CODE", lambda: ean13(draw.choice(("40", "87", "54")))
    yield (
        "sw_version",
        "CODE",
        lambda: f"{draw.randint(1, 12)}.{draw.randint(0, 20)}.{draw.randint(0, 9)}.{draw.randint(0, 30)}",
    )
    yield "release", "CODE", lambda: f"v{draw.randint(0, 3)}.{draw.randint(0, 19)}.{draw.randint(0, 9)}"
    yield "colour_hex", "CODE", lambda: f"#{draw.randrange(2**24):06x}"
    yield "hla", "CODE", lambda: f"{draw.choice('ABC')}*{draw.randint(1, 80):02}:{draw.randint(1, 40):02}"
    yield (
        "file",
        "CODE",
        lambda: f"run-{draw.randint(1, 9)}_{draw.choice(('bold', 'T1w', 'dwi', 'sbref'))}.nii.gz",
    )
    yield "sequence", "CODE", lambda: "".join(draw.choice("ACGT") for _ in range(24))
    yield "well", "CODE", lambda: f"{draw.choice('ABCDEFGH')}{draw.randint(1, 12):02}"
    turn = count(1)
    yield "visit", "CATEGORY", lambda: f"visit {1 + next(turn) % 5}"


def _mod10(number: str) -> str:
    total = 0
    for place, digit in enumerate(reversed(number)):
        doubled = int(digit) * (2 if place % 2 == 0 else 1)
        total += doubled - 9 if doubled > 9 else doubled
    return str(-total % 10)


def words() -> Iterator[Made]:
    yield (
        "gene",
        "CODE",
        choice(
            "BRCA1",
            "TP53",
            "APOE",
            "MTHFR",
            "SNCA",
            "LRRK2",
            "HTT",
            "CFTR",
            "DMD",
            "FMR1",
            "JAK2",
            "KRAS",
            "EGFR",
            "MYC",
        ),
    )
    yield (
        "roi",
        "CATEGORY",
        choice(
            "Broca's area",
            "Brodmann area 44",
            "Heschl gyrus",
            "Rolandic operculum",
            "Wernicke area",
            "area of Exner",
            "Vicq d'Azyr bundle",
            "precuneus",
            "putamen",
        ),
    )
    yield (
        "syndrome",
        "CATEGORY",
        choice(
            "Rett syndrome",
            "Dravet syndrome",
            "Prader-Willi",
            "Angelman",
            "Noonan",
            "Williams",
            "Lennox-Gastaut",
            "West",
            "Joubert",
            "Ehlers-Danlos",
        ),
    )
    yield (
        "stain",
        "CATEGORY",
        choice(
            "Giemsa",
            "Nissl",
            "Golgi",
            "Gram",
            "Ziehl-Neelsen",
            "Congo red",
            "Masson trichrome",
            "Perls",
            "Wright",
        ),
    )
    yield (
        "colour_name",
        "CATEGORY",
        choice(
            "rebecca purple",
            "Prussian blue",
            "Hooker green",
            "Robin egg",
            "Jasmine",
            "Amber",
            "Rose",
            "Olive",
            "Violet",
            "Ruby",
        ),
    )
    yield (
        "drug_name",
        "CATEGORY",
        choice(
            "metoprolol",
            "Lisinopril",
            "atorvastatin",
            "Sertraline",
            "amoxicillin",
            "Ramipril",
            "levothyroxine",
            "Omeprazole",
            "warfarin",
            "Xarelto",
            "Lipitor",
            "Zoloft",
        ),
    )
    yield (
        "dose",
        "CATEGORY",
        lambda: f"{draw.choice((5, 10, 25, 50))} mg {draw.choice(('b.i.d.', 'daily', 'at night'))}",
    )
    yield (
        "description",
        "CATEGORY",
        choice(
            "Acute bronchitis",
            "Otitis media",
            "Normal pregnancy",
            "Essential hypertension",
            "Chronic sinusitis",
            "Fracture of forearm",
            "Viral pharyngitis",
            "Anemia",
            "Prediabetes",
            "Whiplash injury to neck",
        ),
    )
    yield (
        "scanner",
        "CATEGORY",
        choice("Siemens Prisma", "Philips Ingenia", "GE Signa", "Siemens Skyra", "Canon Vantage"),
    )
    yield (
        "species",
        "CATEGORY",
        choice(
            "Macaca mulatta",
            "Mus musculus",
            "Danio rerio",
            "Felis catus",
            "Gallus gallus",
            "Rattus norvegicus",
        ),
    )
    yield (
        "scale",
        "CATEGORY",
        choice(
            "Beck Depression Inventory",
            "Epworth Sleepiness Scale",
            "Hamilton Anxiety",
            "Stroop",
            "Raven matrices",
            "Barthel index",
        ),
    )
    yield (
        "answer",
        "CATEGORY",
        choice(
            "Strongly agree with this statement",
            "Agree with this statement",
            "Neither agree nor disagree",
            "Disagree with this statement",
        ),
    )
    yield "trial_type", "CATEGORY", choice("congruent", "incongruent", "neutral", "catch")
    yield "phone_type", "CATEGORY", choice("mobile", "landline", "none")
    yield "email_consent", "CATEGORY", choice("yes", "no")
    yield (
        "cell_line",
        "CODE",
        choice("HeLa", "HEK293", "MCF-7", "SH-SY5Y", "CHO-K1", "Jurkat", "Vero", "A549", "U2OS", "Raji"),
    )
    yield (
        "parcel",
        "CATEGORY",
        lambda: (
            f"{draw.choice(('LH', 'RH'))}"
            f"_{draw.choice(('Vis', 'SomMot', 'DorsAttn', 'Limbic', 'Cont', 'Default'))}"
            f"_{draw.randint(1, 9)}"
        ),
    )
    yield (
        "antibody",
        "CATEGORY",
        choice("rituximab", "anti-CD20", "Trastuzumab", "Herceptin", "anti-TNF", "adalimumab", "Humira"),
    )
    yield "missing_mostly", "CATEGORY", choice("n/a ", "n/a", "n/a ", "left", "right")


def measures() -> Iterator[Made]:
    yield "mni_x", "NUMBER", lambda: str(draw.randrange(-70, 72, 2))
    yield (
        "peak",
        "CODE",
        lambda: f"{draw.randrange(-60, 62, 2)}, {draw.randrange(-90, 60, 2)}, {draw.randrange(-30, 70, 2)}",
    )
    yield "bp", "NUMBER", lambda: f"{draw.randint(95, 180)}/{draw.randint(55, 110)}"
    yield "heart_rate", "NUMBER", lambda: str(draw.randint(48, 130))
    yield "bmi", "NUMBER", lambda: f"{draw.uniform(17, 41):.6f}"
    yield "z", "NUMBER", lambda: f"{draw.gauss(0, 1):.6f}"
    yield "p_value", "NUMBER", lambda: f"{draw.random():.8f}"
    yield "percent", "NUMBER", lambda: f"{draw.uniform(0, 100):.6f}"
    yield "temperature", "NUMBER", lambda: f"{draw.gauss(36.8, 0.4):.1f}"
    yield "onset", "NUMBER", lambda: f"{draw.uniform(0, 600):.3f}"
    yield "unixtime", "NUMBER", lambda: str(1_600_000_000 + draw.randrange(40_000_000))
    yield "position", "NUMBER", lambda: digits(draw.choice((7, 8, 9)), "123456789")
    yield "cost", "NUMBER", lambda: f"{draw.uniform(100, 90000):.2f}"
    yield "start_time", "NUMBER", lambda: f"{draw.randint(0, 23):02}:{draw.randint(0, 59):02}"
    yield "cells_per_ml", "NUMBER", lambda: f"{draw.uniform(1, 9):.2f}E+06"
    yield "sample_mass", "NUMBER", lambda: f"{draw.randint(100000000, 999999999)}"
