"""What the fields of dpgate.yaml and of jobs mean, and with dataset_meanings all fields of generated pages.

A missing name stops generate.py. Under the empty name stands the title of the model's own table.
"""

from __future__ import annotations

from dataset_meanings import DATASET

from domain.formats import FORMATS


def _endings() -> str:
    """How names of output files end, with what is to be said of some."""
    found = []
    for each in FORMATS.values():
        found += [f"`{suffix}`" for suffix in each.suffixes]
        if each.note:
            found[-1] += f" ({each.note})"
    return f"{', '.join(found[:-1])} or {found[-1]}"


PIPELINE: dict[str, dict[str, str]] = {
    "Manifest": {
        "": "Manifest",
        "name": "Small letters, digits, hyphens.",
        "image": "The name of an approved image: no tag, no address, no path.",
        "command": "What runs; `/in /out LEVEL` is appended, unless `{in}`, `{out}`, `{level}` say where. "
        "Without one the image's entry point runs or, of a SIF, its runscript.",
        "levels": "`[group]`, or `[participant, group]`: each person alone first, then groups.",
        "outputs": "The files that are read after the run. Nothing else is.",
        "resources": "What one run may use.",
        "environment": "Variables for every run, the same for each. At most 32, of 4 KiB; names in capitals. "
        "Not what the sandbox sets (`PATH`, `HOME`, `LANG`, `TZ`, `*_NUM_THREADS`, `DPGATE_*`), nor what "
        "steers the loader, the interpreter or a proxy (`LD_*`, `PYTHON*`, `GCONV*`, `GLIBC_*`, `*_PROXY`).",
    },
    "OutputFile": {
        "": "Output",
        "file": f"Below `/out`; ends in {_endings()}.",
        "values": "The numbers of the file in reading order. At most 20 in all; of means with joint or "
        "Gaussian noise 400.",
        "bounds": "Instead of `values`: bounds by place. Each number takes the first entry that fits.",
        "columns": "Instead of `values`, for a table with a row for each person: one number of each.",
        "constants": "Places as in `bounds` whose numbers are no results: a year, a group's number. "
        "They stay the twin's, without noise and at no cost.",
        "curve": "Instead of `values`, for a text file with a column for an axis: the coefficients of a "
        "curve on splines, written back as the curve.",
        "volume": "Instead of `values`, for `.nii` and `.nii.gz`: averages over a volume.",
    },
    "SelectedBounds": {
        "": "Bounds by place",
        "select": "`*` is every number that no earlier entry took; `column:NAME` a column of a text file "
        "whose first row holds labels; `/model/beta` a part of a JSON file; `stats.beta` a variable or field "
        "of a `.mat` file; `[1]` a row of an array.",
        "name": "How the release calls the number; of several: `name-1`, `name-2` and so on.",
        "lower": "Smaller numbers are clamped to this. Type it without looking at the data.",
        "upper": "Larger numbers are clamped to this.",
    },
    "ColumnBounds": {
        "": "Column of people",
        "column": "Its heading in the first row of the file.",
        "name": "How the release calls the number.",
        "lower": "Smaller numbers (of a mean: smaller means of a run) are clamped to this.",
        "upper": "Larger numbers (of a mean: larger means of a run) are clamped to this.",
        "above": "In place of `lower` and `upper`: the share of people above this number, or their count.",
        "aggregate": "`mean`, `share`, `sum`, `count`, `quantile`, `covariance` or `correlation` over "
        "people. Left out, it is a mean, or a share where `above` stands, or a quantile where `quantile` "
        "stands. All but mean and share need blocks of one.",
        "quantile": "Which quantile, between 0 and 1, such as 0.25.",
        "beside": "Of a covariance or a correlation: the other column.",
        "centre": "Of a correlation of two means: about the column's mean, from what you know or the twin.",
        "spread": "Of a correlation of two means: about the standard deviation of the column.",
    },
    "Beside": {
        "": "Other column",
        "column": "Its heading in the first row of the file.",
        "lower": "Smaller numbers are clamped to this.",
        "upper": "Larger numbers are clamped to this.",
        "centre": "As that of the column itself: all four, or none.",
        "spread": "As that of the column itself.",
    },
    "VolumeBounds": {
        "": "Volume",
        "name": "How the release calls the averages: `name-LABEL`, or `name-X-Y-Z` for cubes.",
        "lower": "Smaller averages are clamped to this. Type it without looking at the data.",
        "upper": "Larger averages are clamped to this.",
        "mask": "A volume in the pipeline's folder with the output's dimensions: one average for each label.",
        "average": "Edge of the cubes that are averaged, in voxels; with a mask, inside it only.",
    },
    "CurveBounds": {
        "": "Curve",
        "name": "How the release calls the coefficients: `name-1`, `name-2` and so on.",
        "axis": "Heading of the column of the axis. Each run writes the same points, which stay the twin's.",
        "value": "Heading of the column of the curve's values.",
        "knots": "Points of the axis where pieces of the curve meet, from its first end to its last. Public: "
        "type them without looking at the data.",
        "degree": "Of the pieces: 0 are steps, 1 straight lines, 3 smooth. There are as many coefficients as "
        "knots and degree, less one.",
        "lower": "Smaller coefficients are clamped to this; the released curve lies above it, but for noise.",
        "upper": "Larger coefficients are clamped to this.",
    },
    "OutputValue": {
        "": "Value",
        "name": "How the release calls it.",
        "lower": "Smaller numbers are clamped to this. Type it without looking at the data.",
        "upper": "Larger numbers are clamped to this.",
    },
    "Resources": {
        "": "Resources",
        "wall_seconds": "Time of one run of a level. Every turn of a padded job takes this long.",
        "memory_mib": "Resident memory of all processes together.",
        "processes": "Processes and threads.",
        "scratch_mib": "Size of `/tmp`, and again of `/dev/shm`.",
        "output_mib": "Size of `/out`. At the group level it also holds what the participant level wrote.",
    },
    "JobRequest": {
        "dataset": "The data set's name; its newest version that is ready.",
        "mechanism": "How outputs of runs become a release, and at what cost.",
        "project": "Spend from this project's allocation as well.",
        "dataset_version": "On whose twin the pipeline ran, as its lock says; another version is refused.",
    },
    "SampleAggregateRequest": {
        "": "Sample and aggregate",
        "name": "Class `pure_dp`, with Gaussian noise `approx_dp`.",
        "epsilon": "What the job spends, over all its values. At most six decimals.",
        "block_size": "People per block, as planned from the nominal size.",
        "repeats": "Partitions into blocks. More even out the luck of the draw; the noise stays the same.",
        "aggregator": "Of the blocks' outputs. `two_step` narrows wide bounds first. `auto` takes what "
        "varies least by the ratio: a mean, a median where enough blocks allow it, or a mean in two steps.",
        "clip_norm": "For Gaussian noise: the largest norm of a block's vector of values, each measured from "
        "the middle of its bounds in half-ranges; longer vectors are shortened to it. The root of the number "
        "of values clips nothing.",
        "spread_ratio": "For `auto` and `two_step`: the declared range over the spread of a block's output, "
        "from the twin.",
        "spread_ratios": "In its place, by the name of an output: one for each.",
        "noise": "`laplace`: each mean by itself. `joint`: one draw for all means. `gaussian`: with a delta. "
        "`auto`: the narrowest, Gaussian where a delta is given.",
        "delta": "For `gaussian` or `auto`. At most a tenth of one in the nominal size. `auto` may find "
        "noise that needs none, and spends none.",
        "weights": "Shares of epsilon by value; a value that is not named has 1.",
        "count_failures": "Also release how many runs failed, with noise, for 5 % of epsilon.",
        "interval": "`sampling`: also an interval for the population, for 30 % of each value's epsilon.",
    },
    "StabilityRequest": {
        "": "Stability calibrated",
        "name": "Class `empirical`: no formal guarantee. For reviewed pipelines, once for each data set.",
        "noise_multiplier": "Noise over the largest change that leaving one person out makes.",
    },
    "PacRequest": {
        "": "PAC",
        "name": "Class `pac`: what can be learned about which half of the people was analysed.",
        "nats": "Mutual information that the job spends. At most 0.5, at most six decimals.",
    },
}

# its fields are on the page of settings
SETTINGS_ONLY: dict[str, dict[str, str]] = {"ProviderSettings": {"": "Another provider"}}
FIELDS = DATASET | PIPELINE | SETTINGS_ONLY
