"""The same networks by DP-SGD: each row's gradient is clipped, the sum noised, and batches drawn by coin.

M. Abadi et al., "Deep learning with differential privacy", CCS 2016, algorithm 1, by opacus. Only the
discriminator sees rows, so only its steps are noised: the generator is computed from it (L. Xie et al.,
"Differentially private generative adversarial network", 2018). Drawn rows are clipped and summed too. They do
not depend on the batch, so one person moves the sum by at most CLIP.

What is not covered: the preparation of the table, which is fitted to the data, and how many rows there are;
and the noise is made of floats from an ordinary generator. So this is an experiment with a class of
`approx_dp` for its training alone, and never a release.
"""

from __future__ import annotations

import warnings

from companions.lab.gan.layers import Part, load
from companions.lab.gan.table import Values
from companions.lab.gan.training import Training, train

CLIP = 1.0
DELTA = 1e-9
PASSES = 30
"""Fewer than without noise: each costs some of epsilon."""


def train_privately(
    values: Values, training: Training, *, epsilon: float, seed: int, delta: float = DELTA
) -> tuple[Part, float]:
    """The generator, and the epsilon of all steps at `delta` for adding or removing one row."""
    privacy: list[Part] = []

    def wrap(judges: Part, optimizer: Part, batches: Part) -> tuple[Part, Part, Part]:
        privacy.append(load("opacus").PrivacyEngine(accountant="prv"))
        private: tuple[Part, Part, Part] = privacy[0].make_private_with_epsilon(
            module=judges,
            optimizer=optimizer,
            data_loader=batches,
            target_epsilon=epsilon,
            target_delta=delta,
            epochs=training.passes,
            max_grad_norm=CLIP,
        )
        return private

    with warnings.catch_warnings():
        # says that its noise is no secret, as the head of this file does; and torch's about hooks
        warnings.simplefilter("ignore")
        network = train(values, training, seed=seed, wrap=wrap)
        return network, float(privacy[0].get_epsilon(delta))
