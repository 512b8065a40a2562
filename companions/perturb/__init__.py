"""Local perturbation of arrays on disk, for the holder of the data: files in, noised files out.

The mathematics is privacy/perturbation. Here are files (signals, writing), threads, what is written beside a
result (sidecar, summary), and grids of parameters (sweep_config, sweep).
"""
