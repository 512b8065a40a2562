"""Isolated runs of untrusted pipelines: the contract is `protocol`, the embedded backend is `bubblewrap`."""
