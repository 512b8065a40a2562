"""What the steps of a registration show beside their fields: examples, prices, pictures."""

from __future__ import annotations

from typing import Any, get_args

from markupsafe import Markup

from domain import registration_draft
from domain.budget_meaning import in_plain_words, noise_share, purchases
from domain.channel_words import channels_of
from domain.channels import beyond_default
from domain.dataset.files import VoxelType
from domain.image import ImageState
from domain.instruments import INSTRUMENTS
from domain.loss import Currency, canonical_amount
from domain.policy import ALL_GUARANTEES, Policy
from domain.surroundings import Isolation
from domain.usual_ranges import RANGES
from drawing.noise_range import Choice, draw_noise_range
from gateway.pages.dataset_facts import KINDS, rules
from gateway.pages.dataset_facts import promises as all_promises
from gateway.pages.register_draft import Typed
from store import images
from store.database import Database

EXAMPLE_PEOPLE, EXAMPLE_EPSILON = 500, 1.0


_CHANNELS = channels_of(beyond_default(Isolation.SHARED))
_ISOLATIONS = [
    ("", "as the time of release goes: nothing else with times from public values, else runs beside it"),
    (
        str(Isolation.EXCLUSIVE),
        "nothing else: no other run of any job, no rehearsal; slower with several slots",
    ),
    (str(Isolation.SHARED), "runs beside it, one in each slot: quicker, and they can signal to each other"),
]


def facts(step: str, typed: Typed, database: Database) -> dict[str, Any]:
    """What the template of this step needs besides the draft."""
    if step == "tables":
        return {"unit_table": _unit_table(typed)}
    if step == "files":
        return {"voxel_types": [("", "int16"), *((kind, kind) for kind in get_args(VoxelType))]}
    if step == "budget":
        return {"bought": bought(typed)}
    if step == "policy":
        promised = all_promises(Policy(guarantees=ALL_GUARANTEES))
        return {
            "images": _images(typed, database),
            "channels": _CHANNELS,
            "promises": list(zip(map(str, ALL_GUARANTEES), promised, strict=True)),
            "default": Policy(),
            "isolations": _ISOLATIONS,
        }
    return _check(typed) if step == "check" else {}


def table_facts(typed: Typed, at: str) -> dict[str, Any]:
    """The same for the page of one table."""
    instruments = [(each.key, f"{each.name}: mean {each.mean:g}, sd {each.sd:g}") for each in INSTRUMENTS]
    picture = bounds_picture(typed, at)
    return {"kinds": KINDS, "ranges": RANGES, "instruments": instruments, "picture": picture}


def bought(typed: Typed) -> dict[str, Any] | None:
    """What the budget buys; nothing while it is no amount."""
    try:
        budget = canonical_amount(Currency.EPSILON, typed.value("budget_epsilon"))
    except ValueError:
        return None
    people = people_of(typed)
    least, text = Policy().min_block_size, typed.value("policy.min_block_size")
    block = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else least
    block = min(max(block, least), people)
    return {
        "budget": budget,
        "people": people,
        "block_size": block,
        "sentence": in_plain_words(budget),
        "rows": purchases(budget, people=people, block_size=block),
    }


def people_of(typed: Typed) -> int:
    """The nominal size, or an example's while there is none."""
    text = typed.value("nominal_size")
    is_size = text.isascii() and text.isdigit() and len(text) < 10
    return max(6, int(text)) if is_size else EXAMPLE_PEOPLE


def bounds_picture(typed: Typed, at: str) -> dict[str, Any]:
    """What bounds cost: of the first column that has both, or of an age."""
    name, lower, upper = "age", 18.0, 100.0
    columns = _columns(typed, at)
    for column in columns:
        low, high = _number(column.get("lower")), _number(column.get("upper"))
        if low is not None and high is not None and low < high:
            name, lower, upper = str(column.get("name") or "age"), low, high
            break
    people = people_of(typed)
    share = noise_share(people, EXAMPLE_EPSILON)
    middle, width = lower / 2 + upper / 2, upper - lower
    choices = [
        Choice(words, middle - factor * width / 2, middle + factor * width / 2, factor * width * share)
        for words, factor in (("as declared", 1.0), ("four times as wide", 4.0), ("half as wide", 0.5))
    ]
    return {"column": name, "people": people, "svg": Markup(draw_noise_range(choices))}  # noqa: S704


def _columns(typed: Typed, at: str) -> list[dict[str, Any]]:
    number = int(at.split(".")[1])
    table = (typed.declaration.get("tables") or [])[number]
    return [column for column in table.get("columns") or () if isinstance(column, dict)]


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    return float(value) if is_number else None


def _unit_table(typed: Typed) -> int:
    """Which of the tables is the unit's: the one named, or the first."""
    named = typed.value("privacy_unit.table")
    paths = [table.get("path") if isinstance(table, dict) else None
             for table in typed.declaration.get("tables") or ()]  # fmt: skip
    return paths.index(named) if named in paths else 0


def _images(typed: Typed, database: Database) -> list[tuple[str, str]]:
    """Name and description of every approved image, and names from the draft that are none."""
    with database.reading() as connection:
        found = {
            image.name: image.description
            for image in images.listed(connection)
            if image.state is ImageState.APPROVED
        }
    chosen = [name for name in typed.value("policy.images").split("\n") if name]
    return [*found.items(), *((name, "not approved here") for name in chosen if name not in found)]


def _check(typed: Typed) -> dict[str, Any]:
    """Everything once more; without problems the declaration in words and the commands."""
    if any(typed.all_wrong.values()):
        return {"declaration": None, "rules": []}
    declaration = registration_draft.declared(typed.declaration)
    return {"declaration": declaration, "rules": rules(declaration.policy)}
