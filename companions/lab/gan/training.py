"""Two networks against each other: one draws rows, the other says which of two piles a row is from.

I. Goodfellow et al., "Generative adversarial nets", NeurIPS 2014, algorithm 1. There is no noise and no
clipping: nothing bounds what the drawn rows say about one person.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from companions.lab.gan.layers import NOISE, Part, build, discriminator, generator, load
from companions.lab.gan.table import Values


@dataclass(frozen=True)
class Training:
    """`passes` over the rows, in batches. The slides give the batch; rate and passes are usual ones."""

    passes: int = 300
    batch: int = 32
    rate: float = 5e-4
    momentum: tuple[float, float] = (0.5, 0.9)


Wrap = Callable[[Part, Part, Part], tuple[Part, Part, Part]]
"""Discriminator, its optimizer and the batches of rows, as private training exchanges them."""


def train(values: Values, training: Training, *, seed: int, wrap: Wrap | None = None) -> Part:
    """A generator trained on these rows, shape (rows, columns)."""
    torch = load("torch")
    torch.manual_seed(seed)
    columns = values.shape[1]
    draws, judges = build(generator(columns)), build(discriminator(columns))
    optimizers = [
        torch.optim.Adam(network.parameters(), lr=training.rate, betas=training.momentum)
        for network in (draws, judges)
    ]
    data = torch.utils.data.TensorDataset(torch.tensor(values, dtype=torch.float32))
    batches = torch.utils.data.DataLoader(data, batch_size=training.batch, shuffle=True)
    if wrap is not None:
        judges, optimizers[1], batches = wrap(judges, optimizers[1], batches)
    for _ in range(training.passes):
        for (real,) in batches:
            _judge(draws, judges, optimizers[1], real, training.batch)
            _draw(draws, judges, optimizers[0], training.batch)
    return draws


def draw(network: Part, rows: int, *, seed: int) -> Values:
    """So many rows of a trained generator, shape (rows, columns)."""
    torch = load("torch")
    torch.manual_seed(seed)
    with torch.no_grad():
        found = network(torch.randn(rows, NOISE)).numpy()
    return np.asarray(found, np.float64)


def _judge(draws: Part, judges: Part, optimizer: Part, real: Part, batch: int) -> None:
    """One step of the discriminator. As many rows are drawn whatever `real` has: where a private batch is a
    random part of the people, the number of the others must not follow its size."""
    torch = load("torch")
    optimizer.zero_grad()
    with torch.no_grad():
        made = draws(torch.randn(batch, NOISE))
    answers = torch.cat([torch.ones(len(real), 1), torch.zeros(batch, 1)])
    # both piles at once: private training clips the gradient of each row
    said = judges(torch.cat([real, made]))
    torch.nn.functional.binary_cross_entropy(said, answers).backward()
    optimizer.step()


def _draw(draws: Part, judges: Part, optimizer: Part, batch: int) -> None:
    """One step of the generator. It sees no row of the table, only what is made of its own."""
    torch = load("torch")
    optimizer.zero_grad()
    judges.zero_grad()  # private training keeps one gradient a row, and refuses to add to older ones
    said = judges(draws(torch.randn(batch, NOISE)))
    torch.nn.functional.binary_cross_entropy(said, torch.ones_like(said)).backward()
    optimizer.step()
