"""Train the character model that comes with the worker (`worker/pii_model.npz`), and say how good it is.

    python -m venv trainer
    trainer/bin/pip install numpy==2.4.6 faker==40.54.0 scikit-learn==1.9.1 simple-icd-10-cm==1.5.0
    PYTHONHASHSEED=0 trainer/bin/python benchmarks/pii_model.py      # about four minutes; --out elsewhere.npz

Faker makes names, addresses, places and companies of many countries; diagnoses are the public ICD-10-CM; the
rest is in `pii_terms.py`. Nothing is data of a person. Seeds are fixed: the same versions give the same file.
The figures printed are those of a model that has not seen the locales it is judged on; the file is then made
from all locales. Neither is a figure about real data: see docs/explanation/identifying-columns.md.
"""

from __future__ import annotations

import argparse
import io
import random
import sys
import unicodedata
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from pii_terms import TERMS, code, drug, gene

from domain.pii.model import FORMAT, Model, compressed, features

BUCKETS = 2**15
EACH = 15_000
INVERSE_PENALTY = 2.0
LABELS = ("GIVEN", "FAMILY", "FULL_NAME", "ADDRESS", "PLACE", "ORGANISATION", "USERNAME", "TERM", "CODE")
SEEN = (
    "en_US", "en_GB", "en_IE", "en_IN", "nl_NL", "nl_BE", "de_DE", "de_AT", "fr_FR", "es_ES", "es_CO",
    "it_IT", "pt_PT",
    "pl_PL", "da_DK", "fi_FI", "no_NO", "cs_CZ", "hu_HU", "hr_HR", "el_GR", "ru_RU", "zh_CN", "ja_JP",
    "tr_TR", "vi_VN",
    "id_ID", "uk_UA", "sk_SK", "et_EE", "fr_DZ", "en_NG", "en_KE", "es_AR", "az_AZ",
)  # fmt: skip
UNSEEN = ("en_AU", "fr_CH", "de_CH", "es_MX", "pt_BR", "sv_SE", "ro_RO", "sl_SI", "lt_LT", "en_NZ")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "worker" / "pii_model.npz")
    parser.add_argument("--no-figures", action="store_true", help="train the file alone")
    chosen = parser.parse_args()
    if sys.flags.hash_randomization:
        # some lists of Faker come from sets, whose order would change with every start
        parser.error("set PYTHONHASHSEED=0, or two runs make two files")
    if not chosen.no_figures:
        judge(train(samples(SEEN, seed=1)), samples(UNSEEN, seed=2, each=1_500))
    content = train(samples((*SEEN, *UNSEEN), seed=3))
    chosen.out.write_bytes(content)
    print(f"{chosen.out.name}: {len(content):,} bytes")


def samples(locales: tuple[str, ...], *, seed: int, each: int = EACH) -> list[tuple[str, str]]:
    """`each` values for each label, roughened as tables are: other case, no accents, a number behind."""
    from faker import Faker

    draw = random.Random(seed)
    fakers = []
    for position, locale in enumerate(locales):
        fake = Faker(locale)
        fake.seed_instance(1000 * seed + position)
        fakers.append(fake)
    phrases = diagnoses()
    drawn = []
    for label in LABELS:
        # of few letters and many people, a language is as likely as any other: names repeat, so draw evenly
        drawn += [
            (roughened(one(label, draw.choice(fakers), draw, phrases), label, draw), label)
            for _ in range(each)
        ]
    draw.shuffle(drawn)
    return drawn


def diagnoses() -> list[str]:
    import simple_icd_10_cm

    return sorted(
        {simple_icd_10_cm.get_description(each) for each in simple_icd_10_cm.get_all_codes(with_dots=True)}
    )


def one(label: str, fake, draw: random.Random, phrases: list[str]) -> str:
    """A value of this label."""
    match label:
        case "GIVEN":
            given = fake.first_name()
            return f"{given} {fake.first_name()}" if draw.random() < 0.1 else given
        case "FAMILY":
            family = fake.last_name()
            return f"{family}{draw.choice('- ')}{fake.last_name()}" if draw.random() < 0.1 else family
        case "FULL_NAME":
            return full_name(fake, draw)
        case "ADDRESS":
            return address(fake, draw)
        case "PLACE":
            return place(fake, draw)
        case "ORGANISATION":
            return fake.company()
        case "USERNAME":
            return (
                fake.user_name()
                if draw.random() < 0.8
                else f"{fake.user_name()}{draw.choice('._-')}{draw.randint(1, 99)}"
            )
        case "TERM":
            return term(fake, draw, phrases)
    return code(draw)


