"""What the character model and the list of names say about a column, where no rule knows."""

from __future__ import annotations

from domain.identifier_kind import Kind
from twins.pii.remains import FEWEST, MOSTLY, SOME, code_of
from twins.pii.tally import MOST_LETTERS, PERSON, Tally
from twins.pii.verdict import Verdict, verdict

LIKELY, LIKELY_UNCASED, LIKELY_EAST, SURELY = 0.58, 0.72, 0.65, 0.75
"""The model's mean probability of a name that a column needs: of many different values, of a script without
capitals, of one of East Asia, of few values."""

LESS_LIKELY = 0.2
"""By how much more is asked of a column the more its values repeat: words for colours and towns come from
short lists, and people's names from long ones."""

MANY = 100
"""Different values from which on a list is long, however many rows there are."""

LIKELY_FULL, LIKELY_FULL_UNCASED = 0.4, 0.55
"""The same where nearly all values have the form of a full name."""

MARGIN = 0.05
"""By how much full names are likelier than words: schools and brands have their form as well."""

KNOWN, LIKELY_KNOWN, LONGEST_KNOWN = 0.6, 0.5, 5
"""Share of words that are names of people somewhere, from which on the model needs so little, and up to how
many words a value may have then."""

BORNE, LIKELY_BORNE = 0.85, 0.35
"""The same where nearly all words are such names."""

UNKNOWN, MORE_LIKELY = 0.2, 0.08
"""Share of such words below which the model has to be so much surer."""

HOUSES, MOST_HOUSES = 0.3, 20
"""Different numbers of houses for each different value, up to so many: what all have numbers a model."""

FAMILIES = 0.85
"""Share of values with a frequent family name of China or Korea, each of which is borne by many."""

MOST_SYLLABLES = 12
"""Different short words up to which they may be categories as well as families."""

SOME_STREETS = 0.3
"""Share of values with the word for a street and a number, where the model sees addresses in others."""

NUMEROUS = 20
"""Different words in small letters, of which fewer may be any category."""

FEWEST_ACCOUNTS = 20
"""Different values in which a number behind a word is seen to tell bearers of one name apart."""

MOST_TOWNS = 50
"""Different values up to which numbers and words that repeat are postcodes and towns, which
`twins/pii/remains.py` asks about, and no homes."""


def by_model(tally: Tally, *, doubtful: bool) -> Verdict | None:
    """What the character model sees in the different values, where no rule knows.

    `doubtful` where the header speaks of a thing: then only what surely looks like names is.
    """
    if tally.scored < 3 or tally.of_present(tally.with_letters) < MOSTLY:
        return None
    if code_of(tally, specific=False)[1] >= MOSTLY:
        return None
    doubtful = doubtful and not _are_known_full_names(tally)
    is_category = tally.distinct.count <= 12 and tally.different < 0.2
    if (said := _before_names(tally)) is not None:
        return said
    if tally.of_present(tally.short) >= MOSTLY or (is_category and _are_too_few(tally)):
        return None
    if len(tally.wordings) < MOST_LETTERS <= FEWEST <= tally.distinct.count:
        return None  # `Ward 1` to `Ward 9`: one wording with numbers, whoever is called Ward
    is_cased = tally.of_present(tally.cased) >= SOME
    likely = _likely(tally, is_cased=is_cased)
    person, needed = tally.mean(*PERSON), SURELY if is_category or doubtful else likely
    others = max(tally.mean("TERM", "CODE"), tally.mean("PLACE"), tally.mean("ORGANISATION"))
    if tally.share("full name form") >= MOSTLY and tally.different >= 0.5 and not doubtful:
        needed = LIKELY_FULL if is_cased else LIKELY_FULL_UNCASED
        others += MARGIN
    if not (is_category or doubtful or tally.share("east") >= SOME):
        needed = _with_list(tally, needed)
    if _are_of_the_east(tally, person):
        return verdict(Kind.PERSON, 0.7, "Most values have the form of names of East Asia.", "east name")
    if (person >= needed and person >= others) or _are_names_on_lists(tally, person):
        return verdict(Kind.PERSON, min(0.9, person), "Most values look like people's names.", "comma name")
    if not is_category and _are_accounts(tally):
        return verdict(Kind.USERNAME, 0.6, "Most values look like user names.", "account")
    if tally.mean("PLACE") >= 0.6:
        return verdict(Kind.PLACE, 0.5, "Most values look like places.")
    return None


