"""The state diagram as a static SVG, from TRANSITIONS. A state without a place here stops generate.py."""

from __future__ import annotations

from domain.states import TRANSITIONS, JobState, LedgerAction, Transition, is_terminal

S = JobState
WIDTH, HEIGHT, BOX_W, BOX_H = 700, 700, 150, 40
PLACES: dict[JobState | None, tuple[int, int]] = {
    None: (200, 50),
    S.SUBMITTED: (200, 150),
    S.QUEUED: (200, 240),
    S.PREPARING: (200, 330),
    S.RUNNING: (200, 430),
    S.AGGREGATING: (200, 520),
    S.IN_REVIEW: (200, 610),
    S.REJECTED: (550, 130),
    S.CANCELLED: (550, 285),
    S.ERRORED: (550, 475),
    S.WITHHELD: (550, 640),
    S.RELEASED: (550, 560),
}
COLOURS = {
    LedgerAction.RESERVE: "#8a5a00",
    LedgerAction.CHARGE: "#b3261e",
    LedgerAction.REFUND: "#1b6e3c",
    None: "#4a5568",
}
# the moves that a straight line would draw through a box
CURVES = {
    (None, S.RELEASED): "M221 50 L650 50 Q675 50 675 75 L675 535 Q675 560 650 560 L629 560",
    (S.PREPARING, S.QUEUED): "M125 330 Q70 285 121 246",
}


def draw() -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="14">',
        "<title>The states of a job and the moves between them</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="12" fill="#fbfcfe" stroke="#d5dbe5"/>',
        *(_marker(name, colour) for name, colour in _named_colours()),
        *(_move(row) for row in TRANSITIONS),
        *(_box(state) for state in (None, *JobState)),
        _legend(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _named_colours() -> list[tuple[str, str]]:
    return [(action or "none", colour) for action, colour in COLOURS.items()]


def _marker(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 L10 5 L0 10 z" fill="{colour}"/></marker>'
    )


def _move(row: Transition) -> str:
    colour, name = COLOURS[row.ledger], row.ledger or "none"
    path = CURVES.get((row.before, row.after)) or _line(row)
    return f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.8" marker-end="url(#{name})"/>'


def _line(row: Transition) -> str:
    (x1, y1), (x2, y2) = PLACES[row.before], PLACES[row.after]
    if x1 == x2:
        return f"M{x1} {y1 + BOX_H // 2} L{x2} {y2 - BOX_H // 2 - 1}"
    return f"M{x1 + BOX_W // 2} {y1} L{x2 - BOX_W // 2 - 2} {y2 + max(-10, min(10, (y1 - y2) // 8))}"


def _box(state: JobState | None) -> str:
    x, y = PLACES[state]
    if state is None:
        return f'<circle cx="{x}" cy="{y}" r="20" fill="#1a2233"/>' + _text(x, y, "new", "#ffffff")
    final = is_terminal(state)
    fill, stroke, ink = ("#1a2233", "#1a2233", "#ffffff") if final else ("#ffffff", "#1a2233", "#1a2233")
    rect = (
        f'<rect x="{x - BOX_W // 2}" y="{y - BOX_H // 2}" width="{BOX_W}" height="{BOX_H}" rx="8" '
        f'fill="{fill}" stroke="{stroke}" stroke-width="1.6"/>'
    )
    return rect + _text(x, y, state, ink)


def _text(x: int, y: int, text: str, colour: str) -> str:
    return f'<text x="{x}" y="{y + 5}" text-anchor="middle" fill="{colour}" font-weight="600">{text}</text>'


def _legend() -> str:
    words = {"reserve": "reserve", "charge": "charge", "refund": "refund", "none": "no change"}
    parts = ['<text x="40" y="680" fill="#1a2233" font-weight="600">Ledger:</text>']
    for place, (name, colour) in enumerate(_named_colours()):
        x = 110 + place * 130
        parts.append(f'<path d="M{x} 675 h26" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{x + 32}" y="680" fill="#1a2233">{words[name]}</text>')
    return "".join(parts)
