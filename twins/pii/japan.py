"""Names as Japan writes them: frequent family names, in characters and in katakana.

Some hundred and fifty of more than a hundred thousand: about two people in five bear one of them, so a column
of names is told by the share of its values that begin with one, and a single value by nothing.
"""

from __future__ import annotations

import re

_FAMILIES_TEXT = """
佐藤 鈴木 高橋 田中 伊藤 渡辺 渡邊 渡部 山本 中村 小林 加藤 吉田 山田 佐々木 山口 松本 井上 木村 林 斎藤
斉藤 清水 山崎 阿部 森 池田 橋本 山下 石川 中島 前田 藤田 後藤 小川 岡田 村上 長谷川 近藤 石井 坂本 遠藤
藤井 青木 西村 福田 太田 三浦 藤原 岡本 松田 中川 中野 原田 小野 田村 竹内 金子 和田 中山 石田 上田 森田 原
柴田 酒井 工藤 横山 宮崎 宮本 内田 高木 安藤 谷口 大野 丸山 今井 高田 藤本 河野 武田 村田 上野 杉山 増田
小島 菅原 平野 大塚 千葉 久保 松井 小山 野口 菊地 菊池 岩崎 松尾 木下 野村 佐野 新井 杉本 古川 熊谷 市川
内藤 岩田 浜田 大西 島田 桜井 高野 水野 荒井 吉川 山内 西田 矢野 西川 北村 安田 飯田 川口 松下 川崎 五十嵐
本田 東 久保田 関 土屋 中田 服部 川村 辻 岩本 田口 福島 秋山 樋口 星野 永井 小松 中西 馬場 望月 大橋 浅野
岡崎 大久保 石原 早川 宮内
"""
_READINGS_TEXT = """
サトウ スズキ タカハシ タナカ イトウ ワタナベ ヤマモト ナカムラ コバヤシ カトウ ヨシダ ヤマダ ササキ
ヤマグチ マツモト イノウエ キムラ ハヤシ サイトウ シミズ ヤマザキ アベ モリ イケダ ハシモト ヤマシタ
イシカワ ナカジマ マエダ フジタ ゴトウ オガワ オカダ ムラカミ ハセガワ コンドウ イシイ サカモト エンドウ
フジイ アオキ ニシムラ フクダ オオタ ミウラ フジワラ オカモト マツダ ナカガワ ナカノ ハラダ オノ タムラ
タケウチ カネコ ワダ ナカヤマ イシダ ウエダ モリタ ハラ シバタ サカイ クドウ ヨコヤマ ミヤザキ ミヤモト
ウチダ タカギ アンドウ タニグチ オオノ マルヤマ イマイ タカダ フジモト コウノ タケダ ムラタ ウエノ スギヤマ
マスダ コジマ スガワラ ヒラノ オオツカ チバ クボ マツイ コヤマ ノグチ キクチ イワサキ マツオ キノシタ ノムラ
サノ アライ スギモト フルカワ クマガイ イチカワ ナイトウ イワタ ハマダ オオニシ シマダ サクライ タカノ
ミズノ ヨシカワ ヤマウチ ニシダ ヤノ ニシカワ キタムラ ヤスダ イイダ カワグチ マツシタ カワサキ イガラシ
ホンダ クボタ ツチヤ ハットリ カワムラ イワモト タグチ フクシマ アキヤマ ヒグチ ホシノ ナガイ コマツ
ナカニシ ババ モチヅキ オオハシ アサノ オカザキ イシハラ ハヤカワ
"""
FAMILIES = frozenset(_FAMILIES_TEXT.split())
READINGS = frozenset(_READINGS_TEXT.split())
_BEGINNINGS = frozenset(family[0] for family in FAMILIES | READINGS)
LONGEST_FAMILY, LONGEST_READING = 3, 5
"""Signs. One sign alone begins too many words: 東 is a family, and begins the name of a capital."""

_CHARACTERS = re.compile("[\u3041-\u309f\u30a0-\u30ff\u3400-\u9fff々]{1,6}")
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc]{2,12}")
_PLACE_ENDS = frozenset("都道府県市区町村郡駅丁")


def is_frequent_name(value: str) -> bool:
    """A frequent family name alone, or with up to four or five signs of a given name behind it."""
    if value[:1] not in _BEGINNINGS:
        return False
    bare = value.replace("\u3000", "").replace(" ", "")
    if _KATAKANA.fullmatch(bare):
        return bare in READINGS or any(
            bare[:length] in READINGS and 2 <= len(bare) - length <= 5
            for length in range(LONGEST_READING, 1, -1)
        )
    if _CHARACTERS.fullmatch(bare) is None or bare[-1] in _PLACE_ENDS:
        return False
    return bare in FAMILIES or any(
        bare[:length] in FAMILIES and 1 <= len(bare) - length <= 4 for length in (LONGEST_FAMILY, 2)
    )
