"""HTTP in, JSON out. No data, no key, no sandbox in this process: it meets the workers only in database rows
and in messages that carry ids. May import domain and store, never worker."""

from domain.model import build_models

# before a route is declared: its interface is written down from finished models
build_models()
