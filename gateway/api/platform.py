"""The platform itself: is it there, who am I, with which key are certificates signed."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel

from domain.errors import NotFound, Unready
from domain.permissions import Permission, User
from gateway.access import TheDatabase, requires
from gateway.problems import DOCUMENTED, responses
from gateway.readiness import Looks
from gateway.routes import PREFIX
from store import releases

router = APIRouter(prefix=PREFIX, tags=["platform"], responses=responses(413, 500))


class Health(BaseModel):
    status: str


class CertificateKey(BaseModel):
    """The Ed25519 public key (PEM) that verifies the certificates of this platform's releases."""

    public_key: str


class Ready(BaseModel):
    """Database and tables are `ok`, no disk is full. Ready without the broker, and without a worker that
    takes up what others left (`sweeps`) or takes jobs (`workers`): jobs wait until they are back. `clock` is
    `off` where the gateway's and the database's differ, or that one went back. `logins` is how identity
    providers answered last."""

    status: Literal["ready"]
    database: str
    tables: str
    broker: str
    disk: str
    sweeps: str
    workers: str
    clock: str
    logins: str


@router.get("/health", summary="Is the gateway up?")
def health() -> Health:
    return Health(status="ok")


@router.get(
    "/health/ready",
    summary="Can the gateway do its work?",
    responses={
        503: {**DOCUMENTED[503], "description": "The database is away, its tables differ, or a disk is full"}
    },
)
def ready(request: Request) -> Ready:
    """Words only, the same for everybody. 503 where it cannot."""
    looks: Looks = request.app.state.looks
    found = looks.now()
    if not found.is_ready:
        raise Unready(found.wrong, f"not ready: {found}.", "The operator's page says what to do.")
    return Ready(
        status="ready",
        database=found.database,
        tables=found.schema,
        broker=found.broker,
        disk=found.disk,
        sweeps=found.sweeps,
        workers=found.workers,
        clock=found.clock,
        logins=found.logins,
    )


@router.get("/me", summary="Who am I?", responses=responses(401, 403))
def me(user: Annotated[User, Depends(requires(Permission.SELF_READ))]) -> User:
    return user


@router.get(
    "/certificate-key",
    summary="The key that verifies certificates",
    responses=responses(401, 403, 404),
)
def certificate_key(
    _user: Annotated[User, Depends(requires(Permission.SELF_READ))], database: TheDatabase
) -> CertificateKey:
    with database.reading() as connection:
        found = releases.public_key(connection)
    if found is None:
        raise NotFound("key", "no worker here has published one.", "Ask the operator to start one.")
    return CertificateKey(public_key=found)
