"""Ranges of quantities that many studies measure, from public knowledge: never from anybody's data.

Each is wide enough for nearly everybody whom a study would enrol; what lies outside is clipped, which costs
less than bounds that were looked up in the data and so say something about one person.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class UsualRange:
    """`words` are parts of a column's name that suggest it; `why` is one line for people."""

    key: str
    name: str
    kind: Literal["integer", "number"]
    lower: float
    upper: float
    unit: str
    why: str
    words: tuple[str, ...]


RANGES = (
    UsualRange("age", "Age of adults", "integer", 18, 100, "years",
               "Few people live beyond 100; an upper end of 120 costs a quarter more noise.",
               ("age", "alter", "edad")),
    UsualRange("age-all", "Age, children too", "integer", 0, 100, "years",
               "From birth; those above 100 count as 100.", ()),
    UsualRange("height", "Height of adults", "number", 1.3, 2.2, "metres",
               "Nearly all adults; in centimetres 130 to 220.", ("height", "stature", "groesse")),
    UsualRange("weight", "Weight of adults", "number", 35, 200, "kilograms",
               "Nearly all adults; those above 200 count as 200.", ("weight", "gewicht")),
    UsualRange("bmi", "Body mass index", "number", 12, 60, "kg/m²",
               "Below 12 and above 60 are rare even in clinics.", ("bmi",)),
    UsualRange("heart-rate", "Heart rate at rest", "integer", 30, 200, "beats per minute",
               "Athletes reach 30; 200 is the most that exercise brings.",
               ("heart_rate", "heartrate", "pulse", "hr", "bpm")),
    UsualRange("systolic", "Systolic blood pressure", "integer", 70, 230, "mmHg",
               "From shock to hypertensive crisis.", ("systolic", "sbp", "sys")),
    UsualRange("diastolic", "Diastolic blood pressure", "integer", 40, 140, "mmHg",
               "From shock to hypertensive crisis.", ("diastolic", "dbp", "dia")),
    UsualRange("temperature", "Body temperature", "number", 34, 42, "°C",
               "Below is severe hypothermia, above hardly survived.", ("temperature", "temp")),
    UsualRange("likert-5", "Likert item, five points", "integer", 1, 5, "points",
               "What the questionnaire offers; nothing else can be ticked.", ("likert",)),
    UsualRange("likert-7", "Likert item, seven points", "integer", 1, 7, "points",
               "What the questionnaire offers; nothing else can be ticked.", ()),
    UsualRange("reaction-time", "Reaction time", "integer", 100, 3000, "milliseconds",
               "Below 100 ms nobody reacted yet; above 3 s attention was elsewhere.",
               ("reaction_time", "rt", "response_time", "latency")),
    UsualRange("income", "Monthly net income of a household", "integer", 0, 15000, "of a currency",
               "The few who have more count as 15,000: the mean of the rest stays sharp.",
               ("income", "salary", "einkommen")),
    UsualRange("education", "Years of education", "integer", 0, 25, "years",
               "From no school to a doctorate.", ("education", "schooling")),
    UsualRange("iq", "Intelligence quotient", "integer", 40, 160, "points",
               "Four standard deviations on both sides of 100.", ("iq",)),
    UsualRange("mmse", "Mini-mental state examination", "integer", 0, 30, "points",
               "The scale of the test.", ("mmse", "moca")),
    UsualRange("hba1c", "HbA1c", "number", 3, 18, "%",
               "From treated to uncontrolled diabetes.", ("hba1c",)),
    UsualRange("percent", "A share in percent", "number", 0, 100, "%",
               "A share cannot be elsewhere.", ("percent", "percentage", "pct")),
)  # fmt: skip
BY_KEY = {usual.key: usual for usual in RANGES}


def suggested(column: str) -> UsualRange | None:
    """The range whose word stands in the name of a column, as a whole word; the longest word wins."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", column).lower()
    name = re.sub(r"[^a-z0-9]+", "_", name).strip("_")
    found = [(len(word), usual) for usual in RANGES for word in usual.words if f"_{word}_" in f"_{name}_"]
    return max(found, key=lambda pair: pair[0], default=(0, None))[1]
