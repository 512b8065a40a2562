"""Training of models in the worker zone: trusted code, nobody's pipeline."""
