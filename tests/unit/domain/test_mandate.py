"""Mandates: what is signed, by whom, and what a digest of a declaration covers."""

from __future__ import annotations

import base64
import json
import stat
from pathlib import Path

import pytest
from factories import make_declaration

from domain.errors import InvalidRequest
from domain.mandate import CustodyKey, Mandate, declaration_digest, mandate_in
from domain.model import canonical, parse
from dpgate.errors import DpgateError
from dpgate.locked_key import LEAST_ROUNDS
from dpgate.mandates import Custody
from store.envelopes import fingerprint, is_signed

DELIVERY = "5b03c62e-b47c-44d4-88bb-cf104222b8b6"


@pytest.fixture
def own(tmp_path: Path) -> Custody:
    return Custody(tmp_path / "custody")


def test_each_names_the_one_before_it(own: Custody) -> None:
    declared = make_declaration()
    first = mandate_in(own.first_for(declared, version=1, delivery=DELIVERY))
    second = mandate_in(own.next_for(first, policy=first.policy.model_copy(update={"max_wall_seconds": 59})))
    assert (first.sequence, first.previous) == (1, None)
    assert (second.sequence, second.previous) == (2, first.digest)
    assert (second.caps, second.delivery) == (dict(declared.caps), DELIVERY)
    assert own.newest(declared.name) == second
    third = mandate_in(own.first_for(declared, version=2, delivery=DELIVERY))
    assert (third.sequence, third.previous, third.version) == (3, second.digest, 2)


def test_the_key_is_made_once_and_for_its_owner(own: Custody) -> None:
    assert own.public == own.public
    (key,) = own.folder.glob("*.key")
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(own.folder.stat().st_mode) == 0o700
    assert len(fingerprint(own.public).split()) == 8


def test_a_locked_key_signs_with_its_passphrase_alone(own: Custody) -> None:
    public, passphrase = own.public, "four words that differ"
    (path,) = own.folder.glob("*.key")
    open_key = base64.b64decode(path.read_bytes())
    own.lock(passphrase, rounds=LEAST_ROUNDS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for hidden in (open_key, base64.b64encode(open_key), passphrase.encode()):
        assert hidden not in path.read_bytes()
    asked = iter([passphrase, "another that is wrong", passphrase])
    with_it = Custody(own.folder, ask=lambda: next(asked))
    assert (with_it.public, with_it.is_locked) == (public, True)
    assert is_signed(with_it.first_for(make_declaration(), version=1, delivery=DELIVERY), by=public)
    # the attack: the folder alone, or a guess at the passphrase
    with pytest.raises(DpgateError, match="nobody can be asked"):
        own.first_for(make_declaration(), version=1, delivery=DELIVERY)
    with pytest.raises(DpgateError, match="not the passphrase"):
        with_it.first_for(make_declaration(), version=1, delivery=DELIVERY)
    # another passphrase needs the one of now; a short one is none
    with pytest.raises(DpgateError, match="12 to 200"):
        with_it.lock("short", rounds=LEAST_ROUNDS)
    other = Custody(own.folder, ask=lambda: passphrase)
    other.lock("five other words that differ", rounds=LEAST_ROUNDS)
    with pytest.raises(DpgateError, match="not the passphrase"):
        other.check_opens()
    # nor does a file count whose public half somebody has exchanged, or that is none
    kept = json.loads(path.read_bytes())
    for changed in ({"public": base64.b64encode(bytes(32)).decode()}, {"rounds": 2}, {"salt": "x"}):
        path.write_text(json.dumps(kept | changed))
        with pytest.raises(DpgateError):
            Custody(own.folder, ask=lambda: "five other words that differ").check_opens()


def test_a_signature_holds_for_the_very_bytes_and_key(own: Custody, tmp_path: Path) -> None:
    envelope = own.first_for(make_declaration(), version=1, delivery=DELIVERY)
    assert is_signed(envelope, by=own.public)
    assert not is_signed(envelope, by=Custody(tmp_path / "other").public)
    content = json.loads(base64.b64decode(envelope["payload"]))
    content["predicate"]["caps"]["epsilon"] += 1
    raised = {**envelope, "payload": base64.b64encode(canonical(content)).decode()}
    assert not is_signed(raised, by=own.public)
    for broken in ({}, {**envelope, "signatures": []}, {**envelope, "payloadType": "text/plain"}):
        assert not is_signed(broken, by=own.public)


def test_a_certificate_is_no_mandate(own: Custody) -> None:
    mandate = mandate_in(own.first_for(make_declaration(), version=1, delivery=DELIVERY))
    other = mandate.as_statement() | {"predicateType": "urn:dpgate:predicate:release:v3"}
    payload = base64.b64encode(canonical(other)).decode()
    with pytest.raises(ValueError, match="holds no mandate"):
        mandate_in({"payload": payload})


def test_the_declaration_is_all_but_its_policy(own: Custody) -> None:
    declared = make_declaration()
    stricter = declared.policy.model_copy(update={"max_wall_seconds": 1})
    assert declaration_digest(declared) == declaration_digest(
        declared.model_copy(update={"policy": stricter})
    )
    assert declaration_digest(declared) != declaration_digest(declared.model_copy(update={"title": "Other"}))


def test_caps_and_keys_of_another_form_are_refused(own: Custody) -> None:
    signed = mandate_in(own.first_for(make_declaration(), version=1, delivery=DELIVERY))
    for cap in (0, -1, 2**62, 1.5, "1", True):
        fields = json.loads(signed.model_dump_json()) | {"caps": {"epsilon": cap}}
        with pytest.raises(InvalidRequest, match="caps"):
            parse(Mandate, fields)
    with pytest.raises(InvalidRequest, match="key"):
        parse(CustodyKey, {"key": "AAAA"})