def full_name(fake, draw: random.Random) -> str:
    given, family = fake.first_name(), fake.last_name()
    initial = draw.choice("ABCDEFGHJKLMNPRSTVW")
    return draw.choice(
        (
            fake.name(),
            f"{given} {family}",
            f"{given} {family}",
            f"{family}, {given}",
            f"{given} {initial}. {family}",
            f"{initial}. {family}",
            f"{initial}.{draw.choice('ABEHJM')}. {family}",
            f"{family} {given}",
            f"{family}, {initial}.",
        )
    )


def address(fake, draw: random.Random) -> str:
    whole = fake.address().replace("\n", draw.choice((", ", " ")))
    street = fake.street_address().replace("\n", " ")
    return street if draw.random() < 0.7 else whole


def place(fake, draw: random.Random) -> str:
    city = fake.city()
    roll = draw.random()
    if roll < 0.15:
        return fake.country()
    if roll < 0.3:
        for kind in ("state", "administrative_unit", "province", "region", "county", "department_name"):
            if hasattr(fake, kind):
                return str(getattr(fake, kind)())
    return f"{city}, {fake.country()}" if roll < 0.36 else city


def term(fake, draw: random.Random, phrases: list[str]) -> str:
    roll = draw.random()
    if roll < 0.3:
        words = draw.choice(phrases).split()
        start = draw.randrange(len(words))
        return " ".join(words) if draw.random() < 0.4 else " ".join(words[start : start + draw.randint(1, 3)])
    if roll < 0.6:
        return draw.choice(TERMS)
    if roll < 0.7:
        return drug(draw)
    if roll < 0.75:
        return gene(draw)
    if roll < 0.8:
        return str(fake.color_name())
    if roll < 0.87:
        return str(fake.job())
    return " ".join(str(fake.word()) for _ in range(draw.choice((1, 1, 1, 2, 3))))


def roughened(value: str, label: str, draw: random.Random) -> str:
    roll = draw.random()
    if roll < 0.14:
        value = value.upper()
    elif roll < 0.28:
        value = value.lower()
    elif label == "TERM" and roll < 0.55:
        # a capital letter alone must not make a name
        value = value.title() if draw.random() < 0.5 else value[:1].upper() + value[1:]
    if draw.random() < 0.15:
        value = unicodedata.normalize("NFKD", value).encode("ascii", "ignore").decode() or value
    if label in ("GIVEN", "FAMILY", "FULL_NAME") and draw.random() < 0.04:
        value += str(draw.randint(1, 999))
    return value


def matrix(values: list[str]):
    """The features as the product computes them, with the product's weighting."""
    from scipy.sparse import csr_matrix

    grams, starts = features(values, BUCKETS)
    ends = np.append(starts, len(grams))
    weight = np.repeat(1 / np.sqrt(np.diff(ends)), np.diff(ends)).astype(np.float32)
    found = csr_matrix((weight, grams, ends), shape=(len(values), BUCKETS))
    found.sum_duplicates()
    return found


def train(drawn: list[tuple[str, str]]) -> bytes:
    from sklearn.linear_model import LogisticRegression

    values, labels = [value for value, _ in drawn], [LABELS.index(label) for _, label in drawn]
    fitted = LogisticRegression(C=INVERSE_PENALTY, max_iter=400, tol=1e-3).fit(matrix(values), labels)
    weights, scale = compressed(fitted.coef_.T)
    file = io.BytesIO()
    np.savez_compressed(
        file, format=np.int64(FORMAT), labels=np.array(LABELS), weights=weights, scale=scale,
        intercept=fitted.intercept_.astype(np.float32),
    )  # fmt: skip
    return file.getvalue()


def judge(content: bytes, held_out: list[tuple[str, str]]) -> None:
    """Recall and precision of each label on values of locales that the model has not seen."""
    model = Model.parse(content)
    said = model.likely([value for value, _ in held_out]).argmax(axis=1)
    true = np.array([LABELS.index(label) for _, label in held_out])
    print(f"{'label':<14}{'recall':>8}{'precision':>11}   held-out locales, {len(held_out):,} values")
    for at, label in enumerate(LABELS):
        hit = ((said == at) & (true == at)).sum()
        print(f"{label:<14}{hit / (true == at).sum():>8.3f}{hit / max(1, (said == at).sum()):>11.3f}")
    person = np.isin(true, [0, 1, 2])
    named = np.isin(said, [0, 1, 2])
    print(f"a person's name: recall {named[person].mean():.3f}, precision {person[named].mean():.3f}")


if __name__ == "__main__":
    main()
