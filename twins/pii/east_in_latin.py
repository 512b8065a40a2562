"""Names of China, Korea and Vietnam in Latin letters: the frequent family names of each, few as they are.

A hundred families of China are of nine people in ten, so a column of names has one in nearly each value. As
words alone they are short, and towns are written like them: a single value is told by nothing.
"""

from __future__ import annotations

_FAMILIES_TEXT = """
wang li zhang liu chen yang huang zhao wu zhou xu sun ma zhu hu guo he gao lin luo zheng liang xie song
tang han feng deng cao peng zeng xiao tian dong yuan pan jiang cai yu du ye cheng su wei lu ding ren shen
yao cui zhong tan fan jin shi liao jia xia fu fang bai zou meng xiong qin qiu yin xue yan duan lei hou long
tao gu mao hao gong shao wan qian lai kong yi chang wen kang dai chan wong lee cheung lau leung ho ng lam
yeung tsang chow fung kwok mak yip tse hui tsai hsu hsieh kuo chou tseng chiu chung tsui lui kim park choi
jung jeong kang cho yoon yun jang lim oh seo shin kwon hwang ahn ryu hong jeon ko moon son bae baek nguyen
tran le pham huynh phan vu vo dang bui do ngo duong ly
"""
_FAMILIES = frozenset(_FAMILIES_TEXT.split())
LONGEST = 30


def has_family_in_latin(value: str) -> bool:
    """Two to four words, of which the first or the last is a frequent family name. Towns of one word have
    none."""
    if len(value) > LONGEST:
        return False
    words = value.replace(",", " ").casefold().split()
    return 2 <= len(words) <= 4 and (words[0] in _FAMILIES or words[-1] in _FAMILIES)
