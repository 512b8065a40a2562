"""One chapter of the report for each experiment: what was asked, what was done, what came of it."""
