"""Drafts of the story's rights holder: one that is complete, and one whose every text is an attack."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from factories import declaration_fields

from domain.registration_draft import STEPS
from store.draft_tables import registration_drafts

DRAFT = "00000000-0000-4000-8000-0000000d4af7"
HOSTILE_DRAFT = "00000000-0000-4000-8000-00000000bad0"
EVERY_STEP = tuple(step.key for step in STEPS)


def give_drafts(connection: sa.Connection, now: datetime, hostile: str) -> None:
    """Both belong to `holder`."""
    complete = declaration_fields(
        name="sleepers",
        title="Sleep of shift workers",
        layout="bids",
        person_files=[
            {"path": "{person}/notes.txt", "twin_text": "{person}\n"},
            {
                "path": "{person}/map.nii.gz",
                "twin_volume": {"shape": [4, 4, 4], "dtype": "float32", "lower": -1, "upper": 1},
            },
        ],
        public_files=[{"path": "README", "text": "Nights.\n"}],
        excluded=[".git"],
    )
    _put(connection, DRAFT, complete, now)
    _put(connection, HOSTILE_DRAFT, _hostile(hostile), now)


def _hostile(text: str) -> dict[str, Any]:
    column = {
        "name": text, "kind": text, "lower": text, "upper": text, "categories": [text], "missing": text,
        "description": text, "typical": {"mean": text},
    }  # fmt: skip
    return {
        "name": text, "title": text, "description": text, "licence": text, "citation": text,
        "layout": text, "nominal_size": text, "folders": text, "cohort": text,
        "privacy_unit": {"name": text, "table": text, "column": text},
        "tables": [{"path": text, "rows_per_person": text, "columns": [column]}],
        "person_files": [{"path": text, "twin_text": text, "twin_volume": {"shape": [text], "dtype": text}}],
        "public_files": [{"path": text, "text": text}],
        "excluded": [text],
        "budget_epsilon": text, "accounting": text, "budget_delta": text,
        "policy": {"data_users": [text], "images": [text], "guarantees": [text], "timing": {"mode": text}},
    }  # fmt: skip


def _put(connection: sa.Connection, draft_id: str, declaration: dict[str, Any], now: datetime) -> None:
    values = {
        "id": draft_id,
        "owner": "holder",
        "revision": 1,
        "content": {"declaration": declaration, "done": list(EVERY_STEP)},
        "created_at": now,
        "changed_at": now,
    }
    connection.execute(sa.insert(registration_drafts).values(values))
