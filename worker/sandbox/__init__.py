"""Isolated runs of untrusted pipelines: the contract is `protocol`, the main backend is `supervised`."""
