"""Counts for twins: from declared cells to exact counts in the worker zone, and to the noisy release.

The exact counts are a secret: sealed like all outputs of runs, opened in the publishing transaction alone.
"""