def _before_names(tally: Tally) -> Verdict | None:
    """What has words of its own: addresses and organisations, both of which are named after people; and what
    the model does not see, names in small letters."""
    repeat = tally.distinct.count <= MOST_TOWNS and tally.different < LESS_LIKELY
    if _are_addresses(tally) and not repeat:
        return verdict(Kind.ADDRESS, 0.6, "Most values look like postal addresses.")
    if tally.share("organisation") >= SOME:
        why = "Most values are names of organisations; some are called after people."
        return verdict(Kind.TEXT, 0.4, why, "organisation")
    if tally.share("latin family of east") >= FAMILIES and tally.distinct.count > MOST_SYLLABLES:
        return verdict(Kind.PERSON, 0.7, "Most values are family names of East Asia.", "latin family of east")
    if _are_small_names(tally):
        return verdict(Kind.PERSON, 0.6, "Most values are people's names in small letters.")
    return None


def _are_too_few(tally: Tally) -> bool:
    """Two or three words that repeat prove nothing, unless they are full names; nor do a dozen that are not
    on the list of names: trades, tools and towns are called as people are. What remains asks about them."""
    if tally.share("full name form") >= MOSTLY:
        return False
    is_known = tally.known_share >= BORNE or tally.of_present(tally.cased) < SOME
    return tally.distinct.count < FEWEST or not is_known


def _are_addresses(tally: Tally) -> bool:
    """The model sees them and many have a house of their own; or a third have street and number as well."""
    if tally.mean("ADDRESS") >= 0.6 and _have_houses(tally) and len(tally.wordings) > 1:
        return True
    return tally.share("address") >= SOME_STREETS and tally.mean("ADDRESS") >= 0.4


def _are_of_the_east(tally: Tally, person: float) -> bool:
    """Nearly all with a frequent family name. In Latin letters the model takes them for towns, and the
    list of names knows some of their words."""
    if tally.share("latin name of east") >= MOSTLY and tally.distinct.count >= NUMEROUS:
        return tally.known_share >= UNKNOWN
    are_many = tally.different >= SOME and tally.scored >= FEWEST
    return tally.share("east name") >= FAMILIES and are_many and person >= 0.25


def _are_small_names(tally: Tally) -> bool:
    """The model takes names in small letters for accounts and terms, and the list of names knows them."""
    is_small = tally.of_present(tally.small) >= MOSTLY and tally.words_each < 2
    likely = tally.mean("USERNAME", *PERSON)
    return is_small and tally.known_share >= KNOWN and likely >= 0.6 and tally.distinct.count >= NUMEROUS


def _are_accounts(tally: Tally) -> bool:
    """Each another and like user names; or beginnings of many names with a number behind them.

    Words that a line joins are terms, unless people are called by them.
    """
    if tally.share("joined") >= SOME and tally.known_share < UNKNOWN:
        return False
    if len(tally.firsts) <= MOST_LETTERS and tally.distinct.count >= FEWEST_ACCOUNTS:
        return False  # pictures and conditions, which have a few words in front
    if tally.share("account") >= MOSTLY and tally.distinct.count >= FEWEST_ACCOUNTS:
        return True
    likely = tally.mean("USERNAME") >= 0.35 and tally.mean("USERNAME", *PERSON) >= 0.6
    return likely and tally.different >= 0.7


def _with_list(tally: Tally, needed: float) -> float:
    """What the model needs where the list of names knows the words, and where it hardly knows any."""
    is_long_enough = tally.distinct.count >= FEWEST and tally.words_each <= LONGEST_KNOWN
    if tally.known_share >= KNOWN and is_long_enough:
        return min(needed, LIKELY_KNOWN)
    return needed + MORE_LIKELY * (tally.known_share < UNKNOWN)


def _are_names_on_lists(tally: Tally, person: float) -> bool:
    """With families in front; or nearly all known, of which the model takes some for towns. The list of names
    has one town in two."""
    if tally.share("comma name") >= MOSTLY and person >= 0.3:
        return True
    are_many = tally.distinct.count >= NUMEROUS and tally.words_each <= LONGEST_KNOWN
    others = max(tally.mean("TERM", "CODE"), tally.mean("ORGANISATION"), tally.mean("PLACE") - MARGIN)
    return tally.known_share >= BORNE and are_many and person >= max(LIKELY_BORNE, others)


def _are_known_full_names(tally: Tally) -> bool:
    """Whatever a header speaks of: `head_of_state` holds people."""
    return tally.share("full name form") >= MOSTLY and tally.known_share >= KNOWN


def _have_houses(tally: Tally) -> bool:
    enough = min(MOST_HOUSES, HOUSES * tally.distinct.count)
    return tally.share("house number") >= SOME and tally.houses.count >= enough


def _likely(tally: Tally, *, is_cased: bool) -> float:
    """What single names need. Full names are asked for less, by the form that they have."""
    if not is_cased and tally.share("east") >= MOSTLY:
        return LIKELY_EAST
    repeated = 1 - max(tally.different, min(1.0, tally.distinct.count / MANY))
    return (LIKELY if is_cased else LIKELY_UNCASED) + LESS_LIKELY * repeated
