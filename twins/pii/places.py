"""Names of states and of those of the United States, adjectives of some, months and days: small letters."""

from __future__ import annotations

_STATES = """
afghanistan, albania, algeria, andorra, angola, argentina, armenia, australia, austria, azerbaijan, bahamas,
bahrain, bangladesh, barbados, belarus, belgium, belize, benin, bhutan, bolivia, bosnia and herzegovina,
botswana, brazil, brunei, bulgaria, burkina faso, burundi, cambodia, cameroon, canada, cape verde, chad,
chile, china, colombia, comoros, congo, costa rica, croatia, cuba, cyprus, czech republic, czechia, denmark,
djibouti, dominica, dominican republic, ecuador, egypt, el salvador, eritrea, estonia, eswatini, ethiopia,
fiji, finland, france, gabon, gambia, georgia, germany, ghana, greece, grenada, guatemala, guinea, guyana,
haiti, honduras, hong kong, hungary, iceland, india, indonesia, iran, iraq, ireland, israel, italy, ivory
coast, jamaica, japan, jordan, kazakhstan, kenya, kosovo, kuwait, kyrgyzstan, laos, latvia, lebanon,
lesotho, liberia, libya, liechtenstein, lithuania, luxembourg, madagascar, malawi, malaysia, maldives, mali,
malta, mauritania, mauritius, mexico, moldova, monaco, mongolia, montenegro, morocco, mozambique, myanmar,
namibia, nepal, netherlands, the netherlands, new zealand, nicaragua, niger, nigeria, north korea, north
macedonia, norway, oman, pakistan, palestine, panama, papua new guinea, paraguay, peru, philippines, poland,
portugal, puerto rico, qatar, romania, russia, rwanda, samoa, san marino, saudi arabia, scotland, senegal,
serbia, seychelles, sierra leone, singapore, slovakia, slovenia, somalia, south africa, south korea, spain,
sri lanka, sudan, suriname, sweden, switzerland, syria, taiwan, tajikistan, tanzania, thailand, togo,
trinidad and tobago, tunisia, turkey, turkmenistan, uganda, ukraine, united arab emirates, united kingdom,
united states, united states of america, usa, uruguay, uzbekistan, vatican, venezuela, vietnam, wales,
england, yemen, zambia, zimbabwe, great britain, northern ireland, nederland, belgië, duitsland, frankrijk,
spanje, italië, verenigd koninkrijk, marokko, turkije, polen, indonesië, deutschland, österreich, schweiz,
frankreich, spanien, italien, niederlande, belgien, türkei, vereinigtes königreich, griechenland, allemagne,
autriche, suisse, espagne, italie, pays-bas, belgique, maroc, turquie, pologne, royaume-uni, états-unis,
algérie, tunisie, alemania, francia, españa, italia, países bajos, bélgica, marruecos, turquía, polonia,
reino unido, estados unidos, suiza, méxico, germania, spagna, paesi bassi, belgio, marocco, turchia, regno
unito, stati uniti, svizzera, romania, brasile, brasil, sverige, norge, danmark, suomi, polska
"""
_UNITED_STATES = """
alabama, alaska, arizona, arkansas, california, colorado, connecticut, delaware, florida, hawaii, idaho,
illinois, indiana, iowa, kansas, kentucky, louisiana, maine, maryland, massachusetts, michigan, minnesota,
mississippi, missouri, montana, nebraska, nevada, new hampshire, new jersey, new mexico, new york, north
carolina, north dakota, ohio, oklahoma, oregon, pennsylvania, rhode island, south carolina, south dakota,
tennessee, texas, utah, vermont, virginia, washington, west virginia, wisconsin, wyoming, district of
columbia
"""
_ADJECTIVES = """
american, australian, austrian, belgian, brazilian, british, bulgarian, canadian, chinese, croatian, czech,
danish, dutch, english, finnish, french, german, greek, hispanic, hungarian, icelandic, indian, indonesian,
iranian, irish, italian, japanese, korean, mexican, moroccan, norwegian, persian, polish, portuguese,
romanian, russian, scottish, slovenian, spanish, swedish, swiss, thai, turkish, ukrainian, vietnamese,
welsh, arabic, hebrew
"""
_CALENDAR = """
january, february, march, april, may, june, july, august, september, october, november, december, monday,
tuesday, wednesday, thursday, friday, saturday, sunday, januari, februari, maart, mei, juni, juli, augustus,
oktober, maandag, dinsdag, woensdag, donderdag, vrijdag, zaterdag, zondag, januar, februar, märz, mai, august,
dezember, montag, dienstag, mittwoch, donnerstag, freitag, samstag, sonntag, janvier, février, mars, avril,
juin, juillet, août, septembre, octobre, novembre, décembre, lundi, mardi, mercredi, jeudi, vendredi, samedi,
dimanche, enero, febrero, marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre,
lunes, martes, miércoles, jueves, viernes, sábado, domingo, gennaio, febbraio, aprile, maggio, giugno, luglio,
settembre, ottobre, dicembre, lunedì, martedì, mercoledì, giovedì, venerdì, sabato, domenica
"""


def _names(text: str) -> frozenset[str]:
    return frozenset(" ".join(name.split()) for name in text.split(",") if name.strip())


PLACES = _names(_STATES) | _names(_UNITED_STATES)
ORIGINS = _names(_ADJECTIVES)
CALENDAR = _names(_CALENDAR)
LONGEST = 30
