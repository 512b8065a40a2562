"""The embedded platform with a forked gateway and worker, for tests that do not ask how it starts."""

from __future__ import annotations

import os
from collections.abc import Sequence

from forks import GATEWAY, WORKER, forked

from dpgate.embedded import starter
from dpgate.embedded.processes import Child, _environment
from dpgate.embedded.stack import Stack

_AFTER = {"gateway": GATEWAY, "worker": WORKER}


class WarmStack(Stack):
    """As `dpgate up` makes it, but for the imports of its parts."""

    def _child(
        self,
        name: str,
        command: list[str],
        settings: dict[str, str] | None = None,
        pass_fds: Sequence[int] = (),
    ) -> Child:
        if name not in _AFTER:
            return super()._child(name, command, settings, tuple(pass_fds))
        assert command[1:3] == ["-P", starter.__file__]
        assert self._keeper is not None
        log = self.home.logs / f"{name}.log"
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            process = forked(
                command[2:],
                after=_AFTER[name],
                environment=_environment() | (settings or {}),
                folder=self.home.run,
                output=output,
                pass_fds=pass_fds,
                umask=0o077,
            )
        finally:
            os.close(output)
        self._keeper.tell("start", process.pid)
        child = Child(name, process, log)
        self._children.append(child)
        return child
