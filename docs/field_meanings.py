"""What pages add to the fields of models: a table's title, and links behind a meaning.

A field's meaning stands beside it in its model. A missing title stops generate.py.
"""

from __future__ import annotations

from domain.formats import FORMATS

TITLES = {
    "Declaration": "Data set",
    "Profiled": "Registration profile",
    "FlaggedColumn": "Flagged column",
    "PrivacyUnit": "Privacy unit",
    "TwinRecord": "Runs on the twin",
    "BlocksSeen": "Blocks of the twin",
    "Table": "Table",
    "Dialect": "Dialect",
    "Column": "Column",
    "Identifying": "Identifying column",
    "Dropped": "Dropped column",
    "Typical": "Typical values",
    "PersonFile": "Person's file",
    "TwinTable": "Twin's small table",
    "TwinRecording": "Twin's recording",
    "RecordedChannel": "Channel",
    "Marker": "Marker",
    "TwinVolume": "Twin's volume",
    "PublicFile": "Public file",
    "Policy": "Policy",
    "Timing": "Timing",
    "Manifest": "Manifest",
    "OutputFile": "Output",
    "SelectedBounds": "Bounds by place",
    "ColumnBounds": "Column of people",
    "Beside": "Other column",
    "VolumeBounds": "Volume",
    "CurveBounds": "Curve",
    "OutputValue": "Value",
    "Resources": "Resources",
    "SampleAggregateRequest": "Sample and aggregate",
    "StabilityRequest": "Stability calibrated",
    "PacRequest": "PAC",
    "ProviderSettings": "Another provider",
}


def _endings() -> str:
    """How names of output files end, with what is to be said of some."""
    found = []
    for each in FORMATS.values():
        found += [f"`{suffix}`" for suffix in each.suffixes]
        if each.note:
            found[-1] += f" ({each.note})"
    return f"{', '.join(found[:-1])} or {found[-1]}"


ADDED: dict[str, dict[str, str]] = {
    "Declaration": {
        "most_bytes": "[Why](../how-to/register-a-dataset.md#the-most-of-a-person).",
        "profile": "[`dpgate twin profile`](../how-to/register-a-dataset.md#profile-it-first) writes it.",
    },
    "Table": {
        "most_rows": "[For the time of release](../how-to/register-a-dataset.md#the-most-of-a-person).",
        "row_rules": "[The forms](../how-to/make-a-twin.md#rules-between-columns).",
    },
    "Column": {
        "instrument": "[All of them](../how-to/make-a-twin.md#instruments).",
    },
    "Policy": {
        "scrambled_twin": "[How](../how-to/reviewed-scramble.md).",
        "in_person": "[Services](../how-to/accounts.md#services-that-act-for-people).",
        "isolation": "[`exclusive` and `shared`](../how-to/policy.md#alone-or-beside-each-other).",
        "accepted_channels": "`host-python`, `docker` and images approved for `standard` need it. "
        "[Channels between runs](../explanation/threat-model.md#between-runs).",
    },
    "Timing": {
        "mode": "`padded`: computed from public values; a release that misses it becomes visible whole ticks "
        "later, which may depend on the data. `coarse`: rounded up, and runs are not on a time grid.",
    },
    "OutputFile": {
        "file": f"Ends in {_endings()}.",
    },
    "GatewaySettings": {
        "oidc_acting": "[What they may do](../how-to/accounts.md#services-that-act-for-people).",
    },
}
"""What stands on the page behind the meaning."""
