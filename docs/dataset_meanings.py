"""What the fields of dataset.yaml mean, for its generated page. A missing name stops generate.py."""

from __future__ import annotations

DATASET: dict[str, dict[str, str]] = {
    "Declaration": {
        "": "Data set",
        "name": "Small letters, digits, hyphens. Registering the same name again makes a new version.",
        "title": "One line for the catalogue.",
        "description": "For the people who may use it.",
        "licence": "How the data may be used.",
        "citation": "How to cite it.",
        "layout": "`bids`: one folder for each person beside the tables. `tables`: tables only.",
        "privacy_unit": "What one neighbour differs by.",
        "nominal_size": "A public number of people, who are dealt into as many slots. The number of blocks "
        "comes from it, never from the data.",
        "tables": "The files of rows.",
        "person_files": "Files that each person has; used to make the twin. Only with layout `bids`.",
        "public_files": "Files that say nothing about any one person.",
        "excluded": "Files, and folders with all in them that is not declared, left out unread; "
        "`{person}` stands for anybody.",
        "folders": "With `bids`: whether everybody of the unit's table has a folder. `some`: your word that "
        "not.",
        "most_bytes": "With `bids`: an import keeps no more of anybody's files together, chosen by lot; each "
        "counts 65,536 beside its bytes. "
        "[Why](../how-to/register-a-dataset.md#the-most-of-a-person).",
        "profile": "Which registration profile the declaration rests on: looked at when you register, and "
        "kept nowhere. [`dpgate twin profile`](../how-to/register-a-dataset.md#profile-it-first) writes it.",
        "cohort": "The people whose budget this data set shares. Default: the name, or the "
        "earlier version's.",
        "new_people": "State that the same names stand for other people than those of your other cohorts.",
        "synthetic": "Your word that no real person is in the data. Workers with profile `dev` run jobs on "
        "such data only; it changes nothing else.",
        "accounting": "How losses of differential privacy add up. `pure_sum`: epsilons, deltas beside them. "
        "`zcdp`: one account of rho that covers both; better for many small releases. Fixed for the cohort.",
        "budget_epsilon": "The cap of the whole cohort, over all versions, users and projects.",
        "budget_delta": "The same for delta: opens the class `approx_dp`. With `zcdp` it is needed.",
        "budget_nats": "The same for PAC privacy: opens the class `pac`. Above ln 2 it promises nothing.",
        "budget_releases": "How many releases with no formal guarantee: opens the class `empirical`.",
        "policy": "What you allow.",
    },
    "Profiled": {
        "": "Registration profile",
        "id": "Of `profile.json`, which stays with the rights holder. Random; the audit trail names it with "
        "the registration.",
        "flagged": "Columns that it takes for identifying. Each needs `pii`, or is in `dropped`.",
    },
    "FlaggedColumn": {
        "": "Flagged column",
        "table": "The table's path.",
        "column": "As in the header.",
    },
    "PrivacyUnit": {
        "": "Privacy unit",
        "name": "What to call one unit in certificates.",
        "table": "The table that lists everybody.",
        "column": "Its column of kind `person`.",
    },
    "Table": {
        "": "Table",
        "path": "Ends in `.tsv` (tab), `.csv` (comma) or `.parquet`; the last for trusted queries, "
        "with layout `tables`.",
        "columns": "Only declared columns reach a run. Exactly one has kind `person`.",
        "rows_per_person": "`one`: a second row of a person is refused.",
        "typical_rows": "With `many`: how many rows a person of the twin has on average, from 1 to twice as "
        "many less one. Public knowledge, never counted in the data. Default: 2.",
        "most_rows": "With `many`: an import keeps no more rows of anybody, chosen by lot. A public, round "
        "number, needed with padded timing, "
        "[for the time of release](../how-to/register-a-dataset.md#the-most-of-a-person).",
        "line_end": "How lines of the text file end; the twin's do too.",
        "dropped": "Columns of the file that stay outside, with the decision. Part of the version.",
        "row_rules": "What holds between columns; every row of the twin keeps it. "
        "[The forms](../how-to/make-a-twin.md#rules-between-columns).",
    },
    "Column": {
        "": "Column",
        "name": "As in the header.",
        "kind": "What the cells hold. `date`: days like 2020-01-31. `text`: free text or codes, kept by a "
        "decision in `pii`.",
        "lower": "For `integer` and `number`: the twin's smallest value. For `date`: its first day.",
        "upper": "For `integer` and `number`: the twin's largest value. For `date`: its last day.",
        "decimals": "For `number`: digits in the twin.",
        "categories": "For `categorical`: the twin's values.",
        "typical": "Public knowledge that makes the twin more life-like.",
        "missing": "The twin's text for a missing value.",
        "missing_rate": "The twin's share of missing values; 1 where all are.",
        "description": "Unit or meaning.",
        "count_missing": "Missing is counted as a cell of its own where a twin is made from counts. It is, "
        "too, where `missing_rate` is above 0.",
        "bins": "Into how many bins the range is cut where a twin is made from counts. Default: 20, or 10 "
        "below 500 people.",
        "scale": "`log`: bins of equal ratios, for amounts such as incomes.",
        "special_values": "Numbers that mean something of their own, such as 0 for none: each has a cell.",
        "typical_shares": "Public shares of the categories, or of special values, in a blank form.",
        "coarsen": "A public map from every category to a coarser one: cells where a twin is made from "
        "counts. The twin still has the categories.",
        "instrument": "A scale or measure by name, such as `sas`, `mmse`, `bmi`: the twin has its usual "
        "values. [All of them](../how-to/make-a-twin.md#instruments).",
        "text_length": "For `text`: how long the twin's placeholder is.",
        "basis": "Where bounds or categories come from. `looked_at_data` changes the twin's label.",
        "declared_by": "Who declared them.",
        "pii": "The decision about a column that identifies people. Part of the version.",
    },
    "Identifying": {
        "": "Identifying column",
        "kind": "What identifies, in capitals, such as `DATE_OF_BIRTH`.",
        "classification": "`direct`: by itself; such a column is never counted. `quasi`: together with "
        "others. `sensitive`: it harms to be known.",
        "decision": "What is done at the import.",
        "by": "Who decided.",
        "why": "The reason. Everybody who may see the data set reads it.",
    },
    "Dropped": {
        "": "Dropped column",
        "name": "As in the header.",
        "kind": "What identifies, in capitals.",
        "classification": "As of an identifying column.",
        "by": "Who decided.",
        "why": "The reason. Everybody who may see the data set reads it.",
    },
    "Typical": {
        "": "Typical values",
        "mean": "From a manual or a published statistic, never from these data.",
        "sd": "The same.",
    },
    "PersonFile": {
        "": "Person's file",
        "path": "Holds `{person}` as a folder, or as a part of a name between `_` and `.`.",
        "twin_text": "Public text for the twin; `{person}` is replaced.",
        "twin_volume": "For `.nii` and `.nii.gz`: a volume for the twin.",
        "twin_table": "For `.tsv` and `.tsv.gz`: rows drawn for each person of the twin, such as events.",
        "twin_recording": "For `.vhdr` (`.eeg` and `.vmrk` come along), `.edf`, `.bdf`, `.set` and `.fif`: "
        "signals for the twin.",
        "missing_rate": "The share of people of the twin who lack the file.",
    },
    "TwinTable": {
        "": "Twin's small table",
        "columns": "As in a table, none of kind `person`. A column `onset` rises. `.tsv.gz` has no names.",
        "rows": "How many; with a column `onset` up to a fifth more or fewer.",
        "smallest_gap": "The least from one `onset` to the next, so that epochs do not overlap.",
    },
    "TwinRecording": {
        "": "Twin's recording",
        "channels": "In their order.",
        "rate": "Samples a second.",
        "seconds": "How long it is.",
        "markers": "Marks of a `.vhdr` or `.set`: at the onsets of the table of events beside it, else "
        "at times drawn at random.",
        "fdt": "Of a `.set`: its samples lie in a `.fdt` beside it.",
    },
    "RecordedChannel": {
        "": "Channel",
        "name": "As in the file.",
        "type": "As BIDS has it. `EEG` gets noise and a rhythm of ten a second; `TRIG`, `MISC`, `REF` and "
        "`TEMP` stay at 0.",
        "units": "Of its samples.",
    },
    "Marker": {
        "": "Marker",
        "name": "What the mark says.",
        "per_minute": "How often it comes.",
    },
    "TwinVolume": {
        "": "Twin's volume",
        "shape": "Voxels along three or four axes.",
        "dtype": "How a voxel is kept.",
        "lower": "The smallest voxel.",
        "upper": "The largest voxel.",
        "zooms": "Millimetres of a voxel along the first three axes.",
        "repetition_time": "With four axes: seconds from one volume to the next.",
        "orientation": "Where the first three axes lead: one letter of `R`/`L`, `A`/`P` and `S`/`I` each.",
        "affine": "Where all people's volumes lie, in place of `orientation`: three rows of four numbers, "
        "millimetres to the right, front and up for a step along each axis and at the first voxel.",
        "any_orientation": "People's volumes lead to several directions. The import then compares nothing.",
        "fill": "`noise`: at random between the bounds. `phantom`: an ellipsoid as large as a brain, whose "
        "voxels change with time. `sketch`: one that packs to about a seventieth. "
        "`zeros`: nothing; packs to less.",
    },
    "PublicFile": {
        "": "Public file",
        "path": "Where it lies.",
        "text": "Its content. `dpgate dataset add` fills it from your data when it is left out.",
        "content_base64": "The same of a file that is no text.",
        "as_delivered": "For files that are too large to be declared, and public by your word: every block "
        "gets the delivered file, and the content given here is the twin's stand-in.",
    },
    # what is added on this page to the description that stands beside each field of the model
    "Policy": {
        "": "Policy",
        "scrambled_twin": "[How](../how-to/reviewed-scramble.md).",
        "in_person": "[Services](../how-to/accounts.md#services-that-act-for-people).",
        "isolation": "[`exclusive` and `shared`](../how-to/policy.md#alone-or-beside-each-other).",
        "accepted_channels": "`host-python`, `docker` and images approved for `standard` need it. "
        "[Channels between runs](../explanation/threat-model.md#between-runs).",
    },
    "Timing": {
        "": "Timing",
        "mode": "`padded`: computed from public values; a release that misses it becomes visible whole ticks "
        "later, which may depend on the data. `coarse`: rounded up, and runs are not on a time grid.",
    },
}
