"""Beside the platform: the laboratory, the tools of SIESTA, perturbation, scrambling, reports on twins."""
