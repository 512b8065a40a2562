"""Gradients of the trainer, in whole numbers, beside those that PyTorch's autograd finds in 64-bit floats.

    python benchmarks/train_gradients.py PYTHON

PYTHON is that of an environment that has PyTorch, such as Opacus's for `train.py`; nothing of dpgate is
imported there. Of each person, with one to four rows, the summed gradient as it is, and drawn back to length
1. What is told is the largest distance of a person's two vectors, and the longest vector. No data set is
read, and nothing is released.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from itertools import pairwise, product
from pathlib import Path

import numpy as np

HEADS = (("linear", 1), ("logistic", 1), ("softmax", 10))
HIDDEN = ((), (16,), (64, 64))
INPUTS, PEOPLE, MOST_ROWS = 100, 200, 4
UNBOUND = 2**60


def main() -> None:
    print("| model | weights | longest | farthest | farthest, clipped |")
    print("| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for (head, outputs), hidden in product(HEADS, HIDDEN):
            asked, found = Path(folder) / "asked.npz", Path(folder) / "found.npy"
            ours = in_whole_numbers(head, outputs, hidden, asked)
            command = [sys.argv[1], __file__, "autograd", str(asked), str(found)]
            subprocess.run(command, check=True)
            theirs = np.load(found)
            lengths = np.linalg.norm(theirs, axis=1)
            clipped = theirs / np.maximum(lengths, 1)[:, None]
            apart = [
                np.linalg.norm(own - other, axis=1).max()
                for own, other in zip(ours, (theirs, clipped), strict=True)
            ]
            layers = " x ".join(map(str, hidden)) or "none hidden"
            print(
                f"| {head}, {layers} | {theirs.shape[1]} | {lengths.max():.2f} | {apart[0]:.1e} "
                f"| {apart[1]:.1e} |"
            )


def in_whole_numbers(
    head: str, outputs: int, hidden: tuple[int, ...], asked: Path
) -> list[np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Of each person, as they are and clipped; the same question for the other side lies in `asked`."""
    from privacy.training import Head, Network, PeopleRows
    from privacy.training.clipping import clipped_sum

    random = np.random.default_rng(1)
    network = Network(INPUTS, Head(head), outputs, hidden)
    starts = np.cumsum([0, *random.integers(1, MOST_ROWS + 1, PEOPLE)])
    inputs = random.integers(-4096, 4097, (starts[-1], INPUTS)).astype(np.int16)
    if head == "linear":
        targets = random.integers(-(2**20), 2**20 + 1, starts[-1]).astype(np.int32)
    else:
        targets = random.integers(0, max(2, outputs), starts[-1]).astype(np.int32)
    weights = np.rint(random.uniform(-0.3, 0.3, network.size) * 2**20)
    people = PeopleRows(inputs, targets, starts, MOST_ROWS)
    np.savez(
        asked, inputs=inputs, targets=targets, starts=starts, weights=weights, head=head,
        sizes=[INPUTS, *hidden, outputs],
    )  # fmt: skip

    def of(person: int, norm: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        (part,) = people.parts(np.array([person]))
        layers = network.layers(weights, part.inputs, part.targets, part.there)
        return clipped_sum(layers, norm=norm) * 2.0**-32

    return [np.array([of(person, norm) for person in range(PEOPLE)]) for norm in (UNBOUND, 2**32)]


def autograd(asked: str, found: str) -> None:
    """With PyTorch alone."""
    import torch
    from torch.nn import functional

    with np.load(asked) as arrays:
        head, sizes, starts = str(arrays["head"]), arrays["sizes"].tolist(), arrays["starts"]
        inputs, weights = (torch.tensor(arrays[name].astype(np.float64)) for name in ("inputs", "weights"))
        targets = torch.tensor(arrays["targets"].astype(np.int64))
    inputs, weights = inputs / 4096, (weights / 2**20).requires_grad_()
    gradients = []
    for first, last in pairwise(starts):
        values, at = inputs[first:last], 0
        for position in range(len(sizes) - 1):
            before, after = sizes[position] + 1, sizes[position + 1]
            matrix = weights[at : at + before * after].reshape(before, after)
            at += before * after
            values = (torch.tanh(values) if position else values) @ matrix[:-1] + matrix[-1]
        right = targets[first:last]
        if head == "linear":
            loss = functional.huber_loss(values[:, 0], right.double() / 2**20, reduction="sum", delta=4)
        elif head == "logistic":
            loss = functional.binary_cross_entropy_with_logits(values[:, 0], right.double(), reduction="sum")
        else:
            loss = functional.cross_entropy(values, right, reduction="sum")
        (gradient,) = torch.autograd.grad(loss, weights)
        gradients.append(gradient.numpy())
    np.save(found, np.array(gradients))


if __name__ == "__main__":
    autograd(*sys.argv[2:]) if sys.argv[1] == "autograd" else main()
