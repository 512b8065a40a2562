"""What somebody may write into Redis that no gateway of ours sends."""

from __future__ import annotations

import base64
import json
from typing import Any

from domain.messages import Message, Queue


def message(**changed: Any) -> bytes:
    properties = {
        "correlation_id": "1", "reply_to": "1", "delivery_mode": 2, "delivery_tag": "1", "priority": 0,
        "delivery_info": {"exchange": "", "routing_key": Queue.MAIN.value}, "body_encoding": "base64",
    }  # fmt: skip
    fields = {
        "body": base64.b64encode(json.dumps([["job"], {}, {}]).encode()).decode(),
        "content-encoding": "utf-8", "content-type": "application/json",
        "headers": {"id": "1", "task": Message.RUN_JOB.value, "lang": "py"}, "properties": properties,
    }  # fmt: skip
    return json.dumps(fields | changed).encode()


def properties(**changed: Any) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(message())["properties"]
    return {**known, **changed}


def headers(**changed: Any) -> dict[str, Any]:
    return {"id": "1", "task": Message.RUN_JOB.value, "lang": "py", **changed}


def body(*parts: object) -> str:
    return base64.b64encode(json.dumps(parts).encode()).decode()


DROPPED = "a message that is none of ours was dropped"
AFTERWARDS = [{"task": Message.SWEEP.value, "args": [], "kwargs": {}, "options": {}}]
HOSTILE = {
    "bytes": b"\xff\xfe\x00",
    "no object": b"[]",
    "a number": b"7",
    "no fields": b"{}",
    "no properties": message(properties=None),
    "a body that is not base64": message(body="%%%"),
    "a body of other bytes": message(body=base64.b64encode(b"\xff").decode()),
    "pickle": message(**{"content-type": "application/x-python-serialize"}),
    "compressed": message(headers=headers(compression="zlib")),
    "no headers": message(headers={}),
    "headers of another kind": message(headers=[1]),
    "no task of ours": message(headers={"id": "1", "task": "os.system", "lang": "py"}),
    "arguments of another kind": message(body=base64.b64encode(b'"x"').decode()),
    "another encoding": message(**{"content-encoding": "no-such"}),
    "no delivery tag": message(properties={}),
    "another body encoding": message(properties=properties(body_encoding="no-such")),
    "a limit of time": message(headers=headers(timelimit=[0.1, None])),
    "a task of Celery's own": message(headers=headers(task="celery.starmap")),
    "a name that is no text": message(headers=headers(task=[1])),
    "a task that follows": message(body=body(["job"], {}, {"chain": AFTERWARDS})),
    "a task that answers": message(body=body(["job"], {}, {"callbacks": AFTERWARDS})),
}
