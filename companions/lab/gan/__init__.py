"""A generative adversarial network (GAN) for tables, as it is taught, beside the platform's twins.

Its layers and its preparation of a table are those of a student project's slides, "Differentially private
data generation", which have no noise in them. `private_training` trains the same layers with DP-SGD. Nothing
here makes a twin of the platform: the figures (docs/how-to/make-a-twin.md#twins-compared) say why.

    layers             the layers as numbers
    table              a table to numbers, and drawn numbers back to a table
    networks           the layers as torch builds them; torch is an optional part
    training           the two networks against each other; drawing rows
    private_training   the same with clipped and noised gradients (opacus)
    comparison         fidelity and leaks of these tables beside those of twins

The networks need the extra `gan`; everything else is imported without it.
"""
