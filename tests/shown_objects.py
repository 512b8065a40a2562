"""Objects of the SDK as a platform answers them: for what a notebook shows of them."""

from __future__ import annotations

import base64
import json
from typing import Any

from dpgate.client import Client
from dpgate.credentials import Login
from dpgate.forecasts import Forecast
from dpgate.job import Job
from dpgate.models import Budget, Dataset, Release
from dpgate.previews import Preview

LIMIT = "At most 3 rows of each person count."
SENTENCE = "Differential privacy: one person changes any probability by at most a factor e^0.5."


def release_of(count: int = 2, **changed: Any) -> Release:
    """A release of so many values; `changed` replaces fields of the answer."""
    values = [value_of(f"mean_{number}", 170.5 + number) for number in range(count)]
    outputs = [{"name": value["name"], "lower": "100.0", "upper": "250.0"} for value in values]
    stated = {
        "predicate": {"guarantee": {"sentence": SENTENCE}, "mechanism": {"limit": LIMIT}, "outputs": outputs}
    }
    raw = {
        "job_id": "job-shown",
        "dataset": "heights",
        "guarantee": "pure_dp",
        "cost": {"epsilon": "0.5"},
        "values": values,
        "diagnostics": [],
        "files": {"result.tsv": "mean\n"},
        "certificate": {"payload": base64.b64encode(json.dumps(stated).encode()).decode()},
    }
    return Release.of(raw | changed)


def value_of(name: Any, value: Any, **changed: Any) -> dict[str, Any]:
    known = {"lower_95": value, "upper_95": value, "noise_scale": 1.0}
    if isinstance(value, float):
        known |= {"lower_95": value - 4, "upper_95": value + 4}
    rest = {"sampling_lower_95": None, "sampling_upper_95": None}
    return {"name": name, "value": value} | known | rest | changed


def job_of(**changed: Any) -> Job:
    raw = {
        "id": "job-shown",
        "state": "RUNNING",
        "title": "mean-height",
        "dataset": "heights",
        "mechanism": "sample_aggregate",
        "guarantee": "pure_dp",
        "cost": {"epsilon": "0.5"},
        "runs": 20,
        "charged_at": "2027-01-01T00:00:00Z",
        "due_at": "2027-01-01T00:10:00Z",
        "answered_by": None,
        "reason": None,
    }
    return Job.of(raw | changed, Client(Login("https://dpgate.example.org", "x")))


def budget_of(**changed: Any) -> Budget:
    account = {
        "kind": "cohort",
        "holder": "heights",
        "currency": "epsilon",
        "cap": "8",
        "spent": "2.5",
        "reserved": "1",
        "left": "4.5",
    }
    accounts = [account | changed, account | {"kind": "user", "holder": "ada", "cap": "2"} | changed]
    sentence = "With all of it, one person changes any probability by at most a factor e^8."
    return Budget.of({"dataset": "heights", "accounting": "pure", "sentence": sentence, "accounts": accounts})


def dataset_of(**changed: Any) -> Dataset:
    declaration = {"title": "Heights", "description": "Height and age.", "nominal_size": 120}
    raw = {"name": "heights", "version": 1, "owner": "holder", "state": "READY", "problem": None}
    return Dataset.of(raw | {"declaration": declaration, "twin": "drawn anew"} | changed)


def forecast_of(output: Any = "mean_height", **changed: Any) -> Forecast:
    """As the platform answers for noise matched to stability."""
    rungs = [
        {"amount": amount, "typical": float(amount), "within_95": 4 * float(amount), "noise_95": noise}
        for amount, noise in (("0.5", None), ("1", 3.5), ("2", 7.0))
    ]
    outputs = [{"output": output, "amount": "1", "rungs": rungs, "simulated": [170.0, 168.5]}]
    fields = {"mechanism": "stability_calibrated", "guarantee": "empirical", "unit": "noise multiplier"}
    return Forecast.of(fields | {"guarantee_sentence": "None.", "outputs": outputs} | changed)


def preview_of(output: Any = "mean_height", **changed: Any) -> Preview:
    """As `dpgate preview --json` prints it."""
    rows = [
        {
            "output": output,
            "epsilon": epsilon,
            "block_size": 5,
            "aggregator": aggregator,
            "error_typical": 3 / float(epsilon),
            "error_95": 8 / float(epsilon),
            "noise_half_width_95": 7 / float(epsilon),
            "without_noise_95": 2.0,
        }
        for aggregator in ("clipped_mean", "median")
        for epsilon in ("0.1", "0.5", "1", "4")
    ]
    taken = {"epsilon": "0.5", "block_size": 5, "aggregator": "clipped_mean"}
    return Preview.of_document({"guarantee": "pure_dp", "rows": rows, "recommendation": taken} | changed)
