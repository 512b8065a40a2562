"""What the twin tells about people, drawn: for the rights holder alone."""

from __future__ import annotations

from collections.abc import Sequence

from companions.twin_report.attacks import Attack, Standing
from companions.twin_report.figures.lines import Line, draw_lines
from companions.twin_report.figures.rates import Rate, draw_rates
from companions.twin_report.leaks import Leaks, quantiles
from companions.twin_report.parts import (
    Figures,
    NumberTable,
    Origin,
    Part,
    Section,
    Text,
    Warned,
    percent,
    three,
)
from twins.evaluation.proportions import Proportion, risk

NO_HOLDOUT = (
    "No people were held out, so patterns that hold for everybody cannot be told from copies of somebody. "
    "Give --holdout with a folder of people who were not in the original."
)


def attack_section(slug: str, title: str, attacks: Sequence[Attack], *, has_holdout: bool) -> Section:
    """Every attack with its baselines, as a picture and in numbers."""
    groups = [(one.name, _rates(one)) for one in attacks]
    legend = [
        ("attack", "on people of the original"),
        ("real", "on held-out people"),
        ("blind", "by columns only"),
    ]
    rows = [_attack_row(one) for one in attacks]
    names = ("attack", "what succeeds", "original", "held out", "columns only", "risk", "so")
    words = (
        "Shares of tries, with 95 % intervals (Wilson). The risk is what the attack wins beyond its baseline "
        "(held-out people, or columns only where nobody was held out), as a share of what was left to win."
    )
    parts: list[Part] = [] if has_holdout else [Text(NO_HOLDOUT)]
    parts += [
        Figures("Attacks", [("", draw_rates(groups, name="Attacks"))], Origin.ORIGINAL, words, legend),
        NumberTable("Attacks in numbers", names, rows, Origin.ORIGINAL),
    ]
    return Section(slug, title, "Can somebody be singled out, linked or guessed?", tuple(parts))


def _rates(one: Attack) -> list[Rate]:
    found = [_rate("original", "attack", one.alike or one.found)]
    if one.held_out is not None:
        found.append(_rate("held out", "real", one.held_out))
    return [*found, _rate("columns only", "blind", one.blind)]


def _rate(name: str, kind: str, one: Proportion) -> Rate:
    return Rate(name, kind, one.share, *one.interval())


def _attack_row(one: Attack) -> tuple[str, ...]:
    low, middle, high = _risk(one)
    return (
        one.name,
        one.about,
        _counted(one.found),
        "none" if one.held_out is None else _counted(one.held_out),
        _counted(one.blind),
        f"{three(middle)} ({three(low)} to {three(high)})",
        one.standing,
    )


def _risk(one: Attack) -> tuple[float, float, float]:
    middle, low, high = risk(one.alike or one.found, one.held_out or one.blind)
    return low, middle, high


def _counted(one: Proportion) -> str:
    return f"{percent(one.share)} of {one.tries}"


def copies_section(slug: str, title: str, found: Leaks) -> Section:
    """Rows, near rows and distances."""
    rows = [("equal in every cell", _counted(found.equal), *_control(found, 0)),
            ("equal in all cells but at most one", _counted(found.near), *_control(found, 1))]  # fmt: skip
    names = (
        "rows of the twin that are",
        "somebody of the original",
        "of as many of the original",
        "held out",
    )
    words = (
        "In a table of few columns many ordinary rows are equal. What counts is whether more rows equal "
        "the original's than as many held-out people's."
    )
    nearness = found.nearness
    lines = [
        Line("original", "attack", quantiles(nearness.to_original)),
        Line(nearness.other, "real", quantiles(nearness.to_other)),
    ]
    said = NO_HOLDOUT
    if nearness.nearer is not None:
        nearer = percent(nearness.nearer)
        said = f"Rows nearer to the original than to held-out people: {nearer}; 50 % is chance."
    picture = draw_lines(lines, name="Distance to the nearest row", sentence=said, height=160)
    legend = [("attack", "twin to the original"), ("real", nearness.other)]
    verdict: Part = Text("No more rows are near to the original than chance explains.", Origin.ORIGINAL)
    if found.copies or nearness.is_copying:
        verdict = Warned("Rows of the original stand in this twin.", Origin.ORIGINAL)
    elif found.held_out is None:
        verdict = Text(NO_HOLDOUT)
    parts = (
        verdict,
        NumberTable("Exact and near matches", names, rows, Origin.ORIGINAL, words),
        Figures("Distance to the closest record", [("", picture)], Origin.ORIGINAL, said, legend),
        *_rare(found),
    )
    return Section(
        slug, title, "Does somebody's row, or a value that one person alone has, stand in the twin?", parts
    )


