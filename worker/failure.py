"""What may be said of an error inside the worker zone: its text may have seen data, its type and place have
not."""

from __future__ import annotations

from domain.errors import PlatformError
from store.full_disk import full_for, is_full_for_database


def without_its_text(error: BaseException) -> str:
    """For the log. Our own platform errors carry no data, so they are said in full."""
    if isinstance(error, PlatformError):
        return str(error)
    if is_full_for_database(error):
        return full_for("the database")
    return f"{type(error).__name__} at {_place(error)}"


def _place(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return "unknown" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
