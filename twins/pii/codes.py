"""Codes of catalogues, measurements and versions: what looks like a person's number and is none."""

from __future__ import annotations

import re

from twins.pii import check_digits as check

_PLACE = r"-?\d{1,3}(?:\.\d{1,3})?"
_UNIT = (
    r"(?:[kcdmµμunp]?(?:g|m|l|L|s|mol|Hz|V|A|W|Pa|J|M|B|Gy|Sv|T|cal|eq|Eq|U|IU)|mmHg|cmH2O|bpm|rpm|ppm|dB|"
    r"MHz|GHz|kbp?|Mbp?|bp|hPa|MPa|mTorr|Torr|k?cal|mcg|ug|cc|oz|lbs?|ft|in|kDa|Da|[GMTk]i?B|px|deg|rad|"
    r"mins?|secs?|h|hrs?|hours?|minutes?|seconds?|days?|weeks?|months?|years?|yrs?|wk|wks|mo|yo|tabs?|"
    r"tablets?|caps?|capsules?|puffs?|drops?|units?|cells|pack-years?|m2|mL|dL|°C|K|F|N|x|times|dag|dagen|"
    r"jaar|uur|Tage?|Jahre?|Stunden?|jours?|ans|días?|años?)"
)
_HOW_OFTEN = (
    r"(?:b\.?i\.?d\.?|t\.?i\.?d\.?|q\.?d\.?|q\d{1,2}h|daily|weekly|monthly|at night|per \S{1,12}|"
    r"once \S{1,12}|twice \S{1,12}|p\.?o\.?|i\.?v\.?|ago|old)"
)
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"
_SHAPES = {
    "icd-10": r"[A-TV-Z]\d[0-9AB](?:[._][0-9A-Z]{1,4})?",
    "atc": r"[A-DGHJLMNPRSV]\d{2}(?:[A-Z](?:[A-Z](?:\d{2})?)?)?",
    "ndc": r"\d{4,5}-\d{3,4}-\d{1,2}",
    "rs number": r"rs\d{3,12}",
    # small letters, a line and a year are an account rather than a term
    "ontology": r"[A-Za-z]{2,10}:\d{4,10}|[A-Z][A-Za-z]{1,9}_\d{4,10}",
    "accession": (
        r"(?:ENS[A-Z]{0,4}[GTPE]\d{6,12}|[NX][MRPC]_\d{5,9}|GS[EM]\d{2,8}|[DES]R[APRSXZ]\d{5,9}|"
        r"PRJ[DEN][ABN]\d{2,9}|PMID:? ?\d{4,9})"
        r"(?:\.\d{1,3})?(?::[cgpnm]\..{1,60})?|"
        # of registers of trials
        r"(?:NCT|ISRCTN|DRKS)\d{8}|ACTRN\d{14}|ChiCTR-?(?:[A-Z]{2,4}-)?\d{8,10}"
    ),
    "micro-rna": r"[a-z]{3}-(?:miR|mir|let)-\d{1,5}[a-z]?(?:-\d)?(?:-[35]p)?",
    "alignment": r"(?:\d{1,5}[MIDNSHP=X]){2,40}",
    "locus": r"chr(?:\d{1,2}|[XYM]|MT):\d{1,10}(?:-\d{1,10})?(?:[:_ ][ACGT]{1,20}[>:_/][ACGT]{1,20})?",
    "hgvs": r"[cgpnm]\.[A-Za-z0-9_*>+=()-]{2,60}",
    "hla": r"(?:HLA-)?[A-Z]{1,4}\d?\*\d{2,3}(?::\d{2,3}){0,3}[NLSCAQ]?",
    # of the NIH, the European Union, and research councils of Britain, Germany, France, the Netherlands
    "grant": (
        r"(?:[1-9] ?)?[A-Z]\d{2}[ -]?[A-Z]{2}[ -]?\d{6}(?:[ -]\d{2}(?:[A-Z]\d{1,2})?)?|"
        r"[A-Z]{2,3}/[A-Z]\d{5,6}[A-Z0-9]/\d{1,2}|"
        r"(?:H2020|HORIZON|FP7|ERC|MSCA|GA|NSF|DFG|NWO|ANR|BMBF|SNF|FWF|NSFC)"
        r"(?:[- ./][A-Za-z0-9.]{1,12}){1,6}|"
        r"(?:ANR|ERC)-\d{2}-[A-Z0-9]{2,6}-\d{4}(?:-\d{2})?|[A-Z]{2} \d{2,4}/\d{1,3}-\d|"
        r"\d{3}\.[A-Za-z]{2,8}(?:\.[A-Z0-9]{1,6}){1,2}"
    ),
    "specimen": (
        r"(?i:sample|samp|spec|specimen|aliquot|tube|vial|biopsy|slide|block|plate|rack|well|lot|batch)"
        r"[-_ ]?[A-Za-z]{0,4}[-_ ]?\d{1,8}(?:[-_.][A-Za-z0-9]{1,6}){0,4}|"
        r"TCGA-[A-Z0-9]{2}-[A-Z0-9]{4}(?:-\w{2,4}){0,4}|SAM[NED][A-Z]?\d{5,12}"
    ),
    "doi": r"(?:doi:)?10\.\d{4,9}/[^\s]{1,200}",
    # what masks of US numbers and teaching material use
    "not issued": r"(?:000|666)-\d{2}-\d{4}",
    # longer ones are accounts of somebody's money
    "place in memory": r"0x[0-9A-Fa-f]{1,16}",
    "colour": r"#(?:[0-9A-Fa-f]{3}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})",
    # 23.724.988 is a number in groups of a thousand, as of citizens, and V8750 is somebody
    "version": r"(?!\d{1,3}(?:\.\d{3}){2,4}\Z)[vV]?\d{1,4}(?:\.\d{1,5}){2,4}(?:[-+][A-Za-z0-9.]{1,20})?"
    r"|[vV](?:\d{1,2}|\d{1,4}\.\d{1,5})",
    # with the number of its run, or with the sequence of the other end behind it
    "sequence": r"[ACGTUN]{10,200}(?:[-_]\d{1,3}|[-+][ACGTUN]{6,60})?|[ACDEFGHIKLMNPQRSTVWY]{40,200}",
    "file": (
        r"[\w./-]{1,180}\.(?:nii|json|tsv|csv|edf|fif|vhdr|set|bdf|png|jpe?g|tiff?|dcm|mgz|gii|mat|npy|h5|txt|"
        r"pdf|wav|mp4|fastq|bam|vcf)(?:\.gz)?"
    ),
    "well": r"[A-P](?:0?[1-9]|1\d|2[0-4])",
    "pressure": r"\d{2,3}/\d{2,3}",
    "time of day": r"\d{1,2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?: ?[AaPp][Mm])?",
    "triple": rf"[(\[]?{_PLACE}(?:[,;] ?| ){_PLACE}(?:[,;] ?| ){_PLACE}[)\]]?",
    "quantity": (
        r"[<>≤≥~]?=? ?-?\d{1,9}(?:[.,]\d{1,9})? ?"
        rf"(?:%|°C?|{_UNIT}(?:[/ ·*]{_UNIT}){{0,2}}\d?)(?: {_HOW_OFTEN})?"
    ),
    "range": r"-?\d{1,6}(?:[.,]\d{1,4})? ?(?:-|–|to|\.\.) ?-?\d{1,6}(?:[.,]\d{1,4})?[kK]?",
    "morphology": r"M?\d{4}/\d",
    "enzyme": r"EC ?\d\.\d{1,2}\.\d{1,2}\.\d{1,3}",
    # three digits stand behind the names of a few families; behind others they are number plates
    "gene": (
        r"[A-Z]{2,6}\d{1,2}(?:[A-Z]\d?)?(?:-[A-Z0-9]{1,3})?|[A-Z]{2,5}-[A-Z0-9]{1,3}|"
        r"(?:ZNF|TMEM|MIR|FAM|CCDC|LINC|LOC|KIAA|ANKRD|TRIM|RNF|OR|SNOR[AD])\d{1,5}[A-Z]?\d?"
    ),
    "month": (
        rf"(?:{_MONTH}|\d{{1,2}})[-/ ]\d{{2,4}}|\d{{4}}[-/](?:0[1-9]|1[0-2])|"
        rf"\d{{4}}[-/ ]?(?:{_MONTH}|[QH][1-4]|W\d{{1,2}})|[QH][1-4][-/ ]?\d{{4}}|"
        rf"{_MONTH} {{1,2}}\d{{1,2}} ?[-–] ?{_MONTH} {{1,2}}\d{{1,2}}"
    ),
    "duration": r"P(?:\d{1,4}[YMWD])*(?:T(?:\d{1,4}[HMS])+)?",
}  # fmt: skip
_PATTERNS = {
    name: re.compile(shape, re.ASCII if name != "quantity" else 0) for name, shape in _SHAPES.items()
}
_LOINC = re.compile(r"\d{1,5}-\d", re.ASCII)
_SUBSTANCE = re.compile(r"\d{2,7}-\d{2}-\d", re.ASCII)
_ISBN_10 = re.compile(r"\d{9}[\dX]|\d{1,5}-\d{1,7}-\d{1,7}-[\dX]", re.ASCII)
_EAN = re.compile(r"\d{8}|\d{13}|97[89]-\d{1,5}-\d{1,7}-\d{1,7}-\d", re.ASCII)
_SNOMED = re.compile(r"\d{6,18}", re.ASCII)
_UNIX_TIME = re.compile(r"1[0-9]{9}(?:\.\d{1,9}|\d{3})?", re.ASCII)
_NUMBER_IN_GROUPS = re.compile(r"\d{2,3} \d{3} \d{3}|\d{3} \d{2} \d{3}|\d{3} \d{3} \d{2}", re.ASCII)
WIDEST = 100
"""Times its beginning that the end of a range may be."""

