"""Exit codes, one per kind of ending. Scripts may rely on them."""

from __future__ import annotations

from enum import IntEnum

from domain.errors import PlatformError, RequestError
from dpgate.errors import (
    DpgateError,
    NotFinished,
    NotLoggedIn,
    PipelineFailed,
    PlatformStopped,
    PlatformUnreachable,
    RequestRefused,
)


class ExitCode(IntEnum):
    OK = 0
    FAULT = 1
    USAGE = 2
    NOT_ALLOWED = 3
    NOT_FOUND = 4
    CONFLICT = 5
    OVER_BUDGET = 6
    NOT_READY = 7
    PIPELINE_FAILED = 8
    NOT_ISOLATED = 9
    NOT_RELEASED = 10
    BROKEN_CHAIN = 11
    INTERRUPTED = 130


MEANING: dict[ExitCode, str] = {
    ExitCode.OK: "done",
    ExitCode.FAULT: "something that should not happen, here or on the platform",
    ExitCode.USAGE: "a wrong option, file or field",
    ExitCode.NOT_ALLOWED: "not logged in, or not allowed",
    ExitCode.NOT_FOUND: "nothing by that name that you may see",
    ExitCode.CONFLICT: "exists and differs, or is in a state that does not allow this",
    ExitCode.OVER_BUDGET: "the privacy budget does not cover the request",
    ExitCode.NOT_READY: "nothing answers at the address, or a part of the platform is missing",
    ExitCode.PIPELINE_FAILED: "the pipeline failed on the twin",
    ExitCode.NOT_ISOLATED: "doctor: this host lacks a feature that isolation requires",
    ExitCode.NOT_RELEASED: "the job ended without a release",
    ExitCode.BROKEN_CHAIN: "verify, audit verify, ledger verify, anonymity check: something does not fit",
    ExitCode.INTERRUPTED: "ended by Ctrl-C or a signal",
}

REFUSALS = {
    ExitCode.USAGE,
    ExitCode.NOT_ALLOWED,
    ExitCode.NOT_FOUND,
    ExitCode.CONFLICT,
    ExitCode.OVER_BUDGET,
}
"""Endings by a decision of the platform's, or by a mistake in what was typed: said as refusals."""

_BY_STATUS = {
    401: ExitCode.NOT_ALLOWED,
    403: ExitCode.NOT_ALLOWED,
    404: ExitCode.NOT_FOUND,
    409: ExitCode.CONFLICT,
    413: ExitCode.USAGE,
    422: ExitCode.USAGE,
    429: ExitCode.NOT_READY,
    503: ExitCode.NOT_READY,
}


def exit_code(error: Exception) -> ExitCode:
    """The code of an error that a command ended with."""
    match error:
        case RequestRefused():
            return (
                ExitCode.OVER_BUDGET if error.is_over_budget else _BY_STATUS.get(error.status, ExitCode.FAULT)
            )
        case NotLoggedIn():
            return ExitCode.NOT_ALLOWED
        case PlatformUnreachable() | PlatformStopped() | PlatformError():
            return ExitCode.NOT_READY
        case PipelineFailed():
            return ExitCode.PIPELINE_FAILED
        case NotFinished():
            return ExitCode.CONFLICT
        case RequestError() | DpgateError() | OSError():
            return ExitCode.USAGE
        case _:
            return ExitCode.FAULT
