"""Values inside values: fields of JSON, and the words of a path to a file. Each is scanned like a column.

Nothing is kept here. Bounded: long cells, deep nesting and many fields are left to the rules on whole texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

LONGEST_JSON = 20_000
MOST_FIELDS = 32
MOST_LEAVES = 200
WORDS_OF_PATHS = "words of paths"
"""The name of the one part that paths have. It announces nothing."""

_PATH = re.compile(r"(?:[A-Za-z]:|~)?[^\s/\\:*?\"<>|,;]{0,80}(?:[/\\][^/\\:*?\"<>|,;\n]{0,80}){0,20}")
_ENDING = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,5}(?:\.(?:gz|bz2|zip|xz))?$")
_BETWEEN = re.compile(r"[/\\_.\-\s()\[\]]+|(?<=[a-z])(?=[A-Z][a-z])")
_HOME = re.compile(
    r"(?:^|[/\\])(?:home|Users|users|Documents and Settings|homes|usr/people)[/\\]([^/\\\s]{1,40})"
)
_BETWEEN_NUMBERS = re.compile(r"\s?[|;/]\s?|, | - ")
_NUMBERS = re.compile(r"\+?[0-9]{7,20}(?:(?:\s?[|;/]\s?|, | - )\+?[0-9]{7,20}){1,9}")
_LINK = re.compile(r'=HYPERLINK\("[^"@]{0,1000}"[,;] ?"([^"]{1,300})"\)', re.IGNORECASE)
_SHARED_TEXT = """
user users shared public data root runner ubuntu admin administrator guest default jovyan ec2-user lab project
projects all username me myuser
"""
_SHARED = frozenset(_SHARED_TEXT.split())
"""Accounts that are nobody's."""

_PLAIN_TEXT = """
sub ses task run acq dir rec echo space desc res hemi rest bold sbref dwi anat func fmap meg eeg ieeg pet perf
beh events channels electrodes scans sessions participants dataset description derivatives sourcedata rawdata
code docs data home users user documents desktop downloads mnt media tmp var opt srv net scratch work projects
project study image images img scan mri fmri mask brain left right report reports result results output
outputs input inputs log logs test train file files final version copy new old raw processed preprocessed
clean table figure figures plot patient subject session visit baseline followup control video audio photo
picture face export import backup archive form consent questionnaire scanned letter note notes summary
protocol sample model config settings index readme
"""
_PLAIN = frozenset(_PLAIN_TEXT.split())


def fields_of(value: str) -> list[tuple[str, str]] | None:
    """The names and leaves of a cell that is a JSON object or list; None where it is neither."""
    if value[:1] + value[-1:] not in ("{}", "[]") or len(value) > LONGEST_JSON:
        return None
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return list(_leaves(read))


def _leaves(read: object) -> Iterator[tuple[str, str]]:
    pending = [("", read)]
    given = 0
    while pending and given < MOST_LEAVES:
        name, held = pending.pop()
        if isinstance(held, dict):
            pending += [(str(key), inner) for key, inner in held.items()]
        elif isinstance(held, list):
            pending += [(name, inner) for inner in held]
        else:
            given += 1
            yield name, held if isinstance(held, str) else json.dumps(held)


def numbers_of(value: str) -> list[str]:
    """The value; or, of a list of long numbers in one cell, such as two telephones, each of them."""
    return _BETWEEN_NUMBERS.split(value) if _NUMBERS.fullmatch(value) else [value]


def text_shown(value: str) -> str:
    """What a spreadsheet shows of a link to a page, `=HYPERLINK("page", "text")`, or stands between quotation
    marks; any other value as it is, and so a link to somebody's e-mail."""
    if len(value) > 2 and value[0] == value[-1] == '"':
        return value[1:-1].strip()
    match = _LINK.fullmatch(value) if value[:1] == "=" else None
    return match[1].strip() if match else value


def is_path(value: str) -> bool:
    """A value with folders, or one file with an ending: no address of a page."""
    if "://" in value or not 5 <= len(value) <= 250 or _PATH.fullmatch(value) is None:
        return False
    folders = value.count("/") + value.count("\\")
    starts = value[0] in "/~." or value[1:3] in (":\\", ":/")
    return bool(_ENDING.search(value)) or (folders >= 2 and starts) or folders >= 3


def words_of_path(value: str) -> str:
    """The words of a path that no scheme of names has, in their order: what may be somebody's name."""
    bare = _HOME.sub("/", _ENDING.sub("", value))
    words = [word for word in _BETWEEN.split(bare) if len(word) > 2 and word.isalpha()]
    return " ".join(word for word in words if word.casefold() not in _PLAIN)


def has_home_of_somebody(value: str) -> bool:
    """`/home/` or `Users` with an account behind it that people may not share."""
    return any(match[1].casefold() not in _SHARED for match in _HOME.finditer(value[:1000]))
