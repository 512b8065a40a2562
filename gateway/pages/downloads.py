"""Files that a page lets somebody keep."""

from __future__ import annotations

import re

from fastapi.responses import Response


def attached(name: str, content: bytes | str, media_type: str) -> Response:
    """A file to keep, under a plain name; text is UTF-8."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)
    headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
    if isinstance(content, bytes):
        return Response(content, media_type=media_type, headers=headers)
    return Response(content.encode(), media_type=f"{media_type}; charset=utf-8", headers=headers)