_PARTITIONS = ("00", "01", "02", "10", "11", "12")
_LONGEST = 200
_BOTH = re.compile(r"\d+(?:[.,]\d+)?", re.ASCII)

UNSPECIFIC = frozenset({"gene", "quantity", "range", "well", "version", "sequence", "ean", "isbn"})
"""Shapes that an identifier may have by accident."""


def codes_of(value: str) -> list[str]:
    """The catalogues that this value could come from."""
    if not 2 <= len(value) <= _LONGEST:
        return []
    found = [name for name, pattern in _PATTERNS.items() if pattern.fullmatch(value)]
    if "range" in found and not _is_rising(value):
        found.remove("range")
    if "triple" in found and _NUMBER_IN_GROUPS.fullmatch(value) and not _are_small(value):
        found.remove("triple")
    if value[-1].isdigit() or value[-1] == "X":
        found += _numbers(value)
    return found


def _are_small(value: str) -> bool:
    """Colours and places in a brain; telephone numbers have larger groups, and zeros in front."""
    groups = value.split()
    return all(int(group) <= 255 and group == str(int(group)) for group in groups)


def _is_rising(value: str) -> bool:
    """Numbers of identity have two parts as well, of which the second is as often the smaller, or always of
    another size."""
    first, last = (float(part.replace(",", ".")) for part in _BOTH.findall(value)[:2])
    return first <= last <= WIDEST * max(first, 10)


def _numbers(value: str) -> list[str]:
    found = []
    if _LOINC.fullmatch(value) and check.luhn(value.replace("-", "")):
        found.append("loinc")
    if _SUBSTANCE.fullmatch(value) and check.substance(value):
        found.append("substance")
    if _ISBN_10.fullmatch(value) and check.isbn(value.replace("-", "")):
        found.append("isbn")
    if _EAN.fullmatch(value) and check.ean(value.replace("-", "")):
        found.append("ean")
    # the two digits before the check digit name the component, of which a core release has 00, 01, 02
    if _SNOMED.fullmatch(value) and value[-3:-1] in _PARTITIONS and check.verhoeff(value):
        found.append("snomed")
    if _UNIX_TIME.fullmatch(value):
        found.append("unix time")
    return found
