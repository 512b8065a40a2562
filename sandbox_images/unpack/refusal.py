"""The one way in which an archive is turned down."""


class Refused(Exception):
    """The archive is broken, hostile, or of a kind that is not supported. Its text is for the operator."""


def shown(name: bytes) -> str:
    """A name from the archive, made fit for a message: no control characters, no endless text."""
    text = ascii(name.decode("utf-8", "surrogateescape"))
    return text if len(text) <= 160 else f"{text[:150]}...'"
