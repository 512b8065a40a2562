"""The gate: is a run a function of its own block? A search for what a run can read and another can move."""
