"""Scales, tests and measures that many studies use, with usual values from publications: never from data.

A column that names its instrument gets life-like values in the twin at no cost. The figures only make a twin
look alive: they are rounded, they are about nobody in particular, and they never enter a guarantee.

Each entry says what was looked up. `source` names where the scale is defined; its ends follow from the items
named there. For ages, body measures and years of education the ends are wide limits of our own choice.
`figures` names where the mean and the deviation come from, as read in abstracts and tables of what is named;
the manuals of the tests were not opened. Most samples are of one country. `looked_up` is `both` where both
figures were found there, or computed from means, quartiles or effect sizes of men and women; `mean` where the
deviation is a rough guess; `neither` where both are rough guesses for liveliness, because no published figure
for adults in the general population could be found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Instrument:
    """`lower` and `upper` are the ends of the scale, or what nearly every adult lies in."""

    key: str
    name: str
    kind: Literal["integer", "number"]
    lower: float
    upper: float
    mean: float
    sd: float
    unit: str
    source: str
    looked_up: Literal["both", "mean", "neither"] = "neither"
    figures: str = ""


INSTRUMENTS: tuple[Instrument, ...] = (
    # questionnaires of mood and anxiety
    Instrument("sas", "Self-rating Anxiety Scale", "integer", 20, 80, 33, 7, "points",
               "Zung 1971, Psychosomatics 12: 20 items of 1 to 4"),
    Instrument("sas-index", "Self-rating Anxiety Scale, index", "integer", 25, 100, 41, 9, "points",
               "Zung 1971, Psychosomatics 12: raw score times 1.25"),
    Instrument("sds", "Self-rating Depression Scale", "integer", 20, 80, 36, 8, "points",
               "Zung 1965, Arch Gen Psychiatry 12: 20 items of 1 to 4"),
    Instrument("sds-index", "Self-rating Depression Scale, index", "integer", 25, 100, 45, 10, "points",
               "Zung 1965, Arch Gen Psychiatry 12: raw score times 1.25"),
    Instrument("bdi-2", "Beck Depression Inventory II", "integer", 0, 63, 8, 7, "points",
               "Beck, Steer, Brown 1996, manual: 21 items of 0 to 3"),
    Instrument("phq-9", "Patient Health Questionnaire, depression", "integer", 0, 27, 2.9, 3.5, "points",
               "Kroenke, Spitzer, Williams 2001, J Gen Intern Med 16: 9 items of 0 to 3", "both",
               "Kocalevent et al. 2013, Gen Hosp Psychiatry 35: 5,018 people in Germany"),
    Instrument("gad-7", "Generalised Anxiety Disorder scale", "integer", 0, 21, 3, 3.4, "points",
               "Spitzer et al. 2006, Arch Intern Med 166: 7 items of 0 to 3", "both",
               "Löwe et al. 2008, Med Care 46: 5,030 people in Germany"),
    Instrument("stai-state", "State-Trait Anxiety Inventory, state", "integer", 20, 80, 36, 10, "points",
               "Spielberger et al. 1983, manual: 20 items of 1 to 4"),
    Instrument("stai-trait", "State-Trait Anxiety Inventory, trait", "integer", 20, 80, 36, 9.5, "points",
               "Spielberger et al. 1983, manual: 20 items of 1 to 4"),
    Instrument("pss-10", "Perceived Stress Scale", "integer", 0, 40, 13, 6.4, "points",
               "Cohen, Kamarck, Mermelstein 1983, J Health Soc Behav 24: 10 items of 0 to 4", "both",
               "norm table of the scale: 2,387 adults in the USA in 1983, men 12.1 (5.9), women 13.7 (6.6)"),
    Instrument("swls", "Satisfaction With Life Scale", "integer", 5, 35, 26, 6, "points",
               "Diener et al. 1985, J Pers Assess 49: 5 items of 1 to 7", "mean",
               "Clench-Aas et al. 2011, Qual Life Res 20: 4,984 people in Norway, 26.2"),
    # sleep
    Instrument("ess", "Epworth Sleepiness Scale", "integer", 0, 24, 7, 3.8, "points",
               "Johns 1991, Sleep 14: 8 items of 0 to 3", "both",
               "Sleep 30, 2007, 619-624: 2,301 adults in Norway, 6.95 (3.8)"),
    Instrument("psqi", "Pittsburgh Sleep Quality Index", "integer", 0, 21, 5, 3, "points",
               "Buysse et al. 1989, Psychiatry Res 28: 7 components of 0 to 3", "both",
               "Hinz et al. 2017, Sleep Med 30: 9,284 adults in Germany, women 5.5, men 4.4, d 0.35"),
    Instrument("isi", "Insomnia Severity Index", "integer", 0, 28, 5, 4.5, "points",
               "Bastien, Vallières, Morin 2001, Sleep Med 2: 7 items of 0 to 4"),
    # cognition
    Instrument("mmse", "Mini-Mental State Examination", "integer", 0, 30, 27.3, 2.7, "points",
               "Folstein, Folstein, McHugh 1975, J Psychiatr Res 12: 30 points", "both",
               "Kochhann et al. 2009, Dement Neuropsychol 3: 1,553 healthy adults in Brazil"),
    Instrument("moca", "Montreal Cognitive Assessment", "integer", 0, 30, 23.4, 4, "points",
               "Nasreddine et al. 2005, J Am Geriatr Soc 53: 30 points", "both",
               "PubMed 21917776: 2,653 adults of 18 to 85 years in a study of a population"),
    Instrument("iq", "Intelligence quotient", "integer", 40, 160, 100, 15, "points",
               "Wechsler 2008, WAIS-IV", "both", "by definition: scaled to mean 100 and deviation 15"),
    Instrument("edinburgh", "Edinburgh Handedness Inventory", "integer", -100, 100, 70, 45, "points",
               "Oldfield 1971, Neuropsychologia 9: laterality quotient of 10 items"),
    Instrument("education", "Years of education", "integer", 0, 25, 12, 3, "years",
               "wide limits of our own", "mean",
               "UN Human Development Report 2015: 10 to 13 years in the countries at its top"),
    # body
    Instrument("age", "Age of adults", "integer", 18, 100, 48, 18, "years",
               "wide limits of our own", "both",
               "Löwe et al. 2008, Med Care 46: 5,030 people representative of Germany, 48.4 (18.0)"),
    Instrument("height", "Height of adults", "number", 1.3, 2.2, 1.7, 0.095, "metres",
               "wide limits of our own", "both", "as height-cm"),
    Instrument("height-cm", "Height of adults", "number", 130, 220, 170, 9.5, "centimetres",
               "wide limits of our own", "both",
               "NCHS 2016, Vital Health Stat 3(39): USA, men 176, women 162; doi 10.1038/ijo.2017.289"),
    Instrument("weight", "Weight of adults", "number", 35, 200, 75, 15, "kilograms",
               "wide limits of our own", "both",
               "Oxford Biobank, doi 10.1038/ijo.2017.289: quartiles of 2,119 men (84) and 2,831 women (67)"),
    Instrument("bmi", "Body mass index", "number", 12, 60, 24.3, 4.7, "kg/m2",
               "wide limits of our own", "both",
               "NCD-RisC 2016, Lancet 387: world in 2014; deviation: doi 10.1001/jamacardio.2018.1717"),
    Instrument("systolic", "Systolic blood pressure", "integer", 70, 230, 125, 18, "mmHg",
               "wide limits of our own", "both",
               "NCD-RisC 2017, Lancet 389: world in 2015; deviation: Tabara et al. 2021, see hba1c"),
    Instrument("diastolic", "Diastolic blood pressure", "integer", 40, 140, 78, 11, "mmHg",
               "wide limits of our own", "both",
               "NCD-RisC 2017, Lancet 389: world in 2015; deviation: Tabara et al. 2021, see hba1c"),
    Instrument("heart-rate", "Heart rate at rest", "integer", 30, 200, 72, 10, "beats per minute",
               "wide limits of our own", "both",
               "Ostchega et al. 2011, Natl Health Stat Report 41, USA; deviation: Tabara et al. 2021"),
    Instrument("temperature", "Body temperature", "number", 34, 42, 36.6, 0.4, "degrees Celsius",
               "wide limits of our own", "both",
               "Obermeyer, Samra, Mullainathan 2017, BMJ 359: 35,488 patients, 95 % between 35.7 and 37.3"),
    Instrument("hba1c", "HbA1c", "number", 3, 18, 5.5, 0.5, "%",
               "wide limits of our own", "both",
               "Tabara et al. 2021, J Clin Hypertens 23: 8,850 residents of a city in Japan"),
    Instrument("cholesterol", "Total cholesterol", "number", 50, 500, 190, 40, "mg/dL",
               "wide limits of our own", "both",
               "Healthy People 2030 HDS-06, USA 2013-16, 190.9; deviation: doi 10.1097/HJH.0000000000001084"),
    Instrument("glucose", "Fasting glucose", "number", 30, 500, 98, 25, "mg/dL",
               "wide limits of our own", "both",
               "Danaei et al. 2011, Lancet 378: world in 2008; deviation: doi 10.1097/HJH.0000000000001084"),
)  # fmt: skip
BY_KEY: Mapping[str, Instrument] = {each.key: each for each in INSTRUMENTS}
