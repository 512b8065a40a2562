"""What may be offered and signed, and which archive is the folder that people signed for."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from made_scrambles import files_of, given_offer, offered, packed, scrambled_folder

from domain.errors import Conflict, InvalidRequest, RequestError, TooLarge
from domain.model import parse
from domain.scrambled import (
    LABEL,
    MOST_DAYS,
    MOST_PARTS,
    RECORD,
    Offer,
    Record,
    Scramble,
    ScrambleState,
    Signature,
    missing_signatures,
)
from domain.scrambled_archive import MOST_UNPACKED, check_archive, pack

TODAY = date(2026, 3, 2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return scrambled_folder(tmp_path_factory.mktemp("made"))


def offer_of(folder: Path, **changes: Any) -> Offer:
    text = (folder / RECORD).read_bytes()
    found = Offer.of(parse(Record, json.loads(text)), hashlib.sha256(text).hexdigest(), parts=1)
    return found.model_copy(update=changes)


@pytest.mark.parametrize(
    ("expires", "parts", "error"),
    [
        (TODAY, 1, None),
        (TODAY + timedelta(days=MOST_DAYS), MOST_PARTS, None),
        (TODAY - timedelta(days=1), 1, InvalidRequest),
        (TODAY + timedelta(days=MOST_DAYS + 1), 1, InvalidRequest),
        (TODAY, MOST_PARTS + 1, TooLarge),
    ],
)
def test_what_may_be_offered(expires: date, parts: int, error: type[RequestError] | None) -> None:
    agreement = {"signed_by": "A. Holder", "agreement": "DTA 12", "expires": expires.isoformat()}
    offer = given_offer(agreement=agreement, parts=parts)
    if error is None:
        offer.check(TODAY)
    else:
        with pytest.raises(error):
            offer.check(TODAY)


AN_OFFER_THAT_IS_NONE = (
        {"parts": 0}, {"record": "1" * 63}, {"leak_report": "G" * 64}, {"method": "copy"}, {"files": []},
        {"agreement": {"signed_by": "x", "agreement": "DTA 12", "expires": "2026-04-01"}},
        {"agreement": {"signed_by": "A. Holder", "agreement": "DTA\n12", "expires": "2026-04-01"}},
)  # fmt: skip


def test_an_offer_that_is_none(subtests: pytest.Subtests) -> None:
    for wrong in AN_OFFER_THAT_IS_NONE:
        with subtests.test(wrong=wrong), pytest.raises(InvalidRequest):
            parse(Offer, given_offer().model_dump(mode="json") | wrong)


def test_nobody_counts_twice() -> None:
    assert missing_signatures([], needed=1) == 1
    assert missing_signatures(["holder"], needed=1) == 0
    # whoever offered it cannot be both
    assert missing_signatures(["holder", "holder"], needed=2) == 1
    assert missing_signatures(["holder", "vera"], needed=2) == 0


def test_terms_never_call_it_anonymous_and_name_who_answers_until_when(now: Any) -> None:
    signed = (Signature("vera", True, "", now), Signature("rosa", False, "no", now))
    found = Scramble("s", "d", "holder", now, given_offer(), ScrambleState.ATTACHED, now, signed)
    told = " ".join(found.terms)
    for words in ("not anonymous", "no formal guarantee", "2026-04-01", "DTA 12", "A. Holder", "vera"):
        assert words in told
    assert "rosa" not in told
    assert "NOT anonymous" in LABEL
    again = Scramble("s", "d", "holder", now, given_offer(), ScrambleState.ATTACHED, now, signed[:0])
    assert found.terms_digest != again.terms_digest


def test_the_folder_that_was_signed_for_is_taken(folder: Path) -> None:
    check_archive(packed(folder), offer_of(folder))
    assert packed(folder) == packed(folder)


def test_digests_tell_nothing_of_what_they_are_of(tmp_path: Path) -> None:
    """The same table, scrambled by a method that draws nothing: both digests differ all the same."""
    one, two = (offered(tmp_path, name, method="stub").offer for name in ("one", "two"))
    assert (one.record, one.leak_report) != (two.record, two.leak_report)
    assert len({one.record, two.record, one.leak_report, two.leak_report}) == 4


def other_record(folder: Path) -> bytes:
    return packed(folder, **{RECORD: (folder / RECORD).read_bytes() + b" "})


def without_record(folder: Path) -> bytes:
    return pack({path: text for path, text in files_of(folder).items() if path != RECORD})


def without_note(folder: Path) -> bytes:
    return pack({path: text for path, text in files_of(folder).items() if "NOT" not in path})


def changed(folder: Path) -> bytes:
    return packed(folder, **{"participants.tsv": b"participant_id\tage\nsub-001\t21\n"})


def one_more(folder: Path) -> bytes:
    return packed(folder, **{"original.tsv": b"everything\n"})


def linked(folder: Path) -> bytes:
    content = io.BytesIO(packed(folder))
    with zipfile.ZipFile(content, "a") as archive:
        link = zipfile.ZipInfo("link")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return content.getvalue()


def twice(folder: Path) -> bytes:
    content = io.BytesIO(packed(folder))
    with zipfile.ZipFile(content, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("participants.tsv", "other")
    return content.getvalue()


def bomb(folder: Path) -> bytes:
    content = io.BytesIO(packed(folder))
    with zipfile.ZipFile(content, "a") as archive, archive.open("zeros", "w", force_zip64=True) as file:
        file.write(b"0" * 1000)
    # the size that it states is as large as somebody likes
    return (
        content.getvalue()
        .replace((1000).to_bytes(8, "little"), (MOST_UNPACKED + 1).to_bytes(8, "little"))
        .replace((1000).to_bytes(4, "little"), (MOST_UNPACKED + 1).to_bytes(4, "little"))
    )


def cut(folder: Path) -> bytes:
    return packed(folder)[:-30]


def no_archive(folder: Path) -> bytes:
    return (folder / "participants.tsv").read_bytes()


ANY_OTHER_ARCHIVE_IS_REFUSED = (
    (other_record, "not the folder that was signed for"),
    (without_record, "no scrambled folder"),
    (without_note, "lacks files"),
    (changed, "not as it was handed over"),
    (one_more, "or has others"),
    (linked, "no plain file"),
    (twice, "two files of one name"),
    (bomb, "larger than"),
    (cut, "cannot be read"),
    (no_archive, "cannot be read"),
)


def test_any_other_archive_is_refused(subtests: pytest.Subtests, folder: Path) -> None:
    for made, said in ANY_OTHER_ARCHIVE_IS_REFUSED:
        with subtests.test(made=made, said=said):
            with pytest.raises(InvalidRequest, match=said) as caught:
                check_archive(made(folder), offer_of(folder))
            # names of files may have been made from names of people
            assert "participants" not in str(caught.value)


def test_what_people_read_is_what_the_record_says(folder: Path) -> None:
    """The record that was signed, offered under a later day or another method."""
    later = offer_of(folder).agreement.model_copy(update={"expires": date(2999, 12, 31)})
    for lie in ({"agreement": later}, {"method": "stub"}, {"leak_report": "3" * 64}):
        with pytest.raises(InvalidRequest, match="something else about itself"):
            check_archive(packed(folder), offer_of(folder, **lie))


def test_a_folder_of_an_older_version_names_no_report(folder: Path) -> None:
    content = json.loads((folder / RECORD).read_text())
    del content["leak_report"], content["lot"]
    with pytest.raises(Conflict, match="names no leak report"):
        Offer.of(parse(Record, content), "1" * 64, parts=1)
