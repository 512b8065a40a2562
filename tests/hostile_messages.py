"""What somebody may write into Redis that no gateway of ours sends."""

from __future__ import annotations

import base64
import json
from typing import Any

from domain.messages import CODE, Message, Queue, WhyDropped, code_of

MESSAGE_KEY = "5a" * 32
JOB = ["job"]


def code(name: str, ids: list[Any], key: str = MESSAGE_KEY) -> str:
    return code_of(bytes.fromhex(key), name, ids)


def message(**changed: Any) -> bytes:
    properties = {
        "correlation_id": "1", "reply_to": "1", "delivery_mode": 2, "delivery_tag": "1", "priority": 0,
        "delivery_info": {"exchange": "", "routing_key": Queue.MAIN.value}, "body_encoding": "base64",
    }  # fmt: skip
    fields = {
        "body": base64.b64encode(json.dumps([JOB, {}, {}]).encode()).decode(),
        "content-encoding": "utf-8", "content-type": "application/json",
        "headers": headers(), "properties": properties,
    }  # fmt: skip
    return json.dumps(fields | changed).encode()


def properties(**changed: Any) -> dict[str, Any]:
    known: dict[str, Any] = json.loads(message())["properties"]
    return {**known, **changed}


def headers(**changed: Any) -> dict[str, Any]:
    known = {"id": "1", "task": Message.RUN_JOB.value, "lang": "py"}
    return {**known, CODE: code(str(changed.get("task", known["task"])), JOB), **changed}


def body(*parts: object) -> str:
    return base64.b64encode(json.dumps(parts).encode()).decode()


DROPPED = "a message that is none of ours was dropped"
AFTERWARDS = [{"task": Message.SWEEP.value, "args": [], "kwargs": {}, "options": {}}]
HOSTILE: dict[str, tuple[WhyDropped, bytes]] = {
    **{
        name: (WhyDropped.UNREADABLE, raw)
        for name, raw in {
            "bytes": b"\xff\xfe\x00",
            "no object": b"[]",
            "a number": b"7",
            "no fields": b"{}",
            "brackets": b"[" * 60_000,
            "more than ours have": message(more="x" * 70_000),
            "no properties": message(properties=None),
            "a body that is not base64": message(body="%%%"),
            "a body of other bytes": message(body=base64.b64encode(b"\xff").decode()),
            "pickle": message(**{"content-type": "application/x-python-serialize"}),
            "compressed": message(headers=headers(compression="zlib")),
            "no headers": message(headers={}),
            "headers of another kind": message(headers=[1]),
            "arguments of another kind": message(body=base64.b64encode(b'"x"').decode()),
            "ids of another kind": message(body=body([["job"]], {}, {})),
            "another encoding": message(**{"content-encoding": "no-such"}),
            "no delivery tag": message(properties={}),
            "another body encoding": message(properties=properties(body_encoding="no-such")),
        }.items()
    },
    **{
        name: (WhyDropped.UNKNOWN, message(headers=headers(task=task)))
        for name, task in {
            "no task of ours": "os.system",
            "a task of Celery's own": "celery.starmap",
            "a name that is no text": [1],
        }.items()
    },
    "a limit of time": (WhyDropped.MORE, message(headers=headers(timelimit=[0.1, None]))),
    "named arguments": (WhyDropped.MORE, message(body=body(JOB, {"job_id": "other"}, {}))),
    "a task that follows": (WhyDropped.MORE, message(body=body(JOB, {}, {"chain": AFTERWARDS}))),
    "a task that answers": (WhyDropped.MORE, message(body=body(JOB, {}, {"callbacks": AFTERWARDS}))),
    "no code": (WhyDropped.CODE, message(headers=headers(**{CODE: None}))),
    "a code of other letters": (WhyDropped.CODE, message(headers=headers(**{CODE: "\ud800\u00e9"}))),
    "a code under another key": (
        WhyDropped.CODE,
        message(headers=headers(**{CODE: code(Message.RUN_JOB.value, JOB, key="00" * 32)})),
    ),
    "the code of another job": (WhyDropped.CODE, message(body=body(["other"], {}, {}))),
    "the code of another kind": (
        WhyDropped.CODE,
        message(headers=headers(task=Message.PUBLISH.value, **{CODE: code(Message.RUN_JOB.value, JOB)})),
    ),
    "the code of a number for a text": (
        WhyDropped.CODE,
        message(body=body(["7"], {}, {}), headers=headers(**{CODE: code(Message.RUN_JOB.value, [7])})),
    ),
}
