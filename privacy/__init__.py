"""Pure mathematics of what may be released: numbers in, numbers out.

The package must never read a file, a clock, the environment or the network, and must never draw noise
from anywhere but `privacy.keystream`. Each mechanism carries its proof in its docstring, and
`tests/statistical/` tries to break the proof's conclusion. Reading order: loss, grid, keystream,
discrete_laplace, partition, sample_aggregate, preview. `reference` is for tests and benchmarks only.
"""
