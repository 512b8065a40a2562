"""What is wrong with one field of a request, in words: a form that fits no pattern, another kind of value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from domain.errors import FieldProblem, InvalidRequest, RequestError

# The form of a refusal, and how it becomes an error.


@dataclass(frozen=True)
class Refusal:
    """One refusal. Its code stays as it is: programs go by it. Words in braces are told when it is raised."""

    code: str
    error: type[RequestError]
    field: str
    problem: str
    fix: str
    # one word for logs and counts, where logins are told apart
    reason: str = ""

    def __call__(self, *, at: str = "", **words: object) -> RequestError:
        """The error to raise; `at`: the field, where it is not always the same."""
        one = self.about(at or self.field, **words)
        return self.error(one.field, one.problem, one.fix, code=one.code, reason=self.reason)

    def about(self, field: str, **words: object) -> FieldProblem:
        """The same of one of several fields that are wrong together."""
        problem, fix = self.problem.format_map(words), self.fix.format_map(words)
        return FieldProblem(field, problem, fix.strip(), self.code)


# fmt: off
MISSING = Refusal("field_missing", InvalidRequest, "", "is missing.", "Add it.")
UNKNOWN = Refusal(
    "field_unknown", InvalidRequest, "",
    "is not a known field.", "Remove it, or check its spelling.",
)
NEARLY = Refusal("field_nearly", InvalidRequest, "", "is not a known field.", "Write {near} in its place.")
FORM = Refusal("field_form", InvalidRequest, "", "is {no}.", "{use}")
KIND = Refusal("field_kind", InvalidRequest, "", "is not {kind}.", "Write {example}.")
VALUE = Refusal("field_value", InvalidRequest, "", "{problem}", "{use}")
# fmt: on

# what people type for the bounds of a value
NEAR: Mapping[str, str] = {
    "min": "lower", "minimum": "lower", "low": "lower", "lower_bound": "lower",
    "max": "upper", "maximum": "upper", "high": "upper", "upper_bound": "upper",
}  # fmt: skip
# by field and the validator's word: how such a one looks
EXAMPLES: Mapping[tuple[str, str], str] = {
    ("command", "tuple_type"): "a list: [python3, /pipeline/main.py]",
    ("command", "list_type"): "a list: [python3, /pipeline/main.py]",
}

# by pattern: what the text is not, and what to write
FORMS: Mapping[str, tuple[str, str]] = {
    r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$": ("no short name", "Use small letters, digits and hyphens."),
    r"^[A-Za-z][A-Za-z0-9_.-]{0,63}$": (
        "no name of a value",
        "Begin with a letter; use at most 64 letters, digits, `_`, `.` or `-`, and no space.",
    ),
    r"^[A-Za-z][A-Za-z0-9_.-]{0,47}$": (
        "no name of a group",
        "Begin with a letter; use at most 48 letters, digits, `_`, `.` or `-`, and no space.",
    ),
    r"^[A-Za-z][A-Za-z0-9_]{0,62}$": (
        "no name of an array",
        "Begin with a letter; use at most 63 letters, digits or `_`.",
    ),
    r"^[A-Za-z0-9][A-Za-z0-9 ()'*+/._-]{0,15}$": (
        "no name of a channel",
        "Begin with a letter or digit; use at most 16 characters.",
    ),
    r"^[A-Z][A-Z0-9_]{0,39}$": ("no kind of identifier", "Use capital letters, digits and `_`."),
    r"^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$": ("no id", "Use 8 to 64 letters, digits, `_` or `-`."),
    r"^[A-Za-z0-9_-]{8,64}$": ("no id", "Use 8 to 64 letters, digits, `_` or `-`."),
    r"^[A-Za-z0-9_-]{1,64}$": ("no id", "Use 1 to 64 letters, digits, `_` or `-`."),
    r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$": (
        "no delivery number",
        "`dpgate dataset deliver DATA --declaration FILE` prints it.",
    ),
    r"^[0-9a-f-]{36}$": ("no delivery number", "`dpgate dataset deliver DATA --declaration FILE` prints it."),
    r"^sha256:[0-9a-f]{64}$": ("no digest", "Write sha256: and 64 hex digits."),
    r"^[0-9a-f]{64}$": ("no digest", "Write 64 hex digits."),
    r"^[0-9a-f]{32}$": ("no digest", "Write 32 hex digits."),
    r"^[0-9a-f]{4,16}$": ("no id", "Copy it from the list."),
    r"^[A-Za-z0-9+/]{43}=$": ("no key", "Copy it as it was given."),
    r"^[01]*$": ("no row of 0 and 1", "Use the digits 0 and 1."),
    r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$": ("no number", "Write one such as 0.5."),
    r"^(direct|quasi|sensitive|none)$": ("no class", "Choose direct, quasi, sensitive or none."),
    r"^(drop|mask|generalise|pseudonymise|keep)$": (
        "no decision",
        "Choose drop, mask, generalise, pseudonymise or keep.",
    ),
    r"^(cohort|(project|user):[a-z0-9-]{1,63})$": (
        "no account",
        "Write cohort, project:NAME or user:NAME.",
    ),
}  # fmt: skip
_ONE_LINE = ("not one plain line", "Leave out tabs, line breaks and control characters.")

# by the validator's word for it: what a value should have been
KINDS: Mapping[str, str] = {
    "dict_type": "an object of names and values",
    "mapping_type": "an object of names and values",
    "model_type": "an object of names and values",
    "model_attributes_type": "an object of names and values",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "string_unicode": "text in Unicode",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "decimal_parsing": "a number",
    "date_from_datetime_parsing": "a day such as 2027-01-31",
    "date_parsing": "a day such as 2027-01-31",
    "datetime_parsing": "a time such as 2027-01-31T12:00:00Z",
    "datetime_from_date_parsing": "a time such as 2027-01-31T12:00:00Z",
}

# by the same word: a size that is not allowed, and which are. Whoever fills in a form has typed no `tuple`
SIZES: Mapping[str, tuple[str, str]] = {
    "greater_than_equal": ("is below {ge}.", "Use {ge} or more."),
    "greater_than": ("is not above {gt}.", "Use more than {gt}."),
    "less_than_equal": ("is above {le}.", "Use {le} or less."),
    "less_than": ("is not below {lt}.", "Use less than {lt}."),
    "multiple_of": ("is no multiple of {multiple_of}.", "Use a multiple of {multiple_of}."),
    "finite_number": ("is not a finite number.", "Give a finite number."),
    "string_too_short": ("needs {min_length} characters or more.", "Write {min_length} or more."),
    "string_too_long": ("has more than {max_length} characters.", "Write at most {max_length} characters."),
    "bytes_too_short": ("is too short.", "Send {min_length} bytes or more."),
    "bytes_too_long": ("is too long.", "Send at most {max_length} bytes."),
    "too_short": ("needs {min_length} entries or more.", "Give {min_length} or more."),
    "too_long": ("has more than {max_length} entries.", "Give at most {max_length}."),
}
FINDINGS: Mapping[str, tuple[str, str]] = {
    **SIZES,
    # YAML takes `no` for false and 2026-01-31 for a day, and what stands behind a decimal comma for a name
    "string_type": ("is not text.", "Write text; in YAML, put it in quotes."),
    "invalid_key": (
        "has {key:.40} for a name.",
        "Write names as text, and decimal numbers with a point: 1.5, not 1,5.",
    ),
}
# of what has no words of its own: never the validator's
ANY = ("is not what belongs here.", "Compare it with the example of it in the documentation.")

# by the same word: a value that is none of a few
CHOICES = {"enum", "literal_error"}


def size_of(kind: str, told: Mapping[str, object]) -> tuple[str, str]:
    """What is wrong with a value that is too large or too small, or otherwise wrong; and the fix."""
    plain = {
        name: int(bound) if isinstance(bound, float) and bound.is_integer() else bound
        for name, bound in told.items()
    }
    problem, fix = FINDINGS.get(kind, ANY)
    return problem.format_map(plain), fix.format_map(plain)


def form_of(pattern: str) -> tuple[str, str]:
    """What a text that does not match is not, and what to write instead."""
    if endings := re.fullmatch(r"\\\.\((.+)\)\$|\\\.(\w+)\$", pattern):
        # of a file's name
        found = (endings[1] or endings[2]).replace("\\", "").split("|")
        return "no name of such a file", f"Let it end in {', '.join(f'.{each}' for each in found)}."
    if re.fullmatch(r"\^\[\^[^\]]*\]\*\$", pattern):
        return _ONE_LINE
    return FORMS[pattern]
