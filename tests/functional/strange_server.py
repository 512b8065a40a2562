"""A web server that knows nothing of us, at the address where someone expects a platform."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

FAULT = {"type": "about:blank", "title": "The platform failed on this request.", "problems": []}
BODIES = {
    "html": b"<html>hello</html>",
    "odd": b'{"hello": 1}',
    "broken": json.dumps(FAULT).encode(),
}
STATUS = {"away": 302, "broken": 500}


class StrangeServer(BaseHTTPRequestHandler):
    """It keeps the tokens that it was shown."""

    seen: list[str]

    def do_GET(self) -> None:
        StrangeServer.seen.append(str(self.headers.get("Authorization")))
        kind = self.path.split("/")[1]
        if kind == "slow":
            self.rfile.read(1)  # there is nothing until whoever asked has gone
            return
        body = BODIES.get(kind, b"")
        self.send_response(STATUS.get(kind, 200))
        if kind == "away":
            self.send_header("Location", f"http://localhost:{self.server.server_address[1]}/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def strange_server() -> Iterator[str]:
    StrangeServer.seen = []
    with HTTPServer(("127.0.0.1", 0), StrangeServer) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()