def _control(found: Leaks, place: int) -> tuple[str, str]:
    if found.alike is None or found.held_out is None:
        return "none", "none"
    return _counted(found.alike[place]), _counted(found.held_out[place])


def _rare(found: Leaks) -> tuple[Part, ...]:
    alone, again, undeclared = (
        sum(getattr(one, field) for one in found.rare) for field in ("held_by_one", "reappear", "undeclared")
    )
    words = (
        f"{alone} values are held by exactly one person. {again} of them stand in the twin; values drawn "
        f"blindly inside the same cells hit {found.rare_by_chance}. {undeclared} of them no draw from the "
        "declaration could have made: there must be none."
    )
    rows = [(one.name, str(one.held_by_one), str(one.reappear), str(one.undeclared)) for one in found.rare]
    names = ("column", "values that one person has", "of these in the twin", "outside the declaration")
    first: Part = Warned(words, Origin.ORIGINAL) if found.repeats_values else Text(words, Origin.ORIGINAL)
    return (first, NumberTable("Values that one person alone has", names, rows, Origin.ORIGINAL))


def groups_section(slug: str, title: str, found: Leaks) -> Section:
    """k-anonymity, l-diversity and DatLeak, weak as they are."""
    original, twin = found.groups
    chosen = (
        "as marked or named" if found.quasi_is_marked else "nothing is marked: all words and whole numbers"
    )
    words = f"Quasi-identifiers ({chosen}): {', '.join(found.quasi) or 'none'}."
    rows = [
        ("k: smallest group", str(original.k), str(twin.k)),
        ("groups", str(original.classes), str(twin.classes)),
        (
            "people alone in their group",
            f"{original.unique} of {original.rows}",
            f"{twin.unique} of {twin.rows}",
        ),
        ("combinations of one person in both", str(found.unique_again), str(found.unique_again)),
        *(
            (f"l: fewest values of {name} in a group", str(one), str(other))
            for name, one, other in found.secrets
        ),
    ]
    parts: list[Part] = [
        NumberTable("k-anonymity and l-diversity", ("", "original", "twin"), rows, Origin.ORIGINAL, words),
        Text(
            "A twin of levels 0 to 2 may have people alone in their group: they are made up. k and l are "
            "weaker than the promise of the counts, and bound nothing about what is learnt."
        ),
        *_datleak(found),
    ]
    return Section(slug, title, "How small are groups of people who look alike?", tuple(parts))


def _datleak(found: Leaks) -> list[Part]:
    if found.published is None:
        return [Text("DatLeak compares tables of equal size only; these differ.", Origin.ORIGINAL)]
    rows = [
        ("full leakage, as published", percent(found.published.full)),
        ("full leakage, corrected: rows that equal somebody's, in any order", percent(found.equal.share)),
        ("partial leakage, as published", percent(found.published.partial)),
        ("near leakage, corrected: all cells but at most one", percent(found.near.share)),
        ("equal cells in a row, as published", f"{found.published.mean_equal:.2f}"),
    ]
    if found.held_out is not None:
        rows += [("corrected, against held-out people: full", percent(found.held_out[0].share)),
                 ("corrected, against held-out people: near", percent(found.held_out[1].share))]  # fmt: skip
    if found.cells is not None:
        rows += [("cells equal to the same row's", percent(found.cells.found)),
                 ("cells equal by chance", percent(found.cells.by_chance))]  # fmt: skip
    words = (
        "As published, rows are compared in file order, an empty cell equals nothing, and one equal cell is "
        "partial leakage: nearly every table has that. Corrected, order does not count; empty equals empty."
    )
    return [NumberTable("DatLeak", ("measure", "share"), rows, Origin.ORIGINAL, words)]


def summary_rows(attacks: Sequence[Attack], leaks: Leaks, table: str) -> list[tuple[str, str, str]]:
    """One line for each thing that could be found, for the top of the report."""
    rows = [(table, one.name, str(one.standing)) for one in attacks]
    copies = "rows of the original found" if leaks.copies or leaks.nearness.is_copying else (
        "not beyond its baseline" if leaks.held_out else "undecided: nobody was held out")  # fmt: skip
    rare = "more in the twin than chance puts there" if leaks.repeats_values else "not beyond chance"
    return [*rows, (table, "copied rows", copies), (table, "values of one person", rare)]


def finds_people(attacks: Sequence[Attack], leaks: Leaks) -> bool:
    """Whether anything at all was found."""
    found = any(one.standing is Standing.FOUND for one in attacks)
    return found or leaks.copies or leaks.nearness.is_copying or leaks.repeats_values
