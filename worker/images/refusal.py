"""What can be wrong with an image. Every text is for the operator and names the thing and the fix."""

from worker.sandbox.protocol import SandboxUnavailable


class ImageRefused(Exception):
    """The archive is broken, hostile, too large, or of a kind that is not supported."""


class ImageNotFound(Exception):
    """No image of this digest is in the store."""


class CommandRefused(Exception):
    """A pipeline's command cannot be started in its image."""


class ProgramNotFound(CommandRefused):
    """The image has no program of this name: another name or image may help, and nothing else does."""


class ImageDamaged(SandboxUnavailable):
    """A stored image is not what was imported. No pipeline may run in it."""
