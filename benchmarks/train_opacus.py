"""One training by Opacus, in an environment of its own; `benchmarks/train.py --opacus PYTHON` starts it.

    PYTHON benchmarks/train_opacus.py ARRAYS.npz < asked.json

What is asked comes as JSON on standard input, what was found goes as one line of JSON to standard output.
Nothing of dpgate is imported. Batches are drawn by lot, as slices of one tensor: Opacus's own loader collects
row by row.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from opacus import GradSampleModule
from opacus.accountants.utils import get_noise_multiplier
from opacus.optimizers import DPOptimizer
from torch import nn


def main() -> None:
    torch.set_num_threads(1)
    asked: dict[str, Any] = json.load(sys.stdin)
    with np.load(sys.argv[1]) as arrays:
        inputs, test_inputs = (
            torch.from_numpy(arrays[name].astype(np.float32) / 4096) for name in ("inputs", "test_inputs")
        )
        targets = torch.from_numpy(arrays["targets"].astype(np.int64))
    began = time.process_time()
    rate = asked["batch"] / len(inputs)
    noise = get_noise_multiplier(
        target_epsilon=asked["epsilon"],
        target_delta=asked["delta"],
        sample_rate=rate,
        steps=asked["steps"],
        accountant="prv",
    )
    searched = time.process_time()
    sums, seconds = [], []
    for repeat in range(asked["repeats"]):
        torch.manual_seed(repeat)
        since = time.process_time()
        model = train(asked, inputs, targets, rate=rate, noise=noise)
        seconds.append(time.process_time() - since)
        with torch.no_grad():
            sums.append(model(test_inputs).numpy())
    np.savez(asked["sums"], *sums)
    found = {
        "noise": noise,
        "search_s": searched - began,
        "train_s": sum(seconds) / len(seconds),
        "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(found))


def train(
    asked: dict[str, Any], inputs: torch.Tensor, targets: torch.Tensor, *, rate: float, noise: float
) -> nn.Module:
    """The steps of `privacy.training.Trainer`: its law of first weights, clip, rates, mean at the end."""
    model = network([inputs.shape[1], *asked["hidden"], asked["outputs"]])
    wrapped = GradSampleModule(model)
    plain = torch.optim.SGD(wrapped.parameters(), lr=asked["learning_rate"], momentum=asked["momentum"])
    optimizer = DPOptimizer(
        plain, noise_multiplier=noise, max_grad_norm=asked["clip"], expected_batch_size=asked["batch"]
    )
    two = asked["outputs"] == 1
    loss_of = nn.BCEWithLogitsLoss() if two else nn.CrossEntropyLoss()
    total = [torch.zeros_like(parameter) for parameter in model.parameters()]
    half = asked["steps"] // 2
    for step in range(asked["steps"]):
        lot = torch.rand(len(inputs)) < rate
        sums, right = wrapped(inputs[lot]), targets[lot]
        optimizer.zero_grad()
        loss = loss_of(sums[:, 0], right.float()) if two else loss_of(sums, right)
        loss.backward()
        optimizer.step()
        if step >= half:
            for kept, parameter in zip(total, model.parameters(), strict=True):
                kept += parameter.detach()
    with torch.no_grad():
        for kept, parameter in zip(total, model.parameters(), strict=True):
            parameter.copy_(kept / (asked["steps"] - half))
    return model


def network(sizes: list[int]) -> nn.Sequential:
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layer = nn.Linear(before, after)
        nn.init.zeros_(layer.bias)
        if len(sizes) == 2:
            nn.init.zeros_(layer.weight)
        else:
            nn.init.xavier_uniform_(layer.weight)
        layers += [layer, nn.Tanh()]
    return nn.Sequential(*layers[:-1])


if __name__ == "__main__":
    main()
