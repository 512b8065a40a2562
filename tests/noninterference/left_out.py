"""What the comparison of neighbours leaves out, each with its reason."""

from __future__ import annotations

from domain.notice import NoticeKind

LEFT_OUT_SURFACES: dict[tuple[str, str], str] = {
    ("body", "holder: GET /profiles/profile-town/sealed #1"): (
        "sealed to a key of the rights holder, who holds the data; it has the same length"
    ),
}
_NO_PROVIDER = "without an identity provider there is no such way in; it knows people, and no data"
_SCRAMBLED = (
    "a scrambled original shows data by the word of people who sign for it; there is none in the life"
)
_SCRAMBLES = "/api/v1/datasets/{name}/twin/scrambles/{scramble_id}"
LEFT_OUT_WAYS: dict[str, str] = {
    f"PUT {_SCRAMBLES}/parts/{{number}}": _SCRAMBLED,
    f"POST {_SCRAMBLES}/signature": _SCRAMBLED,
    f"POST {_SCRAMBLES}/withdrawal": _SCRAMBLED,
    f"POST {_SCRAMBLES}/download": _SCRAMBLED,
    "POST /datasets/{name}/scrambles/{scramble_id}/signature": _SCRAMBLED,
    "POST /datasets/{name}/scrambles/{scramble_id}/withdrawal": _SCRAMBLED,
    "GET /login/oidc": _NO_PROVIDER,
    "GET /login/oidc/back": _NO_PROVIDER,
    "GET /login/oidc/back/{name}": _NO_PROVIDER,
    "GET /login/oidc/out": _NO_PROVIDER,
}
LEFT_OUT_NOTICES: dict[NoticeKind, str] = {}
LEFT_OUT_FIGURES: dict[str, str] = {}
SEALED_COLUMNS: dict[tuple[str, str], str] = {
    (
        "datasets",
        "snapshot",
    ): "a digest under the worker zone's key, which tells versions with equal data apart",
    ("jobs", "once"): "of that digest",
    ("run_outputs", "sealed"): "under the worker zone's key, until the release",
    ("pac_states", "sealed"): "under the worker zone's key",
    ("profiles", "sealed"): "to a key of the rights holder",
}
"""Of the rows that the gateway's account can read; their lengths are compared."""
