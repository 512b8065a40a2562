"""What a value says by its form alone: addresses, names with a title, sentences, postcodes, number plates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from twins.pii.japan import is_frequent_name

_STREETS_TEXT = """
street st road rd avenue ave lane ln drive dr court ct close crescent place pl square sq terrace way
highway hwy parkway boulevard blvd mews gardens apt suite unit calle c/ avenida avda avda. av av. plaza
paseo camino carrer rue chemin allée allee impasse quai via viale corso piazza vicolo largo strada rua
travessa praça ulica ul ul. aleja straat weg laan plein gracht kade steeg straße strasse str str. gasse
platz allee ring gatan vägen gade vej veien katu tie postbus postfach box bp apartado улица ул ул.
проспект
"""
_STREETS = frozenset(_STREETS_TEXT.split())
_STREET_ENDS = re.compile(
    r"(?:straat|str\.|straße|strasse|laan|plein|gracht|kade|dreef|singel|steeg|gasse|platz|allee|damm|ufer|weg|gatan|vägen|"
    r"gade|vej|veien|gate|katu|tie|utca|út|sokak|caddesi|cad\.|sok\.)$"
)
_HOUSE = re.compile(r"#?(?!0)\d{1,5}(?:[-/]\d{1,5})?[a-z]?(?:[-/]?[a-z\d]{1,3})?\.?", re.ASCII)
_TITLE = re.compile(
    r"(?:mr|mrs|ms|miss|dr|prof|sr|sra|srta|hr|herr|frau|dhr|mevr|mw|mme|mlle|sig|dott|drs|ing)\.?,? (?=\S)",
    re.IGNORECASE,
)
_INITIALS = re.compile(
    r"(?:[^\W\d_]\.[ -]?){1,4}(?:[^\W\d_']{1,4} ){0,3}[^\W\d_][^\W\d_'’-]{1,30}(?: [^\W\d_'’-]{2,30})?"
)
_LINKING_WORDS_TEXT = """
the a an and with that which to of in on at for from by not since when de het een en met dat die niet
sinds op van in voor bij omdat der die das und mit dass nicht seit von im auf für bei weil el la los las
un una y con que su no desde en de por para porque le les une et avec sa son ne pas depuis dans du des
pour il lo gli una e con che suo non dal nel del per perché this
"""
_TELLING_WORDS_TEXT = """
was were is are had has she he they her his their we you it zijn heeft zij ze hij haar war ist sind hat
sie er ihr sein wurde fue tiene ella era está était est sont elle il avait è sono ha lei lui
will can could would should does did my our your
"""
_TELLING_WORDS = frozenset(_TELLING_WORDS_TEXT.split())
"""Verbs and pronouns. Titles and terms have articles and prepositions as well, but few of these."""

_WORD = re.compile(r"[^\d_!-&*+/:-@\[-`{-~]{1,40}")
_SENTENCE_WORDS = frozenset(_LINKING_WORDS_TEXT.split()) | _TELLING_WORDS
_PLATES = (
    r"[A-Z]{1,3}-\d{2,3}-[A-Z]{1,3}",
    r"\d{1,3}-[A-Z]{2,3}-\d{1,2}",
    r"[A-Z]{2}-[A-Z]{2}-\d{2}",
    r"\d{2}-[A-Z]{2}-[A-Z]{2}",
    r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2} \d{1,4}[EH]?",
    r"[A-Z]{2}\d{2} [A-Z]{3}",
    r"\d{4} [BCDFGHJ-NPR-TV-Z]{3}",
    r"[A-Z]{2} \d{3} [A-Z]{2}",
    r"\d-[A-Z]{3}-\d{3}",
    r"[A-Z]{3}[ -]?\d{2}[ -]?[A-Z\d]",
    r"[A-ZÄÖÜ]{1,3}-[A-Z]{1,2}-\d{1,4}[EH]?",
    r"[A-Z]{2}\d{2} ?[A-Z]{3}",
    r"[A-Z]{2,3}[ -]\d{3,5}",
    r"[A-Z]{2}[ -]?\d{3}[ -]?[A-Z]{2}",
)
_PLATE = re.compile("|".join(_PLATES))
_POSTCODES = {
    "uk": r"[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}",
    "nl": r"[1-9]\d{3} ?[A-Z]{2}",
    "ca": r"[A-Z]\d[A-Z] ?\d[A-Z]\d",
    "zip+4": r"\d{5}-\d{4}",
    "pl": r"\d{2}-\d{3}",
    "pt": r"\d{4}-\d{3}",
    "br": r"\d{5}-\d{3}",
    "se": r"\d{3} \d{2}",
    "zero": r"0\d{4}",
}
_POSTCODE_JAPAN = re.compile(r"〒? ?\d{3}-\d{4}", re.ASCII)
_POSTCODE_JAPAN_LOW = re.compile(r"〒? ?[01]\d{2}-\d{4}|〒.{8,9}", re.ASCII)
_POSTCODE = re.compile("|".join(_POSTCODES.values()), re.ASCII)
_PASSPORT = re.compile(r"[A-Z]{1,3}\d{6,8}[A-Z]?|\d{2}[A-Z]{2}\d{5}|[A-Z]{2}[A-Z0-9]{6}\d", re.ASCII)
_PHONE_BARE = re.compile(r"0[1-9]\d{7,9}", re.ASCII)
_MINUTES = r"\d{1,2}(?:[.,]\d{1,8})?"
_DEGREES = re.compile(
    rf"[NSEWO]? ?\d{{1,3}} ?° ?{_MINUTES} ?[′'’´] ?(?:{_MINUTES} ?(?:[″\"”]|''|′′)?)? ?[NSEWOZL]?|"
    rf"\d{{1,3}}[ :]{_MINUTES}[ :]{_MINUTES} ?[NSEW]|[NSEW] ?\d{{1,3}}[ :]{_MINUTES}(?:[ :]{_MINUTES})?|"
    # open location codes, of squares of some metres
    r"[23456789CFGHJMPQRVWX]{8}\+[23456789CFGHJMPQRVWX]{2,3}|"
    r"\d{1,3}(?:\.\d{1,8})? ?° ?[NSEW]|\d{6}(?:\.\d{1,3})?[NS]|\d{7}(?:\.\d{1,3})?[EW]",
    re.ASCII,
)
SPREADSHEET_CARD = re.compile(r"\d[.,]\d{2,8}E\+1[3-8]", re.IGNORECASE)


def is_address(value: str) -> bool:
    """A number of a house, and a word that streets are called by; or a box at a post office."""
    if not has_house_number(value):
        return False
    words = [word.strip(",;") for word in value.casefold().split()]
    return any(word in _STREETS or _STREET_ENDS.search(word) for word in words if not word.isdigit())


# numbers of blocks, houses and floors behind characters of East Asia, and roads of Korea before them;
# streets that have numbers as well, as in Colombia: `Cra. 7 # 12-34`
_BLOCKS = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af].{0,60}?"
    r"(?:\d{1,5} ?(?:丁目|番|号|號|樓|楼|室|호|번지|座)|(?:로|길) ?\d)|"
    r"^[^\W\d_]{1,14}\.? ?\d{1,3} ?[A-Za-z]{0,3} ?(?:#|[Nn][o°º]\.?) ?\d{1,3} ?[A-Za-z]{0,3} ?-"
    r" ?\d{1,3}(?!\d)"
)


def has_house_number(value: str) -> bool:
    """Two to twenty words, of which one is a small whole number such as 12, 12a or 12-2; 303.90 is none.

    `3600 mAh` is an amount, and `1275 - Something` an entry of a list.
    """
    words = value.casefold().split()
    if len(words) >= 2 and words[0].isdigit() and _is_counted(words):
        return False
    return 2 <= len(words) <= 20 and any(_HOUSE.fullmatch(word.strip(",;")) for word in words)


def has_word(value: str) -> bool:
    """Whether some word is of letters alone, three or more, as those of streets are: `14A 9M` has none."""
    return any(len(word) >= 3 and word.isalpha() for word in value.replace(",", " ").split())


def _is_counted(words: Sequence[str]) -> bool:
    if len(words) == 2:
        return len(words[1]) <= 3 and words[1].isalpha()
    return words[1] in ("-", "–", "—") and not words[2][0].isdigit()


def has_form_of_a_name(value: str) -> bool:
    """`Dr. Some Name` or `A.B. van Name`: a title or initials, then letters that begin a name."""
    match = _TITLE.match(value)
    if match:
        rest = value[match.end() :].split()
        return 0 < len(rest) <= 5 and rest[-1][:1].isupper() and not any(map(str.isdigit, value))
    return (
        bool(_INITIALS.fullmatch(value))
        and value[0].isupper()
        and value.split()[-1][:1].isupper()
        and " " in value
    )


_PARTICLES = frozenset(
    [
        "de",
        "del",
        "der",
        "den",
        "van",
        "von",
        "la",
        "le",
        "di",
        "da",
        "dos",
        "das",
        "do",
        "e",
        "y",
        "bin",
        "ibn",
        "al",
        "el",
        "ten",
        "ter",
        "zu",
        "af",
        "av",
    ]
)


def has_form_of_full_name(value: str) -> bool:
    """Two to four words of letters, each with a capital in front where its script has any."""
    words = value.replace(",", " ").split()
    if not 2 <= len(words) <= 4:
        return False
    return all(
        word.casefold() in _PARTICLES
        # small letters that have no capitals, such as those of Georgia, begin names as well
        or (
            word[0] == word[0].title()
            and not any(map(str.isdigit, word))
            and _WORD.fullmatch(word) is not None
        )
        for word in words
    )


def has_comma_of_a_name(value: str) -> bool:
    """`Name, Some`: one to three words on each side of the only comma, the last with a capital in front."""
    family, _, given = value.partition(", ")
    parts = [family.split(), given.split()]
    return (
        "," not in given
        and all(1 <= len(part) <= 3 for part in parts)
        and all(
            word[:1].isupper() and word.replace("-", "").replace("'", "").rstrip(".").isalpha()
            for part in parts
            for word in part[-1:]
        )
    )


# family names of nine in ten Chinese and Koreans, by the counts of their censuses; first those of two signs
_FAMILIES_OF_TWO = frozenset(["欧阳", "歐陽", "司马", "司馬", "上官", "诸葛", "諸葛", "남궁", "황보", "선우"])
_FAMILIES = frozenset(
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈曾彭吕呂"
    "苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎閻余潘杜戴夏钟鍾汪田任姜范方石姚谭譚廖邹鄒熊金陆陸郝孔白崔康毛邱秦江史顾顧侯邵孟龙龍万萬段雷钱錢汤湯尹黎易常武乔喬贺賀赖賴龚龔文"
    "김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구민진지엄채원천방공현함변염"
)
# of China, Korea and Vietnam: a column of names has one in nearly each value; towns are written like them, so
# a single value is told by nothing
_FAMILIES_IN_LATIN_TEXT = """
wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he gao lin luo zheng liang xie song
tang han feng deng cao peng zeng xiao tian dong yuan pan jiang cai yu du ye cheng su wei lu ding ren shen
yao cui zhong tan fan jin shi liao jia xia fu fang bai zou meng xiong qin qiu yin xue yan duan lei hou long
tao gu mao hao gong shao wan qian lai kong yi chang wen kang dai chan wong lee cheung lau leung ho ng lam
yeung tsang chow fung kwok mak yip tse hui tsai hsu hsieh kuo chou tseng chiu chung tsui lui kim park choi
jung jeong kang cho yoon yun jang lim im oh seo shin kwon hwang ahn an yoo ryu roh noh hong jeon ko moon son
bae baek ha min nguyen tran le pham huynh phan vu vo dang bui do ngo duong ly
"""
_FAMILIES_IN_LATIN = frozenset(_FAMILIES_IN_LATIN_TEXT.split())
_LONGEST_NAME = 30
_EAST = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{1,6}")


def has_form_of_east_asia(value: str) -> bool:
    """A frequent family name of China or Korea, and one or two signs behind it."""
    family = 2 if value[:2] in _FAMILIES_OF_TWO else 1
    return (family == 2 or value[0] in _FAMILIES) and 1 <= len(value) - family <= 2


def has_family_in_latin(value: str) -> bool:
    """Two to four words, of which the first or the last is a frequent family name. Towns of one word have
    none."""
    if len(value) > _LONGEST_NAME:
        return False
    words = value.replace(",", " ").casefold().split()
    return 2 <= len(words) <= 4 and (words[0] in _FAMILIES_IN_LATIN or words[-1] in _FAMILIES_IN_LATIN)


def is_family_in_latin(value: str) -> bool:
    """One word, written as a name, that is a frequent family name."""
    return value.istitle() and value.casefold() in _FAMILIES_IN_LATIN


def is_sentence(value: str) -> bool:
    """Four words or more with a verb or pronoun among them, or many words."""
    words = value.casefold().split(maxsplit=40)
    if len(words) < 4:
        return False
    plain = [word.strip(".,;:!?") for word in words]
    functional = sum(word in _SENTENCE_WORDS for word in plain)
    return len(words) >= 12 or (functional >= 2 and any(word in _TELLING_WORDS for word in plain))


def forms_of(value: str) -> list[str]:
    """The names of the forms that a short value has."""
    found = [name for name, pattern in _FORMS if pattern.fullmatch(value)]
    if _BLOCKS.search(value):
        found += ["house number", "address"]
    elif has_house_number(value) and has_word(value):
        found += ["house number", "address"] if is_address(value) else ["house number"]
    if has_form_of_full_name(value):
        found.append("full name form")
        if has_family_in_latin(value):
            found.append("latin name of east")
    if is_family_in_latin(value):
        found.append("latin family of east")
    if _EAST.fullmatch(value):
        found += ["east", "east name"] if has_form_of_east_asia(value) else ["east"]
    if not value.isascii() and is_frequent_name(value):
        found.append("name of japan")
    if has_form_of_a_name(value):
        found.append("name form")
    elif ", " in value and has_comma_of_a_name(value):
        found.append("comma name")
    return found


_FORMS = (
    ("plate", _PLATE),
    ("postcode", _POSTCODE),
    ("postcode, japan", _POSTCODE_JAPAN),
    ("postcode, japan, low", _POSTCODE_JAPAN_LOW),
    ("passport", _PASSPORT),
    ("phone, bare", _PHONE_BARE),
    ("degrees", _DEGREES),
)
