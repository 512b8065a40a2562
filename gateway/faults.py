"""The last catch: an error that nobody foresaw becomes a plain 500, and its text goes nowhere.

Not into the answer and not into the log: a database error quotes the statement and its values. The log gets
the error's type and the lines of code it came through.
"""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.headers import API
from gateway.problems import fault, fault_page

log = logging.getLogger(__name__)
FRAMES = 12


class Faults:
    """ASGI middleware. The framework's own handler raises the error again, for the server to log its text."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = scope["type"] != "http"

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:  # the outermost: whatever it is, the process goes on
            log.error("unexpected %s at %s", type(error).__name__, _where(error))
            if not started:
                answer = fault(error) if scope["path"].startswith(API) else fault_page(error)
                await answer(scope, receive, send)


def _where(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return " < ".join(f"{_place(frame.filename)}:{frame.lineno}" for frame in reversed(frames))


def _place(file: str) -> str:
    return "/".join(Path(file).parts[-2:])
