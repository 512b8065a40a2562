"""The public part of a twin's report, `public.html` of `dpgate twin report`, as a rights holder hands it in.

Researchers open it from the gateway. So it is looked at before it is kept: it must be the public part, show
no figure that comes from the original, load nothing and lead nowhere. That is a sieve for mistakes and for
markup that has no business there; what a browser may do with the page is said by the headers that it is sent
with, which forbid scripts, forms, frames and every address.
"""

from __future__ import annotations

from collections.abc import Sequence
from html.parser import HTMLParser

from domain.errors import InvalidRequest, TooLarge

MAX_BYTES = 2 * 1024 * 1024
_TAGS = frozenset(
    {
        *("html", "head", "meta", "title", "style", "body", "main", "nav", "section", "div", "span", "p"),
        *("h1", "h2", "h3", "h4", "ul", "ol", "li", "a", "strong", "em", "code", "br", "hr"),
        *("figure", "figcaption", "table", "caption", "thead", "tbody", "tr", "th", "td", "dl", "dt", "dd"),
        *("svg", "g", "rect", "line", "path", "circle", "polyline", "polygon", "text", "tspan", "desc"),
    }
)
_META = frozenset({"content-security-policy"})
_FIX = "Hand in public.html as dpgate twin report wrote it."


def check_report(content: bytes) -> str:
    """The page as text. Raises TooLarge, and InvalidRequest saying what it holds that it must not."""
    if len(content) > MAX_BYTES:
        raise TooLarge("page", f"{len(content)} bytes; at most {MAX_BYTES} are kept.", "Report fewer tables.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidRequest("page", "is not UTF-8.", _FIX) from None
    if not text.lower().startswith("<!doctype html>") or "\0" in text:
        raise InvalidRequest("page", "is no page of a report.", _FIX)
    seen = _Looked()
    seen.feed(text)
    seen.close()
    if seen.problem:
        raise InvalidRequest("page", seen.problem, _FIX)
    if not seen.is_public:
        raise InvalidRequest("page", "does not say that it is the public part.", _FIX)
    return text


class _Looked(HTMLParser):
    """The first thing that is wrong, and whether the page says that it is public."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problem, self.is_public = "", False

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            self._say(f"holds a <{tag[:20]}>, which no report has.")
        for name, value in attrs:
            self._look(name, value or "")
        if tag == "meta" and (said := dict(attrs).get("http-equiv")) and said.lower() not in _META:
            self._say("holds an instruction to the browser that no report has.")

    def handle_pi(self, _data: str) -> None:
        self._say("holds an instruction that no report has.")

    def _look(self, name: str, value: str) -> None:
        classes = value.split() if name == "class" else []
        if name.startswith("on") or name in ("src", "srcset", "srcdoc", "action", "formaction", "ping"):
            self._say(f"holds {name[:20]}, which no report has.")
        elif name.endswith("href") and not value.startswith("#"):
            self._say("leads to another address.")
        elif "closed" in classes and "banner" in classes:
            self._say("is report.html, the part for you alone.")
        elif "mark-of" in classes and "original" in classes:
            self._say("holds a figure from the original, without noise.")
        self.is_public = self.is_public or ("banner" in classes and "open" in classes)

    def _say(self, problem: str) -> None:
        self.problem = self.problem or problem
