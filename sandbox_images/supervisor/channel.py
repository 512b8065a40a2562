"""Messages between the worker and a supervisor: one JSON object with descriptors per packet.

Both ends are trusted; what a run has written never travels here, only the descriptor of its output folder.
"""

import array
import json
import os
import socket

_LONGEST = 64 * 1024  # block files and orders travel as descriptors, so packets stay small
_MOST_DESCRIPTORS = 8


class Closed(Exception):
    """The other end is gone."""


class Channel:
    """One end of a SOCK_SEQPACKET pair."""

    def __init__(self, end):
        self.socket = end

    def send(self, message, descriptors=()):
        content = json.dumps(message).encode()
        if len(content) > _LONGEST or len(descriptors) > _MOST_DESCRIPTORS:
            raise ValueError("too much for one packet: send it as a descriptor")
        control = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))]
        try:
            self.socket.sendmsg([content], control if descriptors else [])
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Closed from error

    def receive(self):
        """A message and its descriptors, which now belong to the caller."""
        try:
            content, descriptors, flags, _ = socket.recv_fds(self.socket, _LONGEST, _MOST_DESCRIPTORS)
        except ConnectionResetError as error:
            raise Closed from error
        if not content or flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
            for descriptor in descriptors:
                os.close(descriptor)
            raise Closed
        return json.loads(content), descriptors
