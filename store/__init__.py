"""The only SQL and the only file areas: tables, ledger, jobs, audit, sealed snapshots.

SQLite (embedded) and PostgreSQL (full deployment) run the same code. May import domain and privacy.
"""
